/** Parts load themselves where a contract names what they bring: from beside the device's file, and nothing else. */
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { PARTS } from "../scripts/names.mjs";
import { readVectors } from "../scripts/vectors.mjs";

const path = (from) => fileURLToPath(new URL(from, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "parts-"));
after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "package.json"), '{"type": "module"}');

/** Contracts as they are, by their names. */
const [headline, recommend] = ["headline", "recommend"].map((name) =>
  JSON.parse(readVectors("contracts", "python").find(({ what }) => what === `${name} as it is`).given.contract),
);
/** A contract with this mechanism, and one gate of epsilon 1. */
const noisy = (mechanism, delta, numbers) => ({
  ...headline,
  mechanism,
  gates: [{ epsilon: "1.0", delta, numbers }],
  limit: { ...headline.limit, lifetime_delta: "1e-3" },
});
const measuring = [5, 3, 2].map((levels, i) => ({ levels, keep: [57250309, 7747986, 2850325][i], flip: 1048576 }));

/** For each part contracts that are accepted where it can be loaded. */
const NEEDS = {
  delta: [
    noisy("laplace", "0.0", { scales: ["2.1"] }),
    noisy("gaussian", "1e-6", { scales: ["9.0"], formula: "analytic" }),
  ],
  features: [recommend],
  holdout: [{ ...recommend, extensions: { holdout: { share: "0.1", gates: measuring } } }],
  learners: [
    { ...headline, offers: { kind: "tickets", dimension: 1, slopes: true } },
    { ...recommend, offers: { ...recommend.offers, link: { name: "probit" } } },
  ],
};
/** The parts that this contract needs beside. */
const beside = ({ offers }, part) => (offers.kind === "model" && part !== "features" ? ["features"] : []);
const LIMITS = { epsilon: 4, delta: 1e-5, lifetime: 40, lifetimeDelta: 1e-3 };

/** A device that has loaded nothing, in a folder of its own without these files; what it says of a contract. */
let copies = 0;
async function device(...without) {
  const dist = join(folder, `copy-${++copies}`);
  cpSync(path("../build"), dist, { recursive: true });
  for (const part of without) renameSync(join(dist, `${part}.js`), join(dist, `${part}.away`));
  const from = (file) => import(pathToFileURL(join(dist, file)));
  const { accept } = await from("client/terms.js");
  const accepted = (contract, limits = LIMITS) =>
    accept(new TextEncoder().encode(JSON.stringify(contract)), contract.id, limits);
  const arrives = (part) => renameSync(join(dist, `${part}.away`), join(dist, `${part}.js`));
  return { accepted, arrives, from };
}

/** What has been added to registries, by the names of what they hold. */
async function names({ from }) {
  const { shared } = await from("shared.js");
  return shared.filter((one) => typeof one === "object").flatMap(Object.keys);
}

/** What `features.js` adds and is not loaded for: a contract that names it has offers of the kind `model`. */
const WITH_A_MODEL = ["directed", "direction", "identity", "logistic", "poisson"];

test("what a part is loaded for is what it adds to the registries", async () => {
  const one = await device();
  const { PARTS: known } = await one.from("client/parts.js");
  assert.deepEqual(known.map(([, file]) => file).sort(), PARTS.map((part) => `./${part}.js`).sort());
  for (const [brings, file] of known) {
    const before = new Set(await names(one));
    await one.from(file);
    const added = (await names(one)).filter((name) => !before.has(name));
    const loadedFor = added.filter((name) => file !== "./features.js" || !WITH_A_MODEL.includes(name));
    assert.deepEqual(brings.source.match(/\w+/g).sort(), [...new Set(loadedFor)].sort());
    for (const name of loadedFor) assert.match(name, brings);
  }
});

for (const [part, contracts] of Object.entries(NEEDS)) {
  test(`${part}.js is loaded by the contract that needs it, and no other part is`, async () => {
    for (const contract of contracts) {
      const needed = [part, ...beside(contract, part)];
      const { accepted } = await device(...PARTS.filter((other) => !needed.includes(other)));
      const { contract: agreed } = await accepted(contract);
      assert.equal(agreed.id, contract.id);
      await accepted(contract); // once more: nothing is added twice
    }
  });

  test(`without ${part}.js the contract is refused with the name of the file, and can be opened once it is there`, async () => {
    for (const contract of contracts) {
      const { accepted, arrives, from } = await device(part);
      for (const other of beside(contract, part)) await from(`${other}.js`);
      const before = await names({ from });
      const refused = (error) =>
        error.name === "ContractRefused" &&
        error.message.includes(`wanted ./${part}.js`) &&
        /got .+/.test(error.message);
      await assert.rejects(accepted(contract), refused);
      assert.deepEqual(await names({ from }), before);
      arrives(part);
      await accepted(contract);
    }
  });

  test(`a page may import ${part}.js itself, before or after`, async () => {
    for (const contract of contracts) {
      const [before, later] = [await device(), await device()];
      await before.from(`${part}.js`);
      await before.accepted(contract);
      const all = await Promise.all([later.accepted(contract), later.from(`${part}.js`), later.accepted(contract)]);
      assert.equal(all[0].contract.id, contract.id);
    }
  });
}

