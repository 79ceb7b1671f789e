// Small plots in plain SVG: a weight over sessions, a period between moments.
import { h, s } from "./dom.js";
import { day, said, two } from "./format.js";

const NEUTRAL = 0.5; // where every weight starts
const OUTCOMES = new Map([[1, ["accepted", "pt"]], [0.5, ["rework", "pt mid"]], [0, ["rejected", "pt bad"]]]);
const outcome = (each) => OUTCOMES.get(each.outcome) ?? [String(each.outcome), "pt"];

// The weight of an element after each session that was shown it: ``history`` is {session_id, shown_at, outcome, weight}.
export function weightPlot(history) {
  const wide = 420, tall = 110, left = 34, right = 12, top = 10, bottom = 22;
  const values = [NEUTRAL, ...history.map((each) => each.weight)];
  const low = Math.min(0.4, ...values) - 0.02, high = Math.max(0.6, ...values) + 0.02;
  const x = (at) => left + (at / Math.max(1, values.length - 1)) * (wide - left - right);
  const y = (value) => top + (1 - (value - low) / (high - low)) * (tall - top - bottom);
  const marks = [low + 0.02, NEUTRAL, high - 0.02].filter((value) => value === NEUTRAL || Math.abs(value - NEUTRAL) > 0.05);
  const drawn = s("svg", { class: "plot", viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": `Weight after each of ${history.length} sessions, from ${two(NEUTRAL)} to ${two(values.at(-1))}` },
    marks.map((value) => [s("line", { class: "ax", x1: left, x2: wide - right, y1: y(value), y2: y(value) }), s("text", { x: left - 5, y: y(value) + 4, "text-anchor": "end" }, two(value))]),
    s("path", { class: "ln", d: values.map((value, at) => `${at ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("") }),
    history.map((each, at) => s("circle", { class: outcome(each)[1], cx: x(at + 1), cy: y(each.weight), r: 3.5 }, s("title", {}, `${outcome(each)[0]}, ${two(each.weight)}`))),
    s("text", { x: left, y: tall - 5 }, "before"), s("text", { x: wide - right, y: tall - 5, "text-anchor": "end" }, day(history.at(-1).shown_at)));
  const rows = history.map((each) => h("tr", {}, h("td", { class: "nowrap" }, day(each.shown_at)), h("td", {}, said(each.session_id || "of somebody else", 40)), h("td", {}, outcome(each)[0]), h("td", { class: "num" }, two(each.weight))));
  return h("div", {}, drawn, h("details", {}, h("summary", { class: "small muted" }, "As a table"), h("table", {},
    h("thead", {}, h("tr", {}, ["shown", "session", "outcome", "weight"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows))));
}

// Where a moment lies between the steps of a slider, in percent: a period then stands under the thumb that moves it.
export function placeOf(moment, steps) {
  const at = Date.parse(moment), times = steps.map((each) => Date.parse(each)), last = times.length - 1;
  if (at <= times[0]) return at < times[0] ? -1.6 : 0;
  if (at >= times[last]) return at > times[last] ? 101.6 : 100;
  const after = times.findIndex((each) => each > at);
  return ((after - 1 + (at - times[after - 1]) / (times[after] - times[after - 1])) / last) * 100;
}

export function periodPlot({ from, to, steps, marks, state }) {
  const start = from ? placeOf(from, steps) : -1.6, end = to ? placeOf(to, steps) : 101.6;
  return s("svg", { viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("rect", { class: `per ${state}`, x: start.toFixed(2), y: 5, width: Math.max(0.8, end - start).toFixed(2), height: 10 }),
    marks.map((at, place) => s("line", { class: place ? "at b" : "at", x1: at, x2: at, y1: -6, y2: 26 })));
}
