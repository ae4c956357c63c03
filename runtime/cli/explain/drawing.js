/* In: `data`, the explanation (docs/insight.md). Out: its pictures: the spec's ops and values, its launches, the roofline. No name is cut
 * off: boxes are as wide as their texts, and pictures wider than the window scroll. */
const svgns = "http://www.w3.org/2000/svg";
function draw(tag, props, text) {
  const e = document.createElementNS(svgns, tag);
  for (const k in props) e.setAttribute(k, props[k]);
  if (text !== undefined) e.textContent = text;
  return e;
}
const pen = document.createElement("canvas").getContext("2d");
function widthOf(text, bold) { pen.font = (bold ? "600 " : "") + "12px system-ui, sans-serif"; return Math.ceil(pen.measureText(text).width) + 2; }
const hue = i => `var(--h${i % 8})`;
const launchesOf = (l, origin) => l.kernels.map((k, n) => k.origins.includes(origin) ? n : -1).filter(n => n >= 0);

/* Joins names into lines of at most `most` pixels; a name that is wider has a line of its own. */
function linesOf(names, most) {
  const lines = [];
  for (const name of names) {
    const longer = lines.length ? lines[lines.length - 1] + ", " + name : name;
    if (lines.length && widthOf(longer) <= most) lines[lines.length - 1] = longer; else lines.push(name);
  }
  return lines;
}

/* ---- the graph: boxes are ops, pills are inputs, states and outputs. Where an edge passes through a row, a placeholder (bend) keeps room
 * for it between that row's boxes, so that no box hides it. */
const rowGap = 34, boxGap = 14, lineHeight = 15, mostBoxes = 3000, mostLabels = 200;
function boxOf(kind, lines, extra) {
  const w = Math.max(...lines.map(([text, bold]) => widthOf(text, bold))) + 20;
  return Object.assign({ kind, lines, w, h: lines.length * lineHeight + 12, up: [], down: [], row: 0 }, extra);
}
function boxesOf(l) {
  const values = new Map(data.graph.values.map(v => [v.name, v])), makers = new Map(), boxes = [];
  const given = v => values.has(v) && ["input", "state"].includes(values.get(v).kind);
  data.graph.ops.forEach((op, i) => {
    const own = launchesOf(l, i), params = op.in.filter(v => values.has(v) && values.get(v).kind === "param");
    const lines = [[op.op, true], ...linesOf(op.out, 170).map(t => [t]), ...linesOf(params, 170).map(t => [t, false, "dimtext"])];
    const box = boxOf("op", lines, { op, origin: i, launches: own });
    const sources = op.in.filter(v => makers.has(v) || given(v));
    for (const v of sources) if (!makers.has(v)) {
      const pill = boxOf("given", [[v, true], [values.get(v).kind === "state" ? "state" : "input", false, "dimtext"]], { value: v });
      makers.set(v, pill); boxes.push(pill);
    }
    box.sources = [...new Set(sources)].map(v => ({ from: makers.get(v), value: v }));
    box.row = Math.max(0, ...box.sources.map(s => s.from.kind === "op" ? s.from.row + 1 : 1));
    op.out.forEach(v => makers.set(v, box));
    boxes.push(box);
  });
  for (const v of data.graph.values) if (v.kind === "output" && makers.has(v.name)) {
    const from = makers.get(v.name);
    boxes.push(boxOf("asked", [[v.name, true], ["output", false, "dimtext"]], { value: v.name, row: from.row + 1, sources: [{ from, value: v.name }] }));
  }
  for (const b of boxes) for (const s of b.sources || []) if (s.from.kind === "given") s.from.row = Math.min(s.from.seen ? s.from.row : Infinity, b.row - 1), s.from.seen = true;
  return boxes;
}
/* Edges from row to row. All edges of one value share their bends. null: there are too many boxes and bends for a picture. */
function link(boxes) {
  const rows = [], edges = [], known = new Map(), bends = new Map();
  let count = 0;
  const put = b => { b.id = count++; (rows[b.row] = rows[b.row] || []).push(b); };
  boxes.forEach(put);
  function join(from, to, value, cut, last) {
    const key = from.id + " " + to.id + " " + value;
    if (known.has(key)) { known.get(key).cut ||= cut; return; }
    const e = { from, to, value, cut, last };
    known.set(key, e); edges.push(e); from.down.push(to); to.up.push(from);
  }
  for (const b of boxes) for (const { from, value } of b.sources || []) {
    const cut = from.kind !== "op" || b.kind !== "op" || !from.launches.some(n => b.launches.includes(n));
    let at = from;
    for (let row = from.row + 1; row < b.row; row++) {
      const key = value + " " + row;
      if (count > mostBoxes) return null;
      if (!bends.has(key)) { const bend = { kind: "bend", w: 8, h: 0, row, up: [], down: [] }; bends.set(key, bend); put(bend); }
      join(at, bends.get(key), value, cut, false);
      at = bends.get(key);
    }
    join(at, b, value, cut, true);
  }
  return { rows: rows.map(r => r || []), edges };
}
/* Sorts the boxes of each row by the mean position of the boxes that they are joined to, in turn those in rows above and those in rows
 * below. */
