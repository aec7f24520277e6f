"""The calls between an intercepted program and the simulator, and their bytes.

A message is a header and a body, little-endian. Header: u32 call, i32 status, u64 bytes of the
body. The body of a request is the call's request fields, one u64 each, in order, then its data;
that of the answer the same with the reply fields. The answer repeats the call's number and its
status is a ``cudaError_t``, which the driver API's ``CUresult`` shares; a status that is not zero
comes without a body. One-way calls have no answer. Calls of one connection are executed in order.
Before an answer there may be a message of the number ``PRINTED``: what kernels have printed.

The C side includes a header that :func:`c_header` makes from the tables below.
"""

import hashlib
import struct
from enum import IntEnum

import msgspec

from lockstep.errors import LockstepError

HEADER = struct.Struct("<IiQ")
LARGEST = 1 << 31  # bytes of a message: more is damage


class Call(IntEnum):
    """What a program asks for."""

    HELLO = 1
    LOAD_MODULE = 2
    UNLOAD_MODULE = 3
    FIND_KERNEL = 4
    FIND_VARIABLE = 5
    ALLOCATE = 6
    FREE = 7
    POINTER = 8
    MEMORY = 9
    READ = 10
    WRITE = 11
    WRITTEN = 12
    COPY = 13
    FILL = 14
    LAUNCH = 15
    SYNCHRONIZE = 16
    CREATE_STREAM = 17
    DESTROY_STREAM = 18
    CREATE_EVENT = 19
    DESTROY_EVENT = 20
    RECORD_EVENT = 21
    ELAPSED = 22
    OCCUPANCY = 23
    CREATE_TEXTURE = 24
    DESTROY_TEXTURE = 25
    RESET = 26
    UNSUPPORTED = 27
    ENCODE_TENSOR_MAP = 28
    MOVE_TENSOR_MAP = 29
    CLUSTERS = 30
    SET_LIMIT = 31
    WAIT_EVENT = 32
    SET_DEVICE = 33
    PEER_ACCESS = 34
    LIST_KERNELS = 35
    CHECK_PTX = 36
    CODE_PROBLEM = 37
    PEEK = 38
    STUCK = 39


PRINTED = 0
"""In the place of a call: text for the program's standard output, among what it prints itself."""
BLOCKING = 3
"""In the place of a stream: the default one, and the program waits for the copy. Other numbers as
small are CUDA's for the default stream."""
MOST_DEVICES = 16
NON_BLOCKING = 1
"""Flag of a stream to which the rules of the default stream do not apply
(``cudaStreamNonBlocking``, ``CU_STREAM_NON_BLOCKING``)."""


class Limit(IntEnum):
    """The limits (``cudaLimit``, ``CUlimit``) on which something depends here."""

    STACK = 0
    HEAP = 2
    PENDING_LAUNCHES = 4


class PeerAction(IntEnum):
    """What is asked about a device's access to the memory of another one."""

    CAN = 0
    ENABLE = 1
    DISABLE = 2


class Allocation(IntEnum):
    """Kinds of memory that a program allocates; all are one kind of memory here."""

    DEVICE = 0
    MANAGED = 1
    HOST = 2


class Form(msgspec.Struct, frozen=True):
    """The fields of a call; ``data`` and ``reply_data`` say what follows them.

    ``least`` and ``most`` are of the fields of the request that cannot have every value: a call
    with others is refused.
    """

    request: tuple[str, ...] = ()
    reply: tuple[str, ...] = ()
    data: str = ""
    reply_data: str = ""
    one_way: bool = False
    least: tuple[tuple[str, int], ...] = ()
    most: tuple[tuple[str, int], ...] = ()

    def allows(self, fields: dict[str, int]) -> bool:
        """Whether the fields of a request have values that they can have."""
        return all(fields[name] >= least for name, least in self.least) and all(
            fields[name] <= most for name, most in self.most
        )


_REGION = ("address", "pitch", "width", "rows")
_U31, _U32 = (1 << 31) - 1, (1 << 32) - 1

