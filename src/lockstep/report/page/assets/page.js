"use strict";
// Reads the data, and makes the sections. Whatever a trace says is put in as text, never as HTML.

const SECTIONS = [];
let D, chosen = -1; // the document; the kernel that is looked at, -1: the whole run
const watchers = []; // called where another kernel is chosen

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function section(id, title, note) {
  const place = make("section", { id }, make("h2", {}, title));
  if (note) place.append(make("p", { class: "note" }, note));
  document.getElementById("main").append(place);
  SECTIONS.push([id, title]);
  return place;
}

/** A table whose columns sort: by their headings, or with Enter where these have the focus. */
function table(place, columns, rows, onChoose) {
  const head = make("tr"), body = make("tbody"), frame = make("div", { class: "frame", tabindex: "0" });
  let by = -1, down = true;
  const order = rows.map((_, i) => i);
  const fill = () => {
    const part = document.createDocumentFragment();
    for (const i of order) {
      const row = make("tr", onChoose ? { tabindex: "0", "data-row": i } : { "data-row": i });
      rows[i].forEach((value, c) => {
        const cell = make("td", columns[c].text ? { class: "text" } : {}, shown(value));
        if (columns[c].text) cell.title = value ?? "";
        row.append(cell);
      });
      part.append(row);
    }
    body.replaceChildren(part);
    mark();
  };
  const mark = () => {
    if (onChoose) for (const row of body.children) row.classList.toggle("chosen", +row.dataset.row === chosen);
  };
  const sortBy = (c) => {
    down = by === c ? !down : !columns[c].text;
    by = c;
    const sign = down ? -1 : 1;
    order.sort((a, b) => {
      const x = rows[a][c], y = rows[b][c];
      if (x == null || y == null) return (x == null) - (y == null) || a - b; // undefined ones last
      return sign * (typeof x === "string" ? String(x).localeCompare(String(y)) : x - y) || a - b;
    });
    [...head.children].forEach((th, k) => th.setAttribute("aria-sort", k !== by ? "none" : down ? "descending" : "ascending"));
    fill();
  };
  columns.forEach((column, c) => {
    const button = make("button", { type: "button", title: column.meaning ?? column.title }, column.title);
    button.addEventListener("click", () => sortBy(c));
    head.append(make("th", { class: column.text ? "text" : "", scope: "col", "aria-sort": "none" }, button));
  });
  if (onChoose) {
    body.addEventListener("click", (event) => onChoose(+event.target.closest("tr").dataset.row));
    body.addEventListener("keydown", (event) => {
      const row = event.target.closest("tr");
      if (event.key === "Enter" || event.key === " ") onChoose(+row.dataset.row);
      else if (event.key === "ArrowDown") row.nextElementSibling?.focus();
      else if (event.key === "ArrowUp") row.previousElementSibling?.focus();
      else return;
      event.preventDefault();
    });
    watchers.push(mark);
  }
  frame.append(make("table", {}, make("thead", {}, head), body));
  place.append(frame);
  fill();
}

const column = (name) => D.metrics.findIndex((m) => m.name === name);
const values = () => (chosen < 0 ? D.total : D.kernels[chosen].values);
const metric = (name, of = values()) => of[column(name)];
const scaledBytes = (n) => {
  if (n == null) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let k = 0;
  while (n >= 1000 && k < 4) { n /= 1000; k++; }
  return `${shown(n, 3)} ${units[k]}`;
};

function choose(kernel) {
  chosen = kernel === chosen ? -1 : kernel;
  document.getElementById("which").value = String(chosen);
  for (const watch of watchers) watch();
}

function bars(place, prefix) {
  const holder = make("div", { class: "bars" });
  place.append(holder);
  const draw = () => {
    const found = D.metrics.map((m, i) => [m, values()[i]]).filter(([m, v]) => m.name.startsWith(prefix) && v > 0);
    found.sort((a, b) => b[1] - a[1]);
    holder.replaceChildren(...found.flatMap(([m, v]) => {
      const fill = make("i");
      fill.style.width = `${Math.min(100, v)}%`;
      const name = m.name.slice(prefix.length).replace(".pct", "").replace(/^unit_/, "").replaceAll("_", " ");
      return [make("span", { title: m.meaning }, name), make("div", { class: "bar" }, fill), make("span", { class: "number" }, `${v.toFixed(1)} %`)];
    }));
    if (!found.length) holder.textContent = "nothing";
  };
  watchers.push(draw);
  draw();
}

