// Entity: what is known of one thing, when it came to be, what it hangs on, and how two things are connected.
import { acting, waits } from "./changing.js";
import { asking, button, dotted, fill, h, joined, panel } from "./dom.js";
import * as drawer from "./drawer.js";
import { Names, clip, counted, day, full, period, said, two, words } from "./format.js";
import { graph } from "./graph.js";

const DRAWN = 16; // relations around it, the surest
const EVENTS = 40; // of its timeline, until more is asked for
const AROUND = 10;
const SIGNS = { started: "+", ended: "−", mentioned: "·" };

export async function entityView(context) {
  const { params, read, go } = context;
  const when = { as_of: params.at, known_at: params.known };
  const page = h("div", { class: "wrap-page" }, finder(context));
  if (params.find) page.append(hits(context, (await read("search_entities", { query: params.find, limit: 20, ...when })).entities));
  else if (params.id) page.append(...await about(context, when));
  else page.append(await begin(context));
  if (params.at || params.known) page.firstChild.after(h("p", { class: "note mt" }, params.at ? `As of ${day(params.at)}` : "", params.at && params.known ? ", " : "", params.known ? `as known at ${day(params.known)}` : "", ". ", h("button", { class: "link", type: "button", onclick: () => go("entity", { ...params, at: undefined, known: undefined }) }, "Now instead")));
  return page;
}

// ---- finding one

const finder = ({ params, go }) => asking({
  value: params.find, label: "Find an entity by name", placeholder: "Find an entity: a name, its beginning, a misspelling", most: 400, act: "Find", send: (find) => go("entity", { find }),
});

function hits({ params, link }, found) {
  if (!found.length) return h("div", { class: "state" }, h("h1", {}, "No entity has a name like this"), h("p", {}, "Nothing you may see is called “", said(params.find, 120), "”, begins so, or is written nearly so."));
  const names = new Names(found.map((each) => each.entity.name));
  const row = ({ entity, way, score }) => h("tr", {}, h("td", {}, h("a", { href: link("entity", { id: entity.id }) }, names.show(entity.name, 80))), h("td", { class: "muted" }, entity.type), h("td", { class: "muted small" }, words(way)), h("td", { class: "num" }, two(score)));
  return h("section", { class: "panel", "aria-label": "Entities" }, h("table", { class: "padded" }, h("thead", {}, h("tr", {}, ["entity", "type", "found by", "likeness"].map((name, at) => h("th", { scope: "col", class: at === 3 ? "num" : undefined }, name)))), h("tbody", {}, found.map(row))));
}

// Without one: those that the question is about, where there is one.
async function begin({ params, read, link }) {
  const ranked = params.q ? (await read("rank_entities", { query: params.q, limit: 12, as_of: params.at, known_at: params.known })).entities.map((each) => each.entity) : [];
  const names = new Names(ranked.map((each) => each.name));
  return h("div", { class: "state" }, h("h1", {}, "One thing, and what is known of it"), h("p", {}, "Its names, its relations and what they rest on, its timeline, and how it is connected with others."),
    ranked.length ? [h("p", { class: "muted mt" }, "Found for “", said(params.q, 120), "”:"), h("p", { class: "row wrap" }, ranked.map((each) => h("a", { class: "chip", href: link("entity", { id: each.id }) }, names.show(each.name, 40))))] : null);
}

// ---- one of them

