// The address of whatever is seen: #/view?q=…&as=…; it can be sent to somebody else, and never has a token.
export const VIEWS = ["ask", "time", "entity", "care"];
const KEPT = ["q", "as", "budget", "at", "known"]; // what goes along from view to view

export function where() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { view: VIEWS.includes(path) ? path : "ask", params: Object.fromEntries(new URLSearchParams(query)) };
}

export function link(view, changes = {}) {
  const { params } = where();
  const all = { ...Object.fromEntries(KEPT.map((name) => [name, params[name]])), ...changes };
  const query = new URLSearchParams(Object.entries(all).filter(([, value]) => value !== undefined && value !== null && value !== ""));
  return `#/${view}${query.size ? `?${query}` : ""}`;
}

// Change the address without drawing anew, for what is drawn already.
export function note(changes) {
  const { view, params } = where();
  history.replaceState(null, "", link(view, { ...params, ...changes }));
}

// The principal that is looked as, {id, type, attributes}; null for one's own eyes.
export function lookedAs(params) {
  try {
    const as = JSON.parse(params.as ?? "null");
    return as?.id ? as : null;
  } catch {
    return null;
  }
}
