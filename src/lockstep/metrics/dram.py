"""Metrics of the DRAM, over all channels."""

from lockstep.metrics.facts import dram_peak, percent, ratio, utilization
from lockstep.metrics.metric import Metric

SECTOR = 32  # bytes that Nsight Compute calls a DRAM sector

METRICS = (
    Metric(
        "dram__bytes_read.sum",
        "bytes",
        "Bytes read from DRAM.",
        lambda k: k.memory.dram_read_bytes,
    ),
    Metric(
        "dram__bytes_write.sum",
        "bytes",
        "Bytes written to DRAM.",
        lambda k: k.memory.dram_write_bytes,
    ),
    Metric(
        "dram__sectors_read.sum",
        "sectors",
        "The bytes read, in sectors of 32 bytes.",
        lambda k: k.memory.dram_read_bytes // SECTOR,
    ),
    Metric(
        "dram__sectors_write.sum",
        "sectors",
        "The bytes written, in sectors of 32 bytes.",
        lambda k: k.memory.dram_write_bytes // SECTOR,
    ),
    Metric(
        "dram__bytes.sum.per_second",
        "bytes/s",
        "Bandwidth used, reads and writes, over all cycles.",
        lambda k: ratio(k.dram_bytes, k.seconds),
    ),
    Metric(
        "dram__bytes.sum.pct_of_peak_sustained_elapsed",
        "%",
        "The same, in percent of what the data buses could move.",
        lambda k: utilization(k.dram_bytes, dram_peak(k.gpu) * k.seconds),
    ),
    Metric(
        "sim__dram_bus_busy.pct",
        "%",
        "Command clocks in which a data bus moved something.",
        lambda k: utilization(k.memory.dram_bus_busy, k.memory.dram_clocks),
    ),
    Metric(
        "sim__dram_read_bursts.sum",
        "bursts",
        "Read commands.",
        lambda k: k.memory.dram_reads,
    ),
    Metric(
        "sim__dram_write_bursts.sum",
        "bursts",
        "Write commands.",
        lambda k: k.memory.dram_writes,
    ),
    Metric(
        "sim__dram_row_hits.sum",
        "bursts",
        "Column commands that found their row open.",
        lambda k: k.memory.dram_row_hits,
    ),
    Metric(
        "sim__dram_row_misses.sum",
        "bursts",
        "Column commands that needed an activate of a closed bank.",
        lambda k: k.memory.dram_row_misses,
    ),
    Metric(
        "sim__dram_row_conflicts.sum",
        "bursts",
        "Column commands that needed a precharge of another row first.",
        lambda k: k.memory.dram_row_conflicts,
    ),
    Metric(
        "sim__dram_row_hit_rate.pct",
        "%",
        "Row hits of all column commands.",
        lambda k: percent(
            k.memory.dram_row_hits,
            k.memory.dram_row_hits + k.memory.dram_row_misses + k.memory.dram_row_conflicts,
        ),
    ),
    Metric(
        "sim__dram_activates.sum",
        "commands",
        "Activate commands.",
        lambda k: k.memory.dram_activates,
    ),
    Metric(
        "sim__dram_precharges.sum",
        "commands",
        "Precharge commands.",
        lambda k: k.memory.dram_precharges,
    ),
    Metric(
        "sim__dram_refreshes.sum",
        "commands",
        "Refresh commands.",
        lambda k: k.memory.dram_refreshes,
    ),
    Metric(
        "sim__dram_turnarounds.sum",
        "turnarounds",
        "Switches of a data bus between reads and writes.",
        lambda k: k.memory.dram_turnarounds,
    ),
    Metric(
        "sim__dram_read_queue.avg",
        "requests",
        "Reads waiting at a channel, on average over time.",
        lambda k: ratio(k.memory.dram_read_queue, k.memory.dram_clocks),
    ),
    Metric(
        "sim__dram_write_queue.avg",
        "requests",
        "Writes waiting at a channel, on average over time.",
        lambda k: ratio(k.memory.dram_write_queue, k.memory.dram_clocks),
    ),
)
