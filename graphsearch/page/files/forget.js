// Forget: one memory, what goes with it, and a receipt that can be checked.
import { nothing, picker } from "./care.js";
import { acting, reason, waits } from "./changing.js";
import { button, fill, h, joined } from "./dom.js";
import { counted, day, minute, said, words } from "./format.js";

export async function forgetting(context) {
  const { params, read, go } = context;
  const { memories } = await read("list_memories", { query: params.about, limit: 20 });
  const wanted = params.memory ?? memories[0]?.id;
  const loss = wanted === undefined ? null : await read("preview_forget", { memory: wanted }).catch((error) => (error.status === 404 ? null : Promise.reject(error)));
  const field = h("input", { class: "field grow", value: params.about ?? "", "data-focus": "about", "aria-label": "Find a memory", placeholder: "Find a memory by what it says", dir: "auto", autocomplete: "off", maxlength: 4000 });
  const find = (event) => {
    event.preventDefault();
    go("care", { tab: "forget", about: field.value.trim() });
  };
  const list = picker(memories, memories.find((each) => each.id === wanted), {
    label: "Memories", title: (each) => said(each.text || each.source || each.id, 70), under: (each) => [said(each.speaker || each.source, 30), h("span", {}, day(each.occurred_at))],
    pick: (each) => go("care", { tab: "forget", about: params.about, memory: each.id }),
  });
  return h("div", { class: "split" },
    h("section", { class: "panel", "aria-label": "Memories" }, h("form", { class: "row hd", role: "search", onsubmit: find }, field, h("button", { class: "btn" }, "Find")), memories.length ? list : h("p", { class: "bd muted" }, "No memory that you may see.")),
    loss ? memory(context, loss) : nothing(wanted === undefined ? "Nothing to forget" : "This memory is not there", wanted === undefined ? "There is no memory that you may see." : "It does not exist, was forgotten, or you may not see it."));
}

function memory(context, { memory: it, counts, facts, entities }) {
  const place = h("div", { class: "mt", "aria-live": "polite" });
  const run = async () => {
    if (!await context.confirm({ title: "Forget this memory?", text: "It goes with all that rests on it alone. Nobody can bring it back.", word: it.id, action: "Forget" })) return;
    const receipt = await context.change("forget_with_receipt", { memory: it.id });
    if (receipt.waits) { context.say(waits); return; }
    await forgotten(context, it, receipt, place);
  };
  place.append(h("div", { class: "actions" }, acting(context, "forget", "Forget, with a receipt…", run, "danger"), reason(context, "forget")));
  const fact = (each) => h("li", {}, h("span", { class: "muted" }, "− "), said(each.source.name, 60), h("span", { class: "rel" }, words(each.type)), said(each.target.name, 60));
  return h("section", { class: "panel", "aria-label": "Forget" },
    h("div", { class: "hd" }, h("h2", { class: "grow" }, "Forget ", h("code", {}, said(it.id, 80))), it.labels.map((label) => h("span", { class: "tag bad" }, said(label, 30)))),
    h("div", { class: "bd" },
      h("div", { class: "quote" }, h("div", { class: "small muted" }, joined([it.speaker || it.subject, minute(it.occurred_at), it.source].filter(Boolean).map((each) => said(each, 80)), () => " · ")), h("p", {}, said(it.text || "Its text is not stored.", 4000))),
      h("h3", {}, "What goes with it"), h("p", {}, Object.entries(counts).filter(([, number]) => number).map(([what, number]) => counted(number, words(what))).join(", ") || "Nothing rests on it alone."),
      facts.length ? h("ul", {}, facts.slice(0, 20).map(fact)) : null,
      entities.length ? h("p", { class: "small muted" }, "Known from it alone: ", joined(entities.slice(0, 20).map((each) => said(each.name, 60)), () => ", "), ".") : null,
      h("p", { class: "muted small" }, "What rests on other memories stays. What it had ended continues. This cannot be undone."), place));
}

async function forgotten(context, it, receipt, place) {
  const outcome = h("p", { class: "note" });
  const check = async () => {
    const found = await context.read("verify_receipt", { receipt: JSON.stringify(receipt) });
    const holds = found.holds ?? (found.intact && !Object.keys(found.left).length);
    fill(outcome, h("b", {}, holds ? "Forgotten. " : "Not all of it is gone. "), holds ? "Checked just now: the receipt is intact, and nothing of the memory is left." : `${found.intact ? "The receipt is intact" : "The receipt was changed"}; left: ${JSON.stringify(found.left)}.`);
  };
  await check();
  fill(place, outcome, h("pre", { class: "receipt mt" }, JSON.stringify(receipt, null, 1)),
    h("div", { class: "actions" }, button("Save the receipt", () => save(`receipt-${it.id.replace(/[^\w.-]+/g, "-").slice(0, 60)}.json`, receipt), "primary"),
      button("Check it again", () => check().then(() => context.say("The receipt was checked again."), (error) => context.say(error.message))), h("a", { class: "btn", href: context.link("care", { tab: "forget" }) }, "Another memory")),
    h("p", { class: "muted small" }, "Hand it to somebody else now: its digest detects changes, but is no signature."));
}

function save(name, value) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(value, null, 2)], { type: "application/json" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