function overview() {
  const place = section("overview", "Overview");
  for (const text of D.warnings) place.append(make("p", { class: "warning" }, text));
  const time = D.cycles / D.clock_mhz, facts = [
    [shown(D.cycles), "cycles"], [`${shown(time)} µs`, `at ${shown(D.clock_mhz)} MHz`], [shown(D.kernels.length), "kernels"],
    [shown(metric("sim__ipc", D.total)), "IPC of the GPU"], [shown(metric("sm__inst_executed.sum", D.total)), `${D.words.warp} instructions`]];
  place.append(make("div", { class: "facts" }, ...facts.map(([n, what]) => make("div", {}, make("b", {}, n), make("span", {}, what)))));
  place.append(make("p", { class: "note" }, `Simulated by lockstep ${D.version} on ${D.date}, ${shown(D.seconds)} s; result ${D.hash}.`));
}

function kernels() {
  const place = section("kernels", "Kernels", "A heading sorts. A row that is chosen (click, or Enter) is what the sections below show; again: the whole run.");
  const shownMetrics = ["sim__ipc", "sm__warps_active.avg.pct_of_peak_sustained_active", "sim__l1_hit_rate.pct", "sim__l2_hit_rate.pct", "sim__sol_dram.pct"]
    .filter((name) => column(name) >= 0);
  const titles = { sim__ipc: "IPC", "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy, %", "sim__l1_hit_rate.pct": "L1 hits, %", "sim__l2_hit_rate.pct": "L2 hits, %", "sim__sol_dram.pct": "DRAM, % of peak" };
  const columns = [{ title: "id" }, { title: "kernel", text: true }, { title: "grid", text: true }, { title: "block", text: true }, { title: "cycles" },
    ...shownMetrics.map((name) => ({ title: titles[name], meaning: D.metrics[column(name)].meaning })), { title: "limiter", text: true }];
  table(place, columns, D.kernels.map((k) => [k.id, k.name, k.grid, k.block, k.cycles, ...shownMetrics.map((n) => k.values[column(n)]), k.limiter]), choose);
}

function selector() {
  const place = section("limits", "Speed of light and stalls");
  const which = make("select", { id: "which", "aria-label": "Kernel that is shown" }, make("option", { value: "-1" }, "the whole run"),
    ...D.kernels.map((k, i) => make("option", { value: i }, `${k.id} ${k.name}`)));
  which.addEventListener("change", () => { chosen = -2; choose(+which.value); });
  const left = make("div", {}, make("h3", {}, "Speed of light: percent of what each unit could do")), right = make("div", {}, make("h3", {}, "Scheduler cycles: issued, or why not"));
  place.append(which, make("div", { class: "two" }, left, right));
  bars(left, "sim__sol_");
  bars(right, "sim__scheduler_");
}

function advice() {
  if (!D.advice) return;
  const place = section("advice", "Advice", D.advice.items.length ? "Why it is slow, what takes most time first. Shares are of the time in which CTAs ran." : "No rule has found anything.");
  for (const item of D.advice.items) {
    const gain = item.simulated != null ? `Simulated without ${item.lift} as a limit: ${shown(item.simulated, 3)} times as fast.` : item.at_limit ? "" : `Estimated: ${shown(item.gain, 3)} times as fast at most.`;
    place.append(make("h3", {}, `${item.title}${item.kernel ? ` in ${item.kernel}` : ""}: ${item.at_limit ? "at its limit in" : "at most"} ${shown(item.share, 3)} % of the time`),
      make("p", {}, item.what + (item.place ? ` Most of it: ${item.place}` : "")), make("p", {}, `${item.todo} ${gain}`),
      make("p", { class: "note" }, item.evidence.map((e) => `${e.name} ${shown(e.value)} ${e.unit}`).join("; ")));
  }
  if (!D.advice.what_if.length) return;
  place.append(make("h3", {}, "What if: simulated without one limit"));
  table(place, [{ title: "without limit", text: true }, { title: "kernel", text: true }, { title: "cycles" }, { title: "times as fast" }],
    D.advice.what_if.map(([lift, kernel, cycles, speedup]) => [lift, kernel || "the run", cycles, speedup]));
}

function rooflines() {
  if (!D.roofline.points.length) return;
  const place = section("roofline", "Roofline", "Warp instructions a second over warp instructions a sector, under the ceilings of the modelled GPU (instruction roofline, Ding and Williams 2019).");
  for (const level of Object.keys(D.roofline.levels)) {
    if (!D.roofline.points.some((p) => p[2][level] > 0)) continue;
    place.append(make("h3", {}, `${level}: ${shown(D.roofline.levels[level], 3)} sectors/s, ${shown(D.roofline.issue, 3)} warp instructions/s at most`));
    rooflineChart(place, D.roofline, level, D.kernels, choose);
  }
}

