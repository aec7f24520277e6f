"use strict";
// What the page shows of one GPU. Whatever a trace says is put in as text, never as HTML.

const column = (name) => D.metrics.findIndex((m) => m.name === name);
const values = () => (chosen < 0 ? D.total : D.kernels[chosen].values);
const metric = (name, of = values()) => of[column(name)];
const scaledBytes = (n) => (n == null ? "–" : scaled(n, "B"));

function choose(kernel) {
  chosen = kernel === chosen ? -1 : kernel;
  const which = document.getElementById("which");
  if (which) which.value = String(chosen);
  for (const watch of CHOICE) watch();
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
      const name = m.name.slice(prefix.length).replace(".pct", "").replace(prefix === "sim__sol_" ? /^unit_/ : "", "").replaceAll("_", " ");
      return [make("span", { title: m.meaning }, name), make("div", { class: "bar" }, fill), make("span", { class: "number" }, `${v.toFixed(1)} %`)];
    }));
    if (!found.length) holder.textContent = "nothing";
  };
  CHOICE.push(draw);
  draw();
}

function overview() {
  section("overview", "Overview", "", drawOverview);
}

function facts(place, pairs) {
  place.append(make("div", { class: "facts" }, ...pairs.map(([n, what]) => make("div", {}, make("b", {}, n), make("span", {}, what)))));
}

function drawOverview(place) {
  for (const text of D.warnings) place.append(make("p", { class: "warning" }, text));
  const time = D.cycles / D.clock_mhz;
  facts(place, [
    [shown(D.cycles), "cycles"], [`${shown(time)} µs`, `at ${shown(D.clock_mhz)} MHz`], [shown(D.kernels.length), "kernels"],
    [shown(metric("sim__ipc", D.total)), "IPC of the GPU"], [shown(metric("sm__inst_executed.sum", D.total)), `${D.words.warp} instructions`]]);
  place.append(make("p", { class: "note" }, `Simulated by lockstep ${D.version} on ${D.date}, ${shown(D.seconds)} s; result ${D.hash}.`));
}

function kernels() {
  section("kernels", "Kernels", "A heading sorts. A row that is chosen (click, or Enter) is what the sections below show; again: the whole run.", drawKernels);
}

function drawKernels(place) {
  const shownMetrics = ["sim__ipc", "sm__warps_active.avg.pct_of_peak_sustained_active", "sim__l1_hit_rate.pct", "sim__l2_hit_rate.pct", "sim__sol_dram.pct"]
    .filter((name) => column(name) >= 0);
  const titles = { sim__ipc: "IPC", "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy, %", "sim__l1_hit_rate.pct": "L1 hits, %", "sim__l2_hit_rate.pct": "L2 hits, %", "sim__sol_dram.pct": "DRAM, % of peak" };
  const columns = [{ title: "id" }, { title: "kernel", text: true }, { title: "grid", text: true }, { title: "block", text: true }, { title: "cycles" },
    ...shownMetrics.map((name) => ({ title: titles[name], meaning: D.metrics[column(name)].meaning })), { title: "limiter", text: true }];
  table(place, columns, D.kernels.map((k) => [k.id, k.name, k.grid, k.block, k.cycles, ...shownMetrics.map((n) => k.values[column(n)]), k.limiter]), choose);
}

function selector() {
  section("limits", "Speed of light and stalls", "", drawLimits);
}

function drawLimits(place) {
  const which = make("select", { id: "which", "aria-label": "Kernel that is shown" }, make("option", { value: "-1" }, "the whole run"),
    ...D.kernels.map((k, i) => make("option", { value: i }, `${k.id} ${k.name}`)));
  which.addEventListener("change", () => { chosen = -2; choose(+which.value); });
  const left = make("div", {}, make("h3", {}, "Speed of light: percent of what each unit could do")), right = make("div", {}, make("h3", {}, "Scheduler cycles: issued, or why not"));
  which.value = String(chosen);
  place.append(which, make("div", { class: "two" }, left, right));
  bars(left, "sim__sol_");
  bars(right, "sim__scheduler_");
}

function advice() {
  if (!D.advice) return;
  section("advice", "Advice", D.advice.items.length ? "Why it is slow, what takes most time first. Shares are of the time in which CTAs ran." : "No rule has found anything.", drawAdvice);
}

