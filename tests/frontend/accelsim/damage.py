"""Damaged traces, and what reading them gives. Run as a program it prints a digest of that.

The digest must be the same compiled, compiled with bounds checks, and not compiled.
"""

import hashlib
import random
import sys
import tempfile
from pathlib import Path

from lockstep.errors import InputError
from lockstep.frontend.accelsim import load

WORDS = [
    b"0", b"1", b"-1", b"R255", b"R256", b"4294967296", b"18446744073709551616", b"0x",
    b"0xffffffffffffffff", b"ffffffff", b"00000000", b"#BEGIN_TB", b"#END_TB", b"\n", b"\r\n",
    b"warp = 0", b"insts = 1000000000000", b"thread block = 0,0,0", b"LDGSTS.E", b"\0", b"\xff",
    b"(1000000000000000000,1,1)", b"NoVal", b"Val", b"c", b" ",
]  # fmt: skip

NOP = "{:04x} {} 0 NOP 0 0{}"
LOADS = [
    "{:04x} 000000ff 1 R0 LDG.E 1 R2 4 1 0x100 8{}",
    "{:04x} 00000000 1 R0 LDG.E 1 R2 4 1 0x0 0{}",
    "{:04x} 00000011 1 R0 LDG.E.64 1 R2 8 0 0x108 0x7f0000000000{}",
    "{:04x} 0000000f 0 LDGSTS.E 2 R2 R6 4 2 0x100 3 -4 5{}",
    "{:04x} 0000000f 0 LDGSTS.E 2 R2 R6 4 2 0x100 3 3 3{}",
]
TAILS = {"1.2": "", "3": "", "4": "", "5": " -7", "6": " 18446744073709551615 1 NoVal"}
VALUES = " 3 0 Val 1 0 32" + " ff" * 32


def header(tracer):
    return (
        "-kernel name = k\n-kernel id = 1\n-grid dim = (2,1,1)\n-block dim = (40,1,1)\n"
        "-shmem = 0\n-nregs = 16\n-binary version = 80\n-cuda stream id = 0\n"
        f"-accelsim tracer version = {tracer}\n-enable lineinfo = 0\n\n#traces format = x\n\n"
    )


def warp_lines(tracer):
    tail = TAILS[tracer]
    lines = [NOP.format(0, "000000ff", tail)]
    lines += [load.format(pc, tail) for pc, load in zip((16, 32, 48, 64, 64), LOADS)]
    lines.append(NOP.format(0x200, "000000ff", VALUES if tracer == "6" else tail))
    if tracer == "6":
        bulk = " 0x10 1 0x3 64 0 4 0x7f00 3 8 8 0 0 NoVal"
        lines.append("0210 00000001 0 UBLKCP 2 UR8 UR4 16" + bulk)
        lines.append("0220 000000ff 1 R24 HGMMA.64x8x16.F32 2 R24 UR4 1 0 0 0 NoVal")
    return lines


def sample(tracer, raw):
    """A small trace with something of everything."""
    text = header(tracer)
    for block in range(2):
        text += "" if raw else f"#BEGIN_TB\n\nthread block = {block},0,0\n"
        for warp in range(2):
            lines = warp_lines(tracer) * 2
            prefix = f"{block} 0 0 {warp} " if raw or tracer == "1.2" else ""
            text += "" if raw else f"\nwarp = {warp}\ninsts = {len(lines)}\n"
            text += "".join(f"{prefix}{line}\n" for line in lines)
        text += "" if raw else "\n#END_TB\n\n"
    return text.encode()


def damaged(rng, data):
    """The data with one to three random changes."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at:at] = rng.choice(WORDS)
        elif kind == 2:
            del data[at : at + rng.choice([1, 3, 50])]
        elif kind == 3:
            data[at:at] = data[at - 40 : at]
        elif kind == 4:
            end = data.find(b" ", at)
            data[at : max(at, end)] = rng.choice(WORDS)
        elif rng.random() < 0.2:
            del data[at:]
    return bytes(data)


def outcome(path, data):
    """What reading gives: the error, or all streams."""
    path.write_bytes(data)
    try:
        (kernel,) = load(path).kernels
        streams = [
            (cta.index, *(a.tolist() for a in (cta.warps, cta.runs, cta.addresses, cta.pool)))
            for cta in kernel.ctas()
        ]
    except InputError as error:
        return f"{error.where}: {error.message}"
    return repr((kernel.name, kernel.grid, kernel.code.instructions.tolist(), streams))


def digest(count):
    """Hash of the outcomes for every version, undamaged and with ``count`` damages each."""
    result = hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder:
        for tracer in TAILS:
            for raw in (False, True):
                rng = random.Random(tracer)
                path = Path(folder) / ("kernel-1.trace" + "g" * (not raw))
                data = sample(tracer, raw)
                whole = outcome(path, data)
                assert whole.startswith("('k'"), whole
                result.update(whole.encode())
                for _ in range(count):
                    result.update(outcome(path, damaged(rng, data)).encode())
    return result.hexdigest()


if __name__ == "__main__":
    print(digest(int(sys.argv[1])))
