// Elements are made here and nowhere else: every text becomes a text node, so nothing that is stored can become markup.
const SVG = "http://www.w3.org/2000/svg";

function make(element, props, children) {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value") element.value = value;
    else if (key === "style") throw new Error("styles belong in the style sheet");
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...given(children));
  return element;
}
const given = (children) => children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false);

export const h = (tag, props, ...children) => make(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => make(document.createElementNS(SVG, tag), props, children);

// Replace what an element has.
export const fill = (element, ...children) => element.replaceChildren(...given(children));

// The items with something between each two of them.
export const joined = (items, between) => items.flatMap((item, place) => (place ? [between(), item] : [item]));
export const dotted = (items) => joined(items, () => h("span", { class: "sep" }, "·"));

const ONWARD = { vertical: ["ArrowDown", "j"], horizontal: ["ArrowRight"] };
const BACK = { vertical: ["ArrowUp", "k"], horizontal: ["ArrowLeft"] };

// One tab stop for a group; arrows, Home and End move inside it.
export function roving(group, selector, way = "vertical") {
  const items = () => [...group.querySelectorAll(selector)];
  const settle = (chosen) => items().forEach((each) => each.setAttribute("tabindex", each === chosen ? "0" : "-1"));
  const first = items().find((each) => each.getAttribute("aria-selected") === "true") ?? items()[0];
  if (first) settle(first);

  group.addEventListener("focusin", (event) => {
    const item = event.target.closest(selector);
    if (item) settle(item);
  });
  group.addEventListener("keydown", (event) => {
    const all = items(), at = all.indexOf(event.target.closest(selector));
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const pressed = event.key === "Enter" || event.key === " ";
    if (pressed && !(all[at] instanceof HTMLElement)) { // a shape has no click of its own
      event.preventDefault();
      all[at].dispatchEvent(new MouseEvent("click", { bubbles: true }));
      return;
    }
    let to = -1;
    if (BACK[way].includes(event.key)) to = Math.max(0, at - 1);
    else if (ONWARD[way].includes(event.key)) to = Math.min(all.length - 1, at + 1);
    else if (event.key === "Home") to = 0;
    else if (event.key === "End") to = all.length - 1;
    if (to < 0) return;
    event.preventDefault();
    all[to].focus();
  });
  return group;
}

// ``items`` are [id, text, count]; the pane of a tab has the id "pane-ID".
export function tabs(label, items, chosen, choose) {
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": label }, items.map(([id, text, count]) => h("button",
    { role: "tab", id: `tab-${id}`, type: "button", "aria-selected": String(id === chosen), "aria-controls": id === chosen ? `pane-${id}` : undefined, onclick: () => choose(id) },
    text, count === undefined ? null : h("span", { class: "count" }, String(count)))));
  return roving(list, "[role=tab]", "horizontal");
}

export const pane = (id, props, ...content) => h("div", { ...props, role: "tabpanel", id: `pane-${id}`, "aria-labelledby": `tab-${id}` }, ...content);

// A panel with a heading: ``aside`` stands at the end of its head.
export function panel(title, aside, ...content) {
  return h("section", { class: "panel", "aria-label": typeof title === "string" ? title : undefined }, h("div", { class: "hd" }, h("h2", { class: "grow" }, title), aside), ...content);
}

export const button = (text, onclick, kind = "", props = {}) => h("button", { class: `btn ${kind}`, type: "button", onclick, ...props }, text);

// A field and what it does; it remembers what was last sent, so that a view drawn anew keeps what was typed since.
export function asking({ value = "", label, placeholder, most, act, send }) {
  const field = h("input", { class: "field q", value, "data-focus": "q", "data-was": value, "aria-label": label, placeholder, maxlength: most, dir: "auto", autocomplete: "off", spellcheck: "false" });
  const submit = (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!text) return;
    field.value = field.dataset.was = text;
    send(text);
  };
  return h("form", { class: "ask", role: "search", onsubmit: submit }, field, h("button", { class: "btn primary", "data-focus": "ask" }, act));
}
