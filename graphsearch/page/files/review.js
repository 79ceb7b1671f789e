// Review: what principals want to change waits here until somebody else accepts or rejects it.
import { nothing, picker } from "./care.js";
import { acting, reason } from "./changing.js";
import { h } from "./dom.js";
import { counted, day, minute, said, words } from "./format.js";

const STATES = ["waiting", "accepted", "rejected"];
const TAKES = new Set(["merge_entities", "forget", "forget_with_receipt", "expire"]); // asked for again: something goes

export async function review(context) {
  const { params, read, go } = context;
  const state = STATES.includes(params.state) ? params.state : STATES[0];
  const { proposals } = await read("proposals", { state, limit: 100 });
  const states = h("div", { class: "row wrap pad2", role: "group", "aria-label": "What became of them" }, STATES.map((each) => h("button", { class: "chip", type: "button", "data-focus": each, "aria-pressed": String(each === state), onclick: () => go("care", { tab: "review", state: each }) }, each)));
  if (!proposals.length) return h("div", {}, states, nothing(state === "waiting" ? "Nothing waits for a review" : `Nothing was ${state}`, "What agents want to write, merge or forget waits here where the server is started with ", h("code", {}, "--review"), ". Nothing of it shapes an answer before it is accepted."));
  const chosen = proposals.find((each) => each.id === params.item) ?? proposals[0];
  const preview = await read("preview_proposal", { proposal: chosen.id });
  return h("div", { class: "stack" }, states, h("div", { class: "split" },
    h("section", { class: "panel", "aria-label": "Proposals" }, picker(proposals, chosen, {
      label: "Proposals", title: (each) => words(each.operation), under: (each) => [said(each.principal.id, 40), h("span", {}, day(each.created_at))],
      pick: (each) => go("care", { tab: "review", state, item: each.id }),
    })),
    proposal(context, chosen, preview)));
}

function proposal(context, chosen, { change, proposal: told, withheld }) {
  const comment = h("input", { class: "field grow", id: "comment", maxlength: 1000, autocomplete: "off" });
  const decide = (verb, done) => async () => {
    if (verb === "accept_proposal" && TAKES.has(chosen.operation) && !await context.confirm({ title: "Accept this proposal?", text: "Something goes with it, as shown under what it would change.", action: "Accept" })) return;
    await context.change(verb, { proposal: chosen.id, comment: comment.value.trim() });
    context.say(`${words(chosen.operation)}: ${done}.`);
    context.go("care", { tab: "review" });
  };
  const facts = [
    ["by", [said(chosen.principal.id, 80), `, ${minute(chosen.created_at)}`]],
    told.decided_by ? [chosen.state, [said(told.decided_by, 80), `, ${minute(told.decided_at)}`]] : null,
    told.comment ? ["because", said(told.comment, 400)] : null,
    ["id", h("code", {}, chosen.id)],
  ].filter(Boolean);
  return h("section", { class: "panel", "aria-label": "Proposal" },
    h("div", { class: "hd" }, h("h2", { class: "grow" }, words(chosen.operation)), h("span", { class: chosen.state === "waiting" ? "tag on" : "tag" }, chosen.state)),
    h("div", { class: "bd" }, h("dl", { class: "kv" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
      chosen.state === "waiting" ? [h("h3", { class: "mt" }, "What it would change"), withheld ? h("p", { class: "note" }, "You may not see all of it.") : null, changes(chosen.operation, change, told.request),
        h("div", { class: "row mt" }, h("label", { for: "comment", class: "muted" }, "comment"), comment),
        h("div", { class: "actions" }, acting(context, "review", "Accept", decide("accept_proposal", "accepted"), "primary"), acting(context, "review", "Reject", decide("reject_proposal", "rejected")), reason(context, "review"))] : null));
}

// What it would change, in words where its operation is known.
function changes(operation, change, request) {
  if (operation === "remember") {
    return h("div", { class: "stack tight" }, change.memories.map((each) => h("div", { class: "quote" }, h("p", {}, said(each.text, 4000)), each.labels.map((label) => h("span", { class: "tag bad" }, said(label, 30))))),
      change.facts.length ? h("ul", {}, change.facts.map((each) => h("li", {}, h("span", { class: "sign-plus" }, "+ "), said(each, 300)))) : h("p", { class: "muted" }, "No fact was read from it."));
  }
  if (operation === "update_entity" && change.after) {
    return h("table", {}, h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, "now"), h("th", { scope: "col" }, "if accepted"))),
      h("tbody", {}, Object.keys(change.after).map((name) => h("tr", {}, h("th", { scope: "row" }, words(name)), h("td", {}, value(change.before[name])), h("td", { class: "strong" }, value(change.after[name]))))));
  }
  if (operation === "merge_entities" && change.source_name !== undefined) {
    return h("div", {}, h("p", {}, "“", said(change.source_name, 80), "” goes into “", said(change.target_name, 80), "”."), h("p", { class: "muted" }, moved(change)));
  }
  const rows = Object.entries({ ...request, ...change }).filter(([, each]) => each !== null && each !== 0 && each !== "" && !(Array.isArray(each) && !each.length));
  return rows.length ? h("dl", { class: "kv" }, rows.slice(0, 40).map(([name, each]) => [h("dt", {}, words(name)), h("dd", {}, value(each))])) : h("p", { class: "muted" }, "Nothing that you may see.");
}

// "2 mentions, 1 claim and 3 relations would move", from the dry run of a merge.
export function moved(merge) {
  if (merge.mentions === null) return "How much would move is not told, as some of it may be hidden.";
  return `${["mentions", "claims", "relations"].map((kind) => counted(merge[kind], kind)).join(", ")} would move.`;
}

const value = (each) => (typeof each === "object" && each !== null ? h("code", {}, said(JSON.stringify(each), 600)) : said(String(each ?? "–"), 600));
