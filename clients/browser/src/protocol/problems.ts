/** What goes wrong on the wire, as problem documents (RFC 9457): a type to act on and a sentence to read. */

import { anything, decodable, named } from "./strict.js";

const PREFIX = "urn:sottovoce:problem:";

/** The name of the problem: the last part of its type; empty if the body is no document of ours. */
export function problemFrom(body: Uint8Array): string {
  const type = `${decodable(body, named(anything))?.["type"]}`;
  return type.startsWith(PREFIX) ? type.slice(PREFIX.length) : "";
}
