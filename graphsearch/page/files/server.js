// What the server is asked, with the token of this tab and as the principal that is looked as.
const TOKEN = "graphsearch-token";

// An answer that is none: ``status`` 0 where nobody answered at all.
export class Refused extends Error {
  constructor(status, kind, message) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

const stored = () => { try { return sessionStorage.getItem(TOKEN); } catch { return kept; } }; // storage may be off
let kept = null;
export const hasToken = () => Boolean(stored());
export function keepToken(token) {
  kept = token;
  try { if (token) sessionStorage.setItem(TOKEN, token); else sessionStorage.removeItem(TOKEN); } catch { /* it lasts as long as the page */ }
}

// A header has ASCII alone: what else JSON has is escaped.
const ascii = (value) => JSON.stringify(value).replace(/[^\x20-\x7e]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);

async function asked(path, { as, body, signal } = {}) {
  const headers = {};
  if (stored()) headers.authorization = `Bearer ${stored()}`;
  if (as) headers["view-as"] = ascii(as);
  if (body) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal, cache: "no-store", credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "Unreachable", "Nobody answers at this address.");
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return { answer, status: response.status };
  if (answer?.disabled) throw new Refused(503, "Disabled", "This project is switched off.");
  throw new Refused(response.status, answer?.error?.type ?? "Failure", answer?.error?.message ?? `The answer was ${response.status}, without a reason.`);
}

export const me = async (options) => (await asked("page/me", options)).answer;

// What an operation that reads answers; arguments that are not given stay away.
export async function read(name, args = {}, options = {}) {
  const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(given.flatMap(([key, value]) => (Array.isArray(value) ? value.map((each) => [key, each]) : [[key, String(value)]])));
  return (await asked(`v1/${name}${given.length ? `?${query}` : ""}`, options)).answer;
}

// An operation that changes something; `waits` where what was asked waits for a reviewer instead.
export async function change(name, args = {}, options = {}) {
  const { answer, status } = await asked(`v1/${name}`, { ...options, body: args });
  return status === 202 ? { ...answer, waits: true } : answer;
}
