import { h } from "./dom.js";
export async function careView() { return h("div", { class: "wrap-page" }, "…"); }
