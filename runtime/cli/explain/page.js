/* In: `data`; drawing.js. Out: the page: a panel for each fusion level with its numbers, pictures and tables. */
const data = JSON.parse(document.getElementById("data").textContent);
function make(tag, props, ...kids) {
  const e = document.createElement(tag);
  for (const k in props || {}) if (k === "class") e.className = props[k]; else if (k in e) e[k] = props[k]; else e.setAttribute(k, props[k]);
  for (const kid of kids) e.append(kid);
  return e;
}
const steps = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
function si(x, unit) {
  for (const [s, p] of steps) if (Math.abs(x) >= s) return (x / s).toPrecision(3) + " " + p + unit;
  return (Number.isInteger(x) ? x : x.toPrecision(3)) + " " + unit;
}
const bytes = x => si(x, "B"), flop = x => si(x, "FLOP"), rate = x => si(x, "FLOP/s");
function time(s) { return s === undefined ? "" : s < 1e-3 ? (s * 1e6).toFixed(2) + " us" : s < 1 ? (s * 1e3).toFixed(3) + " ms" : s.toFixed(3) + " s"; }
const total = w => w.products + w.others, moved = w => w.bytes_read + w.bytes_written;
let level = data.levels.length - 1, device = data.models.some(m => m.name === data.device) ? data.device : data.models.length ? data.models[0].name : "";
const hidden = new Set();
/* Empty columns are left out. */
function table(caption, heads, rows) {
  const used = heads.map((h, i) => i).filter(i => rows.some(r => r[i] !== ""));
  if (!rows.length) return make("p", {}, caption + ": none");
  const t = make("table", {}, make("caption", {}, caption)), h = make("tr"), b = make("tbody");
  for (const i of used) h.append(make("th", { class: heads[i][1] || "", scope: "col" }, heads[i][0]));
  for (const row of rows) { const r = make("tr"); for (const i of used) r.append(make("td", { class: heads[i][1] || "" }, row[i])); b.append(r); }
  t.append(make("thead", {}, h), b);
  return make("div", { class: "wide", tabIndex: 0, role: "region", ariaLabel: caption }, t);
}
function card(value, name) { return make("div", { class: "card" }, make("b", {}, value), make("span", {}, name)); }

/* ---- the roofline's choices and its table */
function legend() {
  const row = make("div", { class: "row", role: "group", ariaLabel: "devices of the roofline" }), pick = make("select", { ariaLabel: "device whose launches are dots" });
  for (const m of data.models) pick.append(make("option", { value: m.name, selected: m.name === device }, m.name));
  pick.addEventListener("change", () => { device = pick.value; hidden.delete(device); show(); });
  row.append(make("label", { class: "pick" }, "launches on", pick));
  data.models.forEach((m, i) => {
    const box = make("input", { type: "checkbox", checked: !hidden.has(m.name) });
    box.addEventListener("change", () => { box.checked ? hidden.delete(m.name) : hidden.add(m.name); pictures(); });
    row.append(make("label", { class: "pick" }, box, swatch(i, m.name === device), m.name));
  });
  return row;
}
function dotTable(l) {
  const m = data.models.find(m => m.name === device);
  return table("the dots: launches on " + device, [["", "n"], ["launch"], ["FLOP/B", "n"], ["predicted rate", "n"], ["of the roof above it", "n"], ["limited by"]],
    dotsOf(l).map(d => [d.n + 1, d.k.name, d.x.toPrecision(3), rate(d.y), (100 * d.y / Math.min(m.products, m.bandwidth * d.x)).toFixed(0) + " %", d.k.predicted.limit]));
}

