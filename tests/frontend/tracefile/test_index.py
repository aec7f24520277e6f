"""The index: nothing of a workload is forgotten, and nothing impossible is accepted."""

import dataclasses

import pytest

from lockstep.errors import WorkloadError
from lockstep.frontend.tracefile import index
from lockstep.frontend.tracefile.columns import Malformed
from lockstep.isa.instruction import INSTRUCTION
from lockstep.workload import ADDRESS, RUN, WARP, Kernel, MemoryCopy, Workload

NO_POINTS = index.pack_tables(
    [[[]] * 2, [[]] * 4, [[]] * 2, [[]]]
)  # what versions 2.3 and 3.1 added, without live points


def decoded(payload, minor=2, major=2):
    return index.decode(payload, 12, (major, minor), lambda kernel, chunks: chunks)


def test_every_field_of_the_contract_is_stored():
    # What executes a kernel while it is simulated, or again: nothing that a file could hold.
    functions = {"source", "again", "executes"}
    behind = {"warp_size", "scalar_registers"}
    stored = {"code", "name", "ctas", *behind, *functions, *index.SCALARS, *index.TRIPLES}
    assert {f.name for f in dataclasses.fields(Kernel)} == stored
    of_a_run = {
        "direction",
        "stream",
        "blocking",
        "perform",
    }  # a file has copies to the device alone
    assert {f.name for f in dataclasses.fields(MemoryCopy)} == {"address", "bytes", *of_a_run}
    assert {f.name for f in dataclasses.fields(Workload)} == {
        "name",
        "commands",
        "path",
        "gpu",
        "points",
    }
    assert INSTRUCTION.itemsize == 8 * (index.CONSTANT + 1)
    assert INSTRUCTION.names[-1] == "constant"
    assert RUN.names == ("static", "count", "mask")
    assert ADDRESS.names == ("first", "stride", "pool")
    assert len(WARP.names) == 6


def test_chunks_lie_one_after_the_other(small):
    chunks = [[index.StoredChunk(3, 100, 900, 7)], []]
    workload, end = decoded(index.encode(small, chunks))
    assert [k.ctas for k in workload.kernels] == [[(12, chunks[0][0])], []]
    assert end == 112
    assert workload.kernels[0].code is workload.kernels[1].code
    assert [type(c) for c in workload.commands] == [MemoryCopy, Kernel, Kernel]


@pytest.mark.parametrize(
    "chunk", [(0, 100, 900, 7), (3, 0, 900, 7), (3, 100, -1, 7), (3, 100, 1 << 31, 7)]
)
def test_an_impossible_chunk_is_refused(chunk, small):
    payload = index.encode(small, [[index.StoredChunk(*chunk)], []])
    with pytest.raises(Malformed, match="chunk 0"):
        decoded(payload)


def test_only_a_newer_minor_version_may_add_bytes(small):
    payload = index.encode(small, [[], []])
    assert decoded(payload + NO_POINTS + b"more", minor=4)[0].name == "small"
    with pytest.raises(Malformed, match="4 bytes too many"):
        decoded(payload + b"more")
    with pytest.raises(Malformed, match="strings"):
        decoded(payload[: -CONSTANTS - 3], minor=0)


CONSTANTS = 1 + 3 * 5  # bytes of the column of constant operands of ``small``: its head, values


def test_older_versions_end_before_the_constants_or_the_gpu(small):
    small.kernels[0].code.instructions["constant"][1] = 3 << 16 | 0x10
    payload = index.encode(small, [[], []])
    places = decoded(payload)[0].kernels[0].code.instructions["constant"]
    assert places.tolist() == [-1, 3 << 16 | 0x10, -1, -1, -1]
    for minor, behind in ((1, 0), (0, 2)):
        older = payload[: len(payload) - CONSTANTS - behind]
        workload, _ = decoded(older, minor=minor)
        assert workload.gpu == ""
        assert (workload.kernels[0].code.instructions["constant"] == -1).all()
        with pytest.raises(Malformed, match="bytes too many"):
            decoded(payload, minor=minor)
    with pytest.raises(Malformed, match="column"):
        decoded(payload[:-1])


def test_warps_of_64_threads_lie_behind_the_constants_of_version_3(small):
    assert index.version(small) == (2, 2)
    narrow = index.encode(small, [[], []])
    small.kernels[1].warp_size = 64
    assert index.version(small) == (3, 0)
    payload = index.encode(small, [[], []])
    assert payload == narrow + index.pack([32, 64])
    workload, _ = decoded(payload, 0, 3)
    assert [(k.warp_size, k.warps) for k in workload.kernels] == [(32, 2), (64, 1)]
    more = NO_POINTS + index.pack([0, 0]) + b"more"
    assert decoded(payload + more, 3, 3)[0].kernels[1].warp_size == 64
    with pytest.raises(Malformed, match="4 bytes too many"):
        decoded(payload + b"more", 0, 3)
    with pytest.raises(Malformed, match="column"):
        decoded(payload[:-1], 0, 3)
    with pytest.raises(Malformed, match="column"):
        decoded(narrow, 0, 3)
    with pytest.raises(Malformed, match="warps of 48 threads; expected 32 or 64"):
        decoded(narrow + index.pack([32, 48]), 0, 3)