function overTime() {
  const place = section("time", "Over time");
  const { start, stalls, lines } = D.series;
  if (start.length < 2) {
    place.append(make("p", { class: "note" }, "The run had no time series: --interval CYCLES makes one."));
    return;
  }
  place.append(make("h3", {}, "Scheduler cycles: issued, or why not"));
  if (Object.keys(stalls).length) stacked(place, start, stalls);
  const two = make("div", { class: "two" });
  place.append(two);
  for (const [name, column] of Object.entries(lines)) {
    if (!column.some((v) => v > 0)) continue;
    const cell = make("div");
    two.append(cell);
    line(cell, start, name, column);
  }
}

function memory() {
  const place = section("memory", "Memory", "Bytes between the levels, of what is chosen above.");
  const holder = make("div");
  place.append(holder);
  const draw = () => {
    const bytes = (names) => names.reduce((sum, name) => sum + (metric(name) ?? 0), 0);
    const flow = (at, down, n) => ({ at, down, bytes: n, text: scaledBytes(n) });
    const L1 = "l1tex__t_sectors_pipe_lsu_mem_", L2 = "lts__t_sectors_srcunit_tex_op_", rate = (name) => `${shown(metric(name), 3)} % hits`;
    holder.replaceChildren();
    memoryChart(holder, [{ name: `${D.words.core}s`, note: `IPC ${shown(metric("sim__ipc"), 3)}` }, { name: "L1", note: rate("sim__l1_hit_rate.pct") },
      { name: "L2", note: rate("sim__l2_hit_rate.pct") }, { name: "DRAM", note: `${shown(metric("sim__sol_dram.pct"), 3)} % of peak` }],
    [flow(0, false, 32 * bytes([`${L1}global_op_ld.sum`, `${L1}local_op_ld.sum`])), flow(0, true, 32 * bytes([`${L1}global_op_st.sum`, `${L1}local_op_st.sum`])),
      flow(1, false, 32 * bytes([`${L2}read.sum`])), flow(1, true, 32 * bytes([`${L2}write.sum`])),
      flow(2, false, bytes(["dram__bytes_read.sum"])), flow(2, true, bytes(["dram__bytes_write.sum"]))]);
  };
  watchers.push(draw);
  draw();
}

function heatMaps() {
  if (!D.heat.length) return;
  const place = section("heat", "Heat maps", "A column a kernel, in the order of launches; of more than 200 the longest.");
  for (const map of D.heat) heat(place, map, D.kernels);
}

function source() {
  if (!D.source) return;
  const place = section("source", "Source", D.source.left_out ? `${shown(D.source.left_out)} rows with fewer stalls are left out.` : "");
  const columns = D.source.columns.map((title, c) => ({ title: title.replaceAll("_", " "), text: D.source.rows.some((r) => typeof r[c] === "string") }));
  table(place, columns, D.source.rows);
}

function comparison() {
  if (!D.compare) return;
  const place = section("compare", "Compared with other runs", D.compare.note);
  const runs = D.compare.runs;
  const head = [{ title: "kernel", text: true }, { title: "metric", text: true }, ...runs.map((r) => ({ title: r })), ...runs.slice(1).map((r) => ({ title: `${r}, change in %` })), { title: "significant", text: true }];
  table(place, head, D.compare.rows.map((r) => [r.kernel, r.metric, ...r.values, ...r.changes, r.significant]));
}

function allMetrics() {
  const place = section("metrics", "All metrics", "Of what is chosen above; those that are 0 everywhere are left out.");
  const holder = make("div");
  place.append(holder);
  const columns = [{ title: "section", text: true }, { title: "metric", text: true }, { title: "value" }, { title: "unit", text: true }, { title: "meaning", text: true }];
  const draw = () => {
    holder.replaceChildren();
    table(holder, columns, D.metrics.map((m, i) => [m.section, m.name, values()[i], m.unit, m.meaning]));
  };
  watchers.push(draw);
  draw();
}

function theme() {
  const root = document.documentElement, button = document.getElementById("theme");
  root.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
  button.addEventListener("click", () => { root.classList.toggle("dark"); redraw(false); });
  addEventListener("resize", () => redraw(true));
}

async function start() {
  const main = document.getElementById("main");
  try {
    D = await unpack(document.getElementById("data").textContent);
  } catch (error) {
    main.textContent = `This file is damaged, or the browser is older than 2023: ${error}`;
    return;
  }
  main.replaceChildren();
  theme();
  document.getElementById("title").textContent = document.title.replace(/ – lockstep$/, "");
  const parts = D.kernels ? [overview, kernels, selector, advice, comparison, rooflines, overTime, memory, heatMaps, source, allMetrics] : [comparison];
  for (const part of parts) part();
  document.getElementById("nav").append(...SECTIONS.map(([id, title]) => make("a", { href: `#${id}` }, title)));
  document.body.dataset.ready = "yes";
}

start();
