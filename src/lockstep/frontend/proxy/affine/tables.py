"""What an affine model is kept as: tables of integers, checked when they are read."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from lockstep.frontend.tracefile.columns import Malformed, check_range
from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.workload.bulk_copies import TILE_WORDS

NOTHING = -1  # pattern of what has no address; function of what is in no allocation
MOST_FACTOR = 1 << 44  # of a function, in bytes a step: more than any GPU has memory
MOST_SHIFT = 30
MOST_OFFSET = 1 << 61  # of addresses, from where an allocation begins
MOST_WIDTH = 64
MOST_BACK = 63  # slots
MOST_CTAS = MOST_LINES = 1 << 36  # of a run
MOST_RUNS = 1 << 25
MOST_LANES = max(64, TILE_WORDS)


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of a kernel; each field is a column, int64 [rows], and its first word the table.

    *Sites* are instructions that access memory or wait. *Functions* of a CTA's x, y, z, a
    warp's number, and the row and plane in the block of its first thread give the byte offset
    in allocation ``function_region``: the sum of factors times these, shifted right, rounded
    down to a multiple of ``function_align``. A *split* adds to one what an index that is split
    by / gives. *Patterns* are what lanes access from the function's value on: ``gap`` bytes
    times the lane, or a list of offsets of active lanes. A *token* is an execution of a site:
    its mask, function, pattern, and the bytes that are added to the function, less what was
    added at the execution of this site before. *Entries* are tokens, or loops: ``-count`` of
    the ``span`` entries that follow. A *class* of warps is a number of entries, a *shape* of
    CTAs a class for each warp. The *placement* says the shapes of all CTAs, x fastest, as runs.
    *Lines* are runs of those of an allocation, from its first one on; those of a *circle* are
    about as popular, and take each other's places where sites move. A *gap* is what a warp
    executes between two sites: *slots*, each of a *kind*.
    """

    site_text: np.ndarray
    site_op: np.ndarray
    site_space: np.ndarray
    site_width: np.ndarray
    site_cache: np.ndarray
    site_immediate: np.ndarray
    site_threads: np.ndarray
    site_result: np.ndarray  # registers that it writes
    site_loaded: np.ndarray  # one more than the site whose result it reads; 0: none
    site_other: np.ndarray  # the same, of another one
    site_moves: np.ndarray  # 1: CTAs that another one stands for access other lines
    function_region: np.ndarray
    function_x: np.ndarray
    function_y: np.ndarray
    function_z: np.ndarray
    function_warp: np.ndarray
    function_row: np.ndarray
    function_plane: np.ndarray
    function_shift: np.ndarray
    function_align: np.ndarray
    split_function: np.ndarray  # a function to which CTA x // period, times jump, is added
    split_period: np.ndarray
    split_jump: np.ndarray  # bytes
    mask_lanes: np.ndarray
    pattern_gap: np.ndarray
    pattern_lanes: np.ndarray  # 0: all, by their gap
    offset_bytes: np.ndarray  # of listed patterns, one after the other
    token_site: np.ndarray
    token_mask: np.ndarray
    token_function: np.ndarray
    token_pattern: np.ndarray
    token_delta: np.ndarray
    entry_token: np.ndarray
    entry_span: np.ndarray
    class_entries: np.ndarray
    shape_class: np.ndarray  # a shape after the other
    origin_cta: np.ndarray  # of each shape: the CTA that it is from, if it stands for others; or -1
    placement_shape: np.ndarray
    placement_ctas: np.ndarray
    lines_region: np.ndarray
    lines_count: np.ndarray
    lines_circle: np.ndarray  # 0: none
    gap_from: np.ndarray  # site, or as many as there are: the start of a warp
    gap_to: np.ndarray  # site, or as many as there are: its end
    gap_slots: np.ndarray
    slot_kind: np.ndarray  # of gaps, one after the other
    kind_text: np.ndarray
    kind_op: np.ndarray
    kind_chained: np.ndarray  # how many slots back the one is whose result it reads; 0: none
    kind_loaded: np.ndarray  # one more than the site whose result it reads; 0: none
    kind_other: np.ndarray  # the same, of another one
    kind_target: np.ndarray  # 1: the site behind the gap reads its result

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """All columns by name."""
        return {name: getattr(self, name) for name in COLUMNS}


COLUMNS = tuple(field.name for field in fields(Tables))
FACTORS = ("x", "y", "z", "warp", "row", "plane")


def tables_of(columns: Mapping[str, np.ndarray]) -> Tables:
    """The tables of columns that may be damaged. Raises :class:`Malformed`."""
    if set(columns) != set(COLUMNS):
        wrong = sorted(set(columns) ^ set(COLUMNS))
        raise Malformed(f"expected the columns of an affine model; {wrong[0]} is wrong")
    t = Tables(**columns)
    _check_lengths(t)
    return t


