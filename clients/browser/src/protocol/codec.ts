/** Reports as bytes: fixed size, big-endian integers, base64url without padding in JSON. */

import { WireError } from "./errors.js";

/** A number of a contract that is not whole. */
export const DECIMAL = /^-?(0|[1-9]\d*)(\.\d+)?(e[-+]?\d+)?$/;

/** One integer below 2^16, in one byte or two. */
export function pack(number: number, width: number): Uint8Array {
  return Uint8Array.of(number >> 8, number).slice(-width);
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** base64url without padding. */
export function toText(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** The inverse of `toText`; refuses anything that `toText` would not have written. */
export function fromText(text: string): Uint8Array {
  try {
    const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    if (toText(bytes) === text) return bytes;
  } catch {
    // what atob does not take is refused below
  }
  throw new WireError("not base64url");
}
