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
import { INTERNAL, PARTS, PUBLIC, SHARED, SHARING, variables } from "./names.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

/** Bytes of the device's module, gzipped; docs/browser.md says it. */
const LARGEST = 13_100;

/** Takes it from the module, or from the global name of the classic script. */
const sharing = (format) => ({
  name: "sharing",
  setup({ onResolve, onLoad }) {
    const taken =
      format === "esm"
        ? `import { ${PUBLIC} } from "./sottovoce.js";\nexport { ${PUBLIC} };`
        : `export const { ${PUBLIC} } = sottovoce;`;
    onResolve({ filter: SHARED }, () => ({ path: "sottovoce", namespace: "shared" }));
    onLoad({ filter: /./, namespace: "shared" }, () => ({
      contents: `${taken}\nexport const { ${SHARING} } = shared;`,
    }));
  },
});

/** The device loads its parts from beside its own file: from the classic script, their classic scripts. */
const beside = (ending) => ({
  name: "beside",
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\/client\/parts\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll(/(?<=(delta|holdout|learners))\.js"/g, `${ending}"`),
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

async function bundle(entry, name, format, options = {}) {
  const file = `dist/${name}`;
  await build({ entryPoints: [entry], outfile: file, bundle: true, format, target: "es2022", ...options });
  const small = await minify(readFileSync(file, "utf8"), {
    module: format === "esm",
    mangle: { properties, nth_identifier: variables() },
    ecma: 2020,
    compress: {
      passes: 6,
      unsafe_arrows: true,
      hoist_funs: true,
      pure_getters: true,
      sequences: false,
      inline: 2,
      lhs_constants: false,
    },
  });
  const code = small.code.replace(/\bconst\b/g, "let"); // one word for both; no text of ours has it
  writeFileSync(file, code);
  const bytes = gzipSync(code, { level: 9 }).length;
  console.log(`${name}: ${bytes} bytes gzipped`);
  return bytes;
}

for (const folder of ["build", "dist"]) rmSync(folder, { recursive: true, force: true });
tsc();
tsc("--emitDeclarationOnly", "--declaration", "--outDir", "dist/types");
const bytes = await bundle("src/index.ts", "sottovoce.js", "esm", { plugins: [beside(".js")] });
await bundle("src/index.ts", "sottovoce.classic.js", "iife", {
  globalName: "sottovoce",
  plugins: [beside(".classic.js")],
});
const external = ["./sottovoce.js"];
for (const part of PARTS) {
  await bundle(`src/${part}.ts`, `${part}.js`, "esm", { plugins: [sharing("esm")], external });
  await bundle(`src/${part}.ts`, `${part}.classic.js`, "iife", { plugins: [sharing("iife")] });
}
await bundle("src/openfeature/provider.ts", "openfeature.js", "esm", {
  plugins: [asIs],
  external: ["@openfeature/web-sdk"],
});
if (bytes > LARGEST) throw new Error(`sottovoce.js has ${bytes} bytes gzipped; at most ${LARGEST} are promised`);
