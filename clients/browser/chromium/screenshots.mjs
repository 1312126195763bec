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
const FIRST = {
  newsroom: async (tab) => {
    for (const selector of ["#lead", "#stories .title"]) await tab.click(selector);
  },
  dashboard: async (tab) => {
    await tab.keyboard.type(process.env.SOTTOVOCE_ADMIN_TOKEN); // the field has the focus
    await tab.keyboard.press("Enter");
  },
};
/** Pages of which the whole is shown. */
const WHOLE = ["dashboard"];

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
      await FIRST[name]?.(tab);
      await tab.mouse.move(0, 0);
      if (name in FIRST) await tab.waitForTimeout(1500);
      const path = join(folder, `${name}-${colorScheme}-${viewport.width}.png`);
      await tab.screenshot({ path, fullPage: WHOLE.includes(name) });
      await context.close();
    }
await browser.close();
