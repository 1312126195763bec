/** How a device reaches its server: one request, one answer. Nothing about the person is in a header. */

import { ConfigurationError, must, WireError } from "../protocol/errors.js";
import { decoded, type Read, type Schema } from "../protocol/strict.js";

/** Milliseconds until an answer is there in full. */
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
  must(/^https?:\/\/[^/]/.test(server), ConfigurationError, "a server as in https://a.example", server);
  return async (route, { body, headers = {}, keepalive = false } = {}) => {
    const answer = await fetcher(`${server}/v1/tasks/${task}${route}`, {
      ...(body === undefined
        ? { cache: "no-store" }
        : { method: "POST", body, headers: { "content-type": "application/json", ...headers } }),
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      keepalive,
      signal: AbortSignal.timeout(TIMEOUT),
    });
    return { status: answer.status, headers: answer.headers, body: new Uint8Array(await answer.arrayBuffer()) };
  };
}

/** The bytes of an answer, or `WireError`. */
export function good({ status, body }: Answer): Uint8Array {
  must(status === 200, WireError, "status 200", status);
  return body;
}

/** The answer as this type, or `WireError`. */
export function received<S extends Schema>(answer: Answer, schema: S): Read<S> {
  return decoded(good(answer), schema, "an answer");
}
