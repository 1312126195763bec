/** How a device reaches its server: one request, one answer. Nothing about the person is in a header. */

import { ConfigurationError, WireError } from "../protocol/errors.js";
import { decoded, type Read, type Schema } from "../protocol/strict.js";

/** Bytes that a device reads of one answer. */
const LARGEST_ANSWER = 2 ** 25;
/** Milliseconds. */
const TIMEOUT = 10_000;

export interface Answer {
  status: number;
  headers: Headers;
  body: Uint8Array;
}

export interface Question {
  /** JSON; without it the request is a GET. */
  body?: string;
  headers?: Record<string, string>;
  /** Let the request outlive the page. */
  keepalive?: boolean;
}

/** Asks a route of the task, as in "/reports"; raises when there is no way to the server now. */
export type Ask = (route: string, question?: Question) => Promise<Answer>;

/**
 * Cookies are not sent, redirects not followed, and nothing comes from the browser's cache: it would bring the server's
 * own marks (`ETag`) back to it. (What is posted is never in it; "no-store" there would only make the browser ask again
 * each time whether the page may post.)
 */
export function asking(fetcher: typeof fetch, server: string, task: string): Ask {
  if (!/^https?:\/\/[^/]/.test(server)) {
    throw new ConfigurationError(`a server is an address like "https://a.example", got "${server}"`);
  }
  return async (route, { body, headers = {}, keepalive = false } = {}) => {
    const kind = { "content-type": "application/json", ...headers };
    const answer = await fetcher(`${server}/v1/tasks/${task}${route}`, {
      ...(body === undefined ? { cache: "no-store" } : { method: "POST", body, headers: kind }),
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      keepalive,
      ...(keepalive ? {} : { signal: AbortSignal.timeout(TIMEOUT) }),
    });
    return { status: answer.status, headers: answer.headers, body: await bytesOf(answer) };
  };
}

async function bytesOf(answer: Response): Promise<Uint8Array> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (const reader = answer.body?.getReader(); reader;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    if ((size += value.length) > LARGEST_ANSWER) {
      await reader.cancel();
      throw new WireError("the answer is too long");
    }
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** The answer, if it is one. */
export function good(answer: Answer): Answer {
  if (answer.status !== 200) throw new WireError(`the server answered with status ${answer.status}`);
  return answer;
}

/** The body as this type, or `WireError`. */
export function read<S extends Schema>(answer: Answer, schema: S): Read<S> {
  return decoded(answer.body, schema, "an answer of this protocol");
}
