// The frame: an address for every view, the head, states, keys, theme.
import { link, lookedAs, note, VIEWS, where } from "./address.js";
import { askBar, askView } from "./ask.js";
import { careView } from "./care.js";
import { button, fill, h } from "./dom.js";
import * as drawer from "./drawer.js";
import { entityView } from "./entity.js";
import { counted, said } from "./format.js";
import * as server from "./server.js";
import * as states from "./states.js";
import { timeView } from "./time.js";
import { viewAs } from "./viewas.js";

const SLOW = 150; // ms, after which loading is shown
const NAMES = { ask: "Ask", time: "Time", entity: "Entity", care: "Care" };
const DRAW = { ask: askView, time: timeView, entity: entityView, care: careView };
const place = Object.fromEntries(["top", "main", "foot", "dialog", "toasts"].map((id) => [id, document.getElementById(id)]));

let me = null; // what the server says of the caller, once for a token
let waiting = 0; // proposals that wait for a review
let drawing = new AbortController();
let shown = null; // the view
let keys = {}; // of the view that is shown

// ---- drawing

function go(view, changes) {
  const to = link(view, changes);
  if (to === location.hash) draw(); else location.hash = to;
}

// What a view is given: who asks, what is asked, and what it may do.
function context(here, signal) {
  const as = lookedAs(here.params);
  return {
    ...here, me, as, questions: me.questions, link, go, note, say, confirm, whyNot, signal,
    read: (name, args) => server.read(name, args, { as, signal }),
    readOwn: (name, args) => server.read(name, args, { signal }),
    change: async (name, args) => { const answer = await server.change(name, args, { as }); await meAgain(); return answer; },
    onkeys: (map) => { keys = map; },
    again: draw,
  };
}

const asked = ({ view, params }) => (view === "ask" || view === "time" ? askBar({ questions: me?.questions ?? [], view, params, go }) : null);

async function draw() {
  drawing.abort();
  drawing = new AbortController();
  const { signal } = drawing, here = where(), focused = document.activeElement?.dataset?.focus;
  const placed = (content) => {
    const before = place.main.querySelector(".ask .q"), after = content.querySelector(".ask .q"), at = place.main.contains(document.activeElement) ? document.activeElement : null;
    const focus = at?.dataset.focus ?? focused; // where it is now: it may have moved since this began
    // What was typed since is kept, unless another question was asked meanwhile.
    const typed = before && after && here.view === shown && before.value !== before.dataset.was && before.dataset.was === after.dataset.was ? before : null;
    if (typed) after.value = typed.value;
    const caret = at && at === before ? [at.selectionStart, at.selectionEnd] : null;
    fill(place.main, content);
    shown = here.view;
    if (!content.querySelector("h1")) content.prepend(h("h1", { class: "vh" }, NAMES[here.view]));
    if (focus && document.activeElement === document.body) document.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    if (caret && document.activeElement === after) after.setSelectionRange(...caret);
    content.dispatchEvent(new CustomEvent("placed"));
  };
  for (const panel of place.main.querySelectorAll(".panel")) panel.inert = true; // its view has ended: nothing is begun in it any more
  drawer.close({ restore: false });
  keys = {};
  const slow = setTimeout(() => placed(states.loading(asked(here))), SLOW);
  try {
    frame(here);
    if (!me) {
      me = await server.me({ signal });
      countWaiting();
      frame(here);
    }
    const isEmpty = me.size && !me.size.memories && !me.size.entities; // no size: some of it is hidden
    const content = isEmpty && here.view !== "care" ? states.nothingKnown(me, anew) : await DRAW[here.view](context(here, signal));
    if (!signal.aborted) placed(content);
  } catch (error) {
    if (signal.aborted) return;
    if (error.status === 401) me = null;
    frame(here);
    placed(error.status === 401 ? states.noToken(anew) : states.failed(error, asked(here), me ? draw : anew));
    if (!error.kind) console.error(error);
  } finally { clearTimeout(slow); }
}

function anew() {
  me = null;
  draw();
}

async function meAgain() {
  me = await server.me({});
  countWaiting();
}

// The number beside Care, where the caller may review; the page is drawn without waiting for it.
async function countWaiting() {
  if (!me.may.includes("review")) return;
  try { waiting = (await server.read("proposals", { limit: 100 })).proposals.length; } catch { waiting = 0; }
  if (me) frame(where());
}

// ---- head and foot

