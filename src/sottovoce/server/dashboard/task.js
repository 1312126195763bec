// One task: is it learning, what came, what it costs a person. No raw data exists to show.

import { bars, figure, ranges } from "./charts.js";
import { count, folded, make, pairs, percent, short, table, tick, whole } from "./dom.js";
import { history, refusals } from "./history.js";

const MEANING = {
  "bad-permit": "its permit or ticket was not issued for it",
  "expired-permit": "its permit or ticket was too old",
  "bad-gate": "it names a gate that the contract does not have",
  "bad-payload": "its bytes are no report of this task",
  "unknown-version": "it answers a model that is too old or unknown",
  "task-paused": "the task was paused; devices keep it and try later",
  "task-expired": "the task was over",
  "task-done": "the task had its answer",
};

const card = (title, size, ...children) =>
  make("section", { class: `card ${size}` }, make("h2", {}, title), ...children);
const tile = (title, number, unit) =>
  make(
    "section",
    { class: "card quarter" },
    make("h2", {}, title),
    make("p", { class: "number" }, number),
    make("p", { class: "quiet" }, unit),
  );

/** The whole view of a task; `act(verb)` changes its status, if the token may; `redraw()` draws it again. */
export function view(task, act, redraw) {
  return [
    heading(task, act),
    make(
      "div",
      { class: "grid" },
      task.alarms.map(alarm),
      verdict(task),
      gain(task.summary?.gain),
      tiles(task),
      learned(task),
      card("Reports over time", "", ...history(task.history, task.now, redraw), ...refused(task)),
      costs(task),
      actions(task),
      facts(task),
    ),
  ];
}

function heading({ line, summary }, act) {
  const { id, mode, state } = line.status;
  const button = (verb, word) => make("button", { id: `do-${verb}`, type: "button", click: () => act(verb) }, word);
  const word = state === "open" ? mode : state;
  const closed = state === "expired" || state === "done";
  return make(
    "div",
    { class: "head" },
    make("h1", {}, line.title || id),
    make("span", { class: `pill ${word}` }, word),
    make("span", { class: "quiet" }, id),
    act &&
      make(
        "div",
        { class: "row" },
        !closed && (state === "paused" ? button("resume", "Resume") : button("pause", "Pause")),
        mode === "apprentice" && button("promote", "Let it choose"),
        summary?.learned > 0 && button("rollback", "Roll back"),
      ),
  );
}

const alarm = ({ name, sentence }) =>
  make("section", { class: "card alarm", role: "alert" }, make("h2", {}, `Alarm: ${name}`), make("p", {}, sentence));

function verdict({ learning, because, expected }) {
  const kind = learning === "no" ? "no" : learning.startsWith("not") ? "not" : "";
  return card(
    "Is it learning?",
    "",
    make(
      "div",
      { class: "verdict" },
      make("strong", { class: kind }, capital(learning)),
      make("p", {}, whole(because)),
    ),
    expected
      ? make("p", { class: "quiet" }, `${capital(expected)} reports.`)
      : make(
          "p",
          { class: "quiet" },
          "No prediction was stored. The command ",
          make("code", {}, "sottovoce task create"),
          " makes one, before the first report.",
        ),
  );
}

/** The gain over a baseline, where the task measures it; the numbers are null until there are reports of both. */
function gain(found) {
  if (!found) return null;
  const number = (value) => (typeof value === "number" ? short(value) : "-");
  const known = typeof found.difference === "number";
  const range =
    typeof found.low === "number"
      ? `; between ${number(found.low)} and ${number(found.high)} with ${percent(found.confidence ?? 0.95)} confidence at every time at once`
      : "";
  const rows = [
    ["learned choice", number(found.choice), count(found.choice_reports ?? 0)],
    ["baseline", number(found.baseline), count(found.baseline_reports ?? 0)],
  ];
  return card(
    "Gain over the baseline",
    "",
    make(
      "p",
      { class: "number" },
      known ? `${found.difference > 0 ? "+" : ""}${number(found.difference)}` : "Not known yet",
    ),
    make(
      "p",
      { class: "quiet" },
      whole(`reward a person, in the units of the task${range}. Both means are measured privately.`),
    ),
    folded("gain-table", "Table of the gain", table(["people who got the", "mean reward", "reports"], rows)),
  );
}

