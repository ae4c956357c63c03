/* usage: node page.mjs PAGE.html...
 *
 * In: pages of `tfgen explain --html`. Out: what is wrong with their pictures, at the widths of a phone and of a desk: an op, an input or an
 * output without a box, a name that is cut, boxes that overlap, an edge behind a box that it does not end at, a device or a launch of the
 * roofline without its name, labels that overlap. The page's own scripts draw into a document that does nothing. Exit code 1 when something
 * is wrong.
 */
import { readFileSync } from "node:fs";
import vm from "node:vm";

class element {
  constructor(tag) { this.tag = tag; this.kids = []; this.props = {}; this.style = {}; this.text = ""; this.clientWidth = element.width; this.offsetTop = this.offsetLeft = 0; this.offsetWidth = element.width - 40; this.offsetHeight = 60; this.scrollHeight = 600; }
  get textContent() { return this.text; }
  set textContent(t) { this.text = `${t}`; }
  append(...kids) { this.kids.push(...kids); }
  replaceChildren(...kids) { this.kids = kids; }
  setAttribute(k, v) { this.props[k] = v; }
  addEventListener() {}
  focus() {}
  get all() { return this.kids.flatMap(k => typeof k === "string" ? [] : [k, ...k.all]); }
  get words() { return this.textContent + this.kids.map(k => typeof k === "string" ? k : k.words).join(" "); }
}
/* Text has a fixed width per letter: the checks only need boxes and texts that are measured alike. */
const pen = { font: "", measureText(t) { return { width: t.length * (this.font.startsWith("600") ? 7.5 : 7) }; } };

function open(html, width) {
  element.width = width;
  const ids = new Map(), tabs = [];
  const script = html.match(/<script>\n([\s\S]*)<\/script>/)[1], text = html.match(/id="data">([\s\S]*?)<\/script>/)[1];
  const get = id => { if (!ids.has(id)) ids.set(id, new element(id)); return ids.get(id); };
  get("data").textContent = text;
  const document = {
    title: "", getElementById: get, querySelectorAll: () => tabs, createElementNS: (ns, tag) => new element(tag),
    createElement: tag => Object.assign(new element(tag), tag === "canvas" ? { getContext: () => pen } : {}),
  };
  const world = vm.createContext({ document, addEventListener() {}, clearTimeout() {}, setTimeout() {}, console });
  return new vm.Script(script + "\n({ data, graph, roofline, boxesOf, link, dotsOf, launchPairs, pick, get roof() { return drawRoof; }, get cards() { return drawLaunches; } })").runInContext(world);
}

let wrong = 0, looked = 0;
function expect(good, what) { looked++; if (!good) { wrong++; console.log(what); } }
const numbers = d => d.match(/-?[\d.]+/g).map(Number);

/* Points along an SVG path of M, V and C, close enough that a box which the path crosses has one inside. */
function points(d) {
  const list = [];
  let x = 0, y = 0;
  for (const [, kind, rest] of d.matchAll(/([MVC])([^MVC]*)/g)) {
    const n = numbers(rest);
    if (kind === "M") [x, y] = n;
    if (kind === "V") { for (let i = 1; i <= 20; i++) list.push([x, y + (n[0] - y) * i / 20]); y = n[0]; }
    if (kind === "C") {
      for (let i = 0; i <= 20; i++) {
        const t = i / 20, u = 1 - t, at = (a, b, c, e) => u * u * u * a + 3 * u * u * t * b + 3 * u * t * t * c + t * t * t * e;
        list.push([at(x, n[0], n[2], n[4]), at(y, n[1], n[3], n[5])]);
      }
      [x, y] = [n[4], n[5]];
    }
  }
  return list;
}
const overlap = (a, b) => a.x < b.x + b.w - .5 && b.x < a.x + a.w - .5 && a.y < b.y + b.h - .5 && b.y < a.y + a.h - .5;

