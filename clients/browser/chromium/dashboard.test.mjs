/** The dashboard as a person uses it: with a keyboard, in light and dark, on a desk and on a phone. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { admin, arms, browser, model, server, until } from "./harness.mjs";

const { SOTTOVOCE_ADMIN_TOKEN: token, SOTTOVOCE_READ_TOKEN: readToken } = process.env;
const FILE = (id) => `id = "${id}"
learner = "kl-ucb"
actions = ["a", "b"]
horizon = 1000
expires = 2099-12-31
[privacy]
epsilon = 2.0
`;

/** So many reports of a task with tickets. */
async function reports(id, count) {
  const post = (route, body) =>
    fetch(`${server}/v1/tasks/${id}/${route}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }).then((answer) => answer.json());
  const nonces = Array.from({ length: count }, () => randomBytes(12));
  const commitments = nonces.map((nonce) => createHash("sha256").update(nonce).digest("base64url"));
  const { offers } = await post("offers", { commitments });
  const made = offers.map(({ ticket }, i) => ({
    ticket,
    nonce: nonces[i].toString("base64url"),
    gate: 0,
    payload: "AA",
  }));
  await post("reports", { reports: [...made, { ...made[0], gate: 9 }] });
}

/** The dashboard in a window of its own; `wrong` gathers what must not happen. */
async function dashboard(hash, { signIn = token, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (said) => ["error", "warning"].includes(said.type()) && wrong.push(said.text()));
  page.on("request", (request) => request.url().startsWith(`${server}/`) || wrong.push(request.url()));
  await page.goto(`${server}/dashboard#${hash}`);
  if (signIn) {
    await page.keyboard.type(signIn); // the field has the focus
    await page.keyboard.press("Enter");
  }
  return { context, page, wrong };
}

/** Press Tab until this element has the focus. */
async function reach(page, id) {
  for (let i = 0; i < 60; i++) {
    if (await page.evaluate((id) => document.activeElement?.id === id, id)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`${id} cannot be reached with a keyboard`);
}

/** In the page: texts whose contrast with what is behind them is below 4.5. */
function faint() {
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = numbers(colour).map((part) =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const { backgroundColor } = getComputedStyle(one);
      if (numbers(backgroundColor)[3] !== 0) return backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const [one, other] = [light(element.closest("svg") ? style.fill : style.color), light(behind(element))].sort(
      (a, b) => b - a,
    );
    if ((one + 0.05) / (other + 0.05) < 4.5) found.push(walk.currentNode.data.trim());
  }
  return found;
}

test("a wrong token is refused, the right one is kept for the tab alone, and signing out forgets it", async () => {
  await arms();
  const { context, page, wrong } = await dashboard("", { signIn: false });
  await page.keyboard.type("wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("not the token").waitFor();
  assert.equal(wrong.splice(0).filter((said) => !said.includes("401")).length, 0);
  await page.keyboard.type(token);
  await page.keyboard.press("Enter");
  await page.locator("h1 + .pill").waitFor();
  const kept = () => page.evaluate(() => [Object.values(sessionStorage), Object.keys(localStorage), document.cookie]);
  assert.deepEqual(await kept(), [[token], [], ""]);
  await page.reload();
  await page.locator("h1 + .pill").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Admin token").waitFor();
  assert.deepEqual(await kept(), [[], [], ""]);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a task is shown in light and dark, on a desk and on a phone, and can be read", async () => {
  const title = "<img src=x onerror=alert(1)> & more";
  const [id, other] = [await arms({ title, publish_every: 20 }), await model()];
  await reports(id, 60);
  await until(async () => (await (await admin("GET", `/v1/tasks/${id}/summary`)).json()).published === 60);
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      const { context, page, wrong } = await dashboard(`task/${id}`, { colorScheme, viewport: { width, height: 800 } });
      await page.getByRole("heading", { name: title, exact: true }).waitFor(); // as text
      await page.getByRole("img", { name: /^Mean reward of each action\. a: .* to / }).waitFor();
      await page.getByRole("img", { name: /60 accepted, 1 refused/ }).waitFor();
      await page.getByText("No raw data exists to show").waitFor();
      await page.getByRole("cell", { name: "bad-gate" }).waitFor();
      await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
      assert.deepEqual(await page.evaluate(faint), []);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
      const cut = (all) => all.filter((one) => one.scrollWidth > one.clientWidth).length;
      assert.equal(await page.locator(".scroll").evaluateAll(cut), 0); // no table has columns out of sight
      await page.goto(`${server}/dashboard#task/${other}`);
      await page.getByRole("img", { name: /^Weight of each feature/ }).waitFor();
      assert.deepEqual(wrong, []);
      await context.close();
    }
  }
});

test("everything can be done with a keyboard, and what cannot be undone is asked first", async () => {
  const id = await model({ mode: "apprentice" });
  const status = async () => (await admin("GET", `/v1/tasks/${id}`)).json();
  const { context, page, wrong } = await dashboard(`task/${id}`);
  await page.locator("#do-promote").waitFor();
  await reach(page, "do-pause");
  await page.keyboard.press("Enter");
  await until(async () => (await status()).state === "paused");
  await page.locator("#do-resume").waitFor();
  await reach(page, "do-resume");
  await page.keyboard.press("Space");
  await until(async () => (await status()).state === "open");
  for (const [answer, mode] of [
    ["Escape", "apprentice"],
    ["Enter", "live"],
  ]) {
    await reach(page, "do-promote");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Let it choose?" });
    await dialog.getByText("It is not known whether what was learned is better").waitFor();
    if (answer === "Enter") await reach(page, "question-yes");
    await page.keyboard.press(answer);
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await until(async () => (await status()).mode === mode);
  }
  await page.locator("#do-promote").waitFor({ state: "detached" });
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a token that may only look sees everything, what was done too, and no button that changes anything", async () => {
  const id = await arms();
  await admin("POST", `/v1/tasks/${id}/pause`);
  const { context, page, wrong } = await dashboard(`task/${id}`, { signIn: readToken });
  await page.getByText("robot: may look, not change").waitFor();
  await page.getByText("No raw data exists to show").waitFor();
  for (const what of ["created, contract", "paused"]) await page.getByRole("cell", { name: what }).waitFor();
  const buttons = await page.getByRole("button").allTextContents();
  assert.deepEqual(
    buttons.filter((one) => /Pause|Resume|Let it|Roll|New|Create|Check/.test(one)),
    [],
  );
  assert.equal(await page.getByText("New task").count(), 0);
  await page.goto(`${server}/dashboard#new`);
  await page.getByText("needs a token with the role operate").waitFor();
  assert.deepEqual(wrong, []);
  await context.close();
});

test("a task is rolled back to as many reports as one asks for", async () => {
  const id = await arms();
  const summary = async () => (await admin("GET", `/v1/tasks/${id}/summary`)).json();
  await reports(id, 30);
  await until(async () => (await summary()).learned === 30);
  const { context, page } = await dashboard(`task/${id}`);
  for (const [amount, heading] of [
    ["31", "It was not done"],
    ["12", null],
  ]) {
    await page.locator("#do-rollback").click();
    await page.getByText(/It goes back at once to .*0; to any other number/).waitFor();
    await page.getByLabel("Reports to keep").fill(amount);
    await page.locator("#question-yes").click();
    if (heading) await page.getByRole("dialog", { name: heading }).waitFor();
    if (heading) await page.keyboard.press("Escape");
  }
  await until(async () => (await summary()).left_out === 18);
  assert.equal((await summary()).learned, 12);
  await context.close();
});

test("a task is created from its file after the same checks as on the command line", async () => {
  const { context, page } = await dashboard("new");
  const id = `page-${process.pid}`;
  await page.locator("#task-text").fill(FILE(id).replace("learner", "lerner"));
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("did you mean learner?").waitFor();
  await page.locator("#task-choose").setInputFiles({ name: "task.toml", mimeType: "", buffer: Buffer.from(FILE(id)) });
  await page.locator("#task-check").click();
  await page.getByText("an even guess is right in at most").first().waitFor();
  assert.equal((await fetch(`${server}/v1/tasks/${id}`)).status, 404); // nothing is created yet
  await page.locator("#task-create").click();
  await page.locator("#question-yes").click();
  await page.getByRole("heading", { name: id, exact: true }).waitFor();
  assert.equal((await fetch(`${server}/v1/tasks/${id}`)).status, 200);
  await context.close();
});
