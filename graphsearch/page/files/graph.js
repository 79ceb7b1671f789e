// A small graph, read from what the question names to what answers it: columns by distance, no physics, no hairball.
import { roving, s } from "./dom.js";
import { Names, plain, score, words } from "./format.js";

const HIGH = 26, GAP = 10, LANE = 16, CURVE = 44, BEND = 40, MARGIN = 8;
const ROOMS = [150, 110, 84]; // widths of a name
const WIDEST = 1440, STACKED = 1000; // the page, and below which its columns stand one under the other
const NODE_TEXT = 12, LABEL_TEXT = 11;

let pen;
function width(text, size) {
  pen ??= document.createElement("canvas").getContext("2d");
  pen.font = `${size}px system-ui, sans-serif`;
  return pen.measureText(text).width;
}

// ---- which column an entity stands in

// The distance from the seeds; what they do not reach starts a component of its own, at its best relation.
function distances(nodes, edges, seeds) {
  const at = new Map(), next = new Map([...nodes.keys()].map((id) => [id, []]));
  for (const { source, target } of edges) {
    next.get(source.id).push(target.id);
    next.get(target.id).push(source.id);
  }
  const walk = (starts) => {
    let front = starts.filter((id) => nodes.has(id) && !at.has(id));
    front.forEach((id) => at.set(id, 0));
    for (let hop = 1; front.length; hop += 1) {
      front = [...new Set(front.flatMap((id) => next.get(id)))].filter((id) => !at.has(id));
      front.forEach((id) => at.set(id, hop));
    }
  };
  walk(seeds);
  for (const { source } of edges) walk([source.id]);
  return at;
}

// Without a name to begin at: from source to target, as far as the relations agree.
function directions(nodes, edges, most) {
  const at = new Map([...nodes.keys()].map((id) => [id, 0]));
  for (let round = 0; round < most; round += 1) {
    for (const { source, target } of edges) {
      if (source.id !== target.id && at.get(target.id) <= at.get(source.id)) at.set(target.id, Math.min(most, at.get(source.id) + 1));
    }
  }
  return at;
}

// What points to the seed on its left, what it points to on its right.
function bothSides(nodes, edges, seeds) {
  const left = new Set(edges.filter((edge) => seeds.includes(edge.target.id)).map((edge) => edge.source.id));
  return new Map([...nodes.keys()].map((id) => [id, seeds.includes(id) ? 1 : left.has(id) ? 0 : 2]));
}

function columnsOf(nodes, edges, seeds, most, sides) {
  if (sides) return bothSides(nodes, edges, seeds);
  return seeds.some((id) => nodes.has(id)) ? distances(nodes, edges, seeds) : directions(nodes, edges, most);
}

// ---- where everything lies

// Cut in the middle; of dotted names the end tells most.
function fitted(text, room) {
  if (width(text, NODE_TEXT) <= room) return text;
  const kept = [...text].slice(text.includes(".") ? -80 : 0).slice(0, 80);
  const cut = () => (text.includes(".") ? 0 : Math.ceil(kept.length * 0.6));
  while (kept.length > 6 && width(`${kept.join("")}…`, NODE_TEXT) > room) kept.splice(cut(), 1);
  return `${kept.slice(0, cut()).join("")}…${kept.slice(cut()).join("")}`;
}

// Beside the column before it where its neighbours are, so that few lines cross.
function ordered(stacks, lines) {
  const place = new Map();
  return stacks.map((stack, number) => {
    const middle = (node) => {
      const before = lines.filter((line) => !line.same && line.right === node).map((line) => place.get(line.left.id) ?? 0);
      return before.length ? before.reduce((sum, at) => sum + at, 0) / before.length : 0;
    };
    const keyed = stack.map((node, first) => [number ? middle(node) : first, first, node]).sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    keyed.forEach(([, , node], at) => place.set(node.id, at));
    return keyed.map((each) => each[2]);
  });
}