FORMS: dict[Call, Form] = {
    # key: hash of this file's tables, so that both sides are of the same version
    Call.HELLO: Form(
        ("pid", "key"),
        ("base", "capacity", "devices", "attributes"),
        reply_data="of each device: u64 bytes of its memory, i32 attributes by CUdevice_attribute; "
        "then their names, a zero byte after each; the file descriptor of all memory comes along",
    ),
    Call.LOAD_MODULE: Form((), ("module",), data="fat binary, cubin or PTX text"),
    Call.UNLOAD_MODULE: Form(("module",)),
    # Without loading it: whether it is PTX
    Call.CHECK_PTX: Form(data="PTX text"),
    Call.CODE_PROBLEM: Form(reply_data="why the last of these two calls was refused, or nothing"),
    Call.LIST_KERNELS: Form(("module",), reply_data="their names, a zero byte after each"),
    Call.FIND_KERNEL: Form(
        ("module",),
        (
            "kernel",
            "registers",
            "shared_bytes",
            "local_bytes",
            "constant_bytes",
            "most_threads",
            "parameters",
            "parameter_bytes",
            # 80 of compute_80 and sm_80; 0 = that of the GPU
            "compiled_for",
            "architecture",
            # CTAs of the clusters that it requires, 0 = none
            "cluster_x",
            "cluster_y",
            "cluster_z",
        ),
        data="name",
        reply_data="u64 offset and u64 size of each parameter",
    ),
    Call.FIND_VARIABLE: Form(("module", "managed"), ("address", "size"), data="name"),
    Call.ALLOCATE: Form(("size", "kind"), ("address",)),
    Call.FREE: Form(("address",)),
    # A word of memory, when all that was launched is done
    Call.PEEK: Form(("address", "bytes"), ("value",), least=(("bytes", 1),), most=(("bytes", 8),)),
    Call.POINTER: Form(("address",), ("start", "size", "kind", "device")),
    Call.MEMORY: Form((), ("free", "total")),
    # The program reads, or writes, device memory itself: before, and after it wrote.
    Call.READ: Form((*_REGION, "stream")),
    Call.WRITE: Form(_REGION),
    Call.WRITTEN: Form((*_REGION, "stream"), one_way=True),
    Call.COPY: Form(("to", "to_pitch", "source", "source_pitch", "width", "rows", "stream")),
    # value: the low ``unit`` bytes are repeated; width in bytes
    Call.FILL: Form((*_REGION, "value", "unit", "stream")),
    Call.LAUNCH: Form(
        (
            "kernel",
            "grid_x",
            "grid_y",
            "grid_z",
            "block_x",
            "block_y",
            "block_z",
            "dynamic_shared",
            "stream",
            "cooperative",
            # CTAs of a cluster, 0 = the launch says nothing of them; whether no more than 8 may be
            "cluster_x",
            "cluster_y",
            "cluster_z",
            "portable",
        ),
        data="parameter block",
    ),
    # event: only for what it was recorded behind; 0 = for the stream, of which 0 is all
    Call.SYNCHRONIZE: Form(("stream", "event")),
    Call.CREATE_STREAM: Form(("flags",), ("stream",)),
    Call.DESTROY_STREAM: Form(("stream",)),
    Call.CREATE_EVENT: Form((), ("event",)),
    Call.DESTROY_EVENT: Form(("event",)),
    Call.RECORD_EVENT: Form(("event", "stream")),
    Call.WAIT_EVENT: Form(("event", "stream")),
    Call.ELAPSED: Form(("start", "end"), ("nanoseconds",)),
    Call.OCCUPANCY: Form(
        ("kernel", "threads", "dynamic_shared"), ("ctas",), least=(("threads", 1),)
    ),
    # How many clusters of so many CTAs the GPU holds at once
    Call.CLUSTERS: Form(
        ("kernel", "threads", "dynamic_shared", "ctas", "portable"),
        ("clusters",),
        least=(("threads", 1), ("ctas", 1)),
    ),
    # shape in elements, 0 = the axis is absent; pitch: bytes of a row in memory at address. Further
    # levels of detail follow, see runtime/textures.py. level_bias, level_least and level_most are
    # the bits of f32; border_0 to border_3 those of the channels of what lies outside.
    Call.CREATE_TEXTURE: Form(
        (
            "address",
            "pitch",
            "width",
            "height",
            "depth",
            "layered",
            "cube",
            "levels",
            "channels",
            "bits",
            "kind",
            "filter",
            "address_x",
            "address_y",
            "address_z",
            "normalized",
            "normalized_values",
            "level_filter",
            "level_bias",
            "level_least",
            "level_most",
            *(f"border_{channel}" for channel in range(4)),
        ),
        ("texture",),
        least=(("levels", 1), ("width", 1)),
        most=(
            *((name, _U31) for name in ("pitch", "width", "height", "depth")),
            *((f"level_{name}", _U32) for name in ("bias", "least", "most")),
            *((f"border_{channel}", _U32) for channel in range(4)),
            ("levels", 32),
        ),
    ),
    Call.DESTROY_TEXTURE: Form(("texture",)),
    Call.RESET: Form(),
    Call.STUCK: Form(data="what the program waits for, which can never be"),
    Call.UNSUPPORTED: Form(data="name of the function", one_way=True),
    # Numbers of cuTensorMapEncodeTiled (im2col = 0) and cuTensorMapEncodeIm2col.
    Call.ENCODE_TENSOR_MAP: Form(
        (
            "im2col",
            "type",
            "rank",
            "address",
            "channels",
            "pixels",
            "interleave",
            "swizzle",
            "promotion",
            "fill",
        ),
        data="i64 sizes, strides, steps, then the box or both corners: five numbers each",
        reply_data="the tensor map",
    ),
    Call.SET_LIMIT: Form(("limit", "value")),
    # What follows is of that device: all calls of a connection go to device 0 at first
    Call.SET_DEVICE: Form(("device",), one_way=True),
    Call.PEER_ACCESS: Form(("device", "peer", "action"), ("can",), most=(("action", 2),)),
    Call.MOVE_TENSOR_MAP: Form(
        ("address",), data="the tensor map", reply_data="the tensor map of another address"
    ),
}


