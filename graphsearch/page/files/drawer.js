// What stands behind one line: parts, claims and quotes, the history of its weight, or what kept it out.
import { meter, partsTable } from "./bars.js";
import { button, fill, h, joined } from "./dom.js";
import { counted, day, full, minute, period, said, signed, two, words } from "./format.js";
import { weightPlot } from "./plots.js";

const drawer = document.getElementById("drawer");
let before = null, closed = null;

export function close({ restore = true } = {}) {
  if (drawer.hidden) return false;
  drawer.hidden = true;
  fill(drawer);
  document.body.classList.remove("open");
  if (restore && before?.isConnected) before.focus();
  const onclose = closed;
  before = closed = null;
  if (restore) onclose?.();
  return true;
}

// Show a title and sections; ``onclose`` is called when it is closed, not when the page goes elsewhere.
export function show(title, sections, onclose, { busy = false } = {}) {
  if (drawer.hidden) before = document.activeElement;
  const heading = h("h2", { class: "grow", tabindex: "-1" }, title);
  const end = h("button", { class: "btn quiet", type: "button", onclick: () => close() }, "Close ", h("kbd", { class: "hide-s" }, "Esc"));
  fill(drawer, h("div", { class: "hd" }, heading, end), sections);
  drawer.setAttribute("aria-busy", String(busy));
  closed = onclose;
  drawer.hidden = false;
  drawer.scrollTop = 0;
  document.body.classList.add("open");
  heading.focus({ preventScroll: true });
}

const section = (title, ...content) => h("section", {}, title ? h("h3", {}, title) : null, ...content);
const note = (...content) => section("", h("p", { class: "note" }, ...content));
const facts = (rows) => h("dl", { class: "kv" }, rows.filter(Boolean).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));

function byline(memory) {
  const who = memory.speaker || memory.subject || memory.source;
  return h("div", { class: "row wrap small muted between" },
    h("span", {}, who ? full(who, 80) : null, who && memory.occurred_at ? " · " : "", minute(memory.occurred_at)),
    h("span", { class: "row" }, (memory.labels ?? []).map((label) => h("span", { class: "tag bad" }, said(label, 30))), h("code", {}, said(memory.id, 60))));
}

// The words of a claim are marked in its memory: where its span says, else where the quote is found.
function marked(text, claim, quote) {
  const start = claim?.span?.start ?? (quote ? text.indexOf(quote) : -1), end = claim?.span?.end ?? start + quote.length;
  if (start < 0 || end > text.length) return said(text);
  return h("span", { dir: "auto" }, said(text.slice(0, start)), h("mark", {}, said(text.slice(start, end))), said(text.slice(end)));
}

function proof(each, total) {
  const { memory, claim } = each;
  const rules = [
    each.extractor && `read by ${each.extractor}`,
    each.pattern && `rule ${each.pattern}`,
    claim?.valid_from && `dated ${day(claim.valid_from)}`,
    claim?.ceiling < 1 && `at most ${two(claim.ceiling)} from such claims`,
  ].filter(Boolean).join(" · ");
  return h("div", { class: "quote" }, byline(memory),
    memory.text ? h("p", {}, marked(memory.text, claim, each.quote)) : h("p", { class: "muted" }, "Its text is not stored: it was read from ", h("code", {}, said(memory.source || memory.id, 120)), "."),
    h("div", { class: "row small" }, h("span", { class: "muted nowrap" }, claim ? `claim ${two(claim.confidence)}` : "no claim"), h("span", { class: "grow" }, meter(total, 2)), h("span", { class: "nowrap" }, `adds ${signed(each.adds)}`)),
    rules ? h("div", { class: "small muted" }, said(rules, 200)) : null);
}

function evidence({ provenance: { proofs, given, relation }, proved_by: all }) {
  let total = 0;
  const shown = proofs.map((each) => proof(each, (total += each.adds))), more = all - proofs.length;
  const title = proofs.length ? `Evidence: ${counted(all, "memories")}, confidence ${relation.confidence.toFixed(3)}` : "Evidence";
  return section(title, shown,
    more > 0 ? h("p", { class: "small muted" }, `${counted(more, "memories")} more add less.`) : null,
    given ? h("p", { class: "small muted" }, `It was stated with confidence ${two(given)}; no claim adds to it.`) : null,
    proofs.length || given ? null : h("p", { class: "muted" }, "You may not see what stands behind it, or nothing does."));
}

function stated(states, names) {
  const one = (each) => h("li", { class: "row between" }, h("span", {}, names.relation(each, 40)), h("span", { class: "muted small" }, two(each.confidence)));
  return section("States", states.length ? h("ul", {}, states.map(one)) : h("p", { class: "muted" }, "No relation was read from it."));
}

