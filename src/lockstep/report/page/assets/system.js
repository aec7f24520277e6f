"use strict";
// Links, and what the page shows of a system of several GPUs.

const LINES = 8; // of links in one chart at most: the busiest

function links() {
  if (!D.links) return;
  const of = D.links.rows[0].word ? "Between the modules of the GPU, in each direction: of what is chosen above, headers included." : "Between GPUs, switches and the host, in each direction; those that carried nothing are left out.";
  section("links", "Links", of, drawLinks);
}

function drawLinks(place) {
  const { rows, what, unit, start, series } = D.links, holder = make("div");
  place.append(holder);
  const carried = (row, what, how) => metric(`sim__module_link_${what}_${row.word}.${how}`) ?? 0; // what is 0 everywhere is left out
  const share = { title: rows[0].word ? "% of what it can carry" : "busy, % of the time" };
  const draw = () => {
    const cells = rows.map((r) => (r.word ? [r.name, r.gb_per_s, carried(r, "bytes", "sum"), r.gb_per_s && carried(r, "busy", "pct")]
      : [r.name, r.gb_per_s, r.bytes, r.share, r.packets]));
    holder.replaceChildren();
    table(holder, [{ title: "link", text: true }, { title: "GB/s at most" }, { title: "bytes" }, share, ...(rows[0].word ? [] : [{ title: "packets" }])], cells);
  };
  CHOICE.push(draw);
  draw();
  if (!start.length) {
    place.append(make("p", { class: "note" }, "The run had no time series: --interval CYCLES makes one."));
    return;
  }
  const total = series.map((values) => values.reduce((sum, v) => sum + v, 0));
  const busiest = rows.map((_, k) => k).sort((a, b) => total[b] - total[a]).slice(0, LINES);
  place.append(make("h3", {}, `Over time: ${what}${rows.length > LINES ? `: the ${LINES} busiest` : ""}`));
  lines(place, start, unit, what, busiest.map((k) => rows[k].name), busiest.map((k) => series[k]));
  heat(place, { title: `All of them: ${what}`, values: series, unit: what.includes("%") ? "%" : what, row: (y) => rows[y].name, column: (x) => (unit === "µs" ? `${shown(start[x])} µs` : `cycle ${shown(start[x])}`) });
}

function systemOverview() {
  section("overview", "Overview", "", (place) => {
    for (const text of D.warnings) place.append(make("p", { class: "warning" }, text));
    facts(place, [[scaled(D.seconds, "s"), "simulated time"], [shown(D.gpus.length), "GPUs"], [shown(D.gpus.reduce((sum, g) => sum + g.kernels.length, 0)), "kernels"],
      [shown(D.peers.length), "copies between GPUs"], [scaledBytes(D.peers.reduce((sum, p) => sum + p[3], 0)), "in them"]]);
    place.append(make("p", { class: "note" }, `Simulated by lockstep ${D.version} on ${D.date}; result ${D.hash}.`));
  });
}

function systemGpus() {
  section("gpus", "GPUs", "A row that is chosen (click, or Enter), or the list at the top, shows that GPU.", (place) => {
    const columns = [{ title: "GPU" }, { title: "model", text: true }, { title: "kernels" }, { title: "running, µs" }, { title: "of the time, %" }, { title: "IPC" }, { title: "DRAM, % of peak" }];
    const rows = D.gpus.map((g, k) => {
      const of = (name) => g.total[g.metrics.findIndex((m) => m.name === name)] ?? null;
      return [k, g.gpu, g.kernels.length, g.running, g.share, of("sim__ipc"), of("sim__sol_dram.pct")];
    });
    table(place, columns, rows, show);
  });
}

function systemCopies() {
  const columns = (ends) => [...ends.map((title) => ({ title })), { title: "stream" }, { title: "bytes" }, { title: "begins, µs" }, { title: "takes, µs" }, { title: "GB/s" }];
  if (D.peers.length) section("peers", "Copies between GPUs", D.left_out.peers ? `${shown(D.left_out.peers)} shorter ones are left out.` : "", (place) => table(place, [...columns(["from GPU", "to GPU"]), { title: "by", text: true }], D.peers));
  if (D.copies.length) section("copies", "Copies of the host", D.left_out.copies ? `${shown(D.left_out.copies)} shorter ones are left out.` : "", (place) => table(place, [{ title: "direction", text: true }, ...columns(["GPU"])], D.copies));
}

const OF_A_SYSTEM = [systemOverview, systemGpus, links, systemCopies];
