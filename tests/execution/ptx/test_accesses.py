"""Loads and stores: every pattern of addresses, partial warps, and what ends a launch."""

import numpy as np
import pytest

import lockstep

HEADER = ".version 8.8\n.target sm_100\n.address_size 64\n"
THREADS = 96
ELEMENTS = 160
FORMS = {  # suffix of ld and st: bytes of a lane's access
    "u8": 1,
    "b16": 2,
    "f32": 4,
    "u64": 8,
    "b128": 16,
    "v2.u8": 2,
    "v4.u8": 4,
    "v4.b16": 8,
    "v2.f32": 8,
    "v4.u32": 16,
    "v2.f64": 16,
    "v8.b32": 32,
    "v4.b64": 32,
}
PATTERNS = {
    "consecutive": lambda k: k,
    "shifted": lambda k: k + 3,
    "halves": lambda k: k % 16 + k // 16 * 20,
    "one": lambda k: 0 * k + 7,
    "one a half": lambda k: k // 16 * 9,
    "backwards": lambda k: 100 - k,
    "strided": lambda k: k * 37 % ELEMENTS,
    "quads": lambda k: k // 4 * 4 + k % 2,
}
MASKS = {
    "all": lambda k: k >= 0,
    "odd": lambda k: k % 2 == 1,
    "but the first": lambda k: k % 32 != 0,
    "upper half": lambda k: k % 32 >= 16,
    "one": lambda k: k == 45,
    "none": lambda k: k < 0,
}


def registers(form):
    """Declaration and operand of a value."""
    kind = form.rpartition(".")[2]
    kind = "b16" if kind == "u8" else kind
    count = int(form[1]) if form[0] == "v" else 1
    names = ", ".join(f"%v{i}" for i in range(count))
    return f".reg .{kind} %v<{count}>;", f"{{{names}}}" if count > 1 else names


def entry(name, form, body, prologue=""):
    """A kernel with %at: the thread's place in ``data``, %own: in ``values``, and a guard %p."""
    declaration, _ = registers(form)
    size = FORMS[form]
    return f"""
.visible .entry {name}(.param .u64 data, .param .u64 values, .param .u64 index, .param .u64 mask)
{{
.reg .b64 %at, %own, %index, %mask, %base; .reg .b32 %i, %w, %k; .reg .pred %p, %q; {declaration}
.shared .align 32 .b8 {name}_tile[{ELEMENTS * size}];
ld.param.u64 %base, [data]; ld.param.u64 %own, [values];
ld.param.u64 %index, [index]; ld.param.u64 %mask, [mask];
mov.u32 %i, %tid.x;
mad.wide.u32 %index, %i, 4, %index; ld.global.u32 %w, [%index];
mad.wide.u32 %mask, %i, 4, %mask; ld.global.u32 %k, [%mask]; setp.ne.u32 %p, %k, 0;
mad.wide.u32 %own, %i, {size}, %own;
mad.wide.u32 %at, %w, {size}, %base;
{prologue}
{body}
ret;
}}
"""


def loading(form):
    _, value = registers(form)
    return f"""ld.global.{form} {value}, [%own]; @%p ld.global.{form} {value}, [%at];
st.global.{form} [%own], {value};"""


def branching(form):
    """The same by a branch: the block's mask is partial, not a guard."""
    _, value = registers(form)
    return f"""@!%p bra SKIP; ld.global.{form} {value}, [%at]; st.global.{form} [%own], {value};
SKIP:"""


def storing(form):
    _, value = registers(form)
    return f"ld.global.{form} {value}, [%own]; @%p st.global.{form} [%at], {value};"


def through_shared(form):
    """Data goes to shared memory, lanes load from there."""
    _, value = registers(form)
    size = FORMS[form]
    return f"""mov.u32 %k, %i;
NEXT: setp.ge.u32 %q, %k, {ELEMENTS}; @%q bra DONE;
mad.wide.u32 %index, %k, {size}, %base; ld.global.{form} {value}, [%index];
mov.u64 %mask, {{name}}_tile; mad.wide.u32 %mask, %k, {size}, %mask;
st.shared.{form} [%mask], {value}; add.u32 %k, %k, {THREADS}; bra NEXT;
DONE: bar.sync 0;
mov.u64 %at, {{name}}_tile; mad.wide.u32 %at, %w, {size}, %at;
ld.global.{form} {value}, [%own]; @%p ld.shared.{form} {value}, [%at];
st.global.{form} [%own], {value};"""


BODIES = {"load": loading, "branch": branching, "store": storing, "shared": through_shared}


@pytest.fixture(scope="module")
def module(device):
    def text(kind, form):
        name = f"{kind}_{form.replace('.', '_')}"
        return entry(name, form, BODIES[kind](form).replace("{name}", name))

    forms = [(k, f) for k in BODIES for f in FORMS if k != "shared" or FORMS[f] <= 16]
    return device.load_ptx(HEADER + "".join(text(*pair) for pair in forms))


