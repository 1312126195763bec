/** The golden vectors of both languages, and the bytes that were written down by hand. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { textOf } from "../scripts/golden.mjs";
import { agree, answer, FOLDER, fromHex, readVectors, SIDES, TOLERANCE, TOPICS, written } from "../scripts/vectors.mjs";
import "../build/learners.js";
import { pair } from "../build/privacy/codebook.js";
import { domainFrom } from "../build/privacy/domains/index.js";
import { privatise } from "../build/privacy/drawing.js";
import { mechanismFrom } from "../build/privacy/mechanisms.js";
import { fromText, toHex, toText } from "../build/protocol/codec.js";
import { toUnit } from "../build/protocol/contract.js";
import { purposeOf } from "../build/protocol/holdout.js";
import { coinOf, commitmentOf } from "../build/protocol/permits.js";

const byHand = (name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));

for (const topic of TOPICS) {
  for (const side of SIDES) {
    test(`${topic}: TypeScript gives what ${side} wrote down`, async () => {
      for (const { what, given, gives } of readVectors(topic, side)) {
        const found = await answer(topic, given);
        assert.ok(agree(found, gives, TOLERANCE[topic] ?? 0), `${what}: ${JSON.stringify({ found, gives })}`);
      }
    });
  }

  test(`${topic}: the file of TypeScript's half is what its script makes`, async () => {
    assert.equal(readFileSync(new URL(`${topic}.typescript.json`, FOLDER), "utf8"), await textOf(topic));
  });
}

test("an answer that differs by one byte or one digit is seen", async () => {
  const [{ given, gives }] = readVectors("mechanisms", "python");
  assert.ok(!agree(await answer("mechanisms", given), { ...gives, report: "ff" + gives.report.slice(2) }, 1e-12));
  assert.ok(!agree({ message: [0.1] }, { message: [0.1 + 1e-11] }, 1e-12));
  assert.ok(!agree({ message: [0.1] }, { message: [0.1, 0.1] }, 1e-12));
});

/** What was asked for and given, as the bytes that a device would have taken. */
function bytesOfScript(script) {
  const parts = script.map((line) => {
    if ("octets" in line) return ""; // the coin, which a live device gets from its permit
    const bits = BigInt(line.below).toString(2).length;
    const bytes = Math.ceil(bits / 8);
    return (BigInt(line.gives) << BigInt(8 * bytes - bits)).toString(16).padStart(2 * bytes, "0");
  });
  return parts.join("");
}

for (const { what, mechanism, domain, epsilon, delta, numbers, datum, entropy, report } of byHand("reports.json")) {
  test(`bytes written down by hand: ${what}`, () => {
    const declared = domainFrom(domain);
    const built = mechanismFrom(mechanism, declared, { epsilon, delta }, numbers);
    const random = written(bytesOfScript(entropy));
    const coin = fromHex(entropy.find((line) => "octets" in line)?.gives ?? "");
    assert.equal(toHex(coin) + toHex(privatise(built, declared.embed(...datum), random, coin)), report);
    assert.equal(random.used, bytesOfScript(entropy).length / 2);
  });
}

for (const { what, nonce, commitment, permit, coin, candidates } of byHand("permits.json")) {
  test(`permits written down by hand: ${what}`, async () => {
    assert.equal(toText(await commitmentOf(fromText(nonce))), commitment);
    assert.equal(toHex(await coinOf(fromText(permit), fromText(nonce))), coin);
    const [first, , second] = candidates;
    assert.deepEqual([...pair(fromHex(coin), 0, first.length)], first);
    assert.deepEqual([...pair(fromHex(coin), 1, first.length)], second);
  });
}

test("coins on both sides of every limit of a holdout, written down by hand", () => {
  for (const { coin, share, purpose } of byHand("holdout.json").purposes) {
    assert.equal(purposeOf(fromHex(coin), Number(share)), purpose);
  }
});

for (const { what, permit, nonce, coin, share, purpose, ...report } of byHand("holdout.json").reports) {
  if (purpose === "learning") continue;
  test(`reports that measure, written down by hand: ${what}`, async () => {
    const { unit_low: low, unit_high: high } = report.reward;
    const found = await coinOf(fromText(permit), fromText(nonce));
    assert.deepEqual([toHex(found), purposeOf(found, Number(share))], [coin, purpose]);
    const domain = domainFrom({ kind: "interval", low, high });
    const built = mechanismFrom("levels", domain, { epsilon: report.epsilon, delta: 0 }, report.numbers);
    const message = domain.embed(toUnit(report.reward, report.observed));
    assert.deepEqual(message, report.message);
    const drawn = privatise(built, message, written(bytesOfScript(report.entropy)), found);
    const padded = [...drawn, ...Array(report.report_size - drawn.length).fill(0)];
    assert.equal(toText(Uint8Array.from(padded)), report.payload);
  });
}
