"""Kernels that multiply matrices by warpgroups: what they hold in shared memory, and what is right.

Matrices are laid out as PTX ISA's descriptors say. Elements are small integers, so that every order
of additions gives the same sums.
"""

from dataclasses import dataclass

import numpy as np

HEADER = ".version 8.7\n.target sm_90a\n.address_size 64\n"
SHARED = 32768  # bytes: the second matrix begins in the middle
SWIZZLES = {0: 0, 32: 3, 64: 2, 128: 1}  # bytes of a row: mode of the descriptor
THREADS = 128


@dataclass
class Product:
    """A kernel ``k``, its shared memory, each thread's own words, and the matrix that it makes."""

    text: str
    memory: np.ndarray
    own: np.ndarray
    columns: int
    kind: str  # of the result
    want: np.ndarray

    def run(self, module):
        """The matrix that the kernel of a module makes."""
        device = module.device
        count = self.columns // 4 if self.kind == "f16" else self.columns // 2
        target = device.array(np.zeros((THREADS, count), np.uint32))
        module["k"][1, THREADS](device.array(self.memory), device.array(self.own), target)
        return result(target.numpy(), self.columns, self.kind)


def kernel(products, registers, width, words=4, metadata=""):
    """Copies the image to shared memory, runs the products on d and a, stores d.

    Each thread has ``words`` of its own, a fragment, and maybe metadata, for an operand behind.
    """
    d = "{" + ", ".join(f"%d{k}" for k in range(registers)) + "}"
    lines = []
    for k, (name, first, second, tail) in enumerate(products):
        lines.append(f"add.u64 %da, %base, {first}; add.u64 %db, %base, {second};")
        lines.append(f"setp.ne.u32 %p, {k}, 0;")
        operand = "{%a0, %a1, %a2, %a3}" if first == 0 else "%da"
        lines.append(f"{name} {d}, {operand}, %db{metadata}, %p{tail};")
    body = "\n".join(lines)
    stores = "\n".join(f"st.global.b32 [%out+{4 * k}], %d{k};" for k in range(registers))
    loads = "\n".join(f"ld.global.b32 %a{k}, [%own+{4 * k}];" for k in range(words))
    return f"""{HEADER}
.visible .entry k(.param .u64 image, .param .u64 fragments, .param .u64 target)
{{
.reg .b64 %in, %out, %own, %da, %db, %base; .reg .b32 %i, %at, %v; .reg .pred %p;
.reg .{width} %d<{registers}>; .reg .b32 %a<{words}>;
.shared .align 1024 .b8 memory[{SHARED}];
ld.param.u64 %in, [image]; ld.param.u64 %out, [target]; ld.param.u64 %own, [fragments];
mov.u32 %i, %tid.x;
mad.wide.u32 %out, %i, {4 * registers}, %out; mad.wide.u32 %own, %i, {4 * words}, %own;
mad.wide.u32 %in, %i, 4, %in;
mov.u32 %at, memory; and.b32 %v, %at, 0x3ffff; shr.u32 %v, %v, 4; cvt.u64.u32 %base, %v;
mad.lo.u32 %at, %i, 4, %at;
mov.u32 %i, 0;
copy:
ld.global.b32 %v, [%in]; st.shared.b32 [%at], %v;
add.u64 %in, %in, {4 * THREADS}; add.u32 %at, %at, {4 * THREADS}; add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, {SHARED // 4 // THREADS};
@%p bra copy;
{loads}
bar.sync 0;
wgmma.fence.sync.aligned;
{body}
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
{stores}
ret;
}}
"""


