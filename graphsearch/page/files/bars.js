// Bars whose named parts add up to the score.
import { h, s } from "./dom.js";
import { score, signed, words } from "./format.js";

// Parts that say the same thing are one colour in a row; the drawer lists each of them. A place without parts keeps its
// colour free: importance is grey in each list.
const FAMILIES = {
  relation: [
    ["nearness", ["source", "target", "hops", "described", "proximity"]],
    ["fit to the question", ["relation_type", "answer_kind", "fact_words", "fact_meaning", "direction", "past"]],
    null,
    ["importance", ["importance"]],
    ["feedback", ["feedback"]],
  ],
  memory: [
    ["words", ["lexical"]],
    ["meaning", ["semantic"]],
    ["graph", ["graph"]],
    ["conversation", ["conversation", "temporal"]],
    ["feedback", ["feedback"]],
  ],
  entity: [
    ["relevance", ["original"]],
    ["words of its own", ["query_match"]],
    ["its type", ["entity_type"]],
    ["connections", ["connection", "temporal"]],
    ["feedback", ["feedback"]],
  ],
};
const OTHER = 6;
const MEANS = {
  source: "its source is what the question names",
  target: "its target is what the question names",
  hops: "near, by way of other relations",
  described: "the question describes one of its ends",
  relation_type: "its type is what the question asks for",
  answer_kind: "the other end is of the kind asked for",
  fact_words: "its fact has words of the question",
  fact_meaning: "its fact means what the question does",
  direction: "it points the way the question asks",
  past: "the question asks about the past",
  importance: "how important its ends are",
  feedback: "how sessions went that were shown it",
  lexical: "words in common",
  semantic: "meaning in common",
  graph: "the graph leads to it",
  conversation: "the turns around it",
  original: "relevance, over the greatest",
  connection: "number of relations",
  query_match: "terms of the question in its name and texts",
  entity_type: "its type answers the question",
  temporal: "its time is the time asked for",
};
const LEAST = 0.0004; // what would not be seen, and is 0.000 in words
const HIGH = 12;

// Families with their colour and sum; what no family has is "other".
export function grouped(parts, kind) {
  const left = new Map(Object.entries(parts));
  const groups = FAMILIES[kind].flatMap((family, place) => {
    if (!family) return [];
    const own = family[1].filter((name) => left.has(name));
    const sum = own.reduce((total, name) => total + left.get(name), 0);
    own.forEach((name) => left.delete(name));
    return [[family[0], place + 1, sum]];
  });
  groups.push(["other", OTHER, [...left.values()].reduce((total, each) => total + each, 0)]);
  return groups.filter((group) => Math.abs(group[2]) > LEAST);
}

const added = (groups) => groups.reduce((total, group) => total + Math.max(0, group[2]), 0);
export const heard = (parts, kind) => grouped(parts, kind).map(([name, , value]) => `${name} ${signed(value)}`).join(", ");
// The number that the longest bar of some lines stands for.
export const scaleOf = (lines, kind) => Math.max(0.001, ...lines.map((each) => Math.max(each.score, added(grouped(each.parts, kind)))));

const drawing = (props, ...shapes) => s("svg", { class: "bar", viewBox: `0 0 100 ${HIGH}`, preserveAspectRatio: "none", ...props }, s("rect", { class: "t", width: 100, height: HIGH }), ...shapes);
const block = (colour, from, wide) => s("rect", { class: `f${colour}`, x: from.toFixed(2), y: 0, width: Math.max(0, wide).toFixed(2), height: HIGH });
const taken = (from, wide) => s("rect", { class: "neg", x: from.toFixed(2), y: 1, width: wide.toFixed(2), height: HIGH - 2 });

// What is taken away is drawn over the end of what is added, dashed: the solid bar ends at the score.
export function bar(parts, kind, scale) {
  const groups = grouped(parts, kind), shapes = [];
  let at = 0;
  for (const [, colour, value] of groups.filter((group) => group[2] > 0)) {
    const wide = (value / scale) * 100;
    shapes.push(block(colour, at, wide - 0.35));
    at += wide;
  }
  const less = groups.reduce((total, group) => total + Math.max(0, -group[2]), 0) / scale * 100;
  return drawing({ "aria-hidden": "true" }, shapes, less > 0 ? taken(at - less, less) : null, s("title", {}, heard(parts, kind)));
}

export function meter(value, colour = 1, label = "") {
  return drawing(label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" }, block(colour, 0, Math.min(100, value * 100)));
}

export function legend(kind, lines, scale) {
  const used = new Set(lines.flatMap((each) => grouped(each.parts, kind).map((group) => group[1])));
  const families = [...FAMILIES[kind], ["other", []]].map((family, place) => [family, place + 1]).filter(([family, colour]) => family && used.has(colour));
  return h("div", { class: "legend" }, families.map(([[name], colour]) => h("span", {}, h("span", { class: `sw sw${colour}`, "aria-hidden": "true" }), name)), h("span", { class: "muted" }, `bar: 0 to ${score(scale)}`));
}

// Every part by itself, as a staircase that ends at the score. ``parts`` are {name, contribution}, with a value and a
// weight where these are known.
export function partsTable(parts, kind, total) {
  const colours = new Map(FAMILIES[kind].flatMap((family, place) => (family ? family[1].map((name) => [name, place + 1]) : [])));
  const colour = (part) => colours.get(part.name) ?? OTHER;
  const weighed = parts.every((part) => part.weight !== undefined);
  const shown = parts.filter((part) => part.contribution).sort((one, other) => colour(one) - colour(other));
  const high = Math.max(total, shown.reduce((sum, part) => sum + Math.max(0, part.contribution), 0)) || 1;
  let at = 0;
  const rows = shown.map((part) => {
    const from = Math.min(at, at + part.contribution) / high * 100, wide = Math.max(0.6, Math.abs(part.contribution) / high * 100);
    at += part.contribution;
    return h("tr", {}, h("th", { scope: "row", title: MEANS[part.name] }, words(part.name)), [...(weighed ? [part.value.toFixed(3), part.weight.toFixed(3)] : []), signed(part.contribution)].map((text) => h("td", { class: "num" }, text)),
      h("td", { class: "barcell" }, drawing({ "aria-hidden": "true" }, part.contribution < 0 ? taken(from, wide) : block(colour(part), from, wide))));
  });
  const none = parts.filter((part) => !part.contribution).map((part) => words(part.name));
  const table = h("table", {}, h("thead", {}, h("tr", {}, ["part", ...(weighed ? ["value", "weight"] : []), "adds"].map((name, place) => h("th", { scope: "col", class: place ? "num" : undefined }, name)), h("td", { "aria-hidden": "true" }))),
    h("tbody", {}, rows), h("tfoot", {}, h("tr", {}, h("td", { colspan: weighed ? 3 : 1 }, "score, the sum"), h("td", { class: "num" }, score(total)), h("td", {}))));
  return h("div", {}, table, none.length ? h("p", { class: "small muted" }, `Nothing from: ${none.join(", ")}.`) : null);
}
