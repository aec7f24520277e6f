"""Six kernels for the speed benchmark: streaming, arithmetic, tiled and irregular.

They have the instruction mix, the sizes and the access patterns of the six synthetic traces whose
cost in Accel-Sim was measured, so that speeds compare; gathered addresses are drawn anew.
"""

from lockstep.builder import KernelBuilder, program
from lockstep.workload import MemoryCopy, Workload

A, B, C = 0x7F1000000000, 0x7F1010000000, 0x7F1020000000
WORD = 4
LANES = 32


def vecadd(ctas: int, block: int = 256) -> Workload:
    """c = f(a, b): two coalesced loads and one store a thread, a few operations between."""
    k = KernelBuilder("vecadd", ctas, block, registers=16)
    _thread_index(k)
    k("ISETP.GE.AND P0, PT, R0, c[0x0][0x178], PT")
    k("@P0 EXIT", mask=0)
    k("IMAD.MOV.U32 R7, RZ, RZ, 0x4")
    k("IMAD.WIDE R2, R0, R7, c[0x0][0x160]")
    k("IMAD.WIDE R4, R0, R7, c[0x0][0x168]")
    k("LDG.E.SYS R2, [R2]", address=k.coalesced(A))
    k("LDG.E.SYS R5, [R4]", address=k.coalesced(B))
    k("IMAD.WIDE R6, R0, R7, c[0x0][0x170]")
    k("FADD R9, R2, R5")
    k("IADD3 R8, R0, 0x1, RZ")
    k("LOP3.LUT R10, R8, 0xff, RZ, 0xc0, !PT")
    k("SHF.R.S32.HI R11, RZ, 0x1f, R8")
    k("LEA R12, R8, c[0x0][0x160], 0x2")
    k("FFMA R9, R9, R9, R5")
    k("STG.E.SYS [R6], R9", address=k.coalesced(C))
    return program(*_inputs(ctas * block), k, name=f"vecadd-{ctas}x{block}")


def ffma(ctas: int = 160, block: int = 256, iterations: int = 60, per_iteration: int = 32):
    """Eight independent chains of multiply-adds in a loop; memory is touched once at the end."""
    k = KernelBuilder("ffma", ctas, block)
    _thread_index(k)
    with k.loop(iterations):
        for chain in range(per_iteration):
            register = 8 + chain % 8
            k(f"FFMA R{register}, R{register}, R2, R3")
        _loop_end(k, 4)
    k("IMAD.WIDE R6, R0, R7, c[0x0][0x170]")
    k("STG.E.SYS [R6], R8", address=k.coalesced(C))
    return program(k, name=f"ffma-{ctas}x{block}")


def gemm(n: int, tile: int = 32) -> Workload:
    """C = A B on n x n floats: 32 x 32 tiles in shared memory, eight warps, four outputs each."""
    tiles, rows = n // tile, 4
    k = KernelBuilder("gemm", tiles * tiles, 256, registers=48, shared_bytes=2 * tile * tile * WORD)
    k("IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]")
    for register, name in ((0, "TID.X"), (3, "CTAID.X"), (4, "CTAID.Y"), (5, "TID.Y")):
        k(f"S2R R{register}, SR_{name}")
    k("LEA R20, R0, R3, 0x5")
    k("LEA R21, R4, R5, 0x5")
    with k.loop(tiles):
        _load_tiles(k, n, tile, rows)
        k("BAR.SYNC 0x0")
        for step in range(0, tile, 4):
            _multiply_step(k, tile, rows, step)
        k("BAR.SYNC 0x0")
        k("IADD3 R20, R20, 0x80, RZ")
        k("IADD3 R21, R21, 0x80, RZ")
        k("ISETP.NE.AND P0, PT, R20, R22, PT")
        k("@P0 BRA 0x70")
    for r in range(rows):
        k(f"STG.E.SYS [R22], R{8 + r}", address=_matrix(C, n, tile, rows, r, column=True))
    return program(*_inputs(n * n), k, name=f"gemm-{n}")


