// Care: what waits for a person, what may be one, what cannot both hold, how healthy it is, and forgetting with a receipt.
import { conflicts } from "./conflicts.js";
import { h, pane, tabs } from "./dom.js";
import { duplicates } from "./duplicates.js";
import { forgetting } from "./forget.js";
import { health } from "./health.js";
import { review } from "./review.js";

const PANES = { review: ["Review", review], duplicates: ["Duplicates", duplicates], conflicts: ["Conflicts", conflicts], health: ["Health", health], forget: ["Forget", forgetting] };

export async function careView(context) {
  const { params, go } = context;
  const chosen = PANES[params.tab] ? params.tab : "review";
  const content = await PANES[chosen][1](context).catch((error) => {
    if (error.status !== 403) throw error; // what one may not see leaves the other panes as they are
    return h("div", { class: "state" }, h("h2", {}, "You may not see this"), h("p", {}, "It needs more than you may do or see here."), h("p", { class: "muted" }, error.message));
  });
  return h("div", { class: "wrap-page" },
    tabs("Care", Object.entries(PANES).map(([id, [name]]) => [id, name]), chosen, (tab) => go("care", { tab })),
    pane(chosen, { class: "pane" }, content));
}

// A list to pick from, at the left of what is picked: ``title`` and ``under`` show one of the items.
export function picker(items, chosen, { title, under, pick, label }) {
  return h("ul", { class: "pick", "aria-label": label }, items.map((each) => h("li", {}, h("button", { type: "button", "aria-current": each === chosen ? "true" : undefined, onclick: () => pick(each) },
    h("span", { class: "strong clip1" }, title(each)), h("span", { class: "row between small muted" }, under(each))))));
}

export const nothing = (title, ...content) => h("div", { class: "state" }, h("h2", {}, title), h("p", {}, ...content));
