"""Opening traces of every kind; counts of the real ones; memory and repeated passes."""

import gzip
import importlib.util
import lzma
import struct
import tracemalloc
import zlib

import numpy as np
import pytest

from lockstep.errors import InputError
from lockstep.frontend.accelsim import load

EXIT = "0010 ffffffff 0 EXIT 0 0 0"
GENERATED = ["vecadd-512x256", "ffma-160x256", "gather-256x256"]
REAL = [
    "bfs-sm80", "vectoradd-sm80", "ffma-sm90-4096x16", "ffma-sm90-10", "matmul-sm61",
    "vectoradd-sm61",
]  # fmt: skip


def counts(workload):
    """Kernels, warp instructions and thread instructions."""
    total = np.zeros(2, np.int64)
    for kernel in workload.kernels:
        for cta in kernel.ctas():
            total += cta.warps["warp_instructions"].sum(), cta.warps["thread_instructions"].sum()
    return len(workload.kernels), int(total[0]), int(total[1])


def expected(row):
    return tuple(int(row[k]) for k in ("kernels", "warp_instructions", "thread_instructions"))


@pytest.mark.parametrize("name", REAL)
def test_counts_of_real_traces_are_those_of_accelsim(real_traces, reference, name):
    assert counts(load(real_traces / name)) == expected(reference[name])


@pytest.fixture(scope="session")
def generator(real_traces):
    """The maker of the synthetic traces that the reference was measured on."""
    path = real_traces.parents[1] / "tools" / "gen_traces.py"
    if not path.is_file():
        pytest.skip("the trace generator of ../shared is absent")
    spec = importlib.util.spec_from_file_location("gen_traces", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", GENERATED)
def test_counts_of_generated_traces(generator, reference, tmp_path, name):
    generator.ALL[name](str(tmp_path))
    assert counts(load(tmp_path)) == expected(reference["gen:" + name])


@pytest.mark.parametrize(
    "name", ["vectoradd-sm61", "matmul-sm61", "vectoradd-sm80", "ffma-sm90-10", "bfs-sm80"]
)
def test_real_traces_agree_with_the_naive_twin(real_traces, naive, name):
    for path in sorted((real_traces / name).glob("kernel-*"))[:3]:
        data = path.read_bytes()
        text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode()
        (kernel,) = load(path).kernels
        assert naive.expand(kernel) == naive.comparable(naive.read(text))


def test_the_real_raw_trace_agrees_with_the_naive_twin(real_traces, naive):
    folder = real_traces / "vecadd-f64-sm61-raw"  # no list: its only trace
    (kernel,) = load(folder).kernels
    text = lzma.decompress((folder / "kernel-1.trace.xz").read_bytes()).decode()
    assert naive.expand(kernel) == naive.comparable(naive.read(text))


@pytest.fixture
def text(build):
    return build.header() + build.body({(0, 0, 0): [[EXIT]]})


def test_every_name_and_compression(tmp_path, text, build):
    raw = build.header() + f"0 0 0 0 {EXIT}\n"
    packed = build.tracez(build.header("6"), {(0, 0, 0): [[EXIT + " 0 NoVal"]]})
    files = {
        "kernel-1.traceg": text.encode(),
        "kernel-1.traceg.xz": lzma.compress(text.encode()),
        "kernel-1.traceg.gz": gzip.compress(text.encode()),
        "kernel-1-ctx_0x55.trace": raw.encode(),
        "kernel-1.trace.xz": lzma.compress(raw.encode()) + lzma.compress(b""),
        "kernel-1.tracez": packed,
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        workload = load(tmp_path / name)
        assert counts(workload) == (1, 1, 32)
        assert workload.name == name.partition(".")[0]
    (tmp_path / "kernelslist.g").write_text("\n".join(files))
    assert counts(load(tmp_path)) == counts(load(tmp_path / "kernelslist.g")) == (6, 6, 192)


def test_an_xz_file_of_several_streams(tmp_path, text):
    half = len(text) // 2
    parts = [lzma.compress(part.encode()) for part in (text[:half], "", text[half:])]
    (tmp_path / "kernel-1.traceg.xz").write_bytes(parts[0] + parts[1] + bytes(8) + parts[2])
    assert counts(load(tmp_path)) == (1, 1, 32)


def test_xz_may_not_ask_for_any_memory(tmp_path, text):
    data = bytearray(lzma.compress(text.encode()))
    end = 12 + 4 * data[12]  # of the block header, before its checksum
    data[data.index(b"\x21\x01", 12, end) + 2] = 40  # a dictionary of 4 GiB
    data[end : end + 4] = struct.pack("<I", zlib.crc32(data[12:end]))
    (tmp_path / "k.traceg.xz").write_bytes(data)
    with pytest.raises(InputError, match="the compressed data is damaged: Memory usage limit"):
        load(tmp_path)


def test_nothing_but_the_header_is_read_at_first(tmp_path, build):
    (tmp_path / "kernel-1.traceg").write_text(build.header(grid=(9, 1, 1)) + "garbage\n")
    (kernel,) = load(tmp_path / "kernel-1.traceg").kernels
    assert kernel.grid == (9, 1, 1) and len(kernel.code) == 0
    with pytest.raises(InputError, match="line 17: expected an instruction or the next part"):
        list(kernel.ctas())


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "expected kernelslist.g or one trace file in the directory, found 0"),
        ({"a.traceg": "", "b.traceg": ""}, "found 2 trace files"),
        ({"kernelslist.g": ""}, "expected at least one kernel, found none"),
        ({"kernelslist.g": "kernel-3.traceg\n"}, "line 1: there is no file 'kernel-3.traceg'"),
        ({"kernelslist.g": "kernel-3.txt", "kernel-3.txt": ""}, "a file name that ends in .traceg"),
        ({"a.traceg.xz": "hello"}, "the compressed data is damaged"),
        ({"a.traceg.gz": "hello"}, "the compressed data is damaged"),
        ({"a.tracez": "hello"}, "not ended by a zero byte"),
    ],
)
def test_what_cannot_be_opened(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    assert expected in str(caught.value)


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="no such file or directory"):
        load(tmp_path / "nothing")


