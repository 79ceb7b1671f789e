// Names, numbers and moments as they are shown.
import { h } from "./dom.js";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const CODE = /^(?!\d)[\w<>]+(\.(?!\d)[\w<>]+)+$/; // not a version or an address
// What changes the reading of a line without being seen; joiners stay, since scripts and emoji need them.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;
const UNSEEN_ALL = new RegExp(UNSEEN, "gu");

// ---- texts

export function clip(text, most) {
  if (text.length <= most) return text;
  const looked = text.slice(0, most * 8), kept = [];
  for (const { segment } of graphemes.segment(looked)) {
    kept.push(segment);
    if (kept.length > most) break;
  }
  if (kept.length <= most && text.length <= looked.length) return text;
  return `${kept.slice(0, most - 1).join("")}…`;
}

function clipMiddle(text, most) {
  if (text.length <= most) return text;
  const head = Math.ceil(most * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - head - 1))}`;
}

// Unseen characters are shown by their number, line breaks as a sign: a name cannot pretend to be another, or two lines.
function pieces(text) {
  const out = [];
  let seen = "";
  for (const character of text.replace(/\r?\n/g, " ⏎ ").replace(/\t/g, " ")) {
    if (!UNSEEN.test(character)) { seen += character; continue; }
    if (seen) out.push(seen);
    seen = "";
    out.push(h("span", { class: "ghost" }, `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`));
  }
  return seen ? [...out, seen] : out;
}

// Long words may break after a dot, a slash or an underscore.
function breakable(text) {
  if (!/\S{25}/.test(text)) return [text];
  return text.split(/(?<=\S{3}[._/])(?=\S)/).flatMap((part, at) => (at ? [h("wbr"), part] : [part]));
}
export const broken = (text) => pieces(text).flatMap((each) => (typeof each === "string" ? breakable(each) : [each]));

// For places that take text alone: drawings and tooltips.
export const plain = (text) => text.replace(UNSEEN_ALL, (each) => (/\s/.test(each) ? " " : "\ufffd"));

export const said = (text, most = 4000) => h("bdi", { dir: "auto" }, pieces(clip(text ?? "", most)));

export function full(name, most = 1200) {
  const rest = name.length > most ? h("span", { class: "muted" }, ` ${whole(name.length)} characters`) : null;
  return h("bdi", { class: "name", dir: "auto" }, broken(clip(name, most)), rest);
}

// ---- names

// The shortest endings of dotted names that tell them apart on this page: `AsyncClient.send`.
export class Names {
  constructor(all = []) {
    const dotted = [...new Set(all)].filter((name) => CODE.test(name)).map((name) => [name, name.split(".")]);
    const ending = (parts, many) => parts.slice(-many).join(".");
    const users = new Map();
    for (const [, parts] of dotted) for (let many = 1; many <= parts.length; many += 1) users.set(ending(parts, many), (users.get(ending(parts, many)) ?? 0) + 1);
    this.short = new Map(dotted.map(([name, parts]) => {
      let many = 2;
      while (many < parts.length && users.get(ending(parts, many)) > 1) many += 1;
      return [name, ending(parts, many)];
    }));
  }

  text(name, most = 44) {
    const short = this.short.get(name);
    return short ? clipMiddle(short, most) : clip(name, most);
  }

  show(name, most = 44) {
    const shown = this.text(name || "(unnamed)", most);
    return h("bdi", { class: "name", dir: "auto", title: shown === name ? undefined : plain(clip(name, 400)) }, broken(shown));
  }

  // A relation in words: source — type → target.
  relation(each, most = 44) {
    return [this.show(each.source.name, most), h("span", { class: "rel" }, words(each.type)), this.show(each.target.name, most)];
  }
}

// ---- numbers and moments

export const score = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
export const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
export const two = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));
export const whole = (value) => value.toLocaleString("en");
export const day = (moment) => (moment ?? "").slice(0, 10);
export const minute = (moment) => (moment ?? "").slice(0, 16).replace("T", " ");
export const words = (name) => name.replaceAll("_", " ");

const SINGULAR = { memories: "memory", entities: "entity" };
// "1 memory", "2 memories", from a number and the plural name of what it counts.
export const counted = (number, many) => `${whole(number)} ${number === 1 ? SINGULAR[many] ?? many.replace(/s$/, "") : many}`;

export function period(from, to) {
  if (from && to) return `${day(from)} to ${day(to)}`;
  if (from) return `since ${day(from)}`;
  return to ? `until ${day(to)}` : "undated";
}
