/**
 * Builds dist/: `sottovoce.js` (ES module), `sottovoce.classic.js` (one script, global `sottovoce`), the parts
 * (`delta.js`: the mechanisms that add noise; `learners.js`: what less usual learners need; `holdout.js`) and each as a
 * classic script, `openfeature.js` (a provider for OpenFeature's web SDK) and types/. And build/: every file by itself,
 * for tests. Fails where the device is larger than promised.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { minify } from "terser";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

/** Bytes of the device with the pure mechanisms, gzipped; docs/browser.md says it. */
const LARGEST = 14_050;

/** The parts that a page adds where its tasks need them: each imports the device and registers itself there. */
const PARTS = ["delta", "holdout", "learners"];

/** What a part takes from the device's module, because there must be one of each. */
const SHARED = /\/(accounting|mechanisms|errors|extensions|links|offers|domains\/index|users\/index)\.js$/;
const NAMES =
  "BadInput, BrokenPromise, domainFrom, DOMAINS, EXTENSIONS, MEANS, mechanismFrom, MECHANISMS, MODELS, USERS, WireError, " +
  "WITH_DELTA";
const shared = (filter) => ({
  name: "shared",
  setup: ({ onResolve }) => onResolve({ filter }, () => ({ path: "./sottovoce.js", external: true })),
});

/** The same, from the global name of the classic script. */
const sharedGlobally = {
  name: "shared globally",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: SHARED }, () => ({ path: "sottovoce", namespace: "global" }));
    onLoad({ filter: /./, namespace: "global" }, () => ({ contents: `export const { ${NAMES} } = sottovoce;` }));
  },
};

/**
 * Names of our own that get short ones: what only code of ours reads, in memory. Not here: what is on the wire, in the
 * database, in docs/browser.md or in the language.
 */
const INTERNAL =
  "account act affords after alone arrive ask budget coinSize deltaOf draw embed enter epsilonOf kept last lastOffer late " +
  "leave living measured measuring mechanisms nothing outgoing own remove reportSize row size tabs tell terms transact " +
  "user vault verify wanted";
/** The short names are the same in every file, because parts and device call each other. */
const properties = {
  regex: new RegExp(`^(${INTERNAL.replaceAll(" ", "|")})$`),
  builtins: true,
  cache: { props: new Map() },
};

function tsc(...options) {
  execFileSync("node_modules/.bin/tsc", options, { stdio: "inherit" });
}

async function bundle(entry, name, format, options = {}) {
  const file = `dist/${name}`;
  await build({ entryPoints: [entry], outfile: file, bundle: true, format, target: "es2022", ...options });
  const small = await minify(readFileSync(file, "utf8"), {
    module: format === "esm",
    mangle: { properties },
    ecma: 2020,
    compress: { passes: 6, unsafe_arrows: true, hoist_funs: true, pure_getters: true, sequences: false, inline: 1 },
  });
  writeFileSync(file, small.code);
  const bytes = gzipSync(small.code, { level: 9 }).length;
  console.log(`${name}: ${bytes} bytes gzipped`);
  return bytes;
}

for (const folder of ["build", "dist"]) rmSync(folder, { recursive: true, force: true });
tsc();
tsc("--emitDeclarationOnly", "--declaration", "--outDir", "dist/types");
const bytes = await bundle("src/index.ts", "sottovoce.js", "esm");
await bundle("src/index.ts", "sottovoce.classic.js", "iife", { globalName: "sottovoce" });
for (const part of PARTS) {
  await bundle(`src/${part}.ts`, `${part}.js`, "esm", { plugins: [shared(SHARED)] });
  await bundle(`src/${part}.ts`, `${part}.classic.js`, "iife", { plugins: [sharedGlobally] });
}
await bundle("src/openfeature/provider.ts", "openfeature.js", "esm", {
  plugins: [shared(/^\.\.\/index\.js$/)],
  external: ["@openfeature/web-sdk"],
});
if (bytes > LARGEST) throw new Error(`sottovoce.js has ${bytes} bytes gzipped; at most ${LARGEST} are promised`);
