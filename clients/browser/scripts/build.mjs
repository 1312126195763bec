/**
 * Builds dist/: `sottovoce.js` (ES module), `sottovoce.classic.js` (one script, global `sottovoce`), `delta.js` (the
 * mechanisms with a delta; it imports `sottovoce.js`) and types/. And build/: every file by itself, for tests.
 * Fails where the pure mechanisms are larger than promised.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

/** Bytes of `sottovoce.js`, gzipped. */
const LARGEST = 10_000;

const common = { bundle: true, minify: true, target: "es2022", legalComments: "none" };
for (const folder of ["build", "dist"]) rmSync(folder, { recursive: true, force: true });
execFileSync("node_modules/.bin/tsc", ["--sourceMap"], { stdio: "inherit" });
execFileSync("node_modules/.bin/tsc", ["--emitDeclarationOnly", "--declaration", "--outDir", "dist/types"], {
  stdio: "inherit",
});
await build({ ...common, entryPoints: ["src/index.ts"], format: "esm", outfile: "dist/sottovoce.js" });
await build({
  ...common,
  entryPoints: ["src/index.ts"],
  format: "iife",
  globalName: "sottovoce",
  outfile: "dist/sottovoce.classic.js",
});

for (const file of ["dist/sottovoce.js", "dist/sottovoce.classic.js"]) {
  const bytes = gzipSync(readFileSync(file), { level: 9 }).length;
  console.log(`${basename(file)}: ${bytes} bytes gzipped`);
  if (bytes > LARGEST) throw new Error(`${file} has ${bytes} bytes gzipped; at most ${LARGEST} are promised`);
}