def swizzled(address, row):
    """Bits from 4 on are changed by those from 7 on; ``row``: bytes (0: not at all)."""
    return address ^ (address >> 7 & (max(row, 16) // 16 - 1)) << 4


def offset(line, byte, row, leading, stride):
    """K-major: cores of 8 lines by 16 bytes."""
    within = byte % 16
    if row == 0:
        return line // 8 * stride + line % 8 * 16 + byte // 16 * leading + within
    return line // 8 * stride + line % 8 * row + byte // row * leading + byte % row


def offset_across(line, k, row, leading, stride):
    """MN-major, elements of 2 bytes: rows of 16 bytes or more hold elements of many lines."""
    if row == 0:
        return line // 8 * stride + k // 8 * leading + k % 8 * 16 + line % 8 * 2
    group = row // 2
    return line // group * leading + k // 8 * stride + k % 8 * row + line % group * 2


def place(memory, start, matrix, row, transposed):
    """Write lines of raw elements into the image; the descriptor."""
    lines, depth = matrix.shape
    size = matrix.itemsize
    if not transposed:
        leading, stride = (lines * 16, 128) if row == 0 else (lines * row, 8 * row)
    elif row == 0:
        leading, stride = 128, 256  # from 8 to 8 elements of k, from 8 to 8 lines
    else:
        leading, stride = depth * row, 8 * row
    for line in range(lines):
        for k in range(depth):
            if transposed:
                at = offset_across(line, k, row, leading, stride)
            else:
                at = offset(line, k * size, row, leading, stride)
            at = swizzled(start + at, row)
            memory[at : at + size] = matrix[line, k : k + 1].view(np.uint8)
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | SWIZZLES[row] << 62


def raw(values, kind):
    """Bits of small integers in an element type."""
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16)
    if kind in ("bf16", "tf32"):
        words = values.astype(np.float32).view(np.uint32)
        return (words >> 16).astype(np.uint16) if kind == "bf16" else words
    if kind in ("s8", "u8"):
        return values.astype(np.int8).view(np.uint8)
    halves = values.astype(np.float16).view(np.uint16)  # e5m2 is the upper half of f16
    if kind == "e5m2":
        return (halves >> 8).astype(np.uint8)
    sign, rest = halves >> 15, halves & 0x7FFF
    small = np.where(rest == 0, 0, (rest >> 7) - (8 << 3))  # e4m3: the bias is 7, not 15
    return (sign << 7 | small).astype(np.uint8)


def numbers(rng, shape, kind):
    low = 0 if kind == "u8" else -4
    return rng.integers(low, 5, shape)


def fragments(bits):
    """Each thread's four registers of the first factor (PTX ISA, fragment A of wgmma)."""
    words = np.ascontiguousarray(bits).view(np.uint32)
    out = np.zeros((THREADS, 4), np.uint32)
    for thread in range(THREADS):
        warp, lane = divmod(thread, 32)
        for r in range(4):
            out[thread, r] = words[16 * warp + lane // 4 + 8 * (r % 2), lane % 4 + 4 * (r // 2)]
    return out


def result(words, n, kind):
    """The 64 by n matrix that all threads' result registers make."""
    dtype = {"f32": np.float32, "f16": np.float16, "s32": np.int32}[kind]
    values = words.view(dtype).reshape(THREADS, n // 2)
    out = np.zeros((64, n))
    for thread in range(THREADS):
        warp, lane = divmod(thread, 32)
        for i in range(n // 2):
            row = 16 * warp + lane // 4 + 8 * (i // 2 % 2)
            out[row, 8 * (i // 4) + lane % 4 * 2 + i % 2] = values[thread, i]
    return out


def dense(n, kinds, row=0, transposes=(), signs=(), registers=False, times=1, option=""):
    """``kinds``: of result and factors. ``times``: products in a row, the first one on nothing."""
    d, a, b = kinds
    depth = 32 // raw(np.zeros(1), a).itemsize
    rng = np.random.default_rng(n + row)
    first, second = numbers(rng, (64, depth), a), numbers(rng, (n, depth), b)
    memory = np.zeros(SHARED, np.uint8)
    turned = [*transposes, 0, 0]
    descriptors = [
        place(memory, 0, raw(first, a), row, turned[0] and not registers),
        place(memory, SHARED // 2, raw(second, b), row, turned[1]),
    ]
    tail = "".join(f", {s}" for s in signs)
    tail += "".join(f", {t}" for t in (transposes[1:] if registers else transposes))
    name = f"wgmma.mma_async.sync.aligned.m64n{n}k{depth}{option}.{d}.{a}.{b}"
    products = [(name, 0 if registers else descriptors[0], descriptors[1], tail)] * times
    count = n // 4 if d == "f16" else n // 2
    text = kernel(products, count, {"f16": "b32", "s32": "b32"}.get(d, d))
    sign = np.prod(signs) if signs else 1
    want = times * sign * (first @ second.T)
    return Product(text, memory, fragments(raw(first, a)), n, d, want)


def bits():
    """A product of single bits."""
    rng = np.random.default_rng(3)
    first, second = (rng.integers(0, 1 << 32, (rows, 8), np.uint32) for rows in (64, 8))
    memory = np.zeros(SHARED, np.uint8)
    descriptors = [place(memory, 0, first, 32, 0), place(memory, SHARED // 2, second, 32, 0)]
    name = "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc"
    text = kernel([(name, *descriptors, "")], 4, "b32")
    ones = np.bitwise_count(first[:, None, :] & second[None]).sum(-1, dtype=int)
    return Product(text, memory, fragments(first), 8, "s32", ones)


def metadata_of(columns, run, selector):
    """Each thread's word, as mma.sp has it (PTX ISA), from columns within runs: 64, runs, parts.

    Two columns of four have two bits each; one of two has both halves, of 16 bits, of 64.
    """
    fields = (columns * 4 ** np.arange(columns.shape[2])).sum(-1)
    if run == 2:
        fields = np.where(columns[..., 0], 0b1110, 0b0100)
    bits = np.zeros(THREADS, np.uint64)
    for row in range(64):
        warp, line = divmod(row, 16)
        for k, field in enumerate(fields[row]):
            if run == 8:  # bytes: eight runs of one line a thread
                lane, shift = line // 8 + 2 * (k // 8), 4 * (k % 8)
            else:
                lane, shift = 2 * selector + k // 4, 16 * (line // 8) + 4 * (k % 4)
            thread = 32 * warp + 4 * (line % 8) + lane
            bits[thread] |= np.uint64(int(field) << shift)
    return bits.astype(np.uint32)


def sparse(n, kinds, selector, row, registers):
    """A product whose first factor is sparse."""
    d, a, b = kinds
    size = raw(np.zeros(1), a).itemsize
    stored, depth = 32 // size, 64 // size
    run = 2 if a == "tf32" else 4
    rng = np.random.default_rng(n + row)
    first, second = numbers(rng, (64, stored), a), numbers(rng, (n, depth), b)
    keep = rng.permuted(np.tile(np.arange(run), (64, depth // run, 1)), axis=-1)
    columns = np.sort(keep[..., : run // 2], axis=-1)
    whole = np.zeros((64, depth // run, run), int)
    np.put_along_axis(whole, columns, first.reshape(64, -1, run // 2), axis=-1)
    memory = np.zeros(SHARED, np.uint8)
    descriptors = [
        place(memory, 0, raw(first, a), row, 0),
        place(memory, SHARED // 2, raw(second, b), row, 0),
    ]
    tail = {"f16": ", 1, 1, 0, 0", "bf16": ", 1, 1, 0, 0", "s8": ""}.get(a, ", 1, 1")
    tail = tail[:-3] if registers and tail.endswith("0") else tail
    name = f"wgmma.mma_async.sp.sync.aligned.m64n{n}k{depth}.{d}.{a}.{b}"
    count = n // 4 if d == "f16" else n // 2
    products = [(name, 0 if registers else descriptors[0], descriptors[1], tail)]
    width = {"f16": "b32", "s32": "b32"}.get(d, d)
    text = kernel(products, count, width, 5, f", %a4, {selector}")
    words = metadata_of(columns, 8 if size == 1 else run, selector)
    own = np.hstack([fragments(raw(first, a)), words[:, None]])
    want = whole.reshape(64, depth) @ second.T
    return Product(text, memory, own, n, d, want)