def gather(ctas: int = 256, block: int = 256, loads: int = 16, span: int = 64 << 20) -> Workload:
    """A coalesced load of an index, then a load from a random word of 64 MiB, over and over."""
    k = KernelBuilder("gather", ctas, block)
    _thread_index(k)
    k("IMAD.WIDE R2, R0, R7, c[0x0][0x160]")
    with k.loop(loads):
        k("LDG.E.SYS R8, [R2]", address=k.coalesced(A, step=ctas * block * WORD))
        k("IMAD.WIDE R10, R8, R7, c[0x0][0x168]")
        k("LDG.E.SYS R12, [R10]", address=k.random(B, span, seed=1))
        k("FADD R14, R14, R12")
        _loop_end(k, 2)
    k("STG.E.SYS [R6], R14", address=k.coalesced(C))
    return program(k, name=f"gather-{ctas}x{block}")


def _thread_index(k: KernelBuilder) -> None:
    k("IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]")
    k("S2R R0, SR_TID.X")
    k("S2R R3, SR_CTAID.X")
    k("IMAD R0, R3, c[0x0][0x0], R0")


def _loop_end(k: KernelBuilder, counter: int) -> None:
    k(f"IADD3 R{counter}, R{counter}, 0x1, RZ")
    k(f"ISETP.NE.AND P0, PT, R{counter}, c[0x0][0x180], PT")
    k("@P0 BRA 0x40")


def _inputs(words: int) -> tuple[MemoryCopy, MemoryCopy]:
    return MemoryCopy(A, words * WORD), MemoryCopy(B, words * WORD)


def _matrix(base: int, n: int, tile: int, rows: int, r: int, column: bool):
    """A word a lane: row ``r`` of the warp's rows in the tile of A (by loop) or of C (by block)."""

    def address(at):
        vertical, horizontal = divmod(at.cta, n // tile)
        row = vertical * tile + at.warp * rows + r
        start = horizontal * tile if column else at.i * tile
        return base + (row * n + start + at.lane) * WORD

    return address


def _matrix_b(n: int, tile: int, rows: int, r: int):
    def address(at):
        row = at.i * tile + at.warp * rows + r
        return B + (row * n + at.cta % (n // tile) * tile + at.lane) * WORD

    return address


def _load_tiles(k: KernelBuilder, n: int, tile: int, rows: int) -> None:
    for r in range(rows):
        k(f"LDG.E.SYS R{24 + r}, [R20]", address=_matrix(A, n, tile, rows, r, column=False))
        k(f"LDG.E.SYS R{28 + r}, [R21]", address=_matrix_b(n, tile, rows, r))
    for r in range(rows):
        k(f"STS [R6], R{24 + r}", address=_shared_row(0, tile, rows, r))
        k(f"STS [R7], R{28 + r}", address=_shared_row(tile * tile * WORD, tile, rows, r))


def _shared_row(base: int, tile: int, rows: int, r: int):
    return lambda at: base + ((at.warp * rows + r) * tile + at.lane) * WORD


def _multiply_step(k: KernelBuilder, tile: int, rows: int, step: int) -> None:
    """Four columns of A (broadcast, 16 bytes a row) times four rows of B."""
    for r in range(rows):
        k(f"LDS.U.128 R{32 + r % 2 * 4}, [R6]", address=_segment_of_a(tile, rows, r, step))
    for q in range(4):
        start = tile * tile * WORD + (step + q) * tile * WORD
        k(f"LDS.U R{12 + q}, [R7]", address=lambda at, start=start: start + at.lane * WORD)
    for q in range(4):
        for r in range(rows):
            k(f"FFMA R{8 + r}, R{12 + q}, R{32 + r}, R{8 + r}")


def _segment_of_a(tile: int, rows: int, r: int, step: int):
    return lambda at: ((at.warp * rows + r) * tile + step) * WORD + 0 * at.lane


KERNELS = {
    "vecadd-512x256": lambda: vecadd(512),
    "ffma-160x256": ffma,
    "gemm-256": lambda: gemm(256),
    "gather-256x256": gather,
    "vecadd-4096x256": lambda: vecadd(4096),
    "gemm-512": lambda: gemm(512),
}
