"""Programs as bytes: whole, typed, and refused when they are something else."""

import random

import msgspec
import numpy as np
import pytest

from lockstep.execution.programs.program import BLOCK, Item, ObjectFile, Objects, Part, Program
from lockstep.execution.programs.stored import Unreadable, pack, unpack
from lockstep.isa.instruction import INSTRUCTION
from lockstep.workload import Origin


@pytest.fixture
def program():
    blocks, code = np.zeros(2, BLOCK), np.zeros(3, INSTRUCTION)
    blocks["first"], code["pc"] = [0, 2], [0, 16, 32]
    return Program(
        name="k",
        blocks=blocks,
        lanes=64,
        parts=[
            Part(0, 1, objects=Objects((ObjectFile(b"\x7fELF\0", ("block0",)),), ("f",))),
            Part(1, 2, "key", 3),
        ],
        register_bytes=256,
        local_bytes=0,
        shared_bytes=16,
        sites=[(1, 0)],
        symbols=["table"],
        items=[[Item(1, 2, guarded=True)], []],
        code=code,
        texts=["add", "bra"],
        origins=[Origin("k", 3, (("k.cu", 7), ("k.h", 1)), "IADD3")] * 3,
        guarded=np.array([True, False, True]),
        targets=np.array([0, -2, 1]),
    )


def test_a_program_comes_back_as_it_was(program):
    found = unpack(pack(program), Program)
    for field in msgspec.structs.fields(Program):
        before, after = getattr(program, field.name), getattr(found, field.name)
        if isinstance(before, np.ndarray):
            assert after.dtype == before.dtype
            assert after.flags.writeable
            assert after.tobytes() == before.tobytes()
        else:
            assert after == before


def test_what_is_absent_stays_absent(program):
    found = unpack(
        pack(msgspec.structs.replace(program, code=None, guarded=None, targets=None)), Program
    )
    assert found.code is None
    assert found.guarded is None
    assert found.targets is None


@pytest.mark.parametrize("array", [["object", b"12345678"], ["int64", b"123"], ["int64"], 3])
def test_an_array_of_another_kind_is_refused(program, array):
    fields = msgspec.msgpack.decode(pack(program))
    fields["targets"] = array
    with pytest.raises(Unreadable):
        unpack(msgspec.msgpack.encode(fields), Program)


def test_other_bytes_are_refused_or_a_program(program):
    whole, chance = pack(program), random.Random(1)
    for _ in range(300):
        damaged = bytearray(whole[: chance.choice([len(whole), chance.randrange(len(whole))])])
        for _ in range(chance.randrange(1, 4)):
            if damaged:
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            found = unpack(bytes(damaged), Program)
        except Unreadable:
            continue
        assert isinstance(found, Program)


def test_object_code_comes_back_with_its_routines_and_is_no_program():
    code = Objects((ObjectFile(b"\x7fELF\0", ("f",)), ObjectFile(b"", ())), ("f", "g"))
    assert unpack(pack(code), Objects) == code
    with pytest.raises(Unreadable):
        unpack(pack(code), Program)
