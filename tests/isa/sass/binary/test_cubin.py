import random
from pathlib import Path

import pytest

from lockstep.errors import InputError
from lockstep.isa.sass.binary import CubinParameter, information, lines, read_cubin
from lockstep.isa.sass.encoding import disassemble

HERE = Path("x.cubin")
FLOAT = "_Z5scaleIfEvPT_sd"


@pytest.fixture(scope="module", params=["scale_sm70.cubin", "scale_sm90.cubin"])
def data(request, fixtures):
    return (fixtures / request.param).read_bytes()


@pytest.fixture(scope="module")
def cubin(data):
    return read_cubin(data, HERE)


@pytest.mark.parametrize(
    "number, payload, expected",
    [
        (0x17, "00000000 0200 d807 00f00900", CubinParameter(2, 0x7D8, 2)),
        # nvcc 13.0: struct { int a[2000]; }, int *, short
        (0x45, "00000000 0000 0000 401f0000", CubinParameter(0, 0, 8000)),
        (0x45, "00000000 0200 481f 02000000", CubinParameter(2, 8008, 2)),
        (0x45, "00000000 0200 481f", None),
        (0x1C, "00000000 0200 481f 02000000", None),
    ],
)
def test_parameters_are_described_in_two_ways(number, payload, expected):
    attribute = information.Attribute(number, bytes.fromhex(payload))
    assert information.parameter(attribute) == expected


def test_kernels_have_names_and_titles(cubin):
    titles = {k.name: k.title for k in cubin.kernels}
    assert titles[FLOAT] == "void scale<float>(float*, short, double)"
    assert titles["plain"] == "plain"
    assert len(titles) == 3


def test_parameters_have_places_and_sizes(cubin):
    kernel = next(k for k in cubin.kernels if k.name == FLOAT)
    assert kernel.parameters == (
        CubinParameter(0, 0, 8),
        CubinParameter(1, 8, 2),
        CubinParameter(2, 16, 8),
    )
    assert kernel.parameter_bytes == 24
    assert kernel.parameter_base == {70: 0x160, 90: 0x210}[cubin.architecture]
    assert len(kernel.constants[0]) == kernel.parameter_base + 24


def test_resources(cubin):
    kernel = next(k for k in cubin.kernels if k.name == FLOAT)
    # Hopper keeps 1 KB of shared memory itself, before what the kernel has
    assert kernel.reserved_shared == {70: 0, 90: 1024}[cubin.architecture]
    assert kernel.shared_bytes == 256
    assert kernel.barriers == 1
    assert 4 <= kernel.registers <= 32


def test_the_module_has_constants_variables_and_symbols(cubin):
    assert cubin.constants[3][:12] == bytes([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0])
    assert cubin.initial == bytes([5, 0, 0, 0])
    assert cubin.global_bytes == 400
    sizes = {s.name: (s.kind, s.size) for s in cubin.symbols}
    assert sizes["table"] == ("object", 64)
    assert sizes["zeros"] == ("object", 400)
    assert sizes[f"${FLOAT}$_Z5twicei"][0] == "func"


def test_relocations_name_what_the_loader_fills_in(cubin):
    filled = {(r.section, r.symbol) for r in cubin.relocations}
    assert {(".nv.constant4", "counter"), (".nv.constant4", "zeros")} <= filled


def test_all_instructions_are_known_and_one_ends_the_kernel(cubin):
    for kernel in cubin.kernels:
        code = list(disassemble(kernel.code, cubin.architecture))
        assert all(i.is_known for i in code)
        assert "EXIT" in {i.mnemonic for i in code}


def test_a_file_that_is_no_cubin_is_refused():
    with pytest.raises(InputError, match="not a cubin"):
        read_cubin(b"\x7fELF" + bytes(100), HERE)


def test_any_truncation_is_refused(data):
    for end in range(0, len(data) - 600, 97):
        with pytest.raises(InputError):
            read_cubin(data[:end], HERE)


@pytest.mark.parametrize("seed", range(4))
def test_damage_is_refused_or_read(data, seed):
    chance = random.Random(seed)
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 2, 8))):
            near = chance.random() < 0.5  # the header, or the tables at the end
            place = chance.randrange(64) if near else -1 - chance.randrange(2500)
            damaged[place] = chance.choice((0, 0xFF, chance.randrange(256)))
        try:
            cubin = read_cubin(bytes(damaged), HERE)
        except InputError as error:
            assert "x.cubin" in str(error)
        else:
            lines(cubin)


def test_a_section_of_hostile_size_is_refused_at_once(data):
    hostile = bytearray(data)
    start = int.from_bytes(data[40:48], "little") + 2 * 64  # the third section header
    hostile[start + 32 : start + 40] = (1 << 62).to_bytes(8, "little")
    with pytest.raises(InputError, match="outside of the file"):
        read_cubin(bytes(hostile), HERE)
