// Charts as SVG, drawn for the width that there is. Each has a text that says the same, and a table stands under it.

import { count, draw, percent, short, tick } from "./dom.js";

const ROW = 42;
const AXIS = 24;

function chart(width, height, text, ...shapes) {
  return draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": text }, ...shapes);
}

const rect = (x, y, width, height, name) =>
  draw("rect", { x, y, width: Math.max(width, 0), height: Math.max(height, 0), class: name, rx: 2 });
const words = (x, y, text, name = "", anchor = "start") =>
  draw("text", { x, y, class: name, "text-anchor": anchor }, text);
const line = (x1, y1, x2, y2) => draw("line", { x1, y1, x2, y2, class: "rule" });

/** A name that fits into so many points. */
function fitting(name, width) {
  const most = Math.max(4, Math.floor(width / 7));
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

/** Where the mean reward of each action lies: the estimate as a mark, its range as a band. */
export function ranges(width, rows, low, high) {
  const x = (reward) => 4 + ((Math.min(Math.max(reward, low), high) - low) / (high - low)) * (width - 8);
  const height = rows.length * ROW + AXIS;
  const said = (row) =>
    row.reward === null
      ? "nothing heard"
      : `${short(row.reward)}${row.range ? ` (${short(row.range.low)} to ${short(row.range.high)})` : ""}`;
  const shapes = rows.flatMap((row, place) => {
    const top = place * ROW;
    return [
      words(0, top + 14, fitting(row.action, width - 150)),
      words(width, top + 14, said(row), "axis", "end"),
      line(4, top + 26, width - 4, top + 26),
      row.range && rect(x(row.range.low), top + 21, x(row.range.high) - x(row.range.low), 10, "band"),
      row.reward !== null && rect(x(row.reward) - 2, top + 18, 4, 16, "mark"),
    ];
  });
  const axis = [0, 0.5, 1].map((share) =>
    words(
      x(low + share * (high - low)),
      height - 6,
      tick(low + share * (high - low)),
      "axis",
      ["start", "middle", "end"][2 * share],
    ),
  );
  return chart(
    width,
    height,
    `Mean reward of each action. ${rows.map((row) => `${row.action}: ${said(row)}`).join("; ")}.`,
    ...shapes,
    ...axis,
  );
}

/** A bar for each row, from zero; negative numbers to the left. */
export function bars(width, rows, text, format = percent) {
  const most = Math.max(...rows.map((row) => Math.abs(row.value)), 1e-9);
  const signed = rows.some((row) => row.value < 0);
  const zero = signed ? width / 2 : 0;
  const length = (value) => (Math.abs(value) / (signed ? most : Math.max(most, 1))) * (width - zero);
  const shapes = rows.flatMap((row, place) => {
    const top = place * ROW;
    return [
      words(0, top + 14, fitting(row.name, width - 60)),
      words(width, top + 14, format(row.value), "axis", "end"),
      line(0, top + 26, width, top + 26),
      rect(row.value < 0 ? zero - length(row.value) : zero, top + 21, length(row.value), 10, "bar"),
    ];
  });
  const middle = signed ? [draw("line", { x1: zero, y1: 18, x2: zero, y2: rows.length * ROW, class: "rule" })] : [];
  const said = rows.map((row) => `${row.name}: ${format(row.value)}`).join("; ");
  return chart(width, rows.length * ROW, `${text}. ${said}.`, ...middle, ...shapes);
}

/** Reports in each hour or day: those accepted, and those refused on top of them. */
export function overTime(width, slots, text) {
  const height = 190;
  const [left, right, top, bottom] = [46, 4, 10, height - AXIS];
  const most = nice(Math.max(...slots.map((slot) => slot.accepted + slot.refused), 1));
  const step = (width - left - right) / slots.length;
  const y = (reports) => bottom - (reports / most) * (bottom - top);
  const grid = [0, 0.5, 1].flatMap((share) => [
    line(left, y(share * most), width - right, y(share * most)),
    words(left - 6, y(share * most) + 4, tick(share * most), "axis", "end"),
  ]);
  const gap = step > 6 ? 2 : 0;
  const columns = slots.flatMap((slot, place) => {
    const [x, ground, middle] = [left + place * step, y(slot.accepted), y(slot.accepted + slot.refused)];
    const said = draw("title", {}, `${slot.label}: ${count(slot.accepted)} accepted, ${count(slot.refused)} refused`);
    return draw(
      "g",
      {},
      said,
      rect(x, ground, step - gap, bottom - ground, "bar"),
      rect(x, middle, step - gap, ground - middle, "refused"),
    );
  });
  const every = Math.max(1, Math.ceil(slots.length / Math.max(2, Math.floor((width - left) / 90))));
  const labels = slots.flatMap((slot, place) =>
    place % every === 0 && slots.length - place > every / 2
      ? [words(left + place * step, height - 6, slot.tick, "axis")]
      : [],
  );
  return chart(width, height, text, ...grid, ...columns, ...labels);
}

/** The next number above this one that reads well on an axis, as does its half; at least 2. */
function nice(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return Math.max(2, [1, 2, 3, 4, 5, 6, 8, 10].find((times) => times * power >= number) * power);
}

/** A figure that is drawn again when its width changes. */
export function figure(paint) {
  const place = document.createElement("figure");
  let drawn = 0;
  const watch = new ResizeObserver(([{ contentRect }]) => {
    const width = Math.floor(contentRect.width);
    if (!place.isConnected) watch.disconnect();
    else if (width > 0 && width !== drawn) {
      drawn = width;
      place.replaceChildren(paint(width));
    }
  });
  watch.observe(place);
  return place;
}
