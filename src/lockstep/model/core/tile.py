"""The rows of memory that a bulk copy goes through, as ``workload.TILE_WORDS`` describes them."""

from lockstep._jit import inline
from lockstep.workload.bulk_copies import TILE_AXES, TILE_AXIS, TILE_BARRIER, TILE_HEAD, TILE_WORDS

BASE, BYTES, ROWS, REPEATS, REPEAT_STRIDE = range(TILE_HEAD)
FIRST, LOW, HIGH, STEP, LAST, STRIDE = range(TILE_AXIS)
AXES = TILE_HEAD
POSITIONS = TILE_WORDS  # of the current row, one word an axis
ROW, REPEAT = POSITIONS + TILE_AXES, POSITIONS + TILE_AXES + 1
STATE_WORDS = REPEAT + 1


@inline
def begin(place):
    """Go to the first row that exists; false if none does. ``place`` has the description."""
    merge_rows(place)
    place[ROW] = place[REPEAT] = 0
    rewind(place)
    return place[BYTES] > 0 and seek(place)


@inline
def rewind(place):
    """Go to the first position on every axis."""
    for k in range(TILE_AXES):
        place[POSITIONS + k] = place[AXES + k * TILE_AXIS + FIRST]


@inline
def merge_rows(place):
    """Make one row of those that follow each other without a gap, as long as all exist."""
    for _ in range(TILE_AXES):
        first, low, high = place[AXES + FIRST], place[AXES + LOW], place[AXES + HIGH]
        step, stride = place[AXES + STEP], place[AXES + STRIDE]
        count = (high - low) // step + 1
        adjacent = step * stride == place[BYTES] and first == low and low >= 0
        if not adjacent or high > place[AXES + LAST] or count < 1 or place[ROWS] % count:
            return
        place[BASE] += low * stride
        place[BYTES] *= count
        place[ROWS] //= count
        for k in range(AXES, TILE_BARRIER - TILE_AXIS):
            place[k] = place[k + TILE_AXIS]
        last = TILE_BARRIER - TILE_AXIS
        for k in range(TILE_AXIS):
            place[last + k] = 1 if k == STEP else 0


@inline
def exists(place):
    """Whether the tensor has the current row."""
    for k in range(TILE_AXES):
        position = place[POSITIONS + k]
        if position < 0 or position > place[AXES + k * TILE_AXIS + LAST]:
            return False
    return True


@inline
def seek(place):
    """Go to the next row that exists, the current one included; false if there is no more."""
    while place[REPEAT] < place[REPEATS]:
        if place[ROW] == place[ROWS]:
            place[ROW] = 0
            place[REPEAT] += 1
            rewind(place)
        elif exists(place):
            return True
        else:
            step(place)
    return False


@inline
def step(place):
    """Go one row further."""
    place[ROW] += 1
    for k in range(TILE_AXES):
        axis = AXES + k * TILE_AXIS
        place[POSITIONS + k] += place[axis + STEP]
        if place[POSITIONS + k] <= place[axis + HIGH]:
            return
        place[POSITIONS + k] = place[axis + LOW]


@inline
def address(place):
    """Where the current row is."""
    at = place[BASE] + place[REPEAT] * place[REPEAT_STRIDE]
    for k in range(TILE_AXES):
        at += place[POSITIONS + k] * place[AXES + k * TILE_AXIS + STRIDE]
    return at
