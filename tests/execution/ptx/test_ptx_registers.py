"""Machine registers of PTX kernels, and the records made with them."""

import numpy as np
import pytest

from lockstep.execution.programs.program import Recording
from lockstep.execution.ptx.graph import entry_of
from lockstep.execution.ptx.opcodes import read, written
from lockstep.execution.ptx.registers import MOST, allocate
from lockstep.execution.ptx.translate import Translation
from lockstep.isa.instruction import PREDICATES, OpClass, Space, verify
from lockstep.isa.ptx.parser import parse
from lockstep.kernels import load, names

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"


def translation(
    body, registers=".reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<4>;"
):
    text = f"{HEAD}.shared .b8 s[64];\n.entry k(.param .u64 x)\n{{ {registers}\n{body}\nret;\n}}\n"
    return Translation(parse(text, "<test>"), "k", Recording.EVERYTHING)


def live_sets(module, function, blocks):
    """Before each instruction, the registers whose value may still be read: a plain fixpoint."""
    before = [set() for _ in range(len(function.instructions) + 1)]
    changed = True
    while changed:
        changed = False
        for block in blocks:
            after = set(block.live_out)
            for place in range(block.end - 1, block.first - 1, -1):
                i = function.instructions[place]
                entry = entry_of(module, i)
                after = (after - set(written(i, entry))) | set(read(i, entry))
                changed |= after != before[place]
                before[place] = set(after)
    return before


@pytest.mark.parametrize("name", names()[::4])
def test_registers_that_live_together_are_different(name):
    kernel = load(name)
    module = parse(kernel.ptx.read_text(), name)
    for entry in module.entries:
        try:
            t = Translation(module, entry, Recording.EVERYTHING)
        except Exception as error:
            if "is not supported" in str(error):
                continue
            raise
        own = [b for b in t.blocks if b.function.name == entry]
        function = module.functions[entry]
        numbers, end = allocate(module, function, own, 0)
        if end >= MOST:
            continue  # wraps around: spills are not modelled
        for live in live_sets(module, function, own):
            taken = [
                first + k
                for name in live & numbers.keys()
                if numbers[name][0] < PREDICATES
                for first, count in [numbers[name]]
                for k in range(count)
            ]
            assert len(taken) == len(set(taken))


def test_pairs_are_aligned_and_registers_are_shared():
    t = translation(
        "ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 1;"
        "add.u32 %r3, %r2, 1; add.u32 %r4, %r3, 1; st.global.u32 [%rd1], %r4;"
    )
    numbers, end = allocate(t.module, t.functions[0], t.blocks, 0)
    assert numbers["%rd1"] == (0, 2)
    assert {numbers[f"%r{k}"] for k in range(1, 5)} == {(2, 1)}
    assert end == 3


def test_the_elements_of_a_vector_are_neighbours():
    t = translation(
        "ld.param.u64 %rd1, [x]; mov.u32 %r9, 1; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];"
        "add.f32 %f5, %f1, %f4; st.global.v2.f32 [%rd1], {%f2, %f5}; st.global.u32 [%rd1], %r9;"
    )
    numbers, _ = allocate(t.module, t.functions[0], t.blocks, 0)
    first = numbers["%f1"][0]
    assert first % 4 == 0
    assert [numbers[f"%f{k}"] for k in range(1, 5)] == [(first + k, 1) for k in range(4)]
    code = t.program().code
    load = code[code["op"] == OpClass.LOAD][0]
    assert (load["destination"][0], load["destination_count"][0]) == (first, 4)


@pytest.mark.long
def test_more_registers_than_there_are_wrap_around():
    many = 300
    body = "ld.param.u64 %rd1, [x];\n"
    body += "".join(f"ld.global.u32 %r{k}, [%rd1+{4 * k}];\n" for k in range(many))
    body += "".join(f"st.global.u32 [%rd1+{4 * k}], %r{k};\n" for k in range(many))
    t = translation(body, f".reg .b32 %r<{many}>; .reg .b64 %rd<2>;")
    program = t.program()
    assert program.registers == 255
    verify(program.code, program.texts)


def test_maxnreg_limits_the_count():
    text = f"{HEAD}.entry k() .maxnreg 16 {{ .reg .b64 %rd<40>;\n"
    text += "".join(f"mov.u64 %rd{k}, {k};\n" for k in range(20))
    text += "".join(f"add.u64 %rd{k}, %rd{k}, %rd{k + 1};\n" for k in range(19)) + "ret; }\n"
    assert Translation(parse(text, "<test>"), "k", Recording.EVERYTHING).program().registers == 16


def test_records_of_instructions():
    t = translation(
        "ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3;"
        "@%p1 ld.global.f32 %f1, [%rd1+4]; mov.u64 %rd2, s; st.shared.f32 [%rd2], %f1;"
        "fma.rn.f32 %f2, %f1, %f1, %f1; bar.sync 3; st.global.f32 [%rd1], %f2;"
    )
    program = t.program()
    code = program.code
    verify(code, program.texts)
    assert (np.diff(code["pc"]) == 16).all()
    names = [program.texts[n] for n in code["text"]]
    row = dict(zip(names, code))
    classes = {
        "ld.param.u64": OpClass.MOVE,
        "mov.u32": OpClass.SPECIAL_REGISTER,
        "setp.eq.u32": OpClass.INT32,
        "ld.global.f32": OpClass.LOAD,
        "st.shared.f32": OpClass.STORE,
        "fma.rn.f32": OpClass.FP32,
        "bar.sync": OpClass.BARRIER,
    }
    for name, kind in classes.items():
        assert row[name]["op"] == kind
    load, store, fma = row["ld.global.f32"], row["st.shared.f32"], row["fma.rn.f32"]
    assert (load["space"], load["width"], load["sources"]) == (Space.GLOBAL, 4, 2)
    assert load["source_count"][0] == 2 and load["source"][1] >= PREDICATES
    assert (store["space"], store["sources"]) == (Space.SHARED, 2)
    assert store["source_count"][0] == 1  # addresses of shared memory have 32 bits
    assert fma["sources"] == 1 and row["bar.sync"]["immediate"] == 3
    assert row["ret"]["op"] == OpClass.EXIT


def test_a_load_that_extends_writes_what_it_reads():
    t = translation(
        "ld.param.u64 %rd1, [x]; ld.global.s32 %rd1, [%rd1]; st.global.u64 [%rd1], %rd1;"
    )
    program = t.program()
    load = program.code[program.code["op"] == OpClass.LOAD][0]
    assert load["destination_count"][0] == 1 and load["source_count"][0] == 2
