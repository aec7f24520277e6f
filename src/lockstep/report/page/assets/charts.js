"use strict";
// The drawings of a report. Each takes the element that it is drawn into; uPlot draws the axes.

const PALETTE = ["#4c8dd6", "#e08a3c", "#4fae6b", "#c9524f", "#9a74c8", "#8c6d5a", "#d977b5", "#8a929b",
  "#b9b53f", "#35b3c2", "#2f5e9e", "#f2bd7c", "#9fd6a4", "#efa3a0", "#cbb6e6"];
const CHARTS = []; // of uPlot, to be drawn again where the colours or the width change

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function axis(label, more = {}) {
  return { label, stroke: () => colour("--dim"), grid: { stroke: () => colour("--line"), width: 1 },
    ticks: { stroke: () => colour("--line"), width: 1 }, ...more };
}

function plot(place, options, data) {
  const holder = make("div", { class: "chart" });
  place.append(holder);
  const chart = new uPlot({ width: Math.max(300, place.clientWidth), height: 320, ...options }, data, holder);
  CHARTS.push({ chart, place });
  return chart;
}

function redraw(resize) {
  for (const { chart, place } of CHARTS) {
    if (resize) chart.setSize({ width: Math.max(300, place.clientWidth), height: chart.height });
    else chart.redraw(false, true);
  }
}

/** Ticks of a logarithmic axis: powers of ten; with few of them twice and five times these, too. */
function logTicks(u, ticks) {
  const seen = ticks.filter((v) => v > 0), few = seen.length && Math.max(...seen) / Math.min(...seen) < 300;
  return ticks.map((v) => {
    const lead = v > 0 ? Number(v.toExponential(3).split("e")[0]) : 0;
    return lead === 1 || (few && (lead === 2 || lead === 5)) ? (v < 1000 ? shown(v) : scaled(v)) : "";
  });
}

/** Percentages over cycles, one above the other. */
function stacked(place, cycles, columns) {
  const names = Object.keys(columns), sums = [];
  let below = cycles.map(() => 0);
  for (const name of names) {
    below = below.map((sum, i) => sum + (columns[name][i] ?? 0));
    sums.push(below);
  }
  const series = names.map((name, k) => ({ label: name, fill: PALETTE[k % PALETTE.length], width: 0,
    stroke: PALETTE[k % PALETTE.length], points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }),
    value: (u, v, s, i) => (i == null ? "–" : (columns[name][i] ?? 0).toFixed(1) + " %") }));
  // the sum of all is drawn first: each lower one covers its own part
  plot(place, { scales: { x: { time: false }, y: { range: [0, 100] } },
    series: [{ label: "cycle" }, ...series.slice().reverse()],
    axes: [axis("core cycle"), axis("scheduler cycles, %")] }, [cycles, ...sums.slice().reverse()]);
}