function order(rows) {
  const number = () => rows.forEach(r => r.forEach((b, i) => b.at = i));
  number();
  for (let turn = 0; turn < 12; turn++) {
    const down = turn % 2 === 0, list = down ? rows : [...rows].reverse();
    for (const row of list) {
      for (const b of row) { const n = down ? b.up : b.down; b.key = n.length ? n.reduce((s, x) => s + (x.at + .5) / rows[x.row].length, 0) / n.length : (b.at + .5) / row.length; }
      row.sort((x, y) => x.key - y.key);
      row.forEach((b, i) => b.at = i);
    }
  }
}
/* Puts each box as near to the mean position of the boxes that it is joined to as the boxes beside it allow; boxes that touch move as one,
 * to the mean of the positions that they want. */
function place(rows) {
  for (const row of rows) { let x = 0; for (const b of row) { b.x = x + b.w / 2; x += b.w + boxGap; } for (const b of row) b.x -= x / 2; }
  for (let turn = 0; turn < 24; turn++) for (const row of turn % 2 ? [...rows].reverse() : rows) {
    const runs = [];
    let offset = 0;
    row.forEach((b, i) => {
      const near = turn % 2 ? b.down : b.up, all = near.length ? near : [...b.up, ...b.down], wish = all.length ? all.reduce((s, x) => s + x.x, 0) / all.length : b.x;
      if (i) offset += (row[i - 1].w + b.w) / 2 + boxGap;
      b.offset = offset;
      const weight = b.kind === "bend" ? 3 : 1;
      runs.push({ sum: (wish - offset) * weight, weight, boxes: [b] });
      while (runs.length > 1 && runs[runs.length - 2].sum / runs[runs.length - 2].weight > runs[runs.length - 1].sum / runs[runs.length - 1].weight) {
        const last = runs.pop(), run = runs[runs.length - 1];
        run.sum += last.sum; run.weight += last.weight; run.boxes.push(...last.boxes);
      }
    });
    for (const run of runs) for (const b of run.boxes) b.x = run.sum / run.weight + b.offset;
  }
}
/* Edges meet a box side by side, sorted by where their other ends are. */
function ports(edges) {
  for (const [end, other, name] of [["to", "from", "x2"], ["from", "to", "x1"]]) {
    const by = new Map();
    for (const e of edges) { if (!by.has(e[end])) by.set(e[end], []); by.get(e[end]).push(e); }
    for (const [box, list] of by) {
      const shared = end === "from" ? [...new Set(list.map(e => e.value))] : null;
      list.sort((x, y) => x[other].x - y[other].x);
      list.forEach((e, i) => {
        const n = shared ? shared.length : list.length, k = shared ? shared.indexOf(e.value) : i;
        e[name] = box.x + (box.kind === "bend" ? 0 : (k - (n - 1) / 2) * Math.min(16, (box.w - 16) / n));
      });
    }
  }
}
function drawBox(svg, b, top) {
  const g = draw("g", {}), left = b.x - b.w / 2, own = b.kind === "op" && b.launches.length > 0;
  const box = draw("rect", { x: left, y: top, width: b.w, height: b.h, rx: b.kind === "op" ? 6 : b.h / 2, class: b.kind === "op" ? "box" : "pill" });
  if (own) box.style.stroke = hue(b.launches[0]); else if (b.kind === "op") box.setAttribute("stroke-dasharray", "2 3");
  g.append(box);
  b.lines.forEach(([text, bold, dim], i) => g.append(draw("text", { x: b.x, y: top + 18 + i * lineHeight, "text-anchor": "middle", class: (bold ? "op " : "") + (dim || "") }, text)));
  if (b.kind === "op") g.append(draw("title", {}, `${b.op.op}, line ${b.op.line}; reads ${b.op.in.join(", ")}; ` + (own ? "in launch " + b.launches.map(n => n + 1).join(", ") : "a view: no launch")));
  if (own) {
    const text = b.launches.map(n => n + 1).join(","), w = widthOf(text, true) + 8;
    const badge = draw("rect", { x: left - 5, y: top - 8, width: w, height: 16, rx: 8 });
    badge.style.fill = hue(b.launches[0]);
    g.append(badge, draw("text", { x: left - 5 + w / 2, y: top + 4, "text-anchor": "middle", class: "badge" }, text));
  }
  svg.append(g);
}
function graph(l, width) {
  const boxes = boxesOf(l), linked = boxes.length > mostBoxes ? null : link(boxes);
  if (!linked) return make("p", { class: "dim" }, `The graph of ${data.graph.ops.length} ops is too large to draw; the launches below name them all.`);
  const { rows, edges } = linked;
  order(rows); place(rows); ports(edges);
  const all = rows.flat(), low = Math.min(...all.map(b => b.x - b.w / 2)), high = Math.max(...all.map(b => b.x + b.w / 2)), w = Math.max(width, high - low + 24), shift = (w - high - low) / 2;
  let y = 12;
  const tops = rows.map(r => { const top = y; y += Math.max(0, ...r.map(b => b.h)) + rowGap; return top; }), heights = rows.map(r => Math.max(0, ...r.map(b => b.h)));
  const h = y - rowGap + 12, svg = draw("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": "the ops of the spec, its inputs and outputs, and the values between them" });
  svg.style.maxWidth = "none";
  const g = draw("g", { transform: `translate(${shift} 0)` });
  for (const e of edges) {
    const y1 = tops[e.from.row] + (e.from.kind === "bend" ? heights[e.from.row] : e.from.h), y2 = tops[e.to.row], full = tops[e.from.row] + heights[e.from.row], m = (full + y2) / 2;
    const end = e.to.kind === "bend" ? y2 + heights[e.to.row] : y2, tip = e.last ? 4 : 0;
    const path = draw("path", { d: `M ${e.x1} ${y1} V ${full} C ${e.x1} ${m}, ${e.x2} ${m}, ${e.x2} ${y2 - tip}` + (end > y2 ? ` V ${end}` : ""), class: e.cut ? "edge cut" : "edge inside" });
    path.append(draw("title", {}, e.value + (e.cut ? ": in memory" : ": stays inside one launch")));
    g.append(path);
    if (e.last) g.append(draw("path", { d: `M ${e.x2 - 4} ${y2 - 7} L ${e.x2} ${y2} L ${e.x2 + 4} ${y2 - 7} Z`, class: "tip" }));
  }
  rows.forEach((row, i) => row.forEach(b => { if (b.kind !== "bend") drawBox(g, b, tops[i]); }));
  svg.append(g);
  return svg;
}

