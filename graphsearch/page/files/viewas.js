// View as: every view as another principal, for callers who may.
import { button, fill, h } from "./dom.js";
import { clip } from "./format.js";

const SOMEBODY = "somebody";
const called = ({ id, attributes }) => clip(attributes?.role ? `${id} (${attributes.role})` : id, 40);
const same = (one, other) => one.id === other.id && (one.type ?? "User") === (other.type ?? "User") && JSON.stringify(one.attributes ?? {}) === JSON.stringify(other.attributes ?? {});

// The control in the head: one's own name, or a choice of principals.
export function viewAs({ me, as, look }) {
  if (!me.may.includes("view_as")) return h("span", { class: "small muted who" }, called(me.principal));
  const known = me.principals.filter((each) => !same(each, me.principal));
  const other = as && !known.some((each) => same(each, as)) ? [as] : [];
  const choices = [...known, ...other];
  const choose = (event) => {
    if (event.target.value !== SOMEBODY) { look(choices[Number(event.target.value)] ?? null); return; }
    event.target.value = as ? String(choices.findIndex((each) => same(each, as))) : "-1";
    form(as, look);
  };
  return h("label", {}, h("span", {}, "View as"), h("select", { class: "field", "aria-label": "View as", "data-focus": "as", onchange: choose },
    h("option", { value: "-1", selected: !as }, `${clip(me.principal.id, 30)} (you)`),
    choices.map((each, at) => h("option", { value: at, selected: Boolean(as) && same(each, as) }, called(each))),
    h("option", { value: SOMEBODY }, "somebody else…")));
}

function form(as, look) {
  const dialog = document.getElementById("dialog");
  const id = h("input", { class: "field", id: "as-id", required: true, maxlength: 200, value: as?.id ?? "", autocomplete: "off", spellcheck: "false" });
  const type = h("input", { class: "field", id: "as-type", required: true, maxlength: 100, value: as?.type ?? "User", autocomplete: "off", spellcheck: "false" });
  const attributes = h("textarea", { class: "field mono", id: "as-attributes", rows: 4, spellcheck: "false", "aria-describedby": "as-fault", value: JSON.stringify(as?.attributes ?? { role: "viewer" }, null, 1) });
  const fault = h("p", { class: "small danger-text", id: "as-fault", role: "alert" });
  const use = (event) => {
    event.preventDefault();
    let given;
    try { given = JSON.parse(attributes.value || "{}"); } catch { given = null; }
    if (given === null || typeof given !== "object" || Array.isArray(given)) {
      fill(fault, "The attributes must be a JSON object, such as {\"role\": \"viewer\"}.");
      attributes.focus();
      return;
    }
    dialog.close();
    look({ id: id.value.trim(), type: type.value.trim(), attributes: given });
  };
  fill(dialog, h("form", { onsubmit: use },
    h("h2", { id: "dialog-title" }, "View as somebody else"),
    h("p", { class: "small muted" }, "You see what the policies would show them, and change nothing. They need not exist."),
    h("div", { class: "form" }, h("label", { for: "as-id" }, "id"), id, h("label", { for: "as-type" }, "type"), type, h("label", { for: "as-attributes" }, "attributes"), attributes), fault,
    h("div", { class: "actions" }, h("button", { class: "btn primary", type: "submit" }, "View"), button("Cancel", () => dialog.close()))));
  dialog.showModal();
  id.focus();
}