class CallError(LockstepError):
    """A message that is none: damaged, cut off, or of another version."""


def key() -> int:
    """Identifies the tables: the two sides must agree."""
    text = repr([(call.name, int(call), FORMS[call]) for call in Call])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def encode(call: Call, fields: tuple[int, ...] = (), data: bytes = b"", status: int = 0) -> bytes:
    """A message: request (``status`` 0) or answer."""
    words = encode_body(fields)
    return HEADER.pack(call, status, len(words) + len(data)) + words + data


def encode_printed(text: bytes) -> bytes:
    """The message that brings the program what kernels have printed."""
    return HEADER.pack(PRINTED, 0, len(text)) + text


def encode_body(fields: tuple[int, ...]) -> bytes:
    """Fields as a message has them."""
    return struct.pack(f"<{len(fields)}Q", *(f & (1 << 64) - 1 for f in fields))


def decode_header(raw: bytes) -> tuple[Call, int, int]:
    """Call, status and bytes of the body. Raises :class:`CallError`."""
    number, status, size = HEADER.unpack(raw)
    if number not in FORMS or size > LARGEST:
        raise CallError(f"a message with number {number} and {size} bytes")
    return Call(number), status, size


def decode(names: tuple[str, ...], body: bytes) -> tuple[dict[str, int], bytes]:
    """Fields by name, and the data after them. Raises :class:`CallError`."""
    size = 8 * len(names)
    if len(body) < size:
        raise CallError(f"a body of {len(body)} bytes; {size} expected")
    return dict(zip(names, struct.unpack_from(f"<{len(names)}Q", body))), body[size:]


def c_header() -> str:
    """The tables as a C header: numbers, and a struct for the fields of each call."""
    lines = ["#pragma once", "#include <stdint.h>", f"#define CALLS_KEY {key()}ull"]
    lines += [f"#define STREAM_BLOCKING {BLOCKING}", f"#define PRINTED {PRINTED}"]
    lines += [f"#define CALL_{call.name} {call:d}" for call in Call]
    lines += [f"#define ALLOCATION_{kind.name} {kind:d}" for kind in Allocation]
    lines += [f"#define LIMIT_{limit.name} {limit:d}" for limit in Limit]
    lines += [f"#define PEER_{action.name} {action:d}" for action in PeerAction]
    lines += [f"#define MOST_DEVICES {MOST_DEVICES}"]
    for call, form in FORMS.items():
        for kind, names in (("request", form.request), ("reply", form.reply)):
            body = " ".join(f"uint64_t {name};" for name in names)
            if body:
                lines.append(f"struct {call.name.lower()}_{kind} {{ {body} }};")
    return "\n".join(lines) + "\n"
