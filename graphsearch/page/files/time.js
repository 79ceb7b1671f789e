// Time: one question at two moments, as known at a third; what appeared, what ended, what stayed.
import { askBar } from "./ask.js";
import { button, fill, h, panel } from "./dom.js";
import * as drawer from "./drawer.js";
import { Names, counted, day, minute, period, score } from "./format.js";
import { periodPlot } from "./plots.js";

const PAUSE = 120; // ms, after which a slider that rests is asked for
const SIGNS = { appeared: "+", rose: "↑", ended: "−", fell: "↓", stayed: "" };
const SLIDERS = [
  ["since", "as of, before", "The world at this moment"],
  ["until", "as of, after", "The world at this moment"],
  ["known", "known at", "What had been written down by then: earlier than now, it shows what an agent could know"],
];

export async function timeView(context) {
  const { params } = context;
  const page = h("div", { class: "wrap-page" }, askBar(context));
  if (!params.q) {
    page.append(h("div", { class: "state" }, h("h1", {}, "One question at two moments"), h("p", {}, "Ask something, and see what of its answer appeared and ended between two moments, and what could be known at a third.")));
    return page;
  }
  const found = await asked(context, { since: params.since, until: params.until ?? params.at, known: params.known });
  if (found.moments.length < 2 && !found.moments.some((each) => each.started || each.ended)) {
    page.append(h("div", { class: "state" }, h("h1", {}, found.relations.length ? "Nothing of this answer has a date" : "Nothing answers it at either moment"),
      h("p", {}, "What was read from undated files holds always. Give memories the time at which they were said (", h("code", {}, "occurred_at"), "), or ask about something that changed.")));
    return page;
  }
  page.append(...moments(context, found, page));
  return page;
}

// ``at`` has the moments that are given; one that is not given is now, or for the first the last change before.
const asked = (context, at) => context.read("changes", { query: context.params.q, mode: context.params.mode, since: at.since, until: at.until, known_at: at.known });

// The steps of the sliders: the moments at which the answer changes, those that are looked at, and now.
function stepsOf(found) {
  const time = (each) => Date.parse(each), all = [...found.moments.map((each) => each.at), found.since, found.until, found.known_at];
  return [...new Map(all.map((each) => [time(each), each])).values()].sort((one, other) => time(one) - time(other));
}

function moments(context, first, page) {
  const { params, say, note, onkeys } = context;
  const steps = stepsOf(first), last = steps.length - 1;
  const nearest = (moment) => Math.max(0, steps.findLastIndex((each) => Date.parse(each) <= Date.parse(moment)));
  const at = { since: nearest(first.since), until: nearest(first.until), known: params.known ? nearest(params.known) : last };
  const given = () => ({ since: steps[at.since], until: at.until === last ? undefined : steps[at.until], known: at.known === last ? undefined : steps[at.known] });
  const told = (step) => (step === last ? "now" : day(steps[step]));
  const changes = new Map(first.moments.map((each) => [Date.parse(each.at), each]));
  const spoken = (step) => {
    const each = changes.get(Date.parse(steps[step]));
    return `${minute(steps[step])}${each ? `: ${each.started} began, ${each.ended} ended, ${each.known} written down` : ""}`;
  };

  const body = h("div", {}), said = h("p", { role: "status", class: "strong pad" });
  const sliders = SLIDERS.map(([id, label, hint]) => {
    const out = h("output", { for: `t-${id}` });
    const input = h("input", { type: "range", id: `t-${id}`, min: 0, max: last, step: 1, "aria-describedby": `h-${id}`, oninput: () => { at[id] = Number(input.value); moved(); } });
    return { id, input, out, row: h("div", { class: "sl" }, h("label", { for: `t-${id}`, title: hint }, label), input, out, h("span", { class: "vh", id: `h-${id}` }, hint)) };
  });
  function place() {
    for (const { id, input, out } of sliders) {
      input.value = at[id];
      input.setAttribute("aria-valuetext", spoken(at[id]));
      out.value = told(at[id]);
      out.title = spoken(at[id]);
    }
  }
  let turn = 0, resting;
  function moved() {
    place();
    note({ ...given(), at: undefined, open: undefined });
    clearTimeout(resting);
    const mine = (turn += 1);
    resting = setTimeout(async () => {
      try {
        const found = await asked(context, given());
        if (mine === turn && page.isConnected) show(found);
      } catch (error) {
        if (mine === turn && page.isConnected) fill(body, h("p", { class: "note bad", role: "alert" }, error.message, " ", h("button", { class: "link", type: "button", onclick: moved }, "Try again")));
      }
    }, PAUSE);
  }
  function step(way) {
    const next = at.until + way;
    if (next < 1 || next > last) { say(way > 0 ? "Nothing changes after this." : "Nothing changes before this."); return; }
    Object.assign(at, { since: next - 1, until: next });
    moved();
  }
  function show(found) {
    said.textContent = sentence(found, told, at, last);
    fill(body, relations(context, found, steps, [at.since, at.until].map((each) => (each / last) * 100)));
  }
  onkeys({ "[": () => step(-1), "]": () => step(1) });
  place();
  show(first);
  const head = panel("Between two moments", [
    button([h("kbd", { class: "hide-s" }, "["), " previous change"], () => step(-1), "quiet"), button(["next change ", h("kbd", { class: "hide-s" }, "]")], () => step(1), "quiet"),
    button("Ask as of the later", () => context.go("ask", { q: params.q, at: given().until, known: given().known }), "quiet"),
  ], h("div", { class: "sliders" }, sliders.map((each) => each.row)));
  return [head, said, body];
}

