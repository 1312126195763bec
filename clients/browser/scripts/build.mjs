/**
 * Builds dist/: `sottovoce.js` (ES module), `sottovoce.classic.js` (one script, global `sottovoce`), the parts
 * (`features.js`, `learners.js`: what less usual learners need; `holdout.js`; `delta.js`: the mechanisms that add noise) and
 * each as a classic script, `openfeature.js` (a provider for OpenFeature's web SDK) and types/. And build/: every file by
 * itself, for tests. Fails where the device is larger than promised.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { minify } from "terser";
import { INTERNAL, LARGEST, PARTS, PUBLIC, SHARED, SHARING, variables } from "./names.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

/** Takes what is shared from the module of this version, or from the global name of the classic script. */
const sharing = (ending, version) => ({
  name: "sharing",
  setup({ onResolve, onLoad }) {
    const device = ending === ".js" ? 'import * as sottovoce from "./sottovoce.js";\n' : "";
    onResolve({ filter: /^\./ }, ({ path, resolveDir }) =>
      SHARED.includes(relative("src", join(resolveDir, path))) ? { path: "sottovoce", namespace: "shared" } : undefined,
    );
    onLoad({ filter: /./, namespace: "shared" }, () => ({
      contents: `${device}export const { ${PUBLIC} } = sottovoce, { ${SHARING} } = sottovoce.${version};`,
    }));
  },
});

/** The device loads its parts from beside its own file: from the classic script, their classic scripts. */
const beside = (ending) => ({
  name: "beside",
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\/client\/parts\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll(/(?<=(delta|features|holdout|learners))\.js"/g, `${ending}"`),
      loader: "ts",
    }));
    onResolve({ filter: /^\.\.\/\w/ }, ({ path, kind }) =>
      kind === "dynamic-import" ? { path: path.slice(1), external: true } : undefined,
    );
  },
});

/** For what takes from the module only what every app may. */
const asIs = {
  name: "as it is",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\.\/index\.js$/ }, () => ({ path: "./sottovoce.js", external: true })),
};

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
  const returning = code.replace(
    /export\{(.*)\};$/,
    (_, names) => `return{${names.replace(/(\w+) as (\w+)/g, "$2:$1")}}`,
  );
  return `"use strict";${returning === code ? "" : "var sottovoce="}(()=>{${returning}})();`;
}

/** A part and a device of different builds would call each other's functions by wrong names: so the parts ask for this. */
function versionOf(code) {
  return `version_${createHash("sha256").update(code).digest("hex").slice(0, 6)}`;
}

async function bundle(entry, name, options, change = (code) => code) {
  const file = `dist/${name}`;
  await build({ entryPoints: [entry], outfile: file, bundle: true, format: "esm", target: "es2022", ...options });
  const small = await minify(readFileSync(file, "utf8"), {
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
  const module = change(small.code.replace(/\bconst\b/g, "let")); // one word for both; no text of ours has it
  const code = name.endsWith(".classic.js") ? classic(module) : module;
  writeFileSync(file, code);
  const bytes = gzipSync(code, { level: 9 }).length;
  console.log(`${name}: ${bytes} bytes gzipped`);
  if (bytes > LARGEST) throw new Error(`${name} has ${bytes} bytes gzipped; at most ${LARGEST} are promised`);
}

const external = ["./sottovoce.js"];
for (const folder of ["build", "dist"]) rmSync(folder, { recursive: true, force: true });
tsc();
tsc("--emitDeclarationOnly", "--declaration", "--stripInternal", "--outDir", "dist/types");
for (const ending of [".js", ".classic.js"]) {
  let version;
  await bundle("src/index.ts", `sottovoce${ending}`, { plugins: [beside(ending)] }, (code) => {
    version = versionOf(code);
    return code.replace(/ as shared\};$/, ` as ${version}};`);
  });
  for (const part of PARTS) {
    await bundle(`src/${part}.ts`, part + ending, { plugins: [sharing(ending, version)], external });
  }
}
await bundle("src/openfeature/provider.ts", "openfeature.js", { plugins: [asIs], external: ["@openfeature/web-sdk"] });
