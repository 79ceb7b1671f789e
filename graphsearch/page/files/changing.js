// What changes something: a button that says why it may not, asks where something goes, and tells what came of it.
import { button, h } from "./dom.js";

// A button of an action; ``act`` runs where it may, and its failure is told.
export function acting({ whyNot, say }, permission, text, act, kind = "") {
  const why = whyNot(permission);
  const run = async (event) => {
    if (why) { say(why); return; }
    const pressed = event.currentTarget;
    pressed.disabled = true; // once, however often it is pressed
    try { await act(); } catch (error) {
      if (error.name !== "AbortError") say(error.message.slice(0, 400));
    } finally { pressed.disabled = false; }
  };
  return button(text, run, kind, { "aria-disabled": why ? "true" : undefined, title: why ?? undefined });
}

// Why none of the buttons beside it works, where none does.
export function reason({ whyNot }, permission) {
  const why = whyNot(permission);
  return why ? h("span", { class: "muted small" }, why) : null;
}

export const waits = "It waits for a reviewer; nothing has changed yet.";