function sentence(found, told, at, last) {
  const count = (what) => found.relations.filter((each) => each.happened === what).length;
  const also = [count("rose") && `${count("rose")} rose into the first ones`, count("fell") && `${count("fell")} fell out of the first ones`].filter(Boolean);
  const known = at.known < last ? ` As known on ${told(at.known)}, ${counted(found.unknown, "relations")} around this question had not been written down.` : "";
  if (at.since === at.until) return `At one moment, ${told(at.since)}: ${counted(found.relations.length, "relations")}. Move a slider to compare it with another.${known}`;
  return `From ${told(at.since)} to ${told(at.until)}: ${count("appeared")} appeared, ${count("ended")} ended, ${count("stayed")} stayed${also.map((each) => `; ${each}`).join("")}.${known}`;
}

// Relations at both moments, on one axis with the sliders.
function relations(context, found, steps, marks) {
  const lines = found.relations.map((each) => ({ ...each, ...each.relation }));
  const names = new Names(lines.flatMap((each) => [each.source.name, each.target.name]));
  const ticks = [...new Set([0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(part * (steps.length - 1))))];
  const days = ticks.map((step) => day(steps[step])), at = new Set(days).size < days.length ? minute : day;
  const open = (line) => drawer.open(context, "relation", line, { query: found.query, as_of: line.after ? found.until : found.since, known_at: found.known_at }, { names, link: context.link });
  const cell = (name, ...content) => h("div", { class: name, role: "cell" }, ...content);
  const row = (line) => h("div", { class: "gr", role: "row" },
    cell(`sign ${line.happened}`, SIGNS[line.happened], h("span", { class: "vh" }, line.happened)),
    cell("lab", h("button", { class: "link", type: "button", onclick: () => open(line) }, h("span", { class: line.happened === "ended" ? "gone" : undefined }, names.relation(line, 26)))),
    cell("pl", h("span", { class: "vh" }, period(line.valid_from, line.valid_to)), periodPlot({ from: line.valid_from, to: line.valid_to, steps, marks, state: line.happened })),
    cell("num sc", line.before && line.after ? [h("span", { class: "muted" }, `${score(line.before.score)} → `), score(line.after.score)] : line.after ? score(line.after.score) : h("span", { class: "muted" }, score(line.before.score))));
  const heads = h("div", { class: "gr hide-s", role: "row" }, h("div", { role: "columnheader" }, h("span", { class: "vh" }, "change")), h("div", { class: "small muted", role: "columnheader" }, "relation"),
    h("div", { class: "axis row between", role: "columnheader", "aria-label": "holds" }, ticks.map((step) => h("span", {}, at(steps[step])))), h("div", { class: "small muted num", role: "columnheader" }, "score"));
  return h("section", { class: "panel", "aria-label": "Relations" }, lines.length ? h("div", { class: "gantt", role: "table", "aria-label": "Relations at both moments" }, heads, lines.map(row))
    : h("p", { class: "pad muted" }, "Nothing was known of this question at either moment."));
}