def test_scalar_registers_lie_behind_all_else_of_version_3(small):
    small.kernels[1].warp_size = 64
    wide = index.encode(small, [[], []])
    small.kernels[1].scalar_registers = 24
    assert index.version(small) == (3, 2)
    payload = index.encode(small, [[], []])
    assert payload == wide + NO_POINTS + index.pack([0, 24])
    workload, _ = decoded(payload, 2, 3)
    assert [k.scalar_registers for k in workload.kernels] == [0, 24]
    assert [k.scalar_registers for k in decoded(wide, 0, 3)[0].kernels] == [0, 0]
    # A reader of version 3.1 passes over the column, as one of ours does what comes after it.
    assert decoded(payload + b"more", 3, 3)[0].kernels[1].scalar_registers == 24
    with pytest.raises(Malformed, match="4 bytes too many"):
        decoded(payload + b"more", 2, 3)
    with pytest.raises(Malformed, match="column"):
        decoded(payload[:-1], 2, 3)
    with pytest.raises(Malformed, match="16 and -1 scalar registers"):
        decoded(wide + NO_POINTS + index.pack([0, -1]), 2, 3)
    small.kernels[1].scalar_registers = 1 << 63
    with pytest.raises(WorkloadError, match="does not fit in 64 signed bits"):
        index.check(small)


def test_a_barrier_of_half_a_warp_is_refused(small):
    small.kernels[0].code.instructions["threads"][1] = 96
    index.check(small)
    small.kernels[1].warp_size = 64
    message = "kernel 2: a barrier of 96 threads; expected a multiple of 64 to 1024"
    with pytest.raises(WorkloadError, match=message):
        index.check(small)
    narrow = index.encode(dataclasses.replace(small, commands=small.commands[:2]), [[]])
    with pytest.raises(Malformed, match="kernel 1: a barrier of 96 threads"):
        decoded(narrow + index.pack([64]), 0, 3)


def test_the_gpu_lies_behind_the_strings(small):
    small.gpu = "Größe 9"
    payload = index.encode(small, [[], []])
    assert (
        decoded(payload)[0].gpu
        == decoded(payload + NO_POINTS + b"more", minor=4)[0].gpu
        == small.gpu
    )
    older = payload[: payload.index(b"e 9") + 3]
    assert decoded(older, minor=1)[0].gpu == small.gpu
    with pytest.raises(Malformed, match="name of a GPU behind"):
        decoded(older[:-1], minor=1)
    with pytest.raises(Malformed, match="UTF-8"):
        decoded(older[:-1] + b"\xff", minor=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("grid", (0, 1, 1)),
        ("grid", (1 << 31, 1 << 31, 2)),
        ("block", (1, -1, 1)),
        ("block", (1 << 22, 1, 1)),
        ("cluster", (1, 1, 0)),
        ("registers", -1),
        ("warp_size", 48),
        ("warp_size", 0),
        ("shared_bytes", -1),
        ("shared_base", 1 << 63),
        ("id", -(1 << 63) - 1),
    ],
)
def test_an_impossible_kernel_is_refused_before_any_cta_is_read(name, value, small):
    setattr(small.kernels[1], name, value)
    with pytest.raises(WorkloadError, match="kernel"):
        index.check(small)


def test_a_copy_of_less_than_nothing_is_malformed():
    copy = MemoryCopy(1 << 40, 4096)
    object.__setattr__(copy, "bytes", -1)  # as only a damaged file has it
    with pytest.raises(Malformed, match=r"memory copy of -\d+ bytes; expected 0 to"):
        decoded(index.encode(Workload("w", [copy]), []))


def test_too_many_rows_are_refused(monkeypatch, small):
    payload = index.encode(small, [[], []])
    with monkeypatch.context() as patch:
        patch.setattr(index, "MOST_MEMBERS", 4)
        with pytest.raises(Malformed, match="number of rows"):
            decoded(payload)
        with pytest.raises(WorkloadError, match="at most 4"):
            index.encode(small, [[], []])
    monkeypatch.setattr(index, "MOST_ROWS", 2)
    with pytest.raises(Malformed, match="at most 2 commands"):
        decoded(payload)
    with pytest.raises(WorkloadError, match="at most 2"):
        index.encode(small, [[], []])


def test_the_name_of_a_gpu_has_a_limit(small):
    small.gpu = "é" * (index.LONGEST_GPU // 2)
    payload = index.encode(small, [[], []])
    assert decoded(payload)[0].gpu == small.gpu
    small.gpu += "éé"
    with pytest.raises(WorkloadError, match="65538 bytes; a trace file keeps 65535"):
        index.encode(small, [[], []])
