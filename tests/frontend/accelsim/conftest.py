"""Builders of traces, and the data shared by the project's users."""

import importlib.util
import struct
from pathlib import Path

import pytest
import zstandard

SHARED = Path(__file__).parents[4] / "shared"


def _load(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def naive():
    """The naive twin of the reader."""
    return _load("naive_reader")


@pytest.fixture(scope="session")
def damage():
    """The maker of damaged traces."""
    return _load("damage")


@pytest.fixture(scope="session")
def real_traces():
    """The folder of real traces."""
    path = SHARED / "data" / "traces"
    if not path.is_dir():
        pytest.skip("the real traces of ../shared are absent")
    return path


@pytest.fixture(scope="session")
def reference():
    """Accel-Sim's counts of the real traces, by name."""
    path = SHARED / "data" / "hardware" / "accelsim_reference.csv"
    if not path.is_file():
        pytest.skip("the reference counts of ../shared are absent")
    header, *rows = (line.split(",") for line in path.read_text().split())
    return {row[0]: dict(zip(header, row)) for row in rows}


def header_text(tracer="5", grid=(1, 1, 1), block=(32, 1, 1), **changes):
    """A kernel header; ``changes`` replace values, None leaves the key out."""
    values = {
        "kernel name": "_Z1kv",
        "kernel id": 1,
        "grid dim": "({},{},{})".format(*grid),
        "block dim": "({},{},{})".format(*block),
        "shmem": 0,
        "nregs": 16,
        "binary version": 80,
        "cuda stream id": 0,
        "shmem base_addr": "0x00007f0000000000",
        "local mem base_addr": "0x00007f0002000000",
        "nvbit version": "1.7",
        "accelsim tracer version": tracer,
        "enable lineinfo": 0,
    }
    names = {key.replace(" ", "_"): key for key in values}
    values.update({names[key]: value for key, value in changes.items()})
    lines = [f"-{key} = {value}" for key, value in values.items() if value is not None]
    return "\n".join(lines) + "\n\n#traces format = whatever\n\n"


def body_text(blocks, extra=""):
    """Sections from ``{(x, y, z): [lines of warp 0, lines of warp 1, ...]}``."""
    text = ""
    for (x, y, z), warps in blocks.items():
        text += f"#BEGIN_TB\n\nthread block = {x},{y},{z}\n{extra}"
        for number, lines in enumerate(warps):
            text += f"\nwarp = {number}\ninsts = {len(lines)}\n"
            text += "".join(line + "\n" for line in lines)
        text += "\n#END_TB\n\n"
    return text


def tracez_bytes(header, blocks, dictionary=b"", frame=2):
    """A .tracez file of the same blocks, ``frame`` instructions in each frame."""
    known = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
    compressor = zstandard.ZstdCompressor(dict_data=known)
    data = header.encode() + b"\0" + struct.pack("<II", len(dictionary), frame) + dictionary
    index = struct.pack("<I", len(blocks))
    for place, warps in blocks.items():
        index += struct.pack("<11I", *place, *place, 0, 0, 0, 0, len(warps))
        for lines in warps:
            parts = [lines[i : i + frame] for i in range(0, len(lines), frame)]
            index += struct.pack("<IIQ", len(lines), len(parts), len(data))
            index += b"".join(struct.pack("<I", len(part)) for part in parts)
            data += struct.pack("<II", len(lines), len(parts))
            for part in parts:
                packed = compressor.compress("\n".join(part).encode())
                data += struct.pack("<I", len(packed)) + packed
    return data + index + struct.pack("<Q", len(data))


@pytest.fixture(scope="session")
def build():
    """The builders, as attributes."""

    class Build:
        header = staticmethod(header_text)
        body = staticmethod(body_text)
        tracez = staticmethod(tracez_bytes)

    return Build


@pytest.fixture
def trace(tmp_path):
    """Write a trace file and open it: ``trace(text, name)`` is the kernel."""
    from lockstep.frontend.accelsim import load

    def open_trace(text, name="kernel-1.traceg"):
        data = text if isinstance(text, bytes) else text.encode()
        (tmp_path / name).write_bytes(data)
        return load(tmp_path / name).kernels[0]

    return open_trace


@pytest.fixture
def one_line(trace, build, naive):
    """Read a trace of one instruction: ``(record, text, mask, addresses)``."""

    def read(line, tracer="5", **changes):
        kernel = trace(build.header(tracer, **changes) + build.body({(0, 0, 0): [[line]]}))
        (warps,) = naive.expand(kernel).values()
        _, mask, text, addresses = warps[0][0]
        return kernel.code.instructions[0], text, mask, addresses

    return read