function drawAdvice(place) {
  for (const item of D.advice.items) {
    const gain = item.simulated != null ? `Simulated without ${item.lift} as a limit: ${shown(item.simulated, 3)} times as fast.` : item.at_limit ? "" : `Estimated: ${shown(item.gain, 3)} times as fast.`;
    place.append(make("h3", {}, `${item.title}${item.kernel ? ` in ${item.kernel}` : ""}: ${item.at_limit ? "at its limit in " : ""}${shown(item.share, 3)} % of the time`),
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
  section("roofline", "Roofline", `Instructions of ${D.words.warp}s a second, over those a sector, under the ceilings of the modelled GPU (instruction roofline, Ding and Williams 2019).`, drawRooflines);
}

function drawRooflines(place) {
  for (const level of Object.keys(D.roofline.levels)) {
    if (!D.roofline.points.some((p) => p[2][level] > 0)) continue;
    place.append(make("h3", {}, `${level}: ${scaled(D.roofline.levels[level])} sectors/s, ${scaled(D.roofline.issue)} ${D.words.warp} instructions/s at most`));
    rooflineChart(place, D.roofline, level, D.kernels, choose);
  }
}

function overTime() {
  section("time", "Over time", "The axis of each is the core cycle.", drawTime);
}

function drawTime(place) {
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
  section("memory", "Memory", "Bytes between the levels, of what is chosen above.", drawMemory);
}

function drawMemory(place) {
  const holder = make("div");
  place.append(holder);
  const draw = () => {
    const bytes = (names) => names.reduce((sum, name) => sum + (metric(name) ?? 0), 0);
    const flow = (at, down, n) => ({ at, down, bytes: n, text: scaledBytes(n) });
    const L1 = "l1tex__t_sectors_pipe_lsu_mem_", L2 = "lts__t_sectors_srcunit_tex_op_", rate = (name) => (metric(name) == null ? "" : `${shown(metric(name), 3)} % hits`);
    holder.replaceChildren();
    memoryChart(holder, [{ name: `${D.words.core}s`, note: `IPC ${shown(metric("sim__ipc"), 3)}` }, { name: "L1", note: rate("sim__l1_hit_rate.pct") },
      { name: "L2", note: rate("sim__l2_hit_rate.pct") }, { name: "DRAM", note: `${shown(metric("sim__sol_dram.pct"), 3)} % of peak` }],
    [flow(0, false, 32 * bytes([`${L1}global_op_ld.sum`, `${L1}local_op_ld.sum`])), flow(0, true, 32 * bytes([`${L1}global_op_st.sum`, `${L1}local_op_st.sum`])),
      flow(1, false, 32 * bytes([`${L2}read.sum`])), flow(1, true, 32 * bytes([`${L2}write.sum`])),
      flow(2, false, bytes(["dram__bytes_read.sum"])), flow(2, true, bytes(["dram__bytes_write.sum"]))]);
  };
  CHOICE.push(draw);
  draw();
}

function heatMaps() {
  if (!D.heat.length) return;
  section("heat", "Heat maps", "How busy each unit was in each kernel, in the order of launches; of more than 200 kernels the longest.", drawHeat);
}

function drawHeat(place) {
  for (const map of D.heat) {
    const unit = (y) => `${map.row} ${y}`, kernel = (x) => `${D.kernels[map.kernels[x]].id} ${D.kernels[map.kernels[x]].name}`;
    const long = map.values.length > map.kernels.length; // the longer side lies: screens are wide
    const values = long ? map.kernels.map((_, x) => map.values.map((line) => line[x])) : map.values;
    heat(place, { title: map.title, values, unit: "%", row: long ? kernel : unit, column: long ? unit : kernel });
  }
}

function source() {
  for (const [id, title, found] of [["lines", "Source lines", D.source_lines], ["source", D.source_lines ? "Instructions" : "Source", D.source]])
    if (found) section(id, title, found.left_out ? `${shown(found.left_out)} rows with fewer stalls are left out.` : "", (place) => drawSource(place, found));
}

function drawSource(place, found) {
  const columns = found.columns.map((name, c) => ({ title: name.replaceAll("_", " "), text: found.rows.some((r) => typeof r[c] === "string"),
    brief: name === "file" ? (path) => String(path ?? "").split("/").pop() : undefined }));
  table(place, columns, found.rows);
}

function comparison() {
  if (!D.compare) return;
  section("compare", "Compared with other runs", D.compare.note, drawComparison);
}

function drawComparison(place) {
  const runs = D.compare.runs;
  const head = [{ title: "kernel", text: true }, { title: "metric", text: true }, ...runs.map((r) => ({ title: r })), ...runs.slice(1).map((r) => ({ title: `${r}, change in %` })), { title: "significant", text: true }];
  table(place, head, D.compare.rows.map((r) => [r.kernel, r.metric, ...r.values, ...r.changes, r.significant]));
}

function allMetrics() {
  section("metrics", "All metrics", "Of what is chosen above; those that are 0 everywhere are left out.", drawMetrics);
}

function drawMetrics(place) {
  const holder = make("div");
  place.append(holder);
  const columns = [{ title: "section", text: true }, { title: "metric", text: true }, { title: "value" }, { title: "unit", text: true }, { title: "meaning", text: true, wrap: true }];
  const draw = () => {
    holder.replaceChildren();
    table(holder, columns, D.metrics.map((m, i) => [m.section, m.name, values()[i], m.unit, m.meaning]));
  };
  CHOICE.push(draw);
  draw();
}

const OF_A_GPU = [overview, kernels, selector, advice, comparison, rooflines, overTime, memory, links, heatMaps, source, allMetrics];
