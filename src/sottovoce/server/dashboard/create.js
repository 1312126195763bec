// A new task from a file: checked by the server first, shown in words, and created only after a confirmation.

import { make, pairs } from "./dom.js";
import { check, create } from "./server.js";

/** The form; `confirm(question)` asks, `created(id)` goes on. */
export function view(confirm, created) {
  const text = make("textarea", {
    id: "task-text",
    spellcheck: "false",
    required: true,
    "aria-describedby": "task-help",
  });
  const chosen = make("input", {
    id: "task-choose",
    type: "file",
    accept: ".toml,application/toml,text/plain",
    change: async () => {
      if (chosen.files[0]) text.value = await chosen.files[0].text();
    },
  });
  const outcome = make("div", { role: "status" });
  const button = make("button", { id: "task-check", class: "strong" }, "Check this task");
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    outcome.replaceChildren(make("p", { class: "quiet" }, "Checking…"));
    await check(text.value).then(
      (found) => outcome.replaceChildren(...proposal(found, confirm, created, outcome)),
      (refusal) => show(outcome, refusal),
    );
    button.disabled = false;
  };
  return [
    make("div", { class: "head" }, make("h1", {}, "New task")),
    make(
      "form",
      { class: "card", submit },
      make(
        "p",
        { id: "task-help", class: "quiet" },
        "A task file in TOML, as ",
        make("code", {}, "sottovoce init task.toml"),
        " writes it. The server makes the same checks as the command line, which also stores a prediction; this page does not.",
      ),
      make("label", { for: "task-choose" }, "Choose a file"),
      chosen,
      make("label", { for: "task-text", class: "below" }, "or paste it"),
      text,
      make("div", { class: "row" }, button),
      outcome,
    ),
  ];
}

function show(outcome, refusal) {
  outcome.replaceChildren(make("p", { class: "error", role: "alert" }, refusal.message));
}

function proposal({ file, costs }, confirm, created, outcome) {
  const send = async () => {
    const sure = await confirm({
      heading: `Create ${file.id}?`,
      text: "Devices will join this very contract, and it cannot be changed or deleted afterwards. A change needs a new id.",
      word: "Create it",
    });
    if (sure)
      await create(file).then(
        () => created(file.id),
        (refusal) => show(outcome, refusal),
      );
  };
  return [
    make("h2", { class: "below" }, `${file.title || file.id}: nothing is wrong with it`),
    make(
      "p",
      {},
      `Learner ${file.learner}, about ${file.horizon.toLocaleString("en")} reports expected, open until ${file.expires}, starts ${file.mode === "live" ? "live" : "as an apprentice"}. What one person spends at most:`,
    ),
    pairs(costs),
    make(
      "div",
      { class: "row" },
      make("button", { id: "task-create", type: "button", class: "strong", click: send }, `Create ${file.id}`),
    ),
  ];
}
