// The server, asked with the admin token. The token is kept for this tab only and is sent as a header, never in an address.

const KEPT = "sottovoce-admin-token";

export const token = {
  get: () => sessionStorage.getItem(KEPT) ?? "",
  set: (value) => sessionStorage.setItem(KEPT, value),
  clear: () => sessionStorage.removeItem(KEPT),
};

/** What went wrong, in the server's own words; `status` 0 where no server answered. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export async function ask(method, path, body) {
  const headers = { authorization: `Bearer ${token.get()}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body && JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
    });
  } catch {
    throw new Refusal(0, "The server does not answer.");
  }
  if (response.ok) return response.json();
  const problem = await response.json().catch(() => ({}));
  throw new Refusal(
    response.status,
    sentence(problem.detail || problem.title || `the server answered with status ${response.status}`),
  );
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?)]$/.test(text) ? "" : ".");
const task = (id) => `v1/tasks/${encodeURIComponent(id)}`;

export const lines = () => ask("GET", "v1/overview");
export const overview = (id) => ask("GET", `${task(id)}/overview`);
export const change = (id, verb) => ask("POST", `${task(id)}/${verb}`);
export const snapshots = (id) => ask("GET", `${task(id)}/snapshots`);
export const rollBack = (id, learned) => ask("POST", `${task(id)}/rollback`, { learned });
export const check = (text) => ask("POST", "v1/check", { text });
export const create = (file) => ask("POST", "v1/tasks", file);