async function about(context, when) {
  const { params, read, link } = context;
  const args = { entity: params.id, ...when };
  const [known, { events }, near, { related }, merges] = await Promise.all([
    read("recall_entity", args), read("entity_timeline", args), read("entity_graph", { ...args, limit: 60 }), read("recall_related", { ...args, limit: AROUND }),
    read("merges", { entity: params.id }).then((answer) => answer.merges, (error) => (error.status === 403 ? null : Promise.reject(error))),
  ]);
  const { entity } = known;
  const names = new Names([entity.name, ...near.nodes.map((each) => each.name), ...events.map((each) => each.entity?.name).filter(Boolean), ...related.map((each) => each.entity.name)]);
  const summary = [
    ["Also called", entity.aliases.length && dotted(entity.aliases.slice(0, 20).map((each) => full(each, 60)))],
    ["Works as", standing(known.most_recent_role, names, link)],
    ["Lives in", standing(known.most_recent_location, names, link)],
    ["Described", entity.description && said(entity.description, 600)],
  ].filter(([, value]) => value);
  return [
    h("dl", { class: "sum", "aria-label": "Entity" }, h("dt", {}, "Entity"), h("dd", { class: "answer" }, full(entity.name, 240), h("span", { class: "muted weak" }, ` ${entity.type}`)), summary.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    h("div", { class: "cols" },
      h("div", { class: "stack" }, neighbourhood(context, entity, near, names, when), timeline(context, entity, events, names)),
      h("div", { class: "stack" }, pathTo(context, entity, names, related, when), identity(context, known, merges), within(context, related, names), mentions(known.memories))),
  ];
}

function standing(each, names, link) {
  const triplet = each?.triplet ?? each;
  const other = triplet?.target ?? each?.entity;
  if (!other) return null;
  return [h("a", { href: link("entity", { id: other.id }) }, names.show(other.name)), h("span", { class: "muted" }, ` ${period(triplet.relation?.valid_from, triplet.relation?.valid_to)}`)];
}

// What points to it on the left, it in the middle, what it points to on the right.
function neighbourhood(context, entity, near, names, when) {
  const { go, link } = context;
  const nodes = new Map(near.nodes.map((each) => [each.id, each]));
  const own = near.links.filter((each) => (each.source === entity.id || each.target === entity.id) && nodes.has(each.source) && nodes.has(each.target));
  const place = h("section", { class: "panel", "aria-label": "Neighbourhood" });
  let together = !own.some((each) => each.type !== "co_occurs");
  const open = (line) => drawer.open(context, "relation", line, { query: entity.name.slice(0, 400), ...when }, { names, link });
  const draw = () => {
    const some = own.filter((each) => together || each.type !== "co_occurs");
    const edges = some.slice(0, DRAWN).map((each) => ({ ...each, id: each.key, key: `relation:${each.key}`, source: nodes.get(each.source), target: nodes.get(each.target), share: each.confidence }));
    const toggle = own.some((each) => each.type === "co_occurs") ? h("button", { class: "chip", type: "button", "aria-pressed": String(together), "data-focus": "together", onclick: () => { together = !together; draw(); place.querySelector("[data-focus=together]").focus(); } }, "with co-occurrence") : null;
    const drawn = edges.length ? graph(edges, [entity.id], { label: "What it is related to", choose: open, open: (node) => go("entity", { id: node.id }), part: 0.55, sides: true }) : h("p", { class: "muted" }, own.length ? "It has no relation besides co-occurrence." : "It has no relation.");
    fill(place, h("div", { class: "hd" }, h("h2", { class: "grow" }, "Neighbourhood"), toggle), h("div", { class: "graph bd", dir: "ltr" }, drawn),
      h("div", { class: "legend" }, `${counted(own.length, "relations")} of its own, ${edges.length} drawn`));
  };
  draw();
  return place;
}

// Newest first.
function timeline(context, entity, events, names) {
  const { link } = context;
  const place = h("section", { class: "panel", "aria-label": "Timeline" });
  const told = (each) => each.relation && each.relation.type !== "co_occurs";
  let mentioned = !events.some(told), most = EVENTS;
  const other = (each) => h("a", { href: link("entity", { id: each.entity.id }) }, names.show(each.entity.name));
  const what = (each) => {
    if (!each.relation) return [h("span", { class: "muted" }, each.memory.speaker ? [said(each.memory.speaker, 40), ": "] : ""), said(each.memory.text, 160)];
    const verb = h("span", { class: "muted" }, words(each.relation.type));
    return each.relation.source_id === entity.id ? [verb, " ", other(each)] : [other(each), " ", verb, " ", names.show(entity.name, 24)];
  };
  const draw = () => {
    const some = [...events].reverse().filter((each) => mentioned || told(each)), shown = some.slice(0, most);
    const choice = (all, text) => h("button", { class: "chip", type: "button", "aria-pressed": String(mentioned === all), onclick: (event) => { mentioned = all; draw(); place.querySelector("[aria-pressed=true]").focus(); event.preventDefault(); } }, text);
    fill(place, h("div", { class: "hd" }, h("h2", { class: "grow" }, "Timeline"), choice(false, "relations"), choice(true, "with mentions")),
      h("div", { class: "bd" }, shown.length ? h("ol", { class: "tl" }, shown.map((each) => h("li", {}, h("span", { class: "at" }, day(each.at)), h("span", { class: `k ${each.kind}`, title: each.kind }, SIGNS[each.kind] ?? "·", h("span", { class: "vh" }, each.kind)), h("span", {}, what(each)))))
        : h("p", { class: "muted" }, events.length ? "No relation of it has a date; see its mentions." : "Nothing about it has a date.")),
      some.length > shown.length ? button(`${some.length - shown.length} earlier`, () => { most = some.length; draw(); }, "quiet") : null);
  };
  draw();
  return place;
}

// ---- what it hangs together with

function pathTo(context, entity, names, related, when) {
  const { params, read, note, link } = context;
  const out = h("div", { role: "status" });
  const field = h("input", { class: "field", "aria-label": "Path to", list: "path-ends", placeholder: "the name of another", dir: "auto", autocomplete: "off", spellcheck: "false", maxlength: 400 });
  const find = async (to) => {
    note({ to });
    try {
      const { path } = await read("graph_path", { source: entity.id, target: to, ...when });
      fill(out, path ? drawnPath(path, link) : h("p", { class: "muted" }, "No path within four hops."));
    } catch (error) {
      if (!context.signal.aborted) fill(out, h("p", { class: "note bad" }, error.status === 404 ? "No entity that you may see is called so." : error.message));
    }
  };
  const submit = (event) => { event.preventDefault(); if (field.value.trim()) find(field.value.trim()); };
  const ends = h("datalist", { id: "path-ends" }, related.filter((each) => each.hops > 1).map((each) => h("option", { value: clip(each.entity.name, 200) })));
  if (params.to) { field.value = params.to; find(params.to); } else out.append(h("p", { class: "muted" }, "How it is connected with another, in either direction."));
  return panel("Path to", h("form", { class: "row", onsubmit: submit }, field, ends, h("button", { class: "btn" }, "Find")), h("div", { class: "bd" }, out));
}

function drawnPath({ entities, relations, strength }, link) {
  const names = new Names(entities.map((each) => each.name));
  const step = (relation, from) => h("span", { class: "step" }, relation.source_id === from.id ? `— ${words(relation.type)} →` : `← ${words(relation.type)} —`);
  return h("div", {}, h("p", { class: "pathline" }, entities.map((each, at) => [at ? step(relations[at - 1], entities[at - 1]) : null, h("a", { href: link("entity", { id: each.id }) }, names.show(each.name, 30))])),
    h("p", { class: "small muted" }, relations.length ? `${counted(relations.length, "hops")}, strength ${two(strength)}` : "It is itself."));
}

function identity(context, { entity, community }, merges) {
  const rows = [
    ["importance", two(entity.importance_weight)], ["feedback weight", two(entity.feedback_weight)], ["known since", day(entity.created_at)],
    community ? ["community", [said(community.label ?? "", 80), ` (${community.size})`]] : null, ["id", h("code", {}, entity.id)],
  ].filter(Boolean);
  return panel("Names and merges", null, h("div", { class: "bd" }, h("dl", { class: "kv" }, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])), h("hr", {}),
    merges === null ? h("p", { class: "muted" }, "You may not see its merges.") : merges.length ? h("ul", {}, merges.map((each) => mergeLine(context, each))) : h("p", { class: "muted" }, "Nothing was merged into it.")));
}

