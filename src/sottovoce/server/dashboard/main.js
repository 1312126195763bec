// Signing in, the list of tasks, and which of them is shown. The address says which: #task/ID or #new.

import * as creating from "./create.js";
import { count, make, replace } from "./dom.js";
import { Refusal, change, lines, overview, rollBack, snapshots, token } from "./server.js";
import * as task from "./task.js";

const SECONDS = 5;
const view = document.getElementById("view");
const list = document.getElementById("tasks");
const freshness = document.getElementById("freshness");
const leave = document.getElementById("leave");
const who = document.getElementById("who");
const ONLY_LOOKS = "Your token may look and not change anything. A new task needs a token with the role operate.";
let shown = "";

// --- signing in ---------------------------------------------------------------------------------------------------

function signIn(message = "") {
  token.clear();
  shown = "";
  list.hidden = leave.hidden = true;
  freshness.textContent = who.textContent = "";
  const field = make("input", { id: "token", type: "password", autocomplete: "current-password", required: true });
  const submit = async (event) => {
    event.preventDefault();
    if (!/^[\x21-\x7e]+$/.test(field.value)) return signIn("A token has no spaces and plain letters only.");
    token.set(field.value);
    await refresh();
  };
  view.replaceChildren(
    make(
      "form",
      { class: "card narrow", submit },
      make("h1", {}, "Dashboard"),
      make(
        "p",
        { class: "quiet" },
        "A token of this server: SOTTOVOCE_ADMIN_TOKEN, or one that “sottovoce token new” has made. It is kept for this tab until you close it.",
      ),
      make("label", { for: "token" }, "Admin token"),
      field,
      make("div", { class: "row" }, make("button", { class: "strong" }, "Sign in")),
      message && make("p", { class: "error", role: "alert" }, message),
    ),
  );
  field.focus();
}

// --- what is shown ------------------------------------------------------------------------------------------------

const wanted = (tasks) => {
  const [kind, id] = decodeURIComponent(location.hash.slice(1)).split("/");
  if (kind === "new" || !tasks.length) return { kind: "new" };
  return { kind: "task", id: kind === "task" && tasks.some((one) => one.status.id === id) ? id : tasks[0].status.id };
};

async function refresh() {
  if (!token.get()) return signIn();
  try {
    const { tasks, token: name, role } = await lines();
    const operates = role === "operate";
    const { kind, id } = wanted(tasks);
    const found = kind === "task" ? await overview(id) : null;
    list.hidden = leave.hidden = false;
    who.textContent = `token ${name}` + (operates ? "" : ": may look, not change");
    replace(list, ...listed(tasks, kind, id, operates));
    if (found) draw(id, found, operates);
    else if (shown !== "new")
      view.replaceChildren(
        ...(operates ? creating.view(ask, (made) => (location.hash = `task/${made}`)) : [make("p", {}, ONLY_LOOKS)]),
      );
    shown = kind === "task" ? id : kind;
    freshness.textContent = `As of ${new Date().toLocaleTimeString("en-GB")}`;
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    if (refusal.status === 401 || refusal.status === 403)
      signIn(refusal.status === 401 ? "This is not the token of this server." : refusal.message);
    else freshness.textContent = `${refusal.message} Trying again.`;
  }
}

function draw(id, found, operates) {
  const redraw = () => draw(id, found, operates);
  replace(view, ...task.view(found, operates && ((verb) => act(id, verb)), redraw));
}

function listed(tasks, kind, id, operates) {
  const link = (target, current, ...inside) =>
    make("a", { id: `to-${target}`, href: `#${target}`, "aria-current": current && "page" }, ...inside);
  const item = ({ status, title, reports, alarms }) =>
    make(
      "li",
      {},
      link(
        `task/${status.id}`,
        kind === "task" && status.id === id,
        title || status.id,
        make(
          "span",
          { class: "quiet" },
          `${status.state === "open" ? status.mode : status.state}, ${count(reports)} reports`,
        ),
        alarms > 0 && make("span", { class: "quiet bad" }, alarms === 1 ? "1 alarm" : `${alarms} alarms`),
      ),
    );
  const create = operates && make("li", {}, link("new", kind === "new", "+ New task"));
  return [make("ul", {}, tasks.map(item), create)];
}

// --- what is done -------------------------------------------------------------------------------------------------

const QUESTIONS = {
  promote: {
    heading: "Let it choose?",
    known: async (id) => (await overview(id)).promotion,
    text: "From now on devices choose by what was learned. A task that is live cannot become an apprentice again.",
    word: "Let it choose",
  },
  rollback: {
    heading: "Roll back?",
    text: "The task goes back to what it had learned from so many reports. What came later until now stays in the journal and is learned from no more. This cannot be undone.",
    known: async (id) => {
      const kept = (await snapshots(id)).snapshots.map(({ learned }) => count(learned));
      return kept.length
        ? `It goes back at once to ${kept.join("; ")}; to any other number it reads reports again.`
        : "";
    },
    word: "Roll back",
    amount: "Reports to keep",
  },
};

async function act(id, verb) {
  const question = QUESTIONS[verb];
  try {
    const answer = question
      ? await ask({ ...question, text: `${question.text}\n\n${await question.known(id)}` })
      : true;
    if (answer === false) return;
    await (verb === "rollback" ? rollBack(id, answer) : change(id, verb));
  } catch (refusal) {
    await ask({ heading: "It was not done", text: refusal.message, word: "Close" });
  }
  await refresh();
}

/** Ask in a dialog: false for no, which Escape is too; else true, or the number where an amount is asked for. */
function ask({ heading, text, word, amount }) {
  const [dialog, title, said, yes, no, place, number] = [
    "",
    "-heading",
    "-text",
    "-yes",
    "-no",
    "-amount",
    "-number",
  ].map((name) => document.getElementById(`question${name}`));
  [title.textContent, said.textContent, yes.textContent] = [heading, text, word];
  place.hidden = !amount;
  place.firstChild.textContent = amount ?? "";
  number.value = "";
  yes.onclick = () => (amount && !(number.value && number.checkValidity()) ? number.focus() : dialog.close("yes"));
  no.onclick = () => dialog.close("");
  dialog.returnValue = "";
  dialog.showModal();
  (amount ? number : no).focus();
  return new Promise((answer) => {
    dialog.onclose = () => answer(dialog.returnValue === "yes" && (!amount || Number(number.value)));
  });
}

leave.addEventListener("click", () => signIn());
addEventListener("hashchange", async () => {
  await refresh();
  view.focus();
});
setInterval(() => {
  if (!document.hidden && token.get() && !document.querySelector("dialog[open]")) refresh();
}, 1000 * SECONDS);
refresh();