test("names that no part brings are refused, and nothing is loaded for them", async () => {
  const one = await device(...PARTS); // a part that is asked for is missed
  const withModels = await device(...PARTS.filter((part) => part !== "features"));
  for (const name of [
    "cube",
    "undefined",
    "constructor",
    "__proto__",
    "./learners.js",
    "ball gradient",
    "ball\n",
    "",
  ]) {
    const changed = [
      { ...headline, offers: { ...headline.offers, kind: name } },
      { ...headline, domain: { kind: name } },
      { ...headline, mechanism: name },
      JSON.parse(JSON.stringify(headline).replace('"extensions":{}', `"extensions":{${JSON.stringify(name)}:1}`)),
    ];
    const changedModels = [
      { ...recommend, offers: { ...recommend.offers, model: name } },
      { ...recommend, offers: { ...recommend.offers, link: { name } } },
    ];
    const refused = ({ name, message }) => name === "ContractRefused" && !message.includes("wanted ./");
    for (const contract of changed) await assert.rejects(one.accepted(contract), refused);
    for (const contract of changedModels) await assert.rejects(withModels.accepted(contract), refused);
  }
});

test("what only contracts with a model name loads nothing for others", async () => {
  const one = await device(...PARTS);
  for (const name of WITH_A_MODEL) {
    const refused = ({ message }) => message.includes(`unknown domain "${name}"`);
    await assert.rejects(one.accepted({ ...headline, domain: { kind: name } }), refused);
  }
});

test("a part loads once: a name that it brings as something else is refused", async () => {
  const { accepted } = await device();
  await assert.rejects(
    accepted({ ...headline, mechanism: "ball" }),
    /wanted .\/learners.js for "ball", got unknown mech/,
  );
});

test("a part of another build is refused, because it would call the device by wrong names", async () => {
  const dist = join(folder, "builds");
  cpSync(path("../dist"), dist, { recursive: true });
  const part = readFileSync(join(dist, "features.js"), "utf8");
  const { Device } = await import(pathToFileURL(join(dist, "sottovoce.js")));
  const fetch = async () => new Response(JSON.stringify(recommend));
  const opened = () => Device.open("https://learn.example", recommend.id, { fetch, now: () => 0 });
  writeFileSync(join(dist, "features.js"), part.replace(/version_\w+/, "version_000000"));
  await assert.rejects(
    opened(),
    ({ name, message }) => name === "ContractRefused" && /wanted .\/features.js/.test(message),
  );
});

test("the device with features in it needs no file for them, and loads the other parts", async () => {
  const dist = mkdtempSync(join(folder, "with-features-"));
  for (const file of ["sottovoce.with-features.js", "holdout.js", "learners.js", "delta.js"]) {
    cpSync(path(`../dist/${file}`), join(dist, file));
  }
  const { Device } = await import(pathToFileURL(join(dist, "sottovoce.with-features.js")));
  for (const contract of Object.values(NEEDS).flat()) {
    const fetch = async () => new Response(JSON.stringify(contract)); // whatever is asked
    const device = await Device.open("https://learn.example", contract.id, { fetch, limits: LIMITS, now: () => 0 });
    assert.equal(device.contract.id, contract.id);
    device.close();
  }
});

test("delta.js grants nothing: the owner's limits decide about a delta", async () => {
  const { accepted } = await device();
  await assert.rejects(
    accepted(NEEDS.delta[1], { ...LIMITS, delta: 0 }),
    /wanted a task that asks for at most epsilon 4, delta 0/,
  );
  await accepted(NEEDS.delta[1]);
});

test("a device loads four files and has no other way to load code", () => {
  for (const file of ["sottovoce.js", "sottovoce.classic.js", "sottovoce.with-features.js"]) {
    const code = readFileSync(path(`../dist/${file}`), "utf8");
    const loaded = code.match(/\bimport\b.{0,40}?\)/g);
    assert.deepEqual(loaded.sort(), PARTS.map((part) => `import("./${part}.js")`).sort());
    for (const part of PARTS) assert.ok(existsSync(path(`../dist/${part}.js`)));
    assert.doesNotMatch(code, /\beval\b|\bFunction\(|importScripts|createElement/);
  }
});

test("an app that is bundled has the parts as files of their own, or within", async () => {
  const modules = join(folder, "node_modules");
  cpSync(path("../dist"), join(modules, "sottovoce", "dist"), { recursive: true });
  cpSync(path("../package.json"), join(modules, "sottovoce", "package.json"));
  const contract = NEEDS.learners[0];
  writeFileSync(join(folder, "app.js"), `import { Device } from "sottovoce"; export { Device };`);
  for (const splitting of [true, false]) {
    const outdir = join(folder, `bundled-${splitting}`);
    const options = { bundle: true, format: "esm", splitting, outdir, metafile: true, logLevel: "silent" };
    const { metafile, warnings } = await build({ entryPoints: [join(folder, "app.js")], ...options });
    assert.deepEqual(warnings, []);
    const files = Object.keys(metafile.outputs).map((file) => file.split("/").pop());
    assert.equal(
      PARTS.every((part) => files.some((file) => file.startsWith(`${part}-`))),
      splitting,
    );
    const { Device } = await import(pathToFileURL(join(outdir, "app.js")));
    const served = async () => new Response(JSON.stringify(contract)); // whatever is asked
    const opened = await Device.open("https://learn.example", contract.id, { fetch: served, now: () => 0 });
    assert.equal(opened.contract.offers.slopes, true);
    opened.close();
  }
});
