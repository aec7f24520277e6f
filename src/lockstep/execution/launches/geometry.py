"""The shape of a launch, and what bounds it."""

import msgspec

STACK_BYTES = 16384  # of a thread, for recursive functions, where nobody asks for more


class Geometry(msgspec.Struct, frozen=True):
    """Shape of a launch; ``places`` is how many CTAs the GPU holds at once, in whole clusters.

    ``lanes``: of a warp, the program's.
    ``cluster``: CTAs of a cluster, divisors of the grid. ``explicit``: somebody asked for it.

    ``workspace``: device address of the barrier of the grid, 0 if the launch is not cooperative. It
    has WORKSPACE_BYTES, which are zero before the first launch; a launch leaves them ready for
    another one. ``stack_bytes``: of a thread, for recursive functions. ``depth``: of a launch by a
    kernel, how many launches it is below one of the host.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    lanes: int
    dynamic_shared: int = 0
    places: int = 1
    workspace: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)
    explicit: bool = False
    stack_bytes: int = STACK_BYTES
    depth: int = 0

    @property
    def threads(self) -> int:
        """Threads in a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        """Warps in a CTA."""
        return -(-self.threads // self.lanes)

    @property
    def ctas(self) -> int:
        """CTAs in the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def cluster_ctas(self) -> int:
        """CTAs in a cluster."""
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    def turn(self, index: tuple[int, int, int]) -> int:
        """Place of a CTA in the order in which CTAs start: cluster by cluster, in each by rank."""
        number = rank = 0
        for k, ctas, blocks in zip(index[::-1], self.cluster[::-1], self.grid[::-1]):
            number, rank = number * (blocks // ctas) + k // ctas, rank * ctas + k % ctas
        return number * self.cluster_ctas + rank

    @property
    def room(self) -> int:
        """Places that the state of resident CTAs has: a few sizes serve all grids."""
        return 1 << (self.places - 1).bit_length()

    @property
    def shape(self) -> tuple:
        """What the state of resident CTAs depends on."""
        return self.block, self.dynamic_shared, self.room, self.stack_bytes, self.cluster_ctas


class Limits(msgspec.Struct, frozen=True):
    """What bounds a launch, beside the GPU."""

    instructions: int | None = None  # that the warps of a launch may execute; None = no limit
    sms: int = 1  # as the kernel sees them