def cases():
    k = np.arange(THREADS)
    for pattern in PATTERNS.values():
        for mask in MASKS.values():
            yield pattern(k), mask(k)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["load", "branch", "shared"])
def test_loads(device, module, kind, form):
    size = FORMS[form]
    if kind == "shared" and size > 16:
        pytest.skip("256-bit accesses are of global memory")
    rng = np.random.default_rng(1)
    data = rng.integers(0, 256, (ELEMENTS, size), np.uint8)
    source, target = device.array(data), device.array(np.zeros((THREADS, size), np.uint8))
    kernel = module[f"{kind}_{form.replace('.', '_')}"]
    for index, mask in cases():
        before = rng.integers(0, 256, (THREADS, size), np.uint8)
        target.copy_from(before)
        arguments = (device.array(x.astype(np.int32)) for x in (index, mask))
        kernel[1, THREADS](source, target, *arguments)
        assert np.array_equal(target.numpy(), np.where(mask[:, None], data[index], before))


@pytest.mark.parametrize("form", FORMS)
def test_stores(device, module, form):
    size = FORMS[form]
    rng = np.random.default_rng(2)
    values = rng.integers(0, 256, (THREADS, size), np.uint8)
    source = device.array(values)
    kernel = module[f"store_{form.replace('.', '_')}"]
    for index, mask in cases():
        data = rng.integers(0, 256, (ELEMENTS, size), np.uint8)
        target = device.array(data)
        arguments = (device.array(x.astype(np.int32)) for x in (index, mask))
        kernel[1, THREADS](target, source, *arguments)
        data[index[mask]] = values[mask]  # of equal places the last one is kept
        assert np.array_equal(target.numpy(), data)


@pytest.mark.parametrize("count", [1, 31, 33, 95])
def test_accesses_end_with_the_allocation(device, module, count):
    data = np.arange(count, dtype=np.float32)
    source, target = device.array(data), device.array(np.zeros(THREADS, np.float32))
    index = device.array(np.arange(THREADS, dtype=np.int32))
    mask = device.array((np.arange(THREADS) < count).astype(np.int32))
    module["load_f32"][1, THREADS](source, target, index, mask)
    assert np.array_equal(target.numpy()[:count], data)
    mask = device.array((np.arange(THREADS) <= count).astype(np.int32))
    with pytest.raises(lockstep.LockstepError, match="invalid global"):
        module["load_f32"][1, THREADS](source, target, index, mask)
    with pytest.raises(lockstep.LockstepError, match="invalid global"):
        module["store_f32"][1, THREADS](source, target, index, mask)


def test_lanes_may_access_several_allocations(device):
    arrays = [device.array(np.full(4, k, np.int32)) for k in range(THREADS)]
    pointers = device.array(np.array([a.pointer for a in arrays], np.int64))
    target = device.array(np.zeros(THREADS, np.int32))
    body = """ld.global.u64 %at, [%own]; ld.global.u32 %v0, [%at+12];
mad.wide.u32 %at, %i, 4, %base; st.global.u32 [%at], %v0;"""
    text = entry("k", "f32", body).replace(".reg .f32 %v<1>", ".reg .b32 %v<1>")
    text = text.replace("mad.wide.u32 %own, %i, 4", "mad.wide.u32 %own, %i, 8")
    zeros = device.array(np.zeros(THREADS, np.int32))
    device.load_ptx(HEADER + text)["k"][1, THREADS](target, pointers, zeros, zeros)
    assert np.array_equal(target.numpy(), np.arange(THREADS))


def small_kernel(body, parameters=".param .u64 out"):
    return f"""{HEADER}.visible .entry k({parameters})
{{
.reg .b64 %out, %a, %g; .reg .b32 %i, %x, %y, %z; .reg .pred %p;
.shared .align 16 .b8 tile[256]; .local .align 16 .b8 own[40];
mov.u32 %i, %tid.x; ld.param.u64 %out, [out];
{body}
ret;
}}
"""


FAULTS = {
    "global.v2.u32 {%x, %y}, [%out+4]": "misaligned",
    "global.u16 %x, [%out+1]": "misaligned",
    "shared.u32 %x, [tile+2]": "misaligned",
    "shared.v4.u32 {%x, %y, %z, %x}, [tile+8]": "misaligned",
    "global.u32 %x, [%out+-4]": "invalid global",
    "global.u32 %x, [%out+256]": "invalid global",
    "global.u32 %x, [16]": "invalid global",
    "u32 %x, [%g+256]": "shared",
    "shared.u32 %x, [tile+256]": "shared",
    "shared.u32 %x, [tile+-4]": "shared",
    "local.u32 %x, [own+48]": "local",
    "local.u32 %x, [own+-4]": "local",
    "param.u32 %x, [%a+4000]": "param",
}


