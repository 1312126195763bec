// The front page: the lead story's headline comes with a ticket, the order of the other stories from a public model.
// Both choices, and what the reader then opens, stay here; what leaves is what `Device` makes private (see panel.js).
import { Device } from "./sottovoce.js";
import { server } from "./config.js";
import { showPanel } from "./panel.js";

const LIMITS = { epsilon: 4, lifetime: 120 };
const FOLLOWED = "followed series";

const edition = await (await fetch("edition.json")).json();
const [lead, stories] = await Promise.all([joined("lead"), joined("stories")]);
await Promise.all([showLead(), showStories()]);
showPanel([lead, stories].filter(Boolean));
navigator.serviceWorker?.register("worker.js").catch(() => {}); // without it the page is there only online

/** The device of a task; without one (a first visit offline, say) the page keeps its usual order. */
async function joined(task) {
  try {
    const device = await Device.open(server, task, { limits: LIMITS });
    device.start(2);
    return device;
  } catch (error) {
    console.info(`${task}: ${error.message}`);
    return null;
  }
}

async function showLead() {
  const { headlines, text } = edition.lead;
  const decision = await lead?.choose();
  const button = document.querySelector("#lead");
  button.textContent = headlines[decision?.name] ?? headlines.plain;
  button.dataset.choice = decision?.name ?? "";
  button.addEventListener("click", () => opened(button, lead, decision));
  document.querySelector("#lead-text").textContent = text;
}

async function showStories() {
  const shown = edition.stories.map((story) => ({ ...story, followed: followed().includes(story.series) }));
  const fields = shown.map(({ topic, minutes, pictures, followed }) => ({ topic, minutes, pictures, followed }));
  const decision = await stories?.choose(fields);
  const first = decision?.action ?? 0;
  const order = [first, ...shown.keys().filter((number) => number !== first)];
  document.querySelector("#stories").replaceChildren(
    ...order.map((number, place) => storyItem(shown[number], number, place === 0 ? decision : undefined)),
  );
}

function storyItem(story, number, decision) {
  const item = document.createElement("li");
  item.dataset.topic = story.topic;
  const title = document.createElement("button");
  title.type = "button";
  title.className = "title";
  title.textContent = story.title;
  title.dataset.choice = number;
  title.addEventListener("click", () => opened(title, stories, decision));
  const facts = document.createElement("p");
  facts.className = "facts";
  facts.textContent = `${story.topic} · ${story.minutes} min${story.pictures ? " · pictures" : ""}`;
  item.append(...(decision ? [note("Chosen for you, in this browser")] : []), title, facts, followButton(story.series));
  return item;
}

function note(text) {
  const line = document.createElement("p");
  line.className = "kicker";
  line.textContent = text;
  return line;
}

/** Opening what was chosen is a reward of 1. Not opening it is the default, 0, which the device reports by itself. */
async function opened(button, device, decision) {
  button.classList.add("opened");
  if (decision) button.dataset.kept = await device.observe(decision.id, 1);
}

function followButton(series) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "follow";
  const show = () => {
    const on = followed().includes(series);
    button.setAttribute("aria-pressed", on);
    button.textContent = `${on ? "Following" : "Follow"} “${series}”`;
  };
  button.addEventListener("click", () => {
    const others = followed().filter((name) => name !== series);
    localStorage.setItem(FOLLOWED, JSON.stringify(followed().includes(series) ? others : [...others, series]));
    document.dispatchEvent(new Event("follow"));
  });
  document.addEventListener("follow", show);
  show();
  return button;
}

function followed() {
  try {
    return JSON.parse(localStorage.getItem(FOLLOWED) ?? "[]");
  } catch {
    return []; // storage is blocked: nobody is followed
  }
}
