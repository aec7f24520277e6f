"""Tensor maps as programs ask for them, and the way to functions that make them."""

TENSOR_MAPS = """
from ctypes import c_int32, c_uint8
def numbers(kind, *values): return (kind * len(values))(*values)
raw = (c_uint8 * 192)()
place = -addressof(raw) % 64
record = (c_uint8 * 128).from_buffer(raw, place)
device = c_void_p()
assert not (rt.cudaMalloc(byref(device), c_size_t(1 << 16)))
def tiled(type=7, rank=2, address=0, sizes=(32, 8), strides=(128,), box=(8, 8), steps=(1, 1),
          interleave=0, swizzle=1, promotion=0, fill=1, map=record):
    return cu.cuTensorMapEncodeTiled(
        byref(map), type, rank, c_void_p(device.value + address), numbers(c_uint64, *sizes),
        numbers(c_uint64, *strides), numbers(c_uint32, *box), numbers(c_uint32, *steps),
        interleave, swizzle, promotion, fill)
def columns(lower=(-1, -2), upper=(1, 0), channels=8, pixels=16):
    return cu.cuTensorMapEncodeIm2col(
        byref(record), 6, 4, device, numbers(c_uint64, 8, 4, 4, 4),
        numbers(c_uint64, 16, 64, 256), numbers(c_int32, *lower), numbers(c_int32, *upper),
        channels, pixels, numbers(c_uint32, 1, 1, 1, 1), 0, 0, 0, 0)
"""


def test_tensor_maps(run_python):
    """Of the types the API has other numbers than PTX: 8 is f64, 9 bf16, 10 f32.ftz."""
    _, out, simulator = run_python(f"""
{TENSOR_MAPS}
def flags(): return int.from_bytes(bytes(record)[8:12], "little")
print(tiled(), hex(flags()), file=out)
print(tiled(type=8, fill=0, sizes=(16, 8), box=(4, 8)), flags() >> 7 & 15, file=out)
print(columns(), hex(flags()), bytes(record)[68], bytes(record)[76:80].hex(), file=out)
print(cu.cuTensorMapReplaceAddress(byref(record), c_void_p(device.value + 4096)), file=out)
data = int.from_bytes(bytes(record)[:8], "little")
print(data - device.value, file=out)
""")
    assert out.splitlines() == [
        f"0 {1 << 4 | 7 << 7 | 1 << 13 | 1 << 15:#x}", "0 9", f"0 {3 << 4 | 6 << 7:#x} 1 fffffeff",
        "0", "4096",
    ]  # fmt: skip
    assert not simulator.unsupported


WRONG = [
    "type=13", "type=99", "rank=6", "rank=0", "address=8", "sizes=(32, 0)", "strides=(120,)",
    "box=(8, 257)", "box=(3, 8)", "box=(16, 8)", "steps=(1, 9)", "interleave=1", "interleave=7",
    "swizzle=4", "swizzle=9", "promotion=4", "fill=2", "type=2", "map=other",
]  # fmt: skip


def test_tensor_maps_that_cannot_be(run_python):
    calls = "\n".join(f"print(tiled({wrong}), file=out)" for wrong in WRONG)
    _, out, _ = run_python(f"""
{TENSOR_MAPS}
other = (c_uint8 * 128).from_buffer(raw, (place + 16) % 64)
{calls}
print(columns(lower=(-129, 0)), columns(channels=7), columns(pixels=1025), file=out)
print(cu.cuTensorMapReplaceAddress(byref(record), device), file=out)
""")
    assert out.split() == ["1"] * (len(WRONG) + 4)


def test_driver_functions_by_way_of_the_runtime(run_python):
    _, out, simulator = run_python("""
function, found = c_void_p(), c_int(7)
ask = rt.cudaGetDriverEntryPointByVersion
for name in (b"cuTensorMapEncodeTiled", b"cuNone"):
    status = ask(name, byref(function), 12000, c_uint64(0), byref(found))
    print(status, bool(function.value), found.value, file=out)
""")
    assert out.splitlines() == ["0 True 0", "0 False 1"]
    assert not simulator.unsupported