// Each line has a lane of its own, with its label, at the side of a gap where fewer lines meet; a node is as tall as its lanes.
function laid(lines, stacks) {
  const between = lines.filter((line) => !line.same);
  stacks.forEach((_, number) => {
    const own = between.filter((line) => line.left.column === number);
    const meet = (end) => Math.max(0, ...own.map((line) => between.filter((other) => other[end] === line[end]).length));
    const at = meet("right") <= meet("left") ? "right" : "left";
    for (const line of own) {
      line.at = at;
      line[at].lanes[at === "right" ? "before" : "after"].push(line);
    }
  });
}

function layout(edges, seeds, { most, room, sides }) {
  const nodes = new Map();
  for (const edge of edges) for (const end of [edge.source, edge.target]) if (!nodes.has(end.id)) nodes.set(end.id, { ...end, lanes: { before: [], after: [] } });
  const names = new Names([...nodes.values()].map((node) => node.name));
  const columns = columnsOf(nodes, edges, seeds, most, sides);
  const used = [...new Set([...columns.values()].map((each) => Math.min(each, most)))].sort((one, other) => one - other);
  let stacks = used.map(() => []);
  for (const [id, node] of nodes) {
    node.column = used.indexOf(Math.min(columns.get(id), most));
    node.label = fitted(plain(names.text(node.name || "(unnamed)", 60)).replace(/\s+/g, " "), room);
    node.wide = Math.max(34, width(node.label, NODE_TEXT) + 20);
    stacks[node.column].push(node);
  }
  const lines = edges.map((edge) => {
    const ends = [nodes.get(edge.source.id), nodes.get(edge.target.id)];
    const [left, right] = ends[0].column <= ends[1].column ? ends : [ends[1], ends[0]];
    return { edge, left, right, same: left.column === right.column };
  });
  stacks = ordered(stacks, lines);
  laid(lines, stacks);
  for (const node of nodes.values()) node.tall = Math.max(HIGH, LANE * Math.max(node.lanes.before.length, node.lanes.after.length) + 4);

  const high = (stack) => stack.reduce((sum, node) => sum + node.tall + GAP, -GAP);
  const tall = Math.max(...stacks.map(high));
  const bend = (number) => Math.max(0, ...lines.filter((line) => line.same && line.left.column === number).map((line) => BEND + width(label(line.edge), LABEL_TEXT) / 2));
  let x = MARGIN, wide = 0;
  stacks.forEach((stack, number) => {
    const widest = Math.max(...stack.map((node) => node.wide));
    let y = MARGIN + (tall - high(stack)) / 2;
    for (const node of stack) {
      node.x = number === 0 && stacks.length > 1 ? x + widest - node.wide : x;
      node.y = y;
      y += node.tall + GAP;
    }
    wide = x + widest + bend(number) + MARGIN;
    const lane = Math.max(24, ...lines.filter((line) => !line.same && line.left.column === number).map((line) => width(label(line.edge), LABEL_TEXT) + 24));
    x += widest + CURVE + lane + bend(number);
  });
  return { nodes: [...nodes.values()], lines, wide: Math.ceil(wide), tall: Math.ceil(tall + 2 * MARGIN), names };
}

// The first that is good, else the last.
function firstThat(good, makers) {
  let made;
  for (const make of makers) if (good(made = make())) break;
  return made;
}

// ---- how it is drawn

const label = (edge) => words(edge.type).slice(0, 40);

