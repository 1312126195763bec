/**
 * Builds dist/: `sottovoce.js` (ES module), `sottovoce.classic.js` (one script, global `sottovoce`), the parts that they
 * load (`features.js`, `learners.js`: what less usual learners need; `holdout.js`; `delta.js`: the mechanisms that add
 * noise), `openfeature.js` (a provider for OpenFeature's web SDK) and types/. And build/: every file by itself, for tests.
 * Fails where the device is larger than promised.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { minify } from "terser";
import { INTERNAL, LARGEST, LARGEST_WITH_FEATURES, PARTS, SHARED, SHARING, variables } from "./names.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

/** A part takes what is shared from the list that the device hands to it. */
const sharing = {
  name: "sharing",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\./ }, ({ path, resolveDir }) =>
      SHARED.includes(relative("src", join(resolveDir, path))) ? { path: "shared", namespace: "shared" } : undefined,
    );
    onLoad({ filter: /./, namespace: "shared" }, () => ({ contents: `export const ${SHARING} = shared;` }));
  },
};

/** The device loads its parts from beside its own file, and hands what is shared to those of the same build. */
const beside = {
  name: "beside",
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\/client\/parts\.ts$/ }, ({ path }) => {
      const code = readFileSync(path, "utf8").replace(
        /import\("\.(.*?)"\)/g,
        `import("$1").then((part) => part.${VERSION}(shared))`,
      );
      return { contents: `import { shared } from "../shared.js";${code}`, loader: "ts" };
    });
    onResolve({ filter: /^\.\/\w/ }, ({ path, kind }) =>
      kind === "dynamic-import" ? { path, external: true } : undefined,
    );
  },
};

/** For what takes from the module only what every app may. */
const asIs = {
  name: "as it is",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\.\/index\.js$/ }, () => ({ path: "./sottovoce.js", external: true })),
};

/** Stands for the name of the build until it is known. */
const VERSION = "versionOfTheBuild";

/** The short names are the same in every file, because parts and device call each other. */
const properties = {
  regex: new RegExp(`^(${INTERNAL.join("|")})$`),
  builtins: true,
  cache: { props: new Map() },
};

function tsc(...options) {
  execFileSync("node_modules/.bin/tsc", options, { stdio: "inherit" });
}

/** As one script: what a module exports are the names of one object. */
function classic(code) {
  const returned = (_, names) => `return{${names.replace(/(\w+) as (\w+)/g, "$2:$1")}}`;
  return `"use strict";var sottovoce=(()=>{${code.replace(/export\{(.*)\};$/, returned)}})();`;
}

/** What a part does not use of the shared list is left out of it. */
function used(code) {
  const often = (name) => code.match(RegExp(`\\b${name}\\b`, "g")).length > 1;
  return code.replace(/\[([^\]]*)\](?= = shared;)/, (_, names) => {
    const kept = names.match(/\w+/g).map((name) => (often(name) ? name : ""));
    return `[${kept.join().replace(/,+$/, "")}]`;
  });
}

/** A part and a device of different builds would call each other's functions by wrong names: so a part has this name. */
function versionOf(code) {
  return `version_${createHash("sha256").update(code).digest("hex").slice(0, 6)}`;
}

async function bundle(entry, name, options, change = (code) => code) {
  const file = `dist/${name}`;
  await build({ entryPoints: [entry], outfile: file, bundle: true, format: "esm", target: "es2022", ...options });
  const small = await minify(used(readFileSync(file, "utf8")), {
    module: true,
    mangle: { properties, nth_identifier: variables() },
    ecma: 2020,
    compress: {
      passes: 4,
      unsafe_arrows: true,
      hoist_funs: true,
      pure_getters: true,
      sequences: false,
      inline: 1,
      lhs_constants: false,
    },
  });
  const code = change(small.code.replace(/\bconst\b/g, "let")); // one word for both; no text of ours has it
  write(name, code);
  return code;
}

function write(name, code) {
  writeFileSync(`dist/${name}`, code);
  const bytes = gzipSync(code, { level: 9 }).length;
  console.log(`${name}: ${bytes} bytes gzipped`);
  const most = name.includes("with-features") ? LARGEST_WITH_FEATURES : LARGEST;
  if (bytes > most) throw new Error(`${name} has ${bytes} bytes gzipped; at most ${most} are promised`);
}

for (const folder of ["build", "dist"]) rmSync(folder, { recursive: true, force: true });
tsc();
tsc("--emitDeclarationOnly", "--declaration", "--outDir", "dist/types");
let version;
const device = await bundle("src/index.ts", "sottovoce.js", { plugins: [beside] }, (code) =>
  code.replaceAll(VERSION, (version = versionOf(code))),
);
write("sottovoce.classic.js", classic(device));
await bundle(
  "src/withFeatures.ts",
  "sottovoce.with-features.js",
  { plugins: [beside], ignoreAnnotations: true }, // package.json speaks of the files in dist/
  (code) => code.replaceAll(VERSION, version),
);
for (const part of PARTS) {
  const wrapped = (code) => `export function ${version}(shared){${code}}`;
  await bundle(`src/${part}.ts`, `${part}.js`, { plugins: [sharing] }, wrapped);
}
await bundle("src/openfeature/provider.ts", "openfeature.js", { plugins: [asIs], external: ["@openfeature/web-sdk"] });
