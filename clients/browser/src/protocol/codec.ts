/** Reports as bytes: fixed size, big-endian integers, base64url without padding in JSON. */

import { WireError } from "./errors.js";

/** A number of a contract that is not whole. */
export const DECIMAL = /^-?(0|[1-9]\d*)(\.\d+)?(e[-+]?\d+)?$/;

/** One integer of `width` bytes. */
export function pack(number: number, width: number): Uint8Array {
  return Uint8Array.from({ length: width }, (_, i) => Math.floor(number / 256 ** (width - 1 - i)));
}

export function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  return Uint8Array.from([...first, ...second]);
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** base64url without padding. */
export function toText(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (sign) => ({ "+": "-", "/": "_" })[sign] ?? "");
}

/** The inverse of `toText`; refuses anything that `toText` would not have written. */
export function fromText(text: string): Uint8Array {
  try {
    const plain = atob(text.replace(/[-_]/g, (sign) => (sign === "-" ? "+" : "/")));
    const bytes = Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
    if (toText(bytes) === text) return bytes;
  } catch {
    // what atob does not take is refused below
  }
  throw new WireError("not base64url without padding");
}
