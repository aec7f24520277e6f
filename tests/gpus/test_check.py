"""Rules that join several parameters."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import inspect, structs

from lockstep.errors import SpecError
from lockstep.gpus import fields, library
from lockstep.gpus.check import check
from lockstep.gpus.units import operations

QV100 = library.gpu("QV100")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"l1.sector_bytes": 48}, "l1.sector_bytes = 48: expected a power of two"),
        (
            {"l1.line_bytes": 512},
            "l1.line_bytes = 512: expected 1 to 8 sectors of l1.sector_bytes = 32",
        ),
        ({"l2.line_bytes": 64}, "l1.line_bytes = 128 and l2.line_bytes = 64: expected equal"),
        ({"l2.sector_bytes": 128}, "l1.sector_bytes = 32 and l2.sector_bytes = 128"),
        ({"l1.carveouts": (65536, 0, 98304)}, "l1.carveouts = 65536,0,98304: expected different"),
        ({"shared.bytes": 98305}, "shared.bytes = 98305: expected at most the largest"),
        ({"l1.bytes": 98304}, "l1.bytes = 98304: expected at least 512 bytes after the largest"),
        ({"l1.bytes": 0, "l1.carveouts": ()}, "l1.bytes = 0: expected at least 512 bytes (one"),
        ({"l1.sets": 257}, "l1.bytes = 131072: expected at least 32896 bytes after"),
        ({"l2.interleave_bytes": 64}, "l2.interleave_bytes = 64: expected a multiple of"),
        ({"l2.sides": 4, "dram.channels": 3}, "l2.sides = 4: expected at most dram.channels = 3"),
        ({"l2.latency": 148}, "l2.latency = 148: expected more than l1.latency = 28 plus twice"),
        ({"dram.latency": 212}, "dram.latency = 212: expected more than l2.latency = 212"),
        ({"dram.bus_bytes": 24}, "dram.bus_bytes = 24 times dram.burst_length = 2: expected a"),
        ({"dram.row_bytes": 2050}, "dram.row_bytes = 2050: expected a multiple of"),
        ({"dram.bank_groups": 5}, "dram.bank_groups = 5: expected a divisor of dram.banks = 16"),
        ({"dram.drain_low": 0.875}, "dram.drain_low = 0.875: expected less than dram.drain_high"),
        ({"dram.timing.nREFI": 3, "dram.timing.nRFC": 2}, "dram.timing.nREFI = 3: expected at"),
        ({"dram.timing.nREFI": 0}, "dram.timing.nREFI = 0: expected at least twice"),
        ({"shared.pass_lanes": 24}, "shared.pass_lanes = 24: expected a power of two"),
        ({"sm.warps": 3}, "sm.warps = 3: expected at least sm.subcores = 4"),
        ({"sm.warps": 253}, "sm.warps = 253: expected at most 63 on each of sm.subcores = 4"),
        ({"sm.front_end.l0_bytes": 511}, "sm.front_end.l0_bytes = 511: expected 0 or at least 512"),
        ({"sm.front_end.line_bytes": 96}, "sm.front_end.line_bytes = 96: expected a power of two"),
        ({"constant.bytes": 255}, "constant.bytes = 255: expected 0 or at least 256"),
        ({"constant.miss_latency": 26}, "constant.miss_latency = 26: expected at least"),
        ({"sm.units.int.operations.FP32": 4}, "FP32 is an operation of both sm.units.fp32 and"),
        ({"sm.units.int.operations.FP33": 4}, "sm.units.int.operations.FP33: expected the name"),
        ({"sm.units.int.intervals.FP16": 4}, "sm.units.int.intervals.FP16: FP16 is not in"),
        ({"sm.units.int.instances.FP16": 1}, "sm.units.int.instances.FP16: FP16 is not in"),
        (
            {"sm.units.int.instances.INT32": 2},
            "sm.units.int.instances.INT32 is 2: expected at most",
        ),
        ({"sm.units": QV100.sm.units[1:]}, "no unit in sm.units executes FP32"),
        ({"l2.sets": 1 << 20}, "bytes of all L2 slices = "),
        ({"vmu.ports": 2}, "vmu.ports = 2: expected 0, because core is sm"),
        ({"host.memory": "coherent"}, "host.memory = coherent: expected host.copy = timed"),
        ({"host.migration_bytes": 5000}, "host.migration_bytes = 5000: expected a power of two"),
        ({"sm.count": 4096, "sm.warps": 128}, "sm.count x sm.warps = 524288: expected at most"),
    ],
)
def test_a_combination_that_cannot_work_is_named(changes, message):
    with pytest.raises(SpecError) as error:
        library.replace(QV100, **changes)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sm.warp_size": 32}, "sm.warp_size = 32: expected 64, because core is cu"),
        ({"sm.exit_waits": False}, "sm.exit_waits = false: expected true, because core is cu"),
        ({"cu.fetch_bytes": 24}, "cu.fetch_bytes = 24: expected a divisor of"),
        ({"cu.fetch_bytes": 128}, "cu.fetch_bytes = 128: expected a divisor of"),
        ({"constant.line_bytes": 128}, "constant.line_bytes = 128: expected l1.line_bytes = 64"),
        ({"sm.front_end.line_bytes": 128}, "sm.front_end.line_bytes = 128: expected l1.line_byte"),
        (
            {f"{level}.{of}_bytes": 32 for level in ("l1", "l2") for of in ("line", "sector")},
            "l1.line_bytes = 32: expected at least 64, because core is cu",
        ),
        ({"vmu.join": "merge"}, "vmu.join = merge: expected coalesce, because vmu.ports is 0"),
        ({"vmu.phases": 4}, "vmu.phases = 4: expected 1, because vmu.ports is 0"),
        ({"vmu.order": "multi2sim"}, "vmu.order = multi2sim: expected line, because vmu.ports"),
        ({"vmu.ports": 2, "l1.waiting": 8}, "l1.waiting = 8: expected 0, because vmu.ports is 2"),
    ],
)
def test_a_compute_unit_that_cannot_work_is_named(changes, message):
    with pytest.raises(SpecError) as error:
        library.replace(library.gpu("HD7770"), **changes)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "changes",
    [
        {"l1.bytes": 98304 + 512},
        {"l2.latency": 149},
        {"dram.latency": 213},
        {"dram.timing.nREFI": 4, "dram.timing.nRFC": 2},
        {"dram.refresh": False, "dram.timing.nREFI": 1},
        {"l1.line_bytes": 256, "l2.line_bytes": 256},
        {"l1.sector_bytes": 128, "l2.sector_bytes": 128},
        {"dram.channels": 7, "l2.slices_per_channel": 3, "l2.sets": 11, "l2.ways": 5},
        {"sm.count": 1, "sm.subcores": 1, "sm.warps": 1, "dram.channels": 1},
        {"sm.front_end.l0_bytes": 0, "constant.bytes": 0},
        {"shared.bytes": 0},
        {"sm.warp_size": 64, "shared.pass_lanes": 64},
    ],
)
def test_the_same_rules_from_the_other_side(changes):
    library.replace(QV100, **changes)


def test_check_also_finds_values_that_python_put_in_past_the_loader():
    with pytest.raises(SpecError, match=r"sm\.count = 0: expected"):
        check(structs.replace(QV100, sm=structs.replace(QV100.sm, count=0)))
    unit = structs.replace(QV100.sm.units[0], name="int", operations={"DMMA": 3})
    with pytest.raises(SpecError, match="expected different names"):
        check(structs.replace(QV100, sm=structs.replace(QV100.sm, units=(*QV100.sm.units, unit))))


def values_of(path):
    """Legal values of a parameter, edges and powers of two more often than others."""
    kind = fields.parameter(path).kind
    if isinstance(kind, inspect.IntType):
        powers = [1 << n for n in range(27) if kind.ge <= 1 << n <= kind.le]
        small = st.integers(kind.ge, min(kind.le, kind.ge + 64))
        return st.one_of(st.sampled_from([kind.ge, kind.le, *powers]), small)
    if isinstance(kind, inspect.FloatType):
        return st.floats(kind.ge, kind.le)
    if isinstance(kind, inspect.BoolType):
        return st.booleans()
    return st.sampled_from(kind.values)


NUMBERS = [
    path
    for path in sorted(fields.flatten(QV100))
    if not isinstance(fields.parameter(path).kind, (inspect.StrType, inspect.VarTupleType))
]
CHANGES = st.lists(
    st.sampled_from(NUMBERS).flatmap(lambda path: st.tuples(st.just(path), values_of(path))),
    max_size=6,
)


@pytest.mark.long
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CHANGES, st.sampled_from(library.names()))
def test_random_legal_values_pass_or_are_refused_in_one_line(changes, name):
    gpu = library.gpu(name)
    known = fields.flatten(gpu)
    changes = {path: value for path, value in changes if path in known}
    try:
        changed = library.replace(gpu, **changes)
    except SpecError as error:
        assert "\n" not in str(error)
    else:
        assert fields.flatten(changed) == known | changes
        assert all(op.interval >= 1 and op.latency >= 1 for op in operations(changed))
        assert changed.l1.bytes - max(changed.l1.carveouts, default=0) >= changed.l1.line_bytes
        assert library.totals(changed).l2_bytes <= 1 << 30
