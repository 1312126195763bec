// Keeps the page's own files, so that it opens offline. What goes to the learning server is never touched.
const CACHE = "newsroom";
const DEVICE = ["sottovoce.js", "delta.js", "features.js", "holdout.js", "learners.js"]; // parts too, which a task may need
const FILES = [".", "newsroom.css", "newsroom.js", "panel.js", ...DEVICE, "config.js", "edition.json", "icon.svg"];

self.addEventListener("install", (event) => event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES))));

self.addEventListener("fetch", (event) => {
  if (new URL(event.request.url).origin === location.origin) event.respondWith(freshOrKept(event.request));
});

async function freshOrKept(request) {
  const cache = await caches.open(CACHE);
  try {
    const answer = await fetch(request);
    if (answer.ok) await cache.put(request, answer.clone());
    return answer;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}