/* ---- launches from top to bottom; at their right a line from each launch to those that read its values, in lanes that do not overlap */
function launchPairs(l) {
  const at = new Map(l.kernels.map((k, i) => [k.name, i])), pairs = new Map();
  for (const e of l.edges) if (e.from && e.to && e.from !== e.to && at.has(e.from) && at.has(e.to)) {
    const key = at.get(e.from) + ">" + at.get(e.to), p = pairs.get(key) || { from: at.get(e.from), to: at.get(e.to), names: new Set(), bytes: 0 };
    p.names.add(e.value); p.bytes += e.bytes_read + e.bytes_written;
    pairs.set(key, p);
  }
  const list = [...pairs.values()].sort((x, y) => Math.abs(x.to - x.from) - Math.abs(y.to - y.from)), lanes = [];
  for (const p of list) {
    const lo = Math.min(p.from, p.to), hi = Math.max(p.from, p.to);
    p.lane = lanes.findIndex(lane => lane.every(([a, b]) => hi <= a || lo >= b));
    if (p.lane < 0) p.lane = lanes.push([]) - 1;
    lanes[p.lane].push([lo, hi]);
  }
  return { list, lanes: lanes.length };
}
function launchCard(l, i, pairs) {
  const k = l.kernels[i], names = data.graph ? k.origins.map(o => data.graph.ops[o].op + " " + data.graph.ops[o].out.join(", ")) : k.ops.split(" + ");
  const card = make("div", { class: "launch" }, make("b", {}, `${i + 1}  ${k.name}`), make("span", { class: "dim" }, k.predicted ? "  " + time(k.predicted.seconds) : ""), make("div", {}, ...names.map(n => make("span", { class: "chip" }, n))));
  card.style.borderLeftColor = hue(i);
  const reads = pairs.filter(p => p.to === i).sort((x, y) => x.from - y.from).map(p => `${[...p.names].join(", ")} of ${p.from + 1}`);
  if (reads.length) card.append(make("p", { class: "dim" }, "reads " + reads.join("; ")));
  return card;
}
function launches(l, holder) {
  const { list, lanes } = launchPairs(l), cards = l.kernels.map((k, i) => launchCard(l, i, list));
  const step = Math.max(4, Math.min(14, holder.clientWidth * .3 / Math.max(1, lanes))), gutter = lanes ? lanes * step + 16 : 0;
  const box = make("div", { class: "launches" }, ...cards);
  box.style.paddingRight = gutter + 8 + "px";
  holder.replaceChildren(box);
  const svg = draw("svg", { width: box.clientWidth, height: box.scrollHeight, role: "img", "aria-label": "which launch reads what another makes; the text of each launch says the same" });
  const port = (i, p, incoming) => {
    const c = cards[i], mine = list.filter(q => (incoming ? q.to : q.from) === i).sort((x, y) => x.lane - y.lane), n = mine.indexOf(p);
    return c.offsetTop + c.offsetHeight * ((incoming ? 0 : .5) + .5 * (n + 1) / (mine.length + 1));
  };
  for (const p of list) {
    const c = cards[p.from], right = c.offsetLeft + c.offsetWidth, x = right + 14 + p.lane * step, y1 = port(p.from, p, false), y2 = port(p.to, p, true), r = Math.min(6, Math.abs(y2 - y1) / 2), s = y2 > y1 ? 1 : -1;
    const path = draw("path", { d: `M ${right} ${y1} H ${x - r} Q ${x} ${y1} ${x} ${y1 + s * r} V ${y2 - s * r} Q ${x} ${y2} ${x - r} ${y2} H ${right + 5}`, class: "edge" });
    path.style.stroke = hue(p.from); path.style.strokeWidth = 1.8;
    path.append(draw("title", {}, `${[...p.names].join(", ")}: launch ${p.from + 1} to ${p.to + 1}, ${bytes(p.bytes)}`));
    svg.append(path, draw("path", { d: `M ${right + 7} ${y2 - 4} L ${right + 1} ${y2} L ${right + 7} ${y2 + 4} Z`, class: "tip" }));
  }
  box.append(svg);
}

