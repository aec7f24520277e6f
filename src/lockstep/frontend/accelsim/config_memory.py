"""Caches and DRAM of a configuration."""

import math
import re

from lockstep.frontend.accelsim.config_draft import Draft
from lockstep.frontend.accelsim.config_options import Option

SECTOR = 32
FLIT_HEADER = 8  # bytes of a flit that carry no data

REPLACEMENT = {"L": "lru", "F": "fifo"}
L1_PROTOCOL = {
    "T": "write_through",
    "E": "write_evict",
    "L": "write_evict",
    "B": "write_through",
    "R": "write_through",
}
ALLOCATE = {"m": "miss", "f": "fill", "s": "fill"}
L2_PROTOCOL = {
    "W": "write_fetch",
    "F": "write_fetch",
    "L": "write_validate",
    "N": "write_validate",
}
SET_HASH = {"L": "linear", "X": "xor", "H": "xor", "P": "ipoly", "C": "ipoly"}
SLICE_HASH = {0: "linear", 1: "xor", 2: "ipoly", 6: "ipoly"}
TIMING = {
    "CCD": "nCCD", "RRD": "nRRD", "RCD": "nRCD", "RAS": "nRAS", "RP": "nRP", "RC": "nRC",
    "CL": "nCL", "WL": "nCWL", "CDLR": "nCDLR", "WR": "nWR", "CCDL": "nCCDL", "RTPL": "nRTPL",
}  # fmt: skip
TIMING_ORDER = (
    "nbk", "CCD", "RRD", "RCD", "RAS", "RP", "RC", "CL", "WL", "CDLR", "WR", "nbkgrp", "CCDL",
    "RTPL",
)  # fmt: skip

_CACHE = re.compile(
    r"(?P<sector>[NS]):(?P<sets>\d{1,9}):(?P<line>\d{1,9}):(?P<ways>\d{1,9}),"
    r"(?P<replacement>[A-Z]):(?P<write>[A-Z]):(?P<allocate>[a-z]):(?P<write_allocate>[A-Z])"
    r":(?P<hash>[A-Z]),(?P<mshr>[A-Z]):(?P<entries>\d{1,9}):(?P<merges>\d{1,9}),"
    r"(?P<queue>\d{1,9})(:\d{1,9})?(,(?P<port>\d{1,9}))?",
    re.ASCII,
)


def _cache(option: Option) -> dict[str, str]:
    match = _CACHE.fullmatch(option.value)
    if match is None:
        option.fail(
            "<N|S>:<sets>:<line>:<ways>,<replacement>:<write>:<allocate>:<write allocate>:<hash>,"
            "<MSHR kind>:<entries>:<merges>,<miss queue>[:<fifo>][,<port>]"
        )
    return match.groupdict()


def shared_and_l1(draft: Draft) -> None:
    """L1, and how its memory is split with shared memory."""
    options = draft.options
    draft.set("l1.cache_global", not options.flag("gpgpu_gmem_skip_L1D", False))
    option = options.get("gpgpu_cache:dl1")
    if option:
        cache = _cache(option)
        _tags(draft, "l1", cache, option)
        draft.choose("l1.allocate", ALLOCATE, cache["allocate"], option)
        draft.choose("l1.protocol", L1_PROTOCOL, cache["write"], option)
        draft.choose("l1.hash", SET_HASH, cache["hash"], option)
        draft.set("l1.miss_queue", int(cache["queue"]), option)
        draft.set(
            "l1.bytes", math.prod(int(cache[key]) for key in ("sets", "line", "ways")), option
        )
        draft.set("l1.carveouts", [])
        port = int(cache["port"] or SECTOR) * draft.values["l1.banks"]
        draft.set("l1.bytes_per_cycle", port, option)
        if cache["write"] in "BR":
            draft.warn(option, f"write policy {cache['write']} is taken as write-through")
    if options.flag("gpgpu_adaptive_cache_config", False):
        if option := options.get("gpgpu_unified_l1d_size"):
            draft.set("l1.bytes", option.integer() * 1024, option)
        if option := options.get("gpgpu_shmem_option"):
            sizes = sorted({size * 1024 for size in option.integers(",")})
            draft.set("l1.carveouts", sizes, option)
    draft.set("shared.cta_bytes", draft.values["shared.bytes"])


def _tags(draft: Draft, level: str, cache: dict[str, str], option: Option) -> None:
    """What L1 and L2 have in common."""
    line = int(cache["line"])
    draft.set(f"{level}.sets", int(cache["sets"]), option)
    draft.set(f"{level}.line_bytes", line, option)
    draft.set(f"{level}.sector_bytes", SECTOR if cache["sector"] == "S" else line, option)
    draft.choose(f"{level}.replacement", REPLACEMENT, cache["replacement"], option)
    draft.set(f"{level}.mshr_entries", int(cache["entries"]), option)
    draft.set(f"{level}.mshr_merges", int(cache["merges"]), option)


def instructions(draft: Draft) -> None:
    """One level of instruction cache becomes our L0 in front of an L1 that never misses.

    Constant operands are always there: Accel-Sim looks up loads alone.
    """
    options = draft.options
    perfect = options.flag("gpgpu_perfect_inst_const_cache", False)
    draft.set("sm.front_end.stream_buffer", 0)
    draft.set("sm.front_end.l1_bytes", 0)
    draft.set("constant.operand_bytes", 0)
    for name, line, ways, size in (
        (
            "gpgpu_cache:il1",
            "sm.front_end.line_bytes",
            "sm.front_end.l0_ways",
            "sm.front_end.l0_bytes",
        ),
        ("gpgpu_const_cache:l1", "constant.line_bytes", "constant.ways", "constant.bytes"),
    ):
        if perfect:
            draft.set(size, 0, options.get(name))
        elif option := options.get(name):
            cache = _cache(option)
            draft.set(line, int(cache["line"]), option)
            draft.set(ways, int(cache["ways"]), option)
            product = math.prod(int(cache[key]) for key in ("sets", "line", "ways"))
            draft.set(size, product, option)


