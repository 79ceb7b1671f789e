// What is shown in place of a view: while it loads, when it fails, without a token, where nothing is known yet.
import { h } from "./dom.js";
import { hasToken, keepToken } from "./server.js";

const command = (text) => h("pre", {}, h("code", {}, text));
const state = (title, role, ...content) => h("div", { class: "state", role }, h("h1", {}, title), ...content);

// Lines in the place of lines; what was asked stays where it is.
export function loading(asked) {
  const lines = (...wide) => h("div", { class: "panel" }, wide.map((each) => h("span", { class: `sk ${each}` })));
  return h("div", { class: "wrap-page", "aria-busy": "true" }, asked, h("p", { class: "vh", role: "status" }, "Loading"),
    h("div", { class: "stack mt" }, lines("w2", "w1"), h("div", { class: "cols" }, lines("w1", "w3", "w2", "w1", "w3", "w2"), h("div", { class: "right" }, lines("w3", "w3", "w1", "w2")))));
}

// The title and what to do, by the status of what was refused.
function told({ status, message, kind }) {
  if (status === 0) return ["The server does not answer", ["Nothing was changed, and what you asked is still in the address. It may have stopped: start it again, then try again."]];
  if (status === 403) return ["This is not allowed", ["A policy of this project does not permit it.", message]];
  if (status === 404) return ["There is no such thing here", ["It does not exist, or you may not see it.", message]];
  if (status === 429) return ["Too many requests", ["This server takes only so many a minute from each of us.", message]];
  if (status === 400) return ["The server does not take this", [message]];
  if (kind === "Disabled") return [message, ["Whoever runs this server switched it off."]];
  if (status) return ["The server did not answer", ["Nothing was changed. What you asked is still in the address.", `It said: ${message}`]];
  return ["Something went wrong on this page", ["It is a fault of the page, not of your graph.", message]];
}

export function failed(error, asked, again) {
  const [title, texts] = told(error.kind ? error : { message: String(error.message ?? error) });
  return h("div", { class: "wrap-page" }, asked, state(title, "alert", texts.map((text) => h("p", {}, text.slice(0, 1000))),
    h("div", { class: "actions" }, h("button", { class: "btn primary", type: "button", onclick: again }, "Try again"))));
}

export function noToken(again) {
  const was = hasToken();
  const field = h("input", { id: "token", class: "field grow", type: "password", autocomplete: "off", spellcheck: "false", required: true });
  const use = (event) => {
    event.preventDefault();
    keepToken(field.value.trim());
    again();
  };
  return state(was ? "This token was not accepted" : "This server asks for a token", "alert",
    h("p", {}, was ? "It is unknown here, or it has expired. Nothing of the graph was sent." : "Nothing of the graph was sent."),
    h("ol", {},
      h("li", {}, "Ask whoever runs this server for a token. They add its digest to the file that the server was started with:", command("graphsearch ui --tokens tokens.json")),
      h("li", {}, h("label", { for: "token" }, "Paste it. It is kept in this tab until you close it, and in no address."))),
    h("form", { class: "row", onsubmit: use }, field, h("button", { class: "btn primary" }, "Use token")));
}

export function nothingKnown(me, again) {
  return state("Nothing is known here yet", undefined,
    h("p", {}, "The project ", h("b", {}, me.project), " is new. Three ways to begin, the first takes a minute:"),
    h("ol", {},
      h("li", {}, "Give it a file of notes or a chat, or a folder of documents and source code.", command("graphsearch remember notes.md\ngraphsearch add ./src")),
      h("li", {}, "Let an agent write down what it learns.", command("graphsearch mcp")),
      h("li", {}, "Look at sample data first.", command("graphsearch demo"))),
    h("p", { class: "muted" }, "This page looks again when you ", h("button", { class: "link", type: "button", onclick: again }, "reload it"), "."));
}