function frame({ view, params }) {
  const focused = place.top.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
  const count = waiting ? h("span", { class: "count" }, waiting, h("span", { class: "vh" }, ` ${waiting === 1 ? "proposal waits" : "proposals wait"}`)) : null;
  const views = VIEWS.map((id) => h("a", { href: link(id), "data-focus": id, "aria-current": id === view ? "page" : undefined }, NAMES[id], id === "care" ? count : null));
  fill(place.top,
    h("a", { class: "brand", href: link("ask", { q: undefined, at: undefined, known: undefined }) }, "graphsearch"),
    h("nav", { class: "nav", "aria-label": "Views" }, views),
    h("div", { class: "right" },
      me ? h("span", { class: "scope hide-s clip1" }, said(`${me.org}/${me.project}`, 60)) : null,
      me ? viewAs({ me, as: lookedAs(params), look: (as) => go(where().view, { ...where().params, as: as && JSON.stringify(as), open: undefined }) }) : null,
      h("button", { class: "btn quiet", type: "button", "data-focus": "theme", "aria-label": "Light or dark", title: "Light or dark", onclick: theme }, "◐"),
      h("button", { class: "btn quiet hide-s", type: "button", "data-focus": "keys", "aria-label": "Keys", title: "Keys", onclick: showKeys }, "?")));
  if (focused) place.top.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  fill(place.foot, me ? [
    h("span", {}, said(`${me.org}/${me.project}`, 80), me.size ? `: ${["entities", "relations", "memories"].map((kind) => counted(me.size[kind], kind)).join(", ")}` : null),
    h("span", {}, me.writes ? "Changes are allowed." : "Read only."),
    h("span", {}, `graphsearch ${me.version}`),
    server.hasToken() ? h("button", { class: "link", type: "button", onclick: () => { server.keepToken(null); anew(); } }, "Forget the token") : null,
  ] : []);
  document.title = `${params.q ?? NAMES[view]} – graphsearch`.slice(0, 120);
}

function theme() {
  const chosen = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = chosen === "dark" ? "light" : "dark";
  try { localStorage.setItem("graphsearch-theme", document.documentElement.dataset.theme); } catch { /* it lasts as long as the page */ }
}

// ---- saying and asking

function say(text, { undo } = {}) {
  const item = h("div", { class: "toast" }, h("span", { class: "grow" }, text),
    undo ? h("button", { type: "button", onclick: () => { item.remove(); undo(); } }, "Undo") : null,
    h("button", { type: "button", "aria-label": "Dismiss", onclick: () => item.remove() }, "✕"));
  fill(place.toasts, item);
  if (!undo) setTimeout(() => item.remove(), 8000);
}

// Why something may not be changed; null where it may.
function whyNot(action) {
  const as = lookedAs(where().params);
  if (as) return `You look as ${as.id}: nothing can be changed.`;
  if (!me.writes) return "Read only: start it with graphsearch ui --write.";
  return me.may.includes(action) ? null : "The policies of this project do not let you do this.";
}

// Ask before something goes: true once ``word`` was typed, where there is one, and ``action`` pressed.
function confirm({ title, text, word, action }) {
  return new Promise((resolve) => {
    const act = h("button", { class: "btn danger", type: "submit", disabled: Boolean(word) }, action);
    const field = word ? h("input", { class: "field", "aria-label": `Type ${word} to confirm`, autocomplete: "off", spellcheck: "false", oninput: (event) => { act.disabled = event.target.value !== word; } }) : null;
    let sure = false;
    fill(place.dialog, h("form", { method: "dialog", onsubmit: () => { sure = true; } },
      h("h2", { id: "dialog-title" }, title), h("p", {}, text), word ? h("p", { class: "small mt" }, "Type ", h("code", {}, said(word, 200)), " to confirm:") : null, field,
      h("div", { class: "actions" }, act, button("Cancel", () => place.dialog.close()))));
    place.dialog.addEventListener("close", () => resolve(sure), { once: true });
    place.dialog.showModal();
    (field ?? act).focus();
  });
}

function showKeys() {
  const rows = [["/", "ask"], ["1 2 3 4", "Ask, Time, Entity, Care"], ["↑ ↓ or j k", "move in a list or a drawing"], ["Enter", "open the evidence of a line"], ["Esc", "close the evidence"], ["[ ]", "previous and next change, in Time"]];
  fill(place.dialog, h("h2", { id: "dialog-title" }, "Keys"), h("dl", { class: "kv" }, rows.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("div", { class: "actions" }, button("Close", () => place.dialog.close())));
  place.dialog.showModal();
}

// ---- keys

document.addEventListener("keydown", (event) => {
  if (place.dialog.open || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") { if (drawer.close()) event.preventDefault(); return; }
  if (event.target.matches("input:not([type=range]), select, textarea")) return;
  if (event.key === "/") {
    const field = document.querySelector(".ask .q");
    event.preventDefault();
    if (field) { field.focus(); field.select(); } else go("ask");
  } else if (event.key === "?") showKeys();
  else if (/^[1-4]$/.test(event.key)) go(VIEWS[Number(event.key) - 1]);
  else keys[event.key]?.();
});

try { document.documentElement.dataset.theme = localStorage.getItem("graphsearch-theme") ?? ""; } catch { /* by the system */ }
if (!document.documentElement.dataset.theme) delete document.documentElement.dataset.theme;
addEventListener("hashchange", draw);
draw();