function checkGraph(page, l, width, name) {
  const svg = page.graph(l, width), list = svg.all, texts = list.filter(e => e.tag === "text").map(e => e.textContent);
  const boxes = list.filter(e => e.tag === "rect" && e.props.class).map(e => ({ x: e.props.x, y: e.props.y, w: e.props.width, h: e.props.height }));
  for (const op of page.data.graph.ops) {
    expect(texts.includes(op.op), `${name}: no box says ${op.op}`);
    for (const v of op.out) expect(texts.some(t => t.split(", ").includes(v)), `${name}: no box says ${v}`);
  }
  for (const v of page.data.graph.values) if (["input", "state", "param"].includes(v.kind) && page.data.graph.ops.some(o => o.in.includes(v.name)))
    expect(texts.some(t => t.split(", ").includes(v.name)), `${name}: ${v.kind} ${v.name} is left out`);
  expect(texts.filter(t => t === "output").length === page.data.graph.values.filter(v => v.kind === "output").length, `${name}: outputs are left out`);
  expect(!texts.some(t => t.endsWith("...")), `${name}: a name is cut`);
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => expect(!overlap(a, b), `${name}: boxes overlap at ${a.x}, ${a.y}`)));
  for (const e of list) if (e.tag === "path" && e.props.class.startsWith("edge"))
    for (const [x, y] of points(e.props.d))
      for (const b of boxes) expect(!(x > b.x + 1 && x < b.x + b.w - 1 && y > b.y + 1 && y < b.y + b.h - 1), `${name}: ${e.kids[0].textContent} goes behind a box`);
  const w = svg.props.width;
  expect(boxes.every(b => b.w >= 20) && w >= width, `${name}: narrower than its window`);
}
function checkRoof(page, l, width, name) {
  const svg = page.roofline(l, width), list = svg.all, texts = list.filter(e => e.tag === "text"), labels = texts.filter(t => !(t.props.class || "").includes("dimtext"));
  for (const m of page.data.models) expect(labels.some(t => t.textContent === m.name), `${name}: no name at the line of ${m.name}`);
  for (const d of page.dotsOf(l)) expect(labels.some(t => t.textContent.split(" ")[0] === `${d.n + 1}`), `${name}: no name at the dot of ${d.k.name}`);
  expect(texts.some(t => t.textContent === "FLOP/s") && texts.some(t => t.textContent.startsWith("FLOP per byte")), `${name}: an axis has no unit`);
  const looks = list.filter(e => e.tag === "path").map(e => e.props.style + e.props["stroke-dasharray"]);
  expect(new Set(looks).size === looks.length, `${name}: two devices look the same`);
  const size = t => { const w = t.textContent.length * 7, c = t.props["text-anchor"] === "middle"; return { x: t.props.x - (c ? w / 2 : 0), y: t.props.y - 11, w, h: 13 }; };
  labels.forEach((a, i) => labels.slice(i + 1).forEach(b => expect(!overlap(size(a), size(b)), `${name}: ${a.textContent} lies on ${b.textContent}`)));
}
function checkLaunches(page, l, name) {
  const words = page.cards.words, lanes = page.launchPairs(l).list;
  for (const k of l.kernels) expect(words.includes(k.name), `${name}: launch ${k.name} is left out`);
  for (const p of lanes) for (const n of p.names) expect(words.includes(n), `${name}: what launch ${p.to + 1} reads is left out: ${n}`);
  lanes.forEach((p, i) => lanes.slice(i + 1).forEach(q => expect(p.lane !== q.lane || p.to <= q.from || q.to <= p.from, `${name}: two edges share a lane`)));
}

for (const path of process.argv.slice(2)) {
  for (const width of [364, 1180]) {
    const page = open(readFileSync(path, "utf8"), width);
    page.data.levels.forEach((l, i) => {
      const name = `${path}: level ${l.level}, ${width} pixels`;
      page.pick(i, false);
      checkGraph(page, l, width, name);
      checkRoof(page, l, width, name);
      checkLaunches(page, l, name);
    });
  }
}
console.log(`${looked} looked at, ${wrong} wrong`);
process.exit(wrong ? 1 : 0);