/* ---- a level */
function kernelRows(l) {
  return l.kernels.map((k, i) => [i + 1, k.name, k.ops, flop(total(k.work)), bytes(moved(k.work)), k.work.intensity.toFixed(1), k.predicted ? bytes(k.predicted.bytes_asked) : "", k.predicted ? bytes(k.predicted.bytes_moved) : "",
    time(k.floor_seconds), k.predicted ? time(k.predicted.seconds) : "", k.predicted ? k.predicted.limit : ""]);
}
function codeText(c) {
  if (c.missing) return "Code: " + c.missing;
  const spills = c.scratch_bytes || c.vector_spills ? `SPILLS: ${c.scratch_bytes} bytes of scratch, ${c.vector_spills} vector registers` : "no spills";
  const more = c.agprs || c.sgprs ? ` (AGPRs: ${c.agprs}), ${c.sgprs} SGPRs` : "";
  return `${c.compiler || "Code"}: ${c.registers} registers${more}, ${spills}, ${c.shared_bytes} bytes of shared memory` + (c.matrix_instructions !== undefined ? `, ${c.matrix_instructions} matrix instructions` : "");
}
function kernelDetails(k, i) {
  const d = make("details", {}, make("summary", {}, `${i + 1}  ${k.name}: ${k.ops}`));
  for (const p of k.phases) {
    d.append(make("p", {}, `${p.family} on ${p.layer}, frame ${p.frame}: ` + Object.entries(p.tile).map(([n, v]) => n + "=" + v).join(" ")));
    for (const n of p.not) d.append(make("p", { class: "dim" }, `not ${n.layer}: ${n.why}`));
  }
  d.append(make("p", {}, k.resident ? `${k.workgroups} tiles, ${k.resident} persistent workgroup${k.resident > 1 ? "s" : ""} of ${k.threads} threads per unit` : `${k.workgroups} workgroups of ${k.threads} threads`));
  d.append(make("p", { class: k.code.scratch_bytes || k.code.vector_spills ? "hot" : "" }, codeText(k.code)));
  if (k.code.held) d.append(make("p", {}, k.code.held.text));
  d.append(table("tensors of " + k.name, [["tensor"], ["kind"], ["read", "n"], ["written", "n"]], k.tensors.map(t => ["%" + t.name, t.kind, t.read ? bytes(t.read) : "", t.written ? bytes(t.written) : ""])));
  d.append(make("pre", { tabIndex: 0 }, k.source));
  return d;
}
let drawGraph, drawLaunches, drawRoof;
function pictures() {
  const width = Math.max(300, Math.floor(document.getElementById("panel").clientWidth) - 2), l = data.levels[level];
  if (data.graph) drawGraph.replaceChildren(graph(l, width));
  launches(l, drawLaunches);
  if (data.models.length) drawRoof.replaceChildren(roofline(l, width));
}
function heading(text, about) { return [make("h2", {}, text), make("p", { class: "dim" }, about)]; }
function show() {
  const l = data.levels[level], panel = document.getElementById("panel"), cards = make("div", { class: "cards" });
  panel.setAttribute("aria-labelledby", "tab" + level);
  cards.append(card(l.launches, "launches"), card(flop(total(l.work)), "operations"), card(bytes(moved(l.work)), "compulsory bytes"), card(l.work.intensity.toFixed(1), "FLOP per byte"));
  if (l.predicted_seconds !== undefined) cards.append(card(time(l.predicted_seconds), "predicted on " + data.device), card(time(l.floor_seconds), "floor"));
  cards.append(card(bytes(l.workspace_bytes), "workspace"), card(bytes(l.packed_bytes), "packed weights"));
  drawGraph = make("div", { class: "wide", tabIndex: 0, role: "region", ariaLabel: "the graph" });
  drawLaunches = make("div", { class: "wide" });
  drawRoof = make("div", { class: "wide" });
  panel.replaceChildren(cards);
  if (data.graph) panel.append(...heading("Graph", "A box is an op: what it computes, the names of its results, its weights. Its number and colour are the launch that computes it. Solid edges are values in memory, dashed ones stay inside a launch."), drawGraph);
  panel.append(...heading("Launches and what is fused into each", "Lines at the right go from the launch that makes a value to those that read it."), drawLaunches);
  if (data.models.length) panel.append(...heading("Roofline", "Lines: the most that a device's data sheet allows. Dots: the launches on " + device + ", at their predicted rate."), drawRoof, legend(), dotTable(l));
  panel.append(make("h2", {}, "Launches in numbers"),
    table("launches at level " + l.level, [["", "n"], ["launch"], ["computes", "t"], ["operations", "n"], ["bytes", "n"], ["FLOP/B", "n"], ["L2", "n"], ["DRAM", "n"], ["floor", "n"], ["predicted", "n"], ["limited by"]], kernelRows(l)));
  l.kernels.forEach((k, i) => panel.append(kernelDetails(k, i)));
  panel.append(make("h2", {}, "Edges that were not fused"), table("what stays between launches, and what it costs", [["edge"], ["reason", "t"], ["read", "n"], ["written", "n"], ["time", "n"]],
    l.edges.map(e => ["%" + e.value + " -> %" + e.user, e.reason, bytes(e.bytes_read), bytes(e.bytes_written), time(e.seconds)])));
  panel.append(make("h2", {}, "Devices"), table("predicted on each device, with the tiles chosen for it", [["device"], ["target"], ["launches", "n"], ["floor", "n"], ["predicted", "n"], ["longest launch"], ["assumed, or why there is no plan", "t"]],
    l.devices.map(d => {
      if (d.refused) return [d.device, d.target, "", "", "", "", "no plan: " + d.refused];
      const known = d.kernels.filter(k => k.predicted), k = known.length ? known.reduce((x, y) => y.predicted.seconds > x.predicted.seconds ? y : x) : null;
      return [d.device, d.target, d.launches, time(d.floor_seconds), time(d.predicted_seconds), k ? k.name + ", " + k.predicted.limit : "", (d.assumed || []).join(", ")];
    })));
  pictures();
}
function tabs() {
  const row = document.getElementById("tabs");
  data.levels.forEach((l, i) => {
    const b = make("button", { type: "button", id: "tab" + i }, "level " + l.level);
    b.setAttribute("role", "tab"); b.setAttribute("aria-controls", "panel");
    b.addEventListener("click", () => pick(i, false));
    b.addEventListener("keydown", e => { const s = { ArrowRight: 1, ArrowLeft: -1 }[e.key]; if (s) pick((level + s + data.levels.length) % data.levels.length, true); });
    row.append(b);
  });
}
function pick(i, focus) {
  level = i;
  [...document.querySelectorAll("[role=tab]")].forEach((b, k) => { b.setAttribute("aria-selected", k === i); b.tabIndex = k === i ? 0 : -1; if (k === i && focus) b.focus(); });
  show();
}
document.title = "tfgen explain " + data.block;
document.getElementById("title").textContent = data.block + ", " + data.dtype + ", for " + data.target + " (" + data.device + ")";
document.getElementById("subtitle").textContent = Object.entries(data.dims).map(([n, v]) => n + "=" + v).join("  ") + (data.measured_vendor ? "" : ". Predictions only: no AMD GPU was measured.");
document.getElementById("specname").textContent = data.spec;
document.getElementById("spec").textContent = data.text;
tabs();
pick(level, false);
let waiting;
addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(pictures, 100); });