function tiles({ line, horizon, summary, history: counted }) {
  const refusedReports = Object.values(refusals(counted)).reduce((sum, reports) => sum + reports, 0);
  const warm = summary?.warm ?? 0;
  return [
    tile("Private reports", count(line.reports), `of about ${count(horizon)} expected`),
    tile("Learner is behind", count(line.behind), "reports that are not learned from yet"),
    tile("Refused", count(refusedReports), "reports, in the time that is kept"),
    tile(
      "Rows without noise",
      count(warm),
      warm ? "rows of public or consented data: not private" : "rows: everything learned is private",
    ),
  ];
}

function learned({ summary, ranges: found, coefficients, reward_low, reward_high }) {
  if (coefficients.length) return model(summary, coefficients);
  if (!summary?.estimates.length) return null;
  const rows = summary.estimates.map((row, place) => ({ ...row, range: found[place] }));
  const cells = rows.map((row) => [
    row.action,
    row.reward === null ? "-" : short(row.reward),
    row.range ? `${short(row.range.low)} to ${short(row.range.high)}` : "-",
    count(row.reports),
    percent(row.share),
  ]);
  return [
    card(
      "Mean reward of each action",
      "half",
      figure((width) => ranges(width, rows, reward_low, reward_high)),
      make(
        "p",
        { class: "key" },
        make("span", {}, "estimate"),
        make("span", { class: "band" }, "range"),
        `reward from ${tick(reward_low)} to ${tick(reward_high)}, larger is better; each range holds with 95\u00a0% confidence at every time at once`,
      ),
      folded(
        "estimates-table",
        "Table of actions",
        table(["action", "mean reward", "95 %, at all times", "reports", "share of offers"], cells),
      ),
    ),
    card(
      "Share of offers now",
      "half",
      figure((width) =>
        bars(
          width,
          rows.map((row) => ({ name: row.action, value: row.share })),
          "Share of the offers that are made now",
        ),
      ),
      make("p", { class: "key" }, "percent of the offers made since the newest publication"),
    ),
  ];
}

function model(summary, coefficients) {
  const changes = summary.changes ? ` Changes found in the world: ${count(summary.changes)}.` : "";
  return card(
    "What the newest model says",
    "",
    make(
      "p",
      {},
      `Published after ${count(summary.published)} reports and rows, version ${summary.version.slice(0, 8)}.${changes}`,
    ),
    figure((width) =>
      bars(
        width,
        coefficients.map(({ name, worth }) => ({ name, value: worth })),
        "Weight of each feature in the newest model",
        short,
      ),
    ),
    make(
      "p",
      { class: "key" },
      "weight of a feature, without a unit: to the right speaks for an action, to the left against it",
    ),
    folded(
      "model-table",
      "Table of weights",
      table(
        ["feature", "weight (no unit)"],
        coefficients.map(({ name, worth }) => [name, short(worth)]),
      ),
    ),
  );
}

function refused({ history: counted }) {
  const rows = Object.entries(refusals(counted)).sort(([, a], [, b]) => b - a);
  return [
    make("h3", {}, "Refused reports, by reason"),
    rows.length
      ? table(
          ["reason", "what it means", "reports"],
          rows.map(([verdict, reports]) => [verdict, MEANING[verdict] ?? "", count(reports)]),
          2,
        )
      : make("p", { class: "quiet" }, "No report was refused in the time that is kept."),
  ];
}

function costs(task) {
  return make(
    "section",
    { class: "card raw" },
    make("h2", {}, "What one person spends at most"),
    pairs(task.costs),
    make(
      "p",
      { class: "below" },
      make("strong", {}, "No raw data exists to show. "),
      "What people did stays on their devices. The server has private reports; every figure here counts them or is computed from them.",
    ),
  );
}

/** The newest things that somebody did with it. */
function actions({ actions: done }) {
  const when = (seconds) => new Date(1000 * seconds).toISOString().slice(0, 16).replace("T", " ");
  return card(
    "What was done",
    "",
    done.length
      ? table(
          ["when (UTC)", "token", "what"],
          done.map(({ time, token, sentence }) => [when(time), token, sentence]),
          3,
        )
      : make("p", { class: "quiet" }, "Nothing has been written down yet."),
  );
}

const facts = (task) => card("The task", "", folded("facts", "All facts", pairs(task.facts)));
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
