// Health: three factors and their product, what would improve them, and what the graph holds.
import { meter } from "./bars.js";
import { h, panel } from "./dom.js";
import { counted, said, two, whole, words } from "./format.js";

const STEPS = {
  settle_duplicates: [(count) => `Settle ${counted(count, "possible duplicates")}`, "duplicates"],
  settle_mentions: [(count) => `Say whom ${counted(count, "disputed mentions")} mean`, "conflicts"],
  add_relations: [(count) => `Give ${counted(count, "scopes")} more relations`, null],
};
const TYPES = 8;

export async function health(context) {
  const [it, stats] = await Promise.all([context.read("graph_health"), context.read("stats")]);
  const factors = [
    ["one entity per thing", 1 - it.fragment_rate, "entities that no other seems to be"],
    ["names resolved rightly", it.resolution_precision, "mentions that nothing speaks against"],
    ["enough relations", it.edge_coverage, "of scopes with enough memories"],
  ];
  const stat = (value, name) => h("div", {}, h("b", {}, value), h("span", {}, name));
  const factor = (name, bar, value, under) => h("div", { class: "factor" }, h("span", {}, name, under ? h("span", { class: "muted small" }, h("br", {}), under) : null), h("span", { class: "barwrap" }, bar), h("span", { class: "num strong" }, value));
  const measured = panel("Health", [h("span", { class: "tag on" }, it.condition), h("span", { class: "tag" }, it.maturity)], h("div", { class: "bd" },
    h("div", { class: "stats" }, stat(two(it.value), "product of the three"), stat(two(it.graph_weight_factor), "weight of the graph in recall")), h("hr", {}),
    factors.map(([name, value, under]) => factor(name, meter(value, 1, `${name}: ${two(value)}`), two(value), under)),
    h("p", { class: "muted small mt" }, said(it.message, 400)), it.warnings.map((each) => h("p", { class: "note bad" }, said(each, 400)))));
  const types = Object.entries(stats.relations_by_type).sort((one, other) => other[1] - one[1]).slice(0, TYPES);
  const holds = panel("What it holds", null, h("div", { class: "bd" },
    h("div", { class: "stats" }, ["entities", "relations", "memories", "claims", "mentions"].map((name) => stat(whole(stats[name]), name))), types.length ? h("hr", {}) : null,
    types.map(([name, number]) => factor(said(words(name), 40), meter(number / types[0][1], 2), whole(number)))));
  return h("div", { class: "cols" }, h("div", { class: "stack" }, measured, holds), better(context, it.steps ?? []));
}

function better({ link }, steps) {
  const step = ({ kind, count, adds }) => {
    const [text, tab] = STEPS[kind] ?? [() => `${words(kind)}: ${whole(count)}`, null];
    return h("li", {}, tab ? h("a", { href: link("care", { tab }) }, text(count)) : text(count), h("span", { class: "muted" }, `: adds ${two(adds)} to the value`));
  };
  return panel("What would improve it", null, h("div", { class: "bd" }, steps.length ? h("ol", { class: "steps" }, steps.map(step)) : h("p", { class: "muted" }, "Nothing that is known of.")));
}