def test_passes_over_a_kernel_are_the_same_even_interleaved(real_traces):
    (kernel,) = load(real_traces / "vectoradd-sm80").kernels
    for first, second in zip(kernel.ctas(), kernel.ctas(), strict=True):
        assert np.array_equal(first.runs, second.runs)
        assert np.array_equal(first.addresses, second.addresses)
    records = kernel.code.instructions.copy()
    list(kernel.ctas())
    assert np.array_equal(records, kernel.code.instructions)


def test_the_digest_follows_the_content(tmp_path, text):
    digests = set()
    for content in (text, text.replace("EXIT", "RET")):
        (tmp_path / "kernel-1.traceg").write_text(content)
        digests.add(load(tmp_path).digest)
        digests.add(load(tmp_path).digest)
    assert len(digests) == 2


@pytest.mark.long
@pytest.mark.parametrize("name", ["kernel-1.traceg", "kernel-1.trace"])
def test_memory_does_not_follow_the_length(tmp_path, build, name):
    blocks = 4000
    header = build.header(grid=(blocks, 1, 1))
    with open(tmp_path / name, "w") as file:
        file.write(header)
        for x in range(blocks):
            lines = [f"0010 ffffffff 1 R0 LDG.E 1 R2 4 1 {x:#x} {k} 0" for k in range(200)]
            if name.endswith("g"):
                file.write(build.body({(x, 0, 0): [lines]}))
            else:
                file.writelines(f"{x} 0 0 0 {line}\n" for line in lines)
    (kernel,) = load(tmp_path / name).kernels
    next(iter(kernel.ctas()))  # what is compiled or imported once
    tracemalloc.start()
    assert sum(len(cta.addresses) for cta in kernel.ctas()) == 200 * blocks
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (tmp_path / name).stat().st_size > 35e6
    assert peak < (8e6 if name.endswith("g") else 32e6)
