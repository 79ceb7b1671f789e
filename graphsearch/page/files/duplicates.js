// Duplicates: two entities side by side, what a merge would move, the merge, and its undoing.
import { nothing, picker } from "./care.js";
import { acting, reason, waits } from "./changing.js";
import { button, h, panel } from "./dom.js";
import { day, full, said, two, words } from "./format.js";
import { moved } from "./review.js";

const SHOWN = 5; // relations, and memories, of each side

export async function duplicates(context) {
  const { params, read, go } = context;
  const [{ duplicates: pairs }, merges] = await Promise.all([read("find_duplicates", { limit: 50 }), past(context)]);
  if (!pairs.length) return h("div", { class: "stack" }, nothing("No two entities seem to be one", "Names that are nearly the same, short forms and nicknames are listed here. Names of code are exact: two methods of one name are two methods."), merges);
  const id = (pair) => `${pair.one.id} ${pair.other.id}`;
  const chosen = pairs.find((pair) => id(pair) === params.item) ?? pairs[0];
  const list = picker(pairs, chosen, {
    label: "Pairs", title: (pair) => [said(pair.one.name, 40), " / ", said(pair.other.name, 40)], under: (pair) => [words(pair.likeness), h("span", {}, two(pair.similarity))],
    pick: (pair) => go("care", { tab: "duplicates", item: id(pair) }),
  });
  return h("div", { class: "split" }, h("section", { class: "panel", "aria-label": "Pairs" }, list), h("div", { class: "stack" }, await sideBySide(context, chosen, id(chosen)), merges));
}

async function sideBySide(context, pair, item) {
  const { params, read, go, link } = context;
  const [one, other] = await Promise.all([pair.one, pair.other].map((each) => read("recall_entity", { entity: each.id, limit: SHOWN })));
  const keepOther = params.keep ? params.keep === pair.other.id : other.triplets.length >= one.triplets.length;
  const [stays, goes] = keepOther ? [other, one] : [one, other];
  const merge = { source: goes.entity.id, target: stays.entity.id, retype: goes.entity.type !== stays.entity.type };
  const dry = await read("merge_entities", merge).catch((error) => (error.status === 401 ? Promise.reject(error) : error));

  const undoMerge = async (id) => { await context.change("undo_merge", { merge_id: id }); context.say("The merge is undone."); context.again(); };
  const run = async () => {
    const text = ["“", said(goes.entity.name, 60), "” goes into “", said(stays.entity.name, 60), "”, with all that mentions it. It can be undone."];
    if (!await context.confirm({ title: "Merge these two?", text, action: "Merge" })) return;
    const made = await context.change("merge_entities", merge);
    context.say(made.waits ? waits : `${goes.entity.name.slice(0, 40)} was merged into ${stays.entity.name.slice(0, 40)}.`, { undo: made.waits ? undefined : () => undoMerge(made.id).catch((error) => context.say(error.message)) });
    go("care", { tab: "duplicates" });
  };
  const apart = (distinct) => async () => {
    const made = await context.change("mark_distinct", { one: pair.one.id, other: pair.other.id, distinct });
    context.say(made.waits ? waits : distinct ? "Marked as two. The pair does not come up again." : "The pair is listed again.", { undo: distinct && !made.waits ? () => apart(false)().catch((error) => context.say(error.message)) : undefined });
    go("care", { tab: "duplicates" });
  };

  const list = (items, show) => (items.length ? h("ul", {}, items.slice(0, SHOWN).map((each) => h("li", {}, show(each)))) : "–");
  const row = (name, show, same) => h("tr", { class: same ? undefined : "differs" }, h("th", { scope: "row" }, name), [goes, stays].map((each) => h("td", {}, show(each))));
  const relation = (entity) => ({ source, relation: each, target }) => (source.id === entity.id ? [h("span", { class: "muted" }, words(each.type)), " ", said(target.name, 40)] : [said(source.name, 40), " ", h("span", { class: "muted" }, words(each.type))]);
  const memory = (each) => [h("span", { class: "muted" }, `${day(each.occurred_at)} `), said(each.text || each.source, 120)];
  const aliases = ({ entity }) => entity.aliases.join(", ");
  const table = h("table", { class: "compare" }, h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, "goes"), h("th", { scope: "col" }, "stays"))), h("tbody", {},
    row("name", ({ entity }) => h("a", { href: link("entity", { id: entity.id }) }, full(entity.name, 160)), goes.entity.name === stays.entity.name),
    row("type", ({ entity }) => entity.type, goes.entity.type === stays.entity.type),
    row("also called", (each) => said(aliases(each) || "–", 300), aliases(goes) === aliases(stays)),
    row("known since", ({ entity }) => day(entity.created_at), true),
    row("relations", (each) => list(each.triplets, relation(each.entity)), false),
    row("said", (each) => list(each.memories, memory), true)));
  return h("section", { class: "panel", "aria-label": "Pair" },
    h("div", { class: "hd" }, h("h2", { class: "grow" }, "Are these one?"), h("span", { class: "tag" }, `${words(pair.likeness)}, ${two(pair.similarity)}`), h("span", { class: pair.verdict === "near_certain" ? "tag on" : "tag" }, words(pair.verdict))),
    h("div", { class: "bd" }, table,
      h("p", { class: "note mt" }, h("b", {}, "Dry run: "), dry instanceof Error ? dry.message : [moved(dry), merge.retype ? ` Both would be a ${stays.entity.type}.` : "", " It can be undone."]),
      h("div", { class: "actions" }, acting(context, "merge", "Merge", run, "primary"), acting(context, "write", "They are two", apart(true)),
        button("Swap sides", () => go("care", { tab: "duplicates", item, keep: goes.entity.id }), "quiet", { "data-focus": "swap" }), reason(context, "merge"))));
}

// Merges that were made, the latest first, each to be undone.
async function past(context) {
  const merges = await context.read("merges").then((answer) => answer.merges, (error) => (error.status === 403 ? [] : Promise.reject(error)));
  if (!merges.length) return null;
  const undo = (merge) => async () => {
    if (!await context.confirm({ title: "Undo this merge?", text: ["“", said(merge.source_name, 60), "” becomes an entity of its own again, with what it had."], action: "Undo the merge" })) return;
    const report = await context.change("undo_merge", { merge_id: merge.id });
    context.say(report.waits ? waits : "The merge is undone.");
    context.again();
  };
  const line = (merge) => h("li", { class: "row wrap between" }, h("span", {}, said(merge.source_name, 40), " → ", said(merge.target_name, 40), h("span", { class: "muted small" }, ` ${day(merge.created_at)}`)),
    merge.undone_at ? h("span", { class: "tag" }, "undone") : acting(context, "merge", "Undo", undo(merge)));
  return panel("Merges", null, h("ul", { class: "bd tight" }, merges.slice(-8).reverse().map(line)));
}
