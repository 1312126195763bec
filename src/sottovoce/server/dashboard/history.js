// Reports over time: from the server's counts to columns of hours or days.

import { figure, overTime } from "./charts.js";
import { count, folded, make, table } from "./dom.js";

const HOUR = 3600;
const DAY = 24 * HOUR;
const VIEWS = {
  hours: { length: HOUR, most: 48, least: 12, word: "hour" },
  days: { length: DAY, most: 90, least: 14, word: "day" },
};
let view = "hours";

const local = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const localDay = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
const utcDay = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** The counts of each verdict but duplicates, added up. */
export function refusals(history) {
  const found = {};
  for (const { verdicts } of history)
    for (const [verdict, reports] of Object.entries(verdicts))
      if (verdict !== "accepted") found[verdict] = (found[verdict] ?? 0) + reports;
  return found;
}

function slots(history, now) {
  const { length, most, least } = VIEWS[view];
  const last = Math.floor(now / length);
  const first = Math.min(...history.map(({ start }) => Math.floor(start / length)), last);
  const from = Math.max(last - most + 1, Math.min(first, last - least + 1));
  const found = Array.from({ length: last - from + 1 }, (_, place) => slot((from + place) * length));
  for (const { start, verdicts } of history) {
    const place = found[Math.floor(start / length) - from];
    if (!place) continue;
    for (const [verdict, reports] of Object.entries(verdicts))
      place[verdict === "accepted" ? "accepted" : "refused"] += reports;
  }
  return found;
}

function slot(start) {
  const time = new Date(1000 * start);
  const hours = view === "hours";
  return {
    accepted: 0,
    refused: 0,
    tick: (hours ? local : utcDay).format(time),
    label: (hours ? localDay : utcDay).format(time).replaceAll(" ", "\u00a0"),
  };
}

/** The chart, its table and the choice between hours and days. */
export function history(counted, now, redraw) {
  const { most, word } = VIEWS[view];
  const found = slots(counted, now);
  const all = (kind) => found.reduce((sum, one) => sum + one[kind], 0);
  const busiest = found.reduce((best, one) => (one.accepted > best.accepted ? one : best));
  const text = `Reports by ${word}, the last ${most} ${word}s at most: ${count(all("accepted"))} accepted, ${count(all("refused"))} refused. Most in one ${word}: ${count(busiest.accepted)}, ${busiest.label}.`;
  const choose = (name) =>
    make(
      "button",
      {
        id: `by-${name}`,
        type: "button",
        "aria-pressed": String(view === name),
        class: view === name && "strong",
        click: () => {
          view = name;
          redraw();
        },
      },
      `By ${VIEWS[name].word}`,
    );
  const rows = found.filter((one) => one.accepted + one.refused).reverse();
  return [
    make("div", { class: "row" }, choose("hours"), choose("days")),
    figure((width) => overTime(width, found, text)),
    make(
      "p",
      { class: "key" },
      make("span", {}, "accepted"),
      make("span", { class: "refused" }, "refused"),
      `reports by ${word}; ${view === "hours" ? "in your local time; hours are kept for two days, then days" : "days in UTC"}`,
    ),
    folded(
      "history-table",
      "Table of these reports",
      table(
        [word, "accepted (reports)", "refused (reports)"],
        rows.map((one) => [one.label, count(one.accepted), count(one.refused)]),
      ),
    ),
  ];
}
