// Ask: the answer, why it is what it is, the block as the model gets it, the drawing of exactly that, what nearly made it.
import { bar, heard, legend, scaleOf } from "./bars.js";
import { asking, button, dotted, fill, h, joined, pane, panel, roving, s, tabs } from "./dom.js";
import * as drawer from "./drawer.js";
import { Names, broken, counted, day, period, said, score, whole, words } from "./format.js";
import { graph } from "./graph.js";

const LIMIT = 25; // relations, and memories, that are asked for
const FEW = 6; // of what nearly made it, until more is asked for
const ANSWERS = 4;
const REASONS = {
  room: "no room", share: "share of its section", repeats: "repeats a line", enough: "enough of its kind", relevance: "too little relevance",
  floor: "below the floor", co_occurrence: "only named together", doubt: "too doubtful", no_text: "no text", past: "does not hold then",
};

// The question, and examples of questions; it goes to whichever view it stands in.
export function askBar({ questions, view, params, go }) {
  const send = (q) => go(view, { ...params, q, open: undefined, since: undefined, until: undefined });
  const form = asking({ value: params.q, label: "Question", placeholder: "Ask what an agent would ask", most: 4000, act: "Ask", send });
  const example = (each) => h("button", { class: "chip", type: "button", "aria-current": each === params.q ? "true" : undefined, onclick: () => send(each) }, said(each, 120));
  return h("div", {}, form, questions.length ? h("div", { class: "samples", role: "group", "aria-label": "Questions to begin with" }, questions.map(example)) : null);
}

export async function askView(context) {
  const { params, me, as, read, readOwn } = context;
  if (!params.q) return h("div", { class: "wrap-page" }, askBar(context), begin(me));
  const args = { query: params.q, budget: params.budget, mode: params.mode, as_of: params.at, known_at: params.known, limit: LIMIT };
  const [found, own] = await Promise.all([read("ask", args), as ? readOwn("ask", args) : null]);
  return answerPage(context, found, own);
}

function begin(me) {
  return h("div", { class: "state" }, h("h1", {}, "Ask this project"),
    h("p", {}, "You see what an agent gets for a question, and why: each line of the block, the parts of its score, the memories that stand behind it, and what was left out."),
    me.size ? h("p", { class: "muted" }, `It knows ${["entities", "relations", "memories"].map((kind) => counted(me.size[kind], kind)).join(", ")}.`) : null,
    h("p", { class: "muted" }, "Press ", h("kbd", {}, "/"), " to begin, ", h("kbd", {}, "?"), " for other keys."));
}

// The rows of an answer: each with its rank, whether the block has it, and else why not.
function rows(found) {
  const inside = new Set(found.block.lines.map((line) => line.key).filter(Boolean));
  const omitted = new Map(found.block.omitted.map((each) => [each.key, each]));
  const ranked = (all) => all.map((each, at) => ({ ...each, rank: at < LIMIT ? at + 1 : null, in: inside.has(each.key), omitted: inside.has(each.key) ? undefined : omitted.get(each.key) }));
  const past = found.past.map((each) => ({ ...each, rank: null, omitted: { reason: "past", sentence: `It does not hold at the moment that is asked about: ${period(each.valid_from, each.valid_to)}.` } }));
  return { relations: ranked(found.relations), past, memories: ranked(found.memories), entities: found.entities.map((each, at) => ({ ...each, key: `entity:${each.id}`, rank: at + 1 })) };
}

function answerPage(context, found, own) {
  const { params, as, go, note, link } = context;
  const { relations, past, memories, entities } = rows(found);
  const ends = [...relations, ...past, ...(own?.relations ?? [])].flatMap((each) => [each.source, each.target]);
  const named = [...ends, ...entities, ...memories.flatMap((each) => each.path)];
  const names = new Names(named.map((each) => each.name));
  const called = new Map(named.map((each) => [each.id, each.name]));
  const by = new Map([...past, ...relations, ...memories, ...entities].map((each) => [each.key, each]));
  const page = h("div", { class: "wrap-page" }, askBar(context));

  // One selection, shown in the list, the block and the drawing at once.
  const mark = (key, name, on) => page.querySelectorAll("[data-key]").forEach((each) => { if (each.dataset.key === key) each.classList.toggle(name, on); });
  function select(key) {
    for (const each of page.querySelectorAll("[data-key]")) {
      each.classList.toggle("sel", each.dataset.key === key);
      if (each.matches(".line")) each.setAttribute("aria-expanded", String(each.dataset.key === key));
    }
    note({ open: key ?? undefined });
  }
  function open(key) {
    const line = by.get(key);
    if (!line) return;
    select(key);
    const args = { query: params.q, mode: params.mode, as_of: params.at, known_at: params.known };
    drawer.open(context, key.slice(0, key.indexOf(":")), line, args, { names, link, rank: line.rank, onclose: () => select(null) });
  }
  for (const [event, on] of [["pointerover", true], ["pointerout", false], ["focusin", true], ["focusout", false]]) {
    page.addEventListener(event, ({ target }) => { const at = target.closest("[data-key]"); if (at) mark(at.dataset.key, "hot", on); });
  }

  if (own) page.append(seenBy(as, found, own, names));
  page.append(summary(context, found, names, called, relations));
  if (relations.length || memories.length || past.length) {
    page.append(h("div", { class: "cols" }, h("div", { class: "stack" }, ranking({ relations, past, memories, entities }, found, names, open)),
      h("div", { class: "stack right" }, block(context, found, open), relations.length ? drawing(found, relations, names, open, go) : null)));
  }
  if (params.open) page.addEventListener("placed", () => open(params.open), { once: true });
  return page;
}

