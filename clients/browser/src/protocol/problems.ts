/** What goes wrong on the wire, as problem documents (RFC 9457): a type to act on and a sentence to read. */

import { anything, decoded, dictionary } from "./strict.js";

const PREFIX = "urn:sottovoce:problem:";
/** Bytes of a document that are read. */
const LARGEST = 2 ** 16;

const PROBLEMS =
  "bad-request unauthorized forbidden not-admitted not-found method-not-allowed too-slow contract-differs wrong-kind" +
  " task-paused task-expired task-done too-late too-large unsupported-type bad-task too-many-requests internal not-ready";

/** The name of the problem: the last part of its type; empty if the body is no document of ours. */
export function problemFrom(body: Uint8Array): string {
  try {
    if (body.length > LARGEST) return "";
    const { type } = decoded(body, dictionary(anything), "a problem");
    return PROBLEMS.split(" ").find((name) => type === PREFIX + name) ?? "";
  } catch {
    return "";
  }
}
