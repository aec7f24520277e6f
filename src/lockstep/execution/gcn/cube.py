"""The face of a cube that a direction points to, and where on it."""

from lockstep.execution.gcn.arithmetic import Emit, Table, both, family
from lockstep.execution.gcn.floating import multiply
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.compare import compare_floats
from lockstep.execution.lanes.floating import absolute, negate
from lockstep.execution.lanes.formats import flush
from lockstep.execution.lanes.types import F32, Value


def _by_axis(b: LaneBuilder, direction: tuple[Value, ...], choices: tuple[Value, ...]) -> Value:
    """A choice by the largest of x, y, z; the later one of equals."""
    x, y, z = (absolute(b, v) for v in direction)
    along_z = both(b, compare_floats(b, "ge", z, x), compare_floats(b, "ge", z, y))
    along_y = compare_floats(b, "ge", y, x)
    return b.select(along_z, choices[2], b.select(along_y, choices[1], choices[0]))


def _by_sign(b: LaneBuilder, x: Value, negative: Value, other: Value) -> Value:
    below = compare_floats(b, "lt", x, b.constant(F32, 0.0))
    return b.select(below, negative, other)


def _face(b: LaneBuilder, *direction: Value) -> Value:
    """+x, -x, +y, -y, +z, -z are 0 to 5."""
    faces = [
        _by_sign(b, v, b.constant(F32, 2.0 * k + 1.0), b.constant(F32, 2.0 * k))
        for k, v in enumerate(direction)
    ]
    return _by_axis(b, direction, tuple(faces))


def _axis_doubled(b: LaneBuilder, *direction: Value) -> Value:
    return multiply(b, _by_axis(b, direction, direction), b.constant(F32, 2.0))


def _across(b: LaneBuilder, x: Value, y: Value, z: Value) -> Value:
    along_x = _by_sign(b, x, z, negate(b, z))
    along_z = _by_sign(b, z, negate(b, x), x)
    return _by_axis(b, (x, y, z), (along_x, x, along_z))


def _down(b: LaneBuilder, x: Value, y: Value, z: Value) -> Value:
    along_y = _by_sign(b, y, negate(b, z), z)
    return _by_axis(b, (x, y, z), (negate(b, y), along_y, negate(b, y)))


def _of_flushed(emit: Emit) -> Emit:
    return lambda b, *direction: emit(b, *(flush(b, v) for v in direction))


CUBE: Table = family(
    F32,
    (F32, F32, F32),
    v_cubeid_f32=_of_flushed(_face),
    v_cubema_f32=_of_flushed(_axis_doubled),
    v_cubesc_f32=_of_flushed(_across),
    v_cubetc_f32=_of_flushed(_down),
)