// ---- the answer in four lines

function summary(context, found, names, called, relations) {
  const { params, link, go } = context;
  const inBlock = new Set(relations.filter((each) => each.in).flatMap((each) => [each.source.id, each.target.id]));
  const all = found.answers.filter((id) => called.has(id)), given = all.filter((id) => inBlock.has(id)); // what no model gets is no answer, unless it is all there is
  const answer = (given.length ? given : all).slice(0, ANSWERS).map((id) => [h("a", { href: link("entity", { id }) }, names.show(called.get(id), 40)), given.length ? null : h("span", { class: "muted small weak" }, " not in the block")]);
  const lines = found.block.lines.filter((line) => line.key).length;
  const timings = Object.entries(found.timings ?? {});
  return h("dl", { class: "sum", "aria-label": "Answer" },
    h("dt", {}, "Answer"), h("dd", { class: "answer" }, answer.length ? dotted(answer) : said(found.reason || found.recalled.reason || "Nothing answers it.", 300)),
    found.summary ? [h("dt", {}, "In words"), h("dd", {}, said(found.summary.text ?? String(found.summary), 2000))] : null,
    h("dt", {}, "Understood"), h("dd", {}, dotted(understood(context, found, names, called))),
    h("dt", {}, "From"), h("dd", { class: "flow" }, dotted([
      [h("span", {}, h("b", {}, counted(found.found, "relations")), " and ", h("b", {}, counted(found.recalled.found, "memories")), " scored"), h("span", { class: "arrow" }, " → "), h("span", {}, h("b", {}, counted(lines, "lines"))), h("span", { class: "arrow" }, " → "), h("span", {}, h("b", {}, `${found.block.tokens} of ${found.block.budget}`), " tokens")],
      hidden(found),
      timings.length ? h("span", { class: "muted", title: timings.map(([stage, ms]) => `${stage} ${ms.toFixed(1)} ms`).join("\n") }, `${Math.round(found.timings.total)} ms`) : null,
    ].filter(Boolean))),
    params.at || params.known ? [h("dt", {}, "Moment"), h("dd", {}, dotted([["at", "as of"], ["known", "as known at"]].filter(([name]) => params[name]).map(([name, text]) => [
      `${text} ${day(params[name])} `, h("button", { class: "link", type: "button", onclick: () => go("ask", { ...params, [name]: undefined, open: undefined }) }, "now instead")])))] : null);
}

function understood({ link }, found, names, called) {
  const it = found.interpretation, asksFor = (it?.relations ?? []).filter((each) => each.type !== "co_occurs");
  const meant = (name) => {
    const [first, ...others] = Object.entries(name.entities);
    const entity = ([id, likely]) => [h("a", { href: link("entity", { id }) }, called.has(id) ? names.show(called.get(id)) : said(name.written, 60)), others.length ? ` (${likely.toFixed(2)})` : ""];
    return h("span", {}, "“", said(name.written, 60), "” ", first ? ["is ", joined([first, ...others].slice(0, 4).map(entity), () => " or ")] : h("b", {}, "is not known"));
  };
  return [
    ...(it?.names ?? []).slice(0, 4).map(meant),
    asksFor.length ? h("span", {}, "asks for ", h("b", {}, asksFor.slice(0, 2).map((each) => words(each.type)).join(", "))) : null,
    it?.kind && !it.relations.some((each) => it.kind.startsWith(each.type)) ? h("span", {}, "wants a ", h("b", {}, it.kind.split(" ")[0])) : null,
    h("span", {}, it?.time?.written ? [said(it.time.written, 60), ", "] : null, h("a", { href: link("time") }, `as of ${day(found.as_of)}`)),
    h("span", { class: "muted" }, words(found.mode)),
  ].filter(Boolean);
}