function path({ edge, left, right, same, at }, long) {
  const forward = edge.target.id === right.id;
  if (same) {
    const y1 = left.y + left.tall / 2, y2 = right.y + right.tall / 2, x1 = left.x + left.wide, x2 = right.x + right.wide, out = Math.max(x1, x2) + 34;
    const tip = forward ? `M${x2} ${y2}l7 -4v8z` : `M${x1} ${y1}l7 -4v8z`;
    return { d: `M${x1} ${y1}C${out} ${y1} ${out} ${y2} ${x2} ${y2}`, tip, x: out + long / 2 - 6, y: (y1 + y2) / 2 };
  }
  const own = at === "right" ? right.lanes.before : left.lanes.after;
  const offset = (own.findIndex((line) => line.edge === edge) - (own.length - 1) / 2) * LANE;
  const x1 = left.x + left.wide, x2 = right.x, lane = long + 22;
  const y1 = left.y + left.tall / 2 + (at === "left" ? offset : 0), y2 = right.y + right.tall / 2 + (at === "right" ? offset : 0);
  const tip = forward ? `M${x2} ${y2}l-7 -4v8z` : `M${x1} ${y1}l7 -4v8z`;
  if (at === "right") {
    const turn = x2 - lane, run = turn - x1;
    return { d: `M${x1} ${y1}C${x1 + run * 0.6} ${y1} ${turn - run * 0.5} ${y2} ${turn} ${y2}H${x2}`, tip, x: x2 - lane / 2 - 1, y: y2 };
  }
  const turn = x1 + lane, run = x2 - turn;
  return { d: `M${x1} ${y1}H${turn}C${turn + run * 0.5} ${y1} ${x2 - run * 0.6} ${y2} ${x2} ${y2}`, tip, x: x1 + lane / 2 + 1, y: y1 };
}

function drawnEdge(line, names, choose) {
  const { edge } = line, text = label(edge), long = width(text, LABEL_TEXT);
  const { d, tip, x, y } = path(line, long);
  const heard = `${plain(names.text(edge.source.name))} ${text} ${plain(names.text(edge.target.name))}${edge.score === undefined ? "" : `, score ${score(edge.score)}`}`;
  return s("g", { class: "edge", tabindex: "-1", role: "button", "data-key": edge.key, "aria-label": heard, onclick: () => choose(edge) },
    s("path", { class: "hit", d }), s("path", { class: "e", d, "stroke-width": (0.8 + 1.8 * Math.min(1, edge.share ?? 0.3)).toFixed(2) }), s("path", { class: "tip", d: tip }),
    s("g", { class: "lb" }, s("rect", { x: x - long / 2 - 3, y: y - 7, width: long + 6, height: 14 }), s("text", { x, y: y + 4, "text-anchor": "middle" }, text)));
}

function drawnNode(node, kind, open) {
  return s("g", { class: `node ${kind}`, "data-node": node.id, onclick: () => open(node) },
    s("title", {}, `${plain(node.name.slice(0, 300))} (${node.type})`),
    s("rect", { x: node.x, y: node.y, width: node.wide, height: node.tall, rx: 4 }),
    s("text", { x: node.x + node.wide / 2, y: node.y + node.tall / 2 + 4, "text-anchor": "middle" }, node.label));
}

// ``edges`` are relations with their ends; ``seeds`` the ids to begin at; ``ends`` those that are the answer. Names are cut
// as far as it takes to fit into a ``part`` of the page, and not beyond reading.
export function graph(edges, seeds, { label: heard, choose, open, ends = new Set(), most = 3, part = 1, sides = false }) {
  const frame = innerWidth > STACKED ? Math.min(innerWidth, WIDEST) * part - 60 : innerWidth - 50;
  const laid = ROOMS.map((room) => () => layout(edges, seeds, { most, room, sides }));
  const { nodes, lines, wide, tall, names } = firstThat((each) => each.wide <= frame, laid);
  const kind = (node) => (seeds.includes(node.id) ? "seed" : ends.has(node.id) ? "end" : "");
  const drawn = s("svg", { viewBox: `0 0 ${wide} ${tall}`, width: wide, height: tall, role: "group", "aria-label": heard },
    lines.map((line) => drawnEdge(line, names, choose)), nodes.map((node) => drawnNode(node, kind(node), open)));
  return roving(drawn, ".edge");
}