@pytest.mark.parametrize("access, message", FAULTS.items(), ids=FAULTS)
def test_bad_accesses_end_the_launch(device, access, message):
    body = f"mov.u64 %a, 0; cvta.shared.u64 %g, %a; ld.{access};"
    out = device.array(np.zeros(64, np.int32))
    kernel = device.load_ptx(small_kernel(body))["k"]
    with pytest.raises(lockstep.LockstepError, match=rf"(?i){message}"):
        kernel[1, 32](out)
    name, _, operands = access.partition(" ")
    if "param" not in name:
        value, _, place = operands.rpartition(", [")
        store = f"mov.u64 %a, 0; cvta.shared.u64 %g, %a; st.{name} [{place}, {value};"
        with pytest.raises(lockstep.LockstepError, match=rf"(?i){message}"):
            device.load_ptx(small_kernel(store))["k"][1, 32](out)
    good = device.array(np.zeros(32, np.int32))
    fine = "mad.wide.u32 %out, %i, 4, %out; st.global.u32 [%out], %i;"
    device.load_ptx(small_kernel(fine))["k"][1, 32](good)
    assert np.array_equal(good.numpy(), np.arange(32))


def test_parameters_by_name_by_register_and_by_generic_address(device):
    body = """
ld.param.v2.u32 {%x, %y}, [pair]; add.u32 %x, %x, %y;
mov.b64 %a, table; mad.wide.u32 %a, %i, 4, %a; ld.param.u32 %y, [%a]; add.u32 %x, %x, %y;
mov.b64 %a, table; cvta.param.u64 %g, %a; mad.wide.u32 %g, %i, 4, %g;
ld.u32 %y, [%g+4]; mad.lo.u32 %x, %y, 1000, %x;
mad.wide.u32 %out, %i, 4, %out; st.global.u32 [%out], %x;"""
    parameters = ".param .u64 out, .param .align 8 .b8 pair[8], .param .align 4 .b8 table[260]"
    kernel = device.load_ptx(small_kernel(body, parameters))["k"]
    out = device.array(np.zeros(64, np.int32))
    table = np.arange(65, dtype=np.int32) * 3
    kernel[1, 64](out, np.array([5, 7], np.int32), table)
    assert np.array_equal(out.numpy(), 12 + table[:64] + 1000 * table[1:])


def test_every_thread_has_its_own_local_memory(device):
    body = """
mov.u64 %a, own; cvta.local.u64 %g, %a;
st.local.u32 [own+36], %i; add.u32 %x, %i, 100; st.u32 [%g], %x; st.local.v2.u32 [own+8], {%x, %i};
bar.sync 0;
ld.u32 %x, [%g+36]; ld.local.u32 %y, [own]; mad.lo.u32 %x, %y, 1000, %x;
ld.u32 %y, [%g+12]; mad.lo.u32 %x, %y, 1000000, %x;
mad.wide.u32 %out, %i, 4, %out; st.global.u32 [%out], %x;"""
    out = device.array(np.zeros(96, np.int32))
    device.load_ptx(small_kernel(body))["k"][1, 96](out)
    i = np.arange(96)
    assert np.array_equal(out.numpy(), i * 1000000 + (i + 100) * 1000 + i)


def test_lanes_of_a_generic_access_may_be_in_different_spaces(device):
    body = """
shl.b32 %x, %i, 3; and.b32 %x, %x, 255; cvt.u64.u32 %a, %x; mov.u64 %g, tile; add.u64 %a, %a, %g;
cvta.shared.u64 %a, %a;
mov.u64 %g, own; cvta.local.u64 %g, %g; and.b32 %y, %i, 1; setp.eq.u32 %p, %y, 0;
selp.b64 %a, %a, %g, %p;
mad.wide.u32 %out, %i, 4, %out; and.b32 %y, %i, 3; setp.eq.u32 %p, %y, 3; selp.b64 %a, %out, %a, %p;
add.u32 %x, %i, 50; st.u32 [%a], %x; ld.u32 %y, [%a]; atom.add.u32 %z, [%a], 1000; ld.u32 %x, [%a];
sub.u32 %x, %x, %y; add.u32 %x, %x, %z; st.global.u32 [%out], %x;"""
    out = device.array(np.zeros(32, np.int32))
    device.load_ptx(small_kernel(body))["k"][1, 32](out)
    assert np.array_equal(out.numpy(), np.arange(32) + 1050)


