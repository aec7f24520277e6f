"""The header of a trace: its keys, its limits, and what is refused."""

import pytest

from lockstep.errors import InputError
from lockstep.frontend.accelsim.header import parse_header


def parse(text):
    return parse_header(text.encode(), "k.traceg")


def test_every_key(build):
    header = parse(build.header("4", (3, 2, 1), (16, 4, 2), enable_lineinfo=1, cuda_stream_id=77))
    assert (header.name, header.id, header.grid, header.block) == (
        "_Z1kv",
        1,
        (3, 2, 1),
        (16, 4, 2),
    )
    assert (header.shared_bytes, header.registers, header.architecture) == (0, 16, 80)
    assert (header.stream, header.tracer, header.lineinfo) == (77, 4, True)
    assert (header.shared_base, header.local_base) == (0x7F0000000000, 0x7F0002000000)
    assert (header.blocks, header.warps, header.lines) == (6, 4, 15)


def test_missing_bases_and_lineinfo_are_zero(build):
    missing = ("shmem_base_addr", "local_mem_base_addr", "enable_lineinfo")
    header = parse(build.header(**dict.fromkeys(missing)))
    assert (header.shared_base, header.local_base, header.lineinfo) == (0, 0, False)


@pytest.mark.parametrize(("text", "major"), [("1.2", 1), ("3", 3), ("6", 6), (None, 0)])
def test_tracer_versions(build, text, major):
    assert parse(build.header(text)).tracer == major


def test_unknown_keys_and_carriage_returns(build):
    text = "-launch config = 7\n" + build.header(kernel_name="operator=(int)")
    assert parse(text.replace("\n", "\r\n")).name == "operator=(int)"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"grid": (0, 1, 1)}, "line 3: grid dim: expected (x,y,z) from (1,1,1)"),
        ({"grid": (1, 65536, 1)}, "line 3: grid dim"),
        ({"grid": (10**18, 1, 1)}, "line 3: grid dim"),
        ({"grid_dim": "(1,1)"}, "line 3: grid dim"),
        ({"block": (1024, 2, 1)}, "at most 1024 threads in a block, found 2048"),
        ({"block": (2048, 1, 1)}, "line 4: block dim: expected (x,y,z) from (1,1,1)"),
        ({"shmem": -1}, "line 5: shmem: expected a number from 0 to 2147483647, found '-1'"),
        ({"nregs": "x"}, "line 6: nregs: expected a number"),
        ({"nregs": None}, "the header lacks '-nregs = ...'"),
        ({"kernel_name": None}, "the header lacks '-kernel name = ...'"),
        ({"grid_dim": None}, "the header lacks '-grid dim = ...'"),
        ({"cuda_stream_id": 2**64}, "line 8: cuda stream id"),
        ({"shmem_base_addr": "0x123456789abcdef01"}, "shmem base_addr"),
        ({"tracer": "7"}, "accelsim tracer version: expected 1.2 to 6, found '7'"),
        ({"tracer": "x"}, "accelsim tracer version"),
        ({"enable_lineinfo": 2}, "enable lineinfo: expected a number from 0 to 1"),
        ({"kernel_id": "9" * 30}, "kernel id"),
    ],
)
def test_bad_values(build, changes, expected):
    with pytest.raises(InputError) as caught:
        parse(build.header(**changes))
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("-shmem base_addr", "-shmeM base_addr", "line 9: expected '-shmem base_addr'"),
        ("-nregs = 16", "-nregs 16", "line 6: expected '-key = value'"),
        ("-nregs = 16", "nregs = 16", "line 6: expected a header line"),
        ("-nregs = 16", "-shmem = 16", "the key 'shmem' was given on line 5"),
        ("#traces", "traces", "expected a header line '-key = value' or the line '#traces format'"),
        ("#traces format = whatever", "", "line 16: the header is not closed by a line"),
    ],
)
def test_malformed_headers(build, old, new, expected):
    text = build.header()
    assert old in text
    with pytest.raises(InputError) as caught:
        parse(text.replace(old, new))
    assert expected in str(caught.value)


def test_long_names_are_read(trace, build):
    name = "_Z" + "x" * 300000
    kernel = trace(build.header(kernel_name=name) + build.body({(0, 0, 0): [[]]}))
    assert kernel.name == name and len(list(kernel.ctas())) == 1


def test_a_file_without_header_is_refused(trace):
    for text in ("", "\n", "x" * 5_000_000, "-a = b\n" * 400_000):
        with pytest.raises(InputError):
            trace(text)
