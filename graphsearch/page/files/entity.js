import { h } from "./dom.js";
export async function entityView() { return h("div", { class: "wrap-page" }, "…"); }