def check(t: Tables, texts: int, warps: int, regions: int) -> None:
    """Raise :class:`Malformed` for a number that is out of range.

    ``texts``: how many texts there are, ``warps`` in a CTA, ``regions`` of memory.
    """
    sites, slots = len(t.site_op), len(t.kind_op)
    check_range(t.site_text, texts, "text of a site")
    check_range(t.site_op, max(OpClass) + 1, "class of a site")
    check_range(t.site_space, max(Space) + 1, "space of a site")
    check_range(t.site_width, MOST_WIDTH + 1, "width of a site")
    check_range(t.site_cache, 2 * max(CachePolicy), "cache policy of a site")
    check_range(t.site_result, 17, "result of a site")
    check_range(t.site_moves, 2, "motion of a site")
    check_range(t.function_region - NOTHING, regions + 1, "region of a function")
    for name in FACTORS:
        factor = getattr(t, f"function_{name}")
        check_range(factor + MOST_FACTOR, 2 * MOST_FACTOR, f"factor {name} of a function")
    check_range(t.function_shift, MOST_SHIFT + 1, "shift of a function")
    check_range(t.function_align - 1, MOST_FACTOR, "alignment of a function")
    check_range(t.split_function, len(t.function_region), "function of a split")
    check_range(t.split_period - 1, MOST_FACTOR, "period of a split")
    check_range(t.split_jump + MOST_FACTOR, 2 * MOST_FACTOR, "jump of a split")
    check_range(t.pattern_lanes, MOST_LANES + 1, "lanes of a pattern")
    check_range(t.pattern_gap + MOST_FACTOR, 2 * MOST_FACTOR, "gap of a pattern")
    if int(t.pattern_lanes.sum()) != len(t.offset_bytes):
        raise Malformed("expected as many offsets as patterns have")
    check_range(t.offset_bytes + MOST_OFFSET, 2 * MOST_OFFSET, "offset of a lane")
    check_range(t.token_site, sites, "site of a token")
    check_range(t.token_mask, len(t.mask_lanes), "mask of a token")
    check_range(t.token_function, len(t.function_region), "function of a token")
    check_range(t.token_pattern - NOTHING, len(t.pattern_gap) + 1, "pattern of a token")
    check_range(t.token_delta + MOST_OFFSET, 2 * MOST_OFFSET, "delta of a token")
    _check_tokens(t)
    check_range(t.shape_class, len(t.class_entries), "class of a warp")
    if len(t.shape_class) % warps:
        raise Malformed(f"expected {warps} warps in each shape")
    if len(t.origin_cta) * warps != len(t.shape_class):
        raise Malformed("expected an origin of each shape")
    check_range(t.placement_shape, len(t.shape_class) // warps, "shape of a CTA")
    check_range(t.placement_ctas - 1, MOST_CTAS, "CTAs of a run")
    if max(len(t.placement_ctas), len(t.lines_count)) > MOST_RUNS:
        raise Malformed(f"expected at most {MOST_RUNS} runs of CTAs, and of lines")
    check_range(t.lines_region, regions, "region of lines")
    check_range(t.lines_count - 1, MOST_LINES, "lines of a run")
    check_range(t.lines_circle, 1 << 40, "circle of lines")
    check_range(t.gap_from, sites + 1, "site of a gap")
    check_range(t.gap_to, sites + 1, "site of a gap")
    check_range(t.gap_slots, len(t.slot_kind) + 1, "slots of a gap")
    if int(t.gap_slots.sum()) != len(t.slot_kind):
        raise Malformed("expected as many slots as gaps have")
    check_range(t.slot_kind, slots, "kind of a slot")
    check_range(t.kind_text, texts, "text of a slot")
    check_range(t.kind_op, max(OpClass) + 1, "class of a slot")
    check_range(t.kind_chained, MOST_BACK + 1, "chain of a slot")
    check_range(t.kind_loaded, sites + 1, "load of a slot")
    check_range(t.kind_other, sites + 1, "load of a slot")
    check_range(t.site_other, sites + 1, "load of a site")
    check_range(t.kind_target, 2, "target of a slot")
    check_range(t.site_loaded, sites + 1, "load of a site")


def _check_tokens(t: Tables) -> None:
    """A token has an address exactly if its site has a width, and as many lanes as its pattern."""
    addressed = t.token_pattern != NOTHING
    if (addressed != (t.site_width[t.token_site] > 0)).any():
        raise Malformed("expected a pattern for each token that accesses memory")
    masks = t.mask_lanes[t.token_mask]
    if (masks == 0).any():
        raise Malformed("expected a lane in each token's mask")
    lanes = np.bitwise_count(masks.view(np.uint64)).astype(np.int64)
    listed = np.where(addressed, t.pattern_lanes[t.token_pattern], 0)
    if ((listed != 0) & (listed != lanes)).any():
        raise Malformed("expected as many lanes in a mask as its pattern lists")


def _check_lengths(t: Tables) -> None:
    lengths: dict[str, tuple[str, int]] = {}
    for name, column in t.columns.items():
        table = name.partition("_")[0]
        first, length = lengths.setdefault(table, (name, len(column)))
        if len(column) != length:
            raise Malformed(f"column {name}: {len(column)} values; expected {length}, as {first}")
