/**
 * Pictures of pages, light and dark, 1280 and 390 px wide: `node screenshots.mjs FOLDER NAME=URL...` writes
 * FOLDER/NAME-SCHEME-WIDTH.png for each.
 */
import { join } from "node:path";
import { launch } from "./chromium.mjs";

const SIZES = [
  { width: 1280, height: 860 },
  { width: 390, height: 844 },
];

/** What a visitor does before the picture. */
const CLICKS = { newsroom: ["#lead", "#stories .title"] };

const [folder, ...pages] = process.argv.slice(2);
const browser = await launch();
for (const page of pages)
  for (const viewport of SIZES)
    for (const colorScheme of ["light", "dark"]) {
      const [name, url] = [page.slice(0, page.indexOf("=")), page.slice(page.indexOf("=") + 1)];
      const context = await browser.newContext({ viewport, colorScheme, isMobile: viewport.width < 500 });
      const tab = await context.newPage();
      await tab.goto(url, { waitUntil: "load" });
      await tab.waitForTimeout(500);
      for (const selector of CLICKS[name] ?? []) await tab.click(selector);
      await tab.mouse.move(0, 0);
      if (name in CLICKS) await tab.waitForTimeout(1500);
      await tab.screenshot({ path: join(folder, `${name}-${colorScheme}-${viewport.width}.png`) });
      await context.close();
    }
await browser.close();