// What policies hide is counted, for those who may view as; nobody else is told.
function hidden(found) {
  if (!found.denied) return null;
  const kinds = Object.entries({ relation: "relations", memory: "memories", entity: "entities" }).filter(([kind]) => found.denied[kind]).map(([kind, many]) => counted(found.denied[kind], many));
  const policies = Object.entries(found.denied_by ?? {}).map(([id, number]) => `${id} ${number}`);
  return kinds.length ? h("span", {}, "hidden by policy: ", h("b", {}, kinds.join(", ")), policies.length ? h("span", { class: "muted" }, ` (${policies.join(", ")})`) : null) : h("span", { class: "muted" }, "nothing hidden");
}

function seenBy(as, found, own, names) {
  const given = (answer) => new Map(answer.relations.filter((each) => answer.block.lines.some((line) => line.key === each.key)).map((each) => [each.key, each]));
  const theirs = given(found), ours = given(own);
  const gone = [...ours.values()].filter((each) => !theirs.has(each.key)), come = [...theirs.values()].filter((each) => !ours.has(each.key));
  const nothing = !theirs.size && ours.size > 0;
  const sentence = nothing ? `None of the ${counted(ours.size, "relations")} that you get. ` : gone.length || come.length ? "Compared with you: " : "The same relations as for you. ";
  const differences = [...(nothing ? [] : gone).map((each) => ["− ", each]), ...come.map((each) => ["+ ", each])].map(([sign, each]) => [h("b", {}, sign), h("span", {}, names.relation(each, 30))]);
  return h("section", { class: "note mt", "aria-label": "View as" },
    h("p", {}, h("b", {}, "As ", said(as.id, 60), " sees it. "), sentence, joined(differences, () => "; ")),
    h("p", { class: "small muted" }, found.reason ? ["They read: “", said(found.reason, 200), "”. To them, what is hidden looks like what does not exist; the counts below are for you alone."]
      : "What is hidden took no part in scores, ranks or places. The counts below are for you alone; they never reach a prompt."));
}

// ---- what was found, as bars

function ranking({ relations, past, memories, entities }, found, names, open) {
  const kinds = {
    relations: ["Relations", [...relations, ...past], "relation", found.found],
    memories: ["Memories", memories, "memory", found.recalled.found],
    entities: ["Entities", entities, "entity", entities.length],
  };
  const there = Object.entries(kinds).filter(([, [, all]]) => all.length);
  const place = h("section", { class: "panel", "aria-label": "Ranked" });
  let chosen = there[0][0], reason = "all", every = false;

  const draw = (focus) => {
    const [, items, kind] = kinds[chosen], scale = scaleOf(items, kind);
    const inside = kind === "entity" ? items : items.filter((each) => each.in), out = kind === "entity" ? [] : items.filter((each) => !each.in);
    const list = (some) => lines(some, kind, scale, names, open);
    fill(place,
      tabs("What was found", there.map(([id, [name, , , number]]) => [id, name, whole(number)]), chosen, (id) => { chosen = id; reason = "all"; every = false; draw("[aria-selected=true]"); }),
      pane(chosen, {}, legend(kind, items, scale),
        kind === "entity" ? null : h("h2", { class: "cut" }, inside.length ? `In the block: ${counted(inside.length, "lines")}` : "None of these is in the block"),
        inside.length ? list(inside) : null, out.length ? nearly(out, list, draw) : null));
    if (focus) place.querySelector(focus)?.focus();
  };
  const nearly = (out, list, again) => {
    const reasons = new Map([["all", out.length]]);
    for (const each of out) if (each.omitted) reasons.set(each.omitted.reason, (reasons.get(each.omitted.reason) ?? 0) + 1);
    const kept = out.filter((each) => reason === "all" || each.omitted?.reason === reason), shown = every || kept.length <= FEW + 1 ? kept : kept.slice(0, FEW);
    const chip = ([id, number]) => h("button", { class: "chip", type: "button", "data-reason": id, "aria-pressed": String(id === reason), onclick: () => { reason = id; again(`[data-reason="${id}"]`); } }, `${REASONS[id] ?? words(id)} ${number}`);
    return [h("div", { class: "cut row wrap" }, h("h2", {}, "What nearly made it"), reasons.size > 2 ? h("span", { class: "row wrap" }, [...reasons].map(chip)) : null), list(shown),
      shown.length < kept.length ? button(`${kept.length - shown.length} more`, () => { every = true; again(".cut ~ .lines .line"); }, "quiet") : null];
  };
  draw();
  return place;
}

