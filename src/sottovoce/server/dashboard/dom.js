// Elements and numbers. Text enters a page as text only: nothing here reads markup, and the page's policy forbids it.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `make("p", { class: "quiet" }, "text")`; false children are left out, functions are listeners. */
export function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== false && child !== null && child !== undefined));
  return element;
}

/** Draw a part of the page again; what had the focus and what was opened stays so. */
export function replace(parent, ...children) {
  const focused = parent.contains(document.activeElement) ? document.activeElement.id : "";
  const opened = [...parent.querySelectorAll("details[open]")].map((one) => one.id);
  parent.replaceChildren(...children);
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

export const count = (number) => Math.round(number).toLocaleString("en");
export const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

/** A number with about three digits that tell something. */
export function short(number) {
  const size = Math.abs(number);
  if (size >= 1000 || Number.isInteger(number)) return count(number);
  return number.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

/** The same for an axis: no zeros at the end. */
export const tick = (number) => (Number.isInteger(number) ? count(number) : String(Number(number.toPrecision(3))));

/** A table of texts: `words` columns stand left, the numbers after them right. */
export function table(headings, rows, words = 1) {
  const cell = (tag, text, place) => make(tag, { class: place >= words && "n", scope: tag === "th" && "col" }, text);
  const head = make(
    "tr",
    {},
    headings.map((text, place) => cell("th", text, place)),
  );
  const body = rows.map((row) =>
    make(
      "tr",
      {},
      row.map((text, place) => cell("td", text, place)),
    ),
  );
  return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, body)));
}

export function folded(id, title, ...children) {
  return make("details", { id }, make("summary", {}, title), ...children);
}

/** A text in which a number and its percent sign stay in one line. */
export const whole = (text) => text.replace(/(\d) %/g, "$1\u00a0%");

export function pairs(named) {
  return make(
    "dl",
    {},
    named.flatMap(({ name, sentence }) => [make("dt", {}, name), make("dd", {}, whole(sentence))]),
  );
}