function weights(history, weight) {
  const none = "No session that was shown it has reported an outcome. It counts 0.50, as everything does at first.";
  return section(`Weight by session: ${two(weight)} now`, history.length ? weightPlot(history) : h("p", { class: "muted" }, none));
}

// The parts of a score, with their values and weights where these were explained.
function scored(kind, line, explained, rank) {
  const parts = explained?.parts ?? Object.entries(line.parts ?? {}).map(([name, contribution]) => ({ name, contribution }));
  if (!parts.length) return null;
  const it = explained?.found?.breakdown;
  return section(rank ? `Score: rank ${rank}` : "Score", partsTable(parts, kind, explained?.score ?? line.score),
    it ? h("p", { class: "small muted" }, `Every weight is a share of its strength: confidence ${it.confidence.toFixed(3)} × freshness ${it.freshness.toFixed(3)} × prior ${it.prior.toFixed(2)} = ${it.strength.toFixed(3)}.`) : null);
}

// ---- the three kinds of lines; ``line`` is a row, ``behind`` its evidence, null while that is fetched

const waiting = () => section("", h("span", { class: "sk w1" }), h("span", { class: "sk w3" }), h("span", { class: "sk w2" }));
const keptOut = (line) => (line.omitted ? note(h("span", { class: "strong" }, "Not in the block. "), line.omitted.sentence) : null);

function relation(line, behind, { names, onclose, rank }) {
  show(h("span", {}, names.relation(line, 60)), [
    keptOut(line),
    section("", facts([
      line.fact ? ["fact", said(line.fact, 600)] : null,
      ["holds", period(line.valid_from, line.valid_to)],
      behind ? ["known", `since ${minute(behind.element.created_at)}`] : null,
      line.in ? ["block", h("span", { class: "tag on" }, "in the block")] : null,
      ["id", h("code", {}, line.key.slice("relation:".length))],
    ])),
    behind ? [scored("relation", line, behind.explanation, rank), behind.provenance ? evidence(behind) : null, weights(behind.history, behind.element.feedback_weight)] : waiting(),
  ].flat(), onclose, { busy: !behind });
}

function memory(line, behind, { names, onclose, rank }) {
  const id = line.key.slice("memory:".length), whole = behind?.element ?? { ...line, id };
  const step = (each) => (each.name ? names.show(each.name, 40) : h("code", {}, said(each.id, 40)));
  show(h("span", {}, "Memory ", h("code", {}, said(id, 60))), [
    keptOut(line),
    section("", h("div", { class: "quote" }, byline({ ...whole, id }), whole.text ? h("p", {}, said(whole.text, 20000)) : h("p", { class: "muted" }, "Its text is not stored."),
      line.until ? h("p", { class: "small muted" }, `What it claims ended on ${day(line.until)}.`, line.now ? [" Now: ", said(line.now, 80), "."] : null) : null)),
    behind ? [scored("memory", line, behind.explanation, rank), stated(behind.states, names),
      line.path?.length ? section("How the graph led to it", h("p", { class: "pathline" }, joined(line.path.map(step), () => h("span", { class: "step" }, "→")))) : null,
      weights(behind.history, whole.feedback_weight)] : waiting(),
  ].flat(), onclose, { busy: !behind });
}

function entity(line, behind, { names, onclose, rank, link }) {
  show(h("span", {}, names.show(line.name, 80), h("span", { class: "muted" }, ` ${line.type}`)), [
    behind ? [scored("entity", line, behind.explanation, rank), weights(behind.history, behind.element.feedback_weight)] : waiting(),
    section("", facts([["relations", String(line.connections)], ["id", h("code", {}, line.id)]]), h("div", { class: "actions" }, h("a", { class: "btn", href: link("entity", { id: line.id }) }, "Timeline and neighbourhood"))),
  ].flat(), onclose, { busy: !behind });
}

// Open a line at once, and fetch what stands behind it.
let opened = 0;
export async function open(context, kind, line, args, options) {
  const mine = (opened += 1), draw = { relation, memory, entity }[kind];
  const still = () => mine === opened && !drawer.hidden && !context.signal.aborted;
  draw(line, null, options);
  try {
    const behind = await context.read("evidence", { kind, id: line.id ?? line.key.slice(kind.length + 1), ...args });
    if (still()) draw(line, behind, options);
  } catch (error) {
    if (!still()) return;
    const again = button("Try again", () => open(context, kind, line, args, options));
    show("Evidence", [section("", h("p", { class: "note bad", role: "alert" }, error.message), h("div", { class: "actions" }, again))], options.onclose);
  }
}
