"""Make the example inputs of this directory: four kernels written with the kernel builder.

Run it as ``python examples/make_traces.py [DIRECTORY]``. ``vecadd`` is written in Accel-Sim's text
format, to look at in an editor; the others in lockstep's own.
"""

import sys
from pathlib import Path

import lockstep
from lockstep import KernelBuilder
from lockstep.builder import program
from lockstep.workload import MemoryCopy, Workload

A, B, C = 0x7F1000000000, 0x7F1010000000, 0x7F1020000000  # where the arrays lie
WORD = 4


def vecadd(ctas: int = 32, block: int = 128) -> Workload:
    """c[i] = a[i] + b[i]; the last CTA is only partly used."""
    n = ctas * block - 50
    k = KernelBuilder("vecadd", ctas, block, registers=12)
    k("S2R R6, SR_CTAID.X")
    k("S2R R3, SR_TID.X")
    k("IMAD R6, R6, c[0x0][0x0], R3")
    k("ISETP.GE.AND P0, PT, R6, c[0x0][0x178], PT")
    k("@P0 EXIT", mask=lambda at: at.global_thread >= n)
    with k.lanes(k.below(n)):
        k("IMAD.MOV.U32 R7, RZ, RZ, 0x4")
        k("IMAD.WIDE R2, R6, R7, c[0x0][0x160]")
        k("IMAD.WIDE R4, R6, R7, c[0x0][0x168]")
        k("LDG.E R2, [R2]", address=k.coalesced(A))
        k("LDG.E R5, [R4]", address=k.coalesced(B))
        k("IMAD.WIDE R6, R6, R7, c[0x0][0x170]")
        k("FADD R9, R2, R5")
        k("STG.E [R6], R9", address=k.coalesced(C))
        k("EXIT")
    return program(MemoryCopy(A, n * WORD), MemoryCopy(B, n * WORD), k, name="vecadd")


def ffma(ctas: int = 160, block: int = 256) -> Workload:
    """Eight independent chains of multiply-adds, with the compiler's scheduling control bits."""
    k = KernelBuilder("ffma", ctas, block)
    k("B------:R-:W0:-:S07 S2R R2, SR_TID.X")
    k("B0-----:R-:W-:-:S04 I2F R3, R2")
    with k.loop(20):
        for chain in range(32):
            register = 8 + chain % 8
            k(f"FFMA R{register}, R{register}, R2, R3", stall=1)
        k("IADD3 R4, R4, 0x1, RZ", stall=4)
        k("ISETP.NE.AND P0, PT, R4, 0x14, PT", stall=12)
        k("@P0 BRA 0x20", stall=5)
    k("STG.E [R6], R8", address=k.coalesced(C), stall=1)
    k("EXIT", stall=5)
    return program(k, name="ffma")


def gemm(n: int = 128, tile: int = 16) -> Workload:
    """C = A B on n x n floats: a thread an output, 16 x 16 tiles through shared memory."""
    row, tile_row = n * WORD, tile * WORD
    b_tile = tile * tile_row  # where the tile of B begins in shared memory
    along, down = tile * WORD, tile * row  # bytes from a tile to the next one
    k = KernelBuilder("gemm", (n // tile, n // tile), (tile, tile), shared_bytes=2 * b_tile)
    a = k.tile(A, pitch=row, width=tile, block_step=(0, down))
    b = k.tile(B, pitch=row, width=tile, block_step=(along, 0))
    k("S2R R0, SR_TID.X")
    k("S2R R1, SR_TID.Y")
    with k.loop(n // tile):
        k("LDG.E R4, [R2]", address=lambda at: a(at) + along * at.i)
        k("LDG.E R5, [R10]", address=lambda at: b(at) + down * at.i)
        k("STS [R6], R4", address=k.tile(0, tile_row, tile))
        k("STS [R7], R5", address=k.tile(b_tile, tile_row, tile))
        k("BAR.SYNC 0x0")
        for step in range(tile):
            at_step = step * WORD
            k("LDS R8, [R12]", address=lambda at, s=at_step: at.thread // tile * tile_row + s)
            k(
                "LDS R9, [R13]",
                address=lambda at, s=step: b_tile + s * tile_row + at.lane % tile * WORD,
            )
            k("FFMA R14, R8, R9, R14")
        k("BAR.SYNC 0x0")
        k("IADD3 R2, R2, 0x40, RZ")
        k("ISETP.NE.AND P0, PT, R2, R16, PT")
        k("@P0 BRA 0x20")
    k("STG.E [R18], R14", address=k.tile(C, row, tile, block_step=(along, down)))
    return program(MemoryCopy(A, n * row), MemoryCopy(B, n * row), k, name="gemm")


def gather(ctas: int = 32, block: int = 128, loads: int = 8) -> Workload:
    """An index is loaded, then a word anywhere in 64 MiB; a quarter of the lanes also update it."""
    k = KernelBuilder("gather", ctas, block)
    with k.loop(loads):
        k("LDG.E R8, [R2]", address=k.coalesced(A, step=ctas * block * WORD))
        k("IMAD.WIDE R10, R8, R7, c[0x0][0x168]")
        k("LDG.E R12, [R10]", address=k.random(B, 64 << 20, seed=1))
        k("FADD R14, R14, R12")
        with k.lanes(lambda at: at.lane % 4 == 0):
            k("RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R16], R12", address=k.random(C, 1 << 16, seed=2))
    k("STG.E [R18], R14", address=k.coalesced(C + (1 << 20)))
    return program(k, name="gather")


EXAMPLES = {"vecadd": vecadd, "ffma.lst": ffma, "gemm.lst": gemm, "gather.lst": gather}


def main(directory: Path) -> None:
    for name, make in EXAMPLES.items():
        lockstep.save(make(), directory / name)
        print(directory / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
