"""Statements of cooperative groups, by tiles all of whose threads are there."""

from cuda_twin import uniform
from cuda_twin.statements import Names, Statements

_TILES = (
    *("tile_sum", "tile_least", "tile_most", "tile_xor", "tile_scan", "tile_scan_before"),
    *("tile_shfl", "tile_xor_shfl", "tile_down", "tile_ballot", "tile_match", "tile_place"),
    *("tile_labeled", "tile_binary"),
)
_WIDE = ("wide_sum", "wide_most", "wide_shfl", "wide_votes", "wide_scan")


def tile(s: Statements, names: Names, mask: str, *_: object) -> None:
    """Within a warp: whole tiles of the lanes of a mask."""
    size, whole = s.chance.choice((4, 8, 16, 32)), s.new("m")
    s.write(
        f"u32 {whole} = {(size == 32 and '~0u') or f'{(1 << size) - 1}u << (lane & {32 - size}u)'};"
    )
    v, w = s.e.value("u32", names, 1), s.e.value("u32", names, 1)
    call = f"{s.chance.choice(_TILES)}<{size}>({v}, {w})"
    s.write(f"if (({mask} & {whole}) == {whole}) {s.variable(names, 'u32')} += {call};")


def wide(s: Statements, names: Names, *_: object) -> None:
    """Across warps, where no thread of a block has left; all name the same thread of a tile."""
    size = s.chance.choice((64, 128))
    v, w = s.e.value("u32", names, 1), uniform.value(s, "u32")
    call = f"{s.chance.choice(_WIDE)}<{size}>({v}, {w})"
    s.write(f"if ((threads & {size - 1}) == 0 && __syncthreads_count(1) == threads)")
    s.write(f"    {s.variable(names, 'u32')} ^= {call};")