def memory(draft: Draft) -> None:
    """Crossbar and L2."""
    options = draft.options
    if option := options.get("gpgpu_cache:dl2"):
        cache = _cache(option)
        _tags(draft, "l2", cache, option)
        draft.set("l2.ways", int(cache["ways"]), option)
        draft.choose("l2.set_hash", SET_HASH, cache["hash"], option)
        draft.choose("l2.protocol", L2_PROTOCOL, cache["write_allocate"], option)
        draft.set("l2.bytes_per_cycle", int(cache["port"] or SECTOR), option)
    if option := options.get("gpgpu_dram_partition_queues"):
        draft.set("l2.queue", option.integers(":", (4,))[0], option)
    if option := options.get("gpgpu_memory_partition_indexing"):
        draft.choose("l2.slice_hash", SLICE_HASH, option.integer(), option)
    if (option := options.get("gpgpu_cache:dl2_texture_only")) and option.integer():
        draft.warn(option, "the L2 caches everything")
    if option := options.get("icnt_flit_size"):
        draft.set("interconnect.flit_bytes", max(8, option.integer() - FLIT_HEADER), option)
    if option := options.get("icnt_in_buffer_limit"):  # of a port, for all destinations
        room = max(1, option.integer() // max(1, draft.values["dram.channels"]))
        draft.set("interconnect.buffer", room, option)
    draft.set("l2.sides", 1)
    draft.set("l2.far_latency", 0)


def dram(draft: Draft) -> None:
    """The memory controllers and their DRAM."""
    options = draft.options
    if option := options.get("gpgpu_dram_buswidth"):
        devices = options.integer("gpgpu_n_mem_per_ctrlr", 1)
        draft.set("dram.bus_bytes", option.integer() * devices, option)
    if option := options.get("gpgpu_dram_scheduler"):
        draft.choose("dram.scheduler", {0: "fcfs", 1: "frfcfs"}, option.integer(), option)
    if option := options.get("dram_bnk_indexing_policy"):
        draft.choose("dram.bank_hash", {0: "linear", 1: "xor", 2: "xor"}, option.integer(), option)
    draft.set("dram.dual_command_bus", options.flag("dram_dual_bus_interface", False))
    draft.set("dram.page", "open")
    draft.set("dram.refresh", False)  # GPGPU-Sim does not refresh
    _queues(draft)
    if option := options.get("gpgpu_mem_addr_mapping"):
        _mapping(draft, option)
    if option := options.get("gpgpu_dram_timing_opt"):
        _timing(draft, option)
    draft.set("dram.standard", _standard(draft.values))


def _queues(draft: Draft) -> None:
    if option := draft.options.get("gpgpu_frfcfs_dram_sched_queue_size"):
        draft.set("dram.read_queue", option.integer(), option)
        draft.set("dram.write_queue", option.integer(), option)
    separate = draft.options.flag("dram_seperate_write_queue_enable", False)
    option = draft.options.get("dram_write_queue_size")
    if separate and option:
        size, high, low = option.integers(":", (3,))
        draft.set("dram.write_queue", size, option)
        draft.set("dram.drain_high", high / max(1, size), option)
        draft.set("dram.drain_low", low / max(1, size), option)


def _mapping(draft: Draft, option: Option) -> None:
    """Interleaving and row size, from ``dramid@8;`` and the letters of the address bits."""
    match = re.fullmatch(r"(?:dramid@(\d{1,2});)?([RBCSD01.]+)", option.value, re.ASCII)
    if match is None:
        option.fail("dramid@<bit>;<letters R, B, C, S of the address bits>")
    if match[1]:
        draft.set("l2.interleave_bytes", 1 << int(match[1]), option)
    columns = match[2].count("C") + match[2].count("S")
    draft.set("dram.row_bytes", 1 << columns, option)


def _timing(draft: Draft, option: Option) -> None:
    text = option.value.replace(" ", "")
    if "=" in text:
        entries = [entry.partition("=")[::2] for entry in text.split(":") if entry]
    else:
        entries = list(zip(TIMING_ORDER, text.split(":")))
    found = {key: value for key, value in entries if re.fullmatch(r"\d{1,9}", value, re.ASCII)}
    if len(found) < len(entries) or not found:
        option.fail("key=number separated by ':', or 14 numbers")
    draft.values = {k: v for k, v in draft.values.items() if not k.startswith("dram.timing.")}
    for key, value in found.items():
        if key in TIMING:
            draft.set(f"dram.timing.{TIMING[key]}", int(value), option)
        elif key == "nbk":
            draft.set("dram.banks", int(value), option)
        elif key == "nbkgrp":
            draft.set("dram.bank_groups", int(value), option)
        else:
            draft.warn(option, f"{key[:20]} has no counterpart")


def _standard(values: dict[str, object]) -> str:
    """The table of constraints that fits: HBM has a second command bus, GDDR6 long bursts."""
    if values["dram.dual_command_bus"] or values["dram.beats_per_clock"] <= 2:
        return "HBM2"
    return "GDDR6" if values["dram.burst_length"] >= 16 else "GDDR5"