/* ---- the roofline of all devices; dots are the launches on one of them */
const dash = i => ["", "8 4", "2 3", "9 3 2 3"][Math.floor(i / 8) % 4];
const lineOf = (i, own) => ({ fill: "none", style: `stroke:${hue(i)}`, "stroke-width": own ? 3.5 : 1.6, "stroke-dasharray": own ? "" : dash(i) });
function swatch(i, own) {
  const svg = draw("svg", { width: 30, height: 10, "aria-hidden": true });
  svg.append(draw("line", { x1: 0, x2: 30, y1: 5, y2: 5, ...lineOf(i, own) }));
  return svg;
}
function dotsOf(l) {
  const d = l.devices.find(d => d.device === device);
  return (d && !d.refused ? d.kernels : []).map((k, n) => ({ k, n, x: k.work.intensity, y: k.predicted ? total(k.work) / k.predicted.seconds : 0 })).filter(d => d.x > 0 && d.y > 0);
}
/* Places labels one below the other, each as near to its own y as the labels above leave room for. */
function spread(list, low, high, step) {
  list.sort((x, y) => x.y - y.y);
  list.forEach((e, i) => e.at = Math.max(e.y, i ? list[i - 1].at + step : low));
  for (let i = list.length - 1, most = high; i >= 0; i--) { list[i].at = Math.min(list[i].at, most); most = list[i].at - step; }
}
/* The nearest place around a dot where its label lies on no other and on no dot. */
function free(taken, x, y, w, h, area) {
  for (let r = 13; r < 500; r += 9) for (let a = 0; a < 16; a++) {
    const cx = x + Math.cos((a * 2 + 13) * Math.PI / 16) * (r + w / 2 - 6), cy = y + Math.sin((a * 2 + 13) * Math.PI / 16) * r, box = [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2];
    if (box[0] < area[0] || box[1] < area[1] || box[2] > area[2] || box[3] > area[3]) continue;
    if (taken.every(t => box[2] < t[0] || box[0] > t[2] || box[3] < t[1] || box[1] > t[3])) { taken.push(box); return [cx, cy]; }
  }
  return null;
}
function roofline(l, width) {
  const models = data.models.map((m, i) => ({ m, i })).filter(({ m }) => !hidden.has(m.name)), dots = dotsOf(l), names = Math.max(20, ...models.map(({ m }) => widthOf(m.name, true))) + 22;
  const height = Math.max(330, Math.min(480, width * .5)), left = 58, bottom = 44, top = 30, right = names;
  const lo = Math.min(-3, ...dots.map(d => Math.floor(Math.log2(d.x)))), hi = Math.max(14, ...dots.map(d => Math.ceil(Math.log2(d.x))));
  const a = Math.floor(Math.log10(Math.min(...data.models.map(m => m.bandwidth * 2 ** lo), ...dots.map(d => d.y)))), b = Math.ceil(Math.log10(Math.max(...data.models.map(m => m.products), ...dots.map(d => d.y))));
  const X = i => left + (Math.log2(i) - lo) / (hi - lo) * (width - left - right), Y = r => height - bottom - (Math.log10(r) - a) / (b - a) * (height - bottom - top);
  const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "roofline: operations a second over operations a byte; the tables of devices and launches say the same" });
  for (let e = a; e <= b; e++) {
    svg.append(draw("line", { x1: left, x2: width - right, y1: Y(10 ** e), y2: Y(10 ** e), class: "axis" }));
    svg.append(draw("text", { x: left - 6, y: Y(10 ** e) + 4, "text-anchor": "end", class: "dimtext" }, si(10 ** e, "").replace(/\.0+/, "").trim()));
  }
  for (let e = lo; e <= hi; e += width < 600 ? 4 : 2) {
    svg.append(draw("line", { x1: X(2 ** e), x2: X(2 ** e), y1: top, y2: height - bottom, class: "axis" }));
    svg.append(draw("text", { x: X(2 ** e), y: height - bottom + 16, "text-anchor": "middle", class: "dimtext" }, 2 ** e));
  }
  svg.append(draw("text", { x: left, y: height - 8, class: "dimtext" }, "FLOP per byte (compulsory bytes)"), draw("text", { x: 8, y: 16, class: "dimtext" }, "FLOP/s"));
  const ends = models.map(({ m, i }) => ({ m, i, y: Y(Math.min(m.products, m.bandwidth * 2 ** hi)) }));
  spread(ends, top, height - bottom, 15);
  for (const { m, i, y, at } of ends) {
    const ridge = Math.min(m.products / m.bandwidth, 2 ** hi), own = m.name === device, end = width - right;
    const line = draw("path", { d: `M ${X(2 ** lo)} ${Y(m.bandwidth * 2 ** lo)} L ${X(ridge)} ${Y(m.bandwidth * ridge)} L ${end} ${y}`, ...lineOf(i, own) });
    line.append(draw("title", {}, `${m.label}: ${rate(m.products)}, ${si(m.bandwidth, "B/s")}`));
    svg.append(line, draw("line", { x1: end, y1: y, x2: end + 14, y2: at, class: "lead" }), draw("text", { x: end + 17, y: at + 4, class: own ? "op" : "" }, m.name));
  }
  const taken = dots.map(d => [X(d.x) - 6, Y(d.y) - 6, X(d.x) + 6, Y(d.y) + 6]), area = [left, 2, width - right, height - bottom];
  for (const d of dots) {
    const x = X(d.x), y = Y(d.y), long = `${d.n + 1} ${d.k.name}`, text = width < 700 || dots.length > 12 ? `${d.n + 1}` : long, at = dots.length <= mostLabels && free(taken, x, y, widthOf(text, true) + 6, 15, area);
    const dot = draw("circle", { cx: x, cy: y, r: 5, style: `fill:${hue(d.n)}`, stroke: "var(--card)" });
    dot.append(draw("title", {}, `${long}: ${d.x.toFixed(1)} FLOP/B, ${rate(d.y)} predicted, limited by ${d.k.predicted.limit}`));
    if (at) svg.append(draw("line", { x1: x, y1: y, x2: at[0], y2: at[1], class: "lead" }));
    svg.append(dot);
    if (at) {
      const w = widthOf(text, true) + 6;
      svg.append(draw("rect", { x: at[0] - w / 2, y: at[1] - 8, width: w, height: 16, rx: 4, fill: "var(--card)" }), draw("text", { x: at[0], y: at[1] + 4, "text-anchor": "middle", class: "op" }, text));
    }
  }
  return svg;
}