/** One line over cycles. */
function line(place, cycles, name, values) {
  place.append(make("h4", {}, name));
  plot(place, { height: 150, scales: { x: { time: false }, y: { range: (u, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    series: [{ label: "cycle" }, { label: name, stroke: PALETTE[0], width: 1.5, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }) }],
    axes: [axis(), axis()], cursor: { sync: { key: "time" } } }, [cycles, values]);
}

/** Several lines over time: a list of values for each name. */
function lines(place, start, unit, what, names, series) {
  plot(place, { height: 260, scales: { x: { time: false }, y: { range: (u, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    series: [{ label: unit }, ...names.map((label, k) => ({ label, stroke: PALETTE[k % PALETTE.length], width: 1.5, points: { show: false },
      paths: uPlot.paths.stepped({ align: 1 }), value: (u, v) => (v == null ? "–" : shown(v, 3)) }))],
    axes: [axis(unit), axis(what)] }, [start, ...series]);
}

/** Kernels of one level under its two ceilings, both axes logarithmic. */
function rooflineChart(place, found, level, kernels, choose) {
  const points = found.points.filter((p) => p[2][level] > 0);
  const bandwidth = found.levels[level], ridge = found.issue / bandwidth;
  const xs = points.map((p) => p[2][level]);
  const low = Math.min(...xs, ridge) / 4, high = Math.max(...xs, ridge) * 4;
  const rows = points.map((p) => [p[2][level], null, p[1], p[0]]);
  for (let k = 0; k <= 96; k++) {
    const x = low * Math.pow(high / low, k / 96);
    rows.push([x, Math.min(found.issue, x * bandwidth), null, null]);
  }
  rows.push([ridge, found.issue, null, null]);
  rows.sort((a, b) => a[0] - b[0]);
  const tip = make("div", { class: "tip", "aria-live": "polite" });
  const name = (i) => (rows[i]?.[3] == null ? "" : `${kernels[rows[i][3]].id} ${kernels[rows[i][3]].name}`);
  const chart = plot(place, { height: 380, legend: { show: false },
    scales: { x: { time: false, distr: 3, range: [low, high] }, y: { distr: 3 } },
    series: [{}, { label: "ceiling", stroke: () => colour("--warm"), width: 2, spanGaps: true },
      { label: "kernels", stroke: PALETTE[0], width: 0, paths: () => null, points: { show: true, size: 9, fill: PALETTE[0] } }],
    axes: [axis(`${D.words.warp} instructions / ${level} sector`, { values: logTicks }), axis(`${D.words.warp} instructions / s`, { size: 60, values: logTicks })],
    hooks: { setCursor: [(u) => {
      const near = nearest(u, rows);
      tip.textContent = near < 0 ? "" : `${name(near)}: ${scaled(rows[near][2])} ${D.words.warp} instructions/s at ${shown(rows[near][0])} a sector`;
    }] } }, [rows.map((r) => r[0]), rows.map((r) => r[1]), rows.map((r) => r[2])]);
  chart.over.addEventListener("click", () => {
    const near = nearest(chart, rows);
    if (near >= 0) choose(rows[near][3]);
  });
  place.append(tip);
}

function nearest(u, rows) {
  let best = -1, least = 400; // within 20 pixels
  rows.forEach((row, i) => {
    if (row[2] == null) return;
    const dx = u.valToPos(row[0], "x") - u.cursor.left, dy = u.valToPos(row[2], "y") - u.cursor.top;
    if (dx * dx + dy * dy < least) [best, least] = [i, dx * dx + dy * dy];
  });
  return best;
}

/** Names of rows or columns beside a picture: all of few, of many the first, the last and some between. */
function labels(kind, count, name) {
  const step = count <= 16 ? 1 : Math.ceil(count / 8), holder = make("div", { class: kind });
  for (let k = 0; k < count; k += step) {
    if (k && k + step > count - 1 && k !== count - 1) k = count - 1;
    const label = make("span", { title: name(k) }, name(k));
    label.style.setProperty("--at", `${100 * (k + 0.5) / count}%`);
    holder.append(label);
  }
  return holder;
}

/** A cell a row and column: the brighter, the more. `row(y)` and `column(x)` are their names. */
function heat(place, { title, values, unit, row, column, note }) {
  const rows = values.length, columns = values[0].length, most = Math.max(...values.map((r) => Math.max(...r))) || 1;
  const canvas = make("canvas", { class: "heat", role: "img", width: columns, height: rows, "aria-label": title });
  canvas.style.height = `${rows * Math.max(3, Math.min(18, Math.floor(420 / rows)))}px`;
  const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
  values.forEach((line, y) => line.forEach((value, x) => {
    const t = value / most, at = 4 * (y * columns + x);
    image.data.set([Math.round(255 * Math.min(1, 0.15 + 1.4 * t)), Math.round(230 * t * t + 20), Math.round(110 * (1 - t) + 30), 255], at);
  }));
  context.putImageData(image, 0, 0);
  const end = `${shown(most, 3)} ${unit}`, scale = make("div", { class: "scale" }, `0 ${unit}`, make("i"), end);
  const tip = make("div", { class: "tip", "aria-live": "polite" });
  canvas.addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect();
    const x = Math.min(columns - 1, Math.floor((event.clientX - box.left) / box.width * columns));
    const y = Math.min(rows - 1, Math.floor((event.clientY - box.top) / box.height * rows));
    if (x >= 0 && y >= 0) tip.textContent = `${row(y)}, ${column(x)}: ${shown(values[y][x], 3)} ${unit}`;
  });
  const frame = make("div", { class: "frame-heat" }, labels("rows", rows, row), canvas, labels("columns", columns, column));
  frame.style.maxWidth = `${130 + 40 * columns}px`; // few columns are no walls
  place.append(make("h3", {}, title), ...(note ? [make("p", { class: "note" }, note)] : []), frame, make("div", { class: "below" }, scale, tip));
}

/** What moved between the levels of the memory system: [from, to, bytes or null, note] in order. */
function memoryChart(place, boxes, flows) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "memory");
  svg.setAttribute("viewBox", "0 0 900 150");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "Bytes between the levels of the memory system");
  const add = (tag, attributes, text) => {
    const element = document.createElementNS(svg.namespaceURI, tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    svg.append(element);
  };
  const most = Math.max(1, ...flows.map((f) => f.bytes));
  boxes.forEach((box, k) => {
    const x = 10 + k * 250;
    add("rect", { x, y: 30, width: 130, height: 90, rx: 6 });
    add("text", { x: x + 65, y: 62, "text-anchor": "middle" }, box.name);
    add("text", { x: x + 65, y: 84, "text-anchor": "middle", class: "small" }, box.note);
  });
  flows.forEach((flow) => {
    const x = 140 + flow.at * 250, y = flow.down ? 60 : 96;
    add("line", { x1: x + 4, x2: x + 116, y1: y, y2: y, "stroke-width": 1 + 9 * flow.bytes / most });
    add("text", { x: x + 60, y: y - 9, "text-anchor": "middle", class: "small" }, `${flow.down ? "→" : "←"} ${flow.text}`);
  });
  place.append(svg);
}

function shown(value, digits = 4) {
  if (value == null || value !== value) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US");
  if (Math.abs(value) >= 1e15 || Math.abs(value) < 1e-4) return value.toExponential(2);
  return value.toLocaleString("en-US", { maximumSignificantDigits: digits });
}

/** A number with a prefix: 1.02 T. */
function scaled(value, unit = "") {
  if (value == null || value !== value || value === 0) return `${shown(value)} ${unit}`.trim();
  const power = Math.max(-3, Math.min(5, Math.floor(Math.log10(Math.abs(value) * 1.0000001) / 3)));
  return `${shown(value / Math.pow(1000, power), 3)} ${["n", "µ", "m", "", "k", "M", "G", "T", "P"][power + 3]}${unit}`.trim();
}