function mergeLine(context, merge) {
  const undo = async () => {
    const text = ["“", said(merge.source_name, 60), "” becomes an entity of its own again, with what it had."];
    if (!await context.confirm({ title: "Undo this merge?", text, action: "Undo the merge" })) return;
    const report = await context.change("undo_merge", { merge_id: merge.id });
    context.say(report.waits ? waits : "The merge is undone.");
    context.again();
  };
  return h("li", { class: "row wrap between" }, h("span", {}, h("span", { class: "muted" }, `${day(merge.created_at)} `), said(merge.source_name, 60), " → ", said(merge.target_name, 60)),
    merge.undone_at ? h("span", { class: "tag" }, `undone ${day(merge.undone_at)}`) : acting(context, "merge", "Undo", undo));
}

function within({ link }, related, names) {
  if (!related.length) return null;
  const row = (each) => h("tr", {}, h("td", {}, h("a", { href: link("entity", { id: each.entity.id }) }, names.show(each.entity.name, 30))), h("td", { class: "muted small" }, joined(each.path.map((step) => words(step.type)), () => " → ")), h("td", { class: "num" }, two(each.strength)));
  return panel("Within two hops", null, h("table", { class: "padded" }, h("thead", { class: "vh" }, h("tr", {}, ["entity", "by", "strength"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, related.map(row))));
}

function mentions(memories) {
  if (!memories.length) return null;
  return panel("Mentioned in", null, h("ul", { class: "bd tight" }, memories.slice(0, 6).map((each) => h("li", {}, h("span", { class: "muted" }, `${day(each.occurred_at)} `), each.speaker ? [said(each.speaker, 40), ": "] : null, said(each.text || each.source || each.id, 200)))));
}
