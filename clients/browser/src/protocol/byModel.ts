/** Offers of tasks with a model: what the device knows of each action, and how it chooses by it. */

import { field, type Field, type Fields } from "./fields.js";
import { link } from "./links.js";
import { maybe, named, text, whole, word, type Read } from "./strict.js";

export const byModel = {
  kind: word("model"),
  model: text,
  fields: named(field),
  actions: maybe([text], []),
  candidates: maybe(whole, 0),
  link: maybe((value, at) => (value === null ? null : link(value, at)), null),
};

/** The answer to a request for permits. */
export const permits = { permits: [{ permit: text, expires: whole }] as const };

/** One model for everybody: the device chooses by it, and the action never travels. */
export type ByModel = Read<typeof byModel>;

/** The length of a feature vector: a constant and the fields, once for every named action. */
export function dimensionOf({ fields, actions }: ByModel): number {
  return widthOf(fields) * Math.max(actions.length, 1);
}

/** Coordinates of one encoded person or candidate: a constant, and those of every field. */
function widthOf(fields: Fields): number {
  return Object.values(fields).reduce((sum, one: Field) => sum + (one.kind === "category" ? one.values.length : 1), 1);
}
