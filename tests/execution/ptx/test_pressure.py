"""Registers of a thread of a PTX kernel: against what ptxas gives, and one effect at a time."""

import statistics

import pytest

from lockstep.execution.programs.program import Recording
from lockstep.execution.ptx.pressure import ABI, FULL, LEAST, MOST, OVERHEAD, estimate, limit
from lockstep.execution.ptx.translate import Translation
from lockstep.isa.ptx.parser import parse
from lockstep.kernels import load

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
PTXAS = """
atax 28 29; atax/atax_transposed 32 32; attention 96 95; bfs 22 22; bfs/bfs_advance 14 14
bicg/bicg_q 19 19; bicg/bicg_s 32 32; bitonic_sort 10 12; bitonic_sort/bitonic_sort_shared 15 15
blackscholes 28 28; conv2d 29 29; conv3d 32 32; convolution/convolution_columns 29 27
convolution/convolution_rows 22 22; fft 20 20; fma_chains 22 24; gemm_dp4a 31 30; gemm_mma 79 78
gemm_tiled 32 32; gemm_wmma 64 64; gesummv 32 32; grid_barrier 22 24; half_dot 32 32
hash_table 14 16; hash_table/hash_table_find 14 16; histogram_cluster - 20
histogram_global 10 12; histogram_shared 10 10; hotspot 19 20; kmeans 32 31
kmeans/kmeans_update 18 20; layernorm 34 34; lu/lu_diagonal 32 32; lu/lu_interior 30 32
lu/lu_perimeter 32 32; merge_sort 15 16; merge_sort/merge_sort_block 20 21; mm2 32 32; mm3 32 32
montecarlo 28 27; mvt 23 22; mvt/mvt_transposed 29 28; nbody 32 32; needle 32 32
pathfinder 16 18; pointer_chase 19 22; reduce_lastblock 24 26; reduce_shared 12 16
reduce_shuffle 14 14; saxpy 24 24; scan 11 14; scan/scan_add 10 12; softmax 18 18
spin_lock 14 14; spmv 25 24; stencil2d 32 32; stencil3d 40 32; string_search 12 14; syrk 32 32
texture 10 10; transpose_coalesced 22 24; transpose_naive 8 10; vecadd 12 12
"""
"""Of the built-in programs, "program/kernel sm_80 sm_90": ``ptxas -v`` 13.0, sm_80 and sm_90a."""


def registers(module, entry):
    return estimate(module, Translation(module, entry, Recording.NOTHING).functions)


def measured():
    """Pairs of an estimate and what ptxas gives."""
    for line in PTXAS.replace("\n", ";").strip(";").split(";"):
        name, *counts = line.split()
        program, _, kernel = name.partition("/")
        module = parse(load(program).ptx.read_text(), program)
        found = registers(module, kernel or program)
        yield from ((found, int(count)) for count in counts if count != "-")


def test_half_of_the_built_in_kernels_are_within_15_percent_of_ptxas():
    errors = sorted(abs(found - true) / true for found, true in measured())
    assert len(errors) == 125
    assert statistics.median(errors) <= 0.15
    assert errors[len(errors) * 9 // 10] <= 0.5


def count(body, head="", functions=""):
    text = (
        f"{HEAD}{functions}\n.visible .entry k(.param .u64 x, .param .u32 n) {head}\n{{\n"
        f".reg .b32 %r<400>; .reg .b64 %rd<400>; .reg .pred %p<9>;\n{body}\nret;\n}}\n"
    )
    return registers(parse(text, "<test>"), "k")


def values(many, wide=False):
    """Loads of numbers that all wait for a barrier before they are stored."""
    kind, name = ("u64", "%rd") if wide else ("u32", "%r")
    body = "ld.param.u64 %rd0, [x];"
    body += "".join(f"ld.global.{kind} {name}{k + 9}, [%rd0+{8 * k}];" for k in range(many))
    body += "bar.sync 0;"
    return body + "".join(f"st.global.{kind} [%rd0+{8 * k}], {name}{k + 9};" for k in range(many))


def test_a_kernel_that_does_nothing_has_the_fewest():
    assert count("") == LEAST


def test_what_is_live_together_counts_in_words():
    assert count(values(100)) == pytest.approx(100 * 1.05 + OVERHEAD, abs=2)
    assert count(values(50, wide=True)) == pytest.approx(100 * 1.05 + OVERHEAD, abs=2)


def test_predicates_do_not_count():
    body = "".join(f"setp.eq.u32 %p{k}, %r0, {k};" for k in range(8))
    body += "bar.sync 0;" + "".join(f"@%p{k} st.global.u32 [%rd0], %r0;" for k in range(8))
    assert count("ld.param.u64 %rd0, [x]; mov.u32 %r0, %tid.x;" + body) == LEAST


def test_loads_begin_early_while_the_sm_stays_full():
    """Each is used at once, and could share one register."""
    chain = "".join(
        f"ld.global.u32 %r{k}, [%rd0+{4 * k}]; add.u32 %r1, %r1, %r{k};" for k in range(9, 99)
    )
    body = f"ld.param.u64 %rd0, [x]; mov.u32 %r1, 0; {chain} st.global.u32 [%rd0], %r1;"
    assert count(body) == FULL


@pytest.mark.parametrize(
    ("directives", "most"),
    [
        ("", MOST),
        (".maxnreg 40", 40),
        (".maxntid 1024, 1, 1", 64),
        (".reqntid 32, 8, 2", 128),
        (".maxntid 256, 1, 1 .minnctapersm 3", 80),
        (".maxntid 256, 1, 1 .minnctapersm 3 .maxnreg 48", 48),
    ],
)
def test_launch_bounds_limit_the_count(directives, most):
    assert count(values(300), directives) == most
    text = f"{HEAD}.entry k() {directives} {{ ret; }}"
    assert limit(parse(text, "<test>").functions["k"]) == most


CALLEE = """
.func (.reg .b32 %out) f(.reg .b32 %in)
{{ .reg .b32 %t; add.u32 %t, %in, 1; {again} mul.lo.u32 %out, %t, %t; ret; }}
"""
CALLER = """
ld.param.u64 %rd0, [x]; mov.u32 %r0, %tid.x;
call.uni (%r1), f, (%r0);
st.global.u32 [%rd0], %r1;
"""


def test_a_call_that_stays_one_has_the_registers_of_the_abi():
    assert count(CALLER, functions=CALLEE.format(again="")) < ABI
    assert count(CALLER, functions=CALLEE.format(again="call.uni (%t), f, (%t);")) == ABI


def test_a_routine_needs_registers_of_its_own():
    body = "ld.param.u64 %rd0, [x]; ld.global.u64 %rd1, [%rd0]; ld.global.u64 %rd2, [%rd0+8];"
    plain = count(body + "add.u64 %rd3, %rd1, %rd2; st.global.u64 [%rd0], %rd3;")
    assert count(body + "div.u64 %rd3, %rd1, %rd2; st.global.u64 [%rd0], %rd3;") >= plain + 12


@pytest.mark.parametrize("name", ["reduce_lastblock", "needle"])
def test_how_a_launch_is_recorded_does_not_matter(name):
    text = load(name).ptx.read_text()
    counts = {
        Translation(parse(text, name), name, recording).facts()["registers"]
        for recording in (Recording.NOTHING, Recording.EVERYTHING, Recording.AT_ISSUE)
    }
    assert len(counts) == 1