const ABOUT = {
  relation: { what: (each, names) => names.relation(each), more: (each) => [period(each.valid_from, each.valid_to), each.fact ? [" · ", said(each.fact, 160)] : null] },
  memory: { what: (each) => said(each.text || each.key.slice("memory:".length), 150), more: (each) => [day(each.occurred_at), " ", said(each.speaker, 40), each.until ? ` · until ${day(each.until)}` : ""] },
  entity: { what: (each, names) => [names.show(each.name), h("span", { class: "muted" }, ` ${each.type}`)], more: (each) => counted(each.connections, "relations") },
};

function lines(items, kind, scale, names, open) {
  const line = (each) => h("li", {}, h("button", { class: "line", type: "button", "data-key": each.key, "aria-expanded": "false", onclick: () => open(each.key) },
    h("span", { class: "rank" }, each.rank ?? "–"), h("span", { class: "what" }, ABOUT[kind].what(each, names)),
    h("span", { class: "barwrap" }, bar(each.parts, kind, scale), h("span", { class: "vh" }, heard(each.parts, kind))), h("span", { class: "score" }, score(each.score)),
    h("span", { class: "more" }, each.omitted ? h("span", { class: "out-reason" }, each.omitted.sentence) : ABOUT[kind].more(each))));
  return roving(h("ol", { class: "lines", "aria-label": `${kind} lines, best first` }, items.map(line)), ".line");
}

// ---- the block as the model gets it

function block({ params, go, say }, found, open) {
  const { lines: all, text, tokens, budget, skipped, skipped_memories: skippedMemories, reason } = found.block;
  const copy = async () => {
    try { await navigator.clipboard.writeText(text); say("The block is copied."); } catch { say("The browser did not allow it: select the text and copy it."); }
  };
  const field = h("input", { class: "field budget", type: "number", min: 50, max: 100000, step: 50, value: budget, "data-focus": "budget", "aria-label": "Budget in tokens", onchange: (event) => { if (Number(event.target.value) > 0) go("ask", { ...params, budget: event.target.value }); } });
  const gauge = s("svg", { class: "gauge", viewBox: "0 0 120 6", preserveAspectRatio: "none", role: "img", "aria-label": `${tokens} of ${budget} tokens used` }, s("rect", { class: "t", width: 120, height: 6 }), s("rect", { class: "f1", width: (Math.min(1, tokens / budget) * 120).toFixed(1), height: 6 }));
  const line = ({ key, text: written, tokens: cost }) => (key
    ? h("li", { "data-key": key }, h("button", { class: "t", type: "button", onclick: () => open(key) }, h("bdi", { dir: "ltr" }, broken(written))), h("span", { class: "n" }, cost))
    : h("li", { class: "h" }, h("span", {}, broken(written)), h("span", { class: "n" }, cost)));
  return panel("What the model gets", [gauge, h("label", { class: "small nowrap row" }, `${tokens} of `, field, " tokens"), button("Copy", copy, "quiet")],
    all.length ? h("ol", { class: "block", "aria-label": "Lines of the block, with their tokens" }, all.map(line)) : h("p", { class: "bd muted" }, "The block is empty: ", said(reason || found.reason || "nothing answers the question", 300), "."),
    h("div", { class: "legend" }, `${counted(skipped, "relations")} and ${counted(skippedMemories, "memories")} more were found`));
}

// ---- the drawing of exactly that

function drawing(found, relations, names, open, go) {
  const inside = relations.filter((each) => each.in), best = Math.max(...relations.map((each) => each.score), 0.001);
  const seeds = (found.interpretation?.names ?? []).flatMap((name) => Object.keys(name.entities));
  const place = h("div", { class: "graph bd", dir: "ltr" });
  let all = !inside.length;
  const draw = () => fill(place, graph((all ? relations : inside).map((each) => ({ ...each, share: each.score / best })), seeds, {
    label: "The relations of the answer, from what the question names", choose: (edge) => open(edge.key), open: (node) => go("entity", { id: node.id }),
    ends: new Set(found.answers.slice(0, ANSWERS)), part: 0.44,
  }));
  draw();
  const toggle = inside.length && inside.length < relations.length ? h("button", { class: "chip", type: "button", "aria-pressed": "false", onclick: (event) => { all = !all; event.target.setAttribute("aria-pressed", String(all)); draw(); } }, `the first ${relations.length}`) : null;
  return panel("Where it comes from", toggle, place);
}