def test_clusters_have_one_cta(device):
    body = """
mov.u64 %a, tile; mapa.shared::cluster.u64 %a, %a, 0; getctarank.shared::cluster.u64 %x, %a;
st.shared::cluster.u32 [%a+4], %i; ld.shared.u32 %y, [tile+4]; add.u32 %x, %x, %y;
st.global.u32 [%out], %x;"""
    out = device.array(np.full(1, 9, np.int32))
    device.load_ptx(small_kernel(body))["k"][1, 1](out)
    assert out.numpy()[0] == 0


def test_hints_have_no_effect(device):
    body = """
createpolicy.fractional.L2::evict_last.b64 %a, 0f3F800000;
prefetch.global.L2 [%out+100000]; prefetch.local.L1 [own]; prefetchu.L1 [%out];
applypriority.global.L2::evict_normal [%out], 128; fence.proxy.async; fence.sc.sys; membar.gl;
ld.global.L1::evict_last.L2::cache_hint.u32 %x, [%out], %a; add.u32 %x, %x, 1;
st.global.L2::cache_hint.u32 [%out], %x, %a;
ld.global.ca.nc.L2::128B.u32 %y, [%out+4]; st.global.wt.u32 [%out+8], %y;"""
    out = device.array(np.array([41, 7, 0], np.int32))
    device.load_ptx(small_kernel(body))["k"][1, 1](out)
    assert list(out.numpy()) == [42, 7, 7]


AROUND = [("u32", 0), ("u32", 4), ("u32", -4), ("u16", 2), ("u8", 1), ("u32", 64), ("u32", 124)]


def around(space, first, guard, extra):
    """A kernel that adds up what lies around one address, then around the next word's."""
    start = {"global": "mov.u64 %d, %x", "shared": "mov.u64 %d, tile"}[space]
    accesses = "".join(
        f"{guard} ld.{space}.{kind} %a, [%d+{offset}]; {guard} add.u32 %s, %s, %a;\n"
        for kind, offset in AROUND
    )
    return f"""{HEADER}.shared .align 8 .b8 tile[{8 * THREADS}];
.visible .entry k(.param .u64 x, .param .u64 out)
{{
.reg .b64 %x, %out, %d, %e; .reg .b32 %i, %s, %a; .reg .pred %p;
ld.param.u64 %x, [x]; ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mov.u32 %s, 0;
mad.wide.u32 %e, %i, 4, %x; mov.u64 %d, tile; mad.wide.u32 %d, %i, 4, %d;
ld.global.u32 %a, [%e]; st.shared.u32 [%d], %a;
ld.global.u32 %a, [%e+384]; st.shared.u32 [%d+384], %a;
bar.sync 0;
setp.ne.u32 %p, %i, 5;
{start}; add.u64 %d, %d, {first}; mad.wide.u32 %d, %i, 4, %d;
{accesses}
add.u64 %d, %d, 4;
{accesses}
{extra}
mad.wide.u32 %e, %i, 4, %out; st.global.u32 [%e], %s;
ret;
}}
"""


def run_around(space, first, guard="", extra=""):
    """What each thread of three warps gets, and the data."""
    data = np.random.default_rng(3).integers(0, 1 << 24, 2 * THREADS, np.uint32)
    with lockstep.Device("QV100") as device:
        out, x = device.zeros(THREADS, np.uint32), device.array(data)
        device.load_ptx(around(space, first, guard, extra))["k"][1, THREADS](x, out)
        return out.numpy(), data


@pytest.mark.parametrize("guard", ["", "@%p"])
@pytest.mark.parametrize("space", ["global", "shared"])
def test_accesses_around_one_address(space, guard):
    found, data = run_around(space, 8, guard)
    expected = np.zeros(THREADS, np.uint32)
    for begin in (8, 12):
        for kind, offset in AROUND:
            size = int(kind[1:]) // 8
            places = (begin + offset + 4 * np.arange(THREADS)) // size
            expected += data.view(f"u{size}")[places].astype(np.uint32)
    if guard:
        expected[5] = 0
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("space", "first", "extra", "message"),
    [
        ("shared", 8, "ld.shared.u32 %a, [%d+6];", "misaligned shared read of 4 bytes at 0x12"),
        ("global", 8, "ld.global.u32 %a, [%d+6];", "misaligned global read of 4 bytes"),
        ("shared", 6, "", "misaligned shared read of 4 bytes at 0x6"),
        ("shared", 0, "", "invalid shared read of 4 bytes at 0xfffffffc"),
        ("global", 0, "", "invalid global read of 4 bytes"),
        ("shared", 8, "ld.shared.u32 %a, [%d+376];", "invalid shared read of 4 bytes at 0x300"),
        ("global", 8, "ld.global.u32 %a, [%d+376];", "0 bytes behind the end"),
    ],
)
def test_what_ends_a_launch_around_an_address_that_was_good(space, first, extra, message):
    with pytest.raises(lockstep.LaunchError, match=message):
        run_around(space, first, extra=extra)
