// Conflicts: relations that cannot both hold, and names of which nobody said whom they mean.
import { nothing } from "./care.js";
import { acting, reason, waits } from "./changing.js";
import { h } from "./dom.js";
import { minute, period, said, two, words } from "./format.js";

export async function conflicts(context) {
  const [{ contradictions }, { ambiguous }] = await Promise.all([context.read("contradictions", { limit: 10 }), context.read("find_ambiguous", { limit: 10 })]);
  if (!contradictions.length && !ambiguous.length) return nothing("Nothing conflicts", "Two relations that cannot both hold at one time, and names that several people have, are listed here for a person to decide.");
  return h("div", { class: "stack" }, await Promise.all(contradictions.map((each) => contradiction(context, each))), ambiguous.map((each) => ambiguity(context, each)));
}

async function contradiction(context, { one, other, ends }) {
  const { read, link } = context;
  const called = new Map(ends.map((each) => [each.id, each.name])), source = called.get(one.source_id) ?? "";
  const target = (relation) => called.get(relation.target_id) ?? "";
  const proofs = await Promise.all([one, other].map((each) => read("why", { relation_id: each.id }).then((answer) => answer.proofs, (error) => (error.status === 404 ? [] : Promise.reject(error)))));
  const quote = ({ memory }) => h("div", { class: "quote" }, h("div", { class: "small muted row wrap between" }, h("span", {}, said(memory.speaker || memory.source, 60), " · ", minute(memory.occurred_at)), h("a", { class: "nowrap", href: link("care", { tab: "forget", memory: memory.id }) }, "Forget it…")), h("p", {}, said(memory.text, 300)));
  const side = (relation, at) => h("td", {}, h("p", { class: "strong" }, h("a", { href: link("entity", { id: relation.target_id }) }, said(target(relation), 80))), h("p", { class: "muted small" }, `${period(relation.valid_from, relation.valid_to)} · confidence ${two(relation.confidence)}`), proofs[at].slice(0, 3).map(quote));
  return h("section", { class: "panel", "aria-label": "Contradiction" },
    h("div", { class: "hd" }, h("h2", { class: "grow" }, said(source, 60), h("span", { class: "rel" }, words(one.type)), "two things at one time"), h("span", { class: "tag" }, "contradiction")),
    h("div", { class: "bd" }, h("table", { class: "compare two" }, h("tbody", {}, h("tr", {}, side(one, 0), side(other, 1)))),
      h("p", { class: "muted small" }, "Both were stated with equal standing. Forget the memory that is wrong, with what rests on it; the other relation stays.")));
}

function ambiguity(context, { entity, candidates }) {
  const always = (one) => acting(context, "merge", ["It is ", said(one.name, 40)], async () => {
    const text = ["“", said(entity.name, 40), "” means “", said(one.name, 60), "” from now on, and what was read under it moves along. It can be undone under Duplicates."];
    if (!await context.confirm({ title: "Settle this name?", text, action: "Settle" })) return;
    const made = await context.change("merge_entities", { source: entity.id, target: one.id, retype: entity.type !== one.type });
    context.say(made.waits ? waits : `“${entity.name.slice(0, 40)}” means ${one.name.slice(0, 40)} from now on.`);
    context.again();
  });
  const none = async () => {
    for (const one of candidates) await context.change("mark_distinct", { one: entity.id, other: one.id });
    context.say("Marked as somebody else.");
    context.again();
  };
  return h("section", { class: "panel", "aria-label": "Ambiguous name" },
    h("div", { class: "hd" }, h("h2", { class: "grow" }, "Whom does “", h("a", { href: context.link("entity", { id: entity.id }) }, said(entity.name, 40)), "” mean?"), h("span", { class: "tag" }, "ambiguous name")),
    h("div", { class: "bd" }, h("div", { class: "row wrap" }, candidates.map(always), acting(context, "write", "None of them", none), reason(context, "merge")),
      h("p", { class: "muted small mt" }, "A first name that several people have stays open until somebody says whom it means.")));
}
