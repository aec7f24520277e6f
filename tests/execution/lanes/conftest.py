"""Instructions applied to whole arrays: a kernel with one thread for each element."""

import numpy as np
import pytest

import lockstep
from lane_kernels import WARPS, masks

KERNEL = """.version 8.8
.target sm_100a
.address_size 64
.visible .entry k({parameters})
{{
    .reg .b32 %i, %cta, %size;
    .reg .b64 %at;
    .reg .pred %p, %q;
    mov.u32 %i, %tid.x;
    mov.u32 %cta, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mad.lo.u32 %i, %cta, %size, %i;
{body}
    ret;
}}
"""
THREADS = 256


@pytest.fixture(params=[32, 64])
def lanes(request):
    """Of a warp."""
    return request.param


@pytest.fixture
def active(lanes, rng):
    """Which threads of WARPS warps are active."""
    return masks(rng, lanes, WARPS)


def access(name, array, load):
    """Move one element between the register and the array of a name."""
    bits = 8 * array.dtype.itemsize
    move = f"ld.global.b{bits} %{name}, [%at];" if load else f"st.global.b{bits} [%at], %{name};"
    return f".reg .b{bits} %{name};" * load + (
        f" ld.param.u64 %at, [{name}]; mad.wide.u32 %at, %i, {bits // 8}, %at; {move}"
    )


def kernel_ptx(texts, result, sources):
    """``{r}`` in a text is its result, ``{a}``, ``{b}`` ... are the elements of the sources."""
    letters = "abcdef"[: len(sources)]
    results = [f"r{k}" for k in range(len(texts))]
    body = [access(name, source, load=True) for name, source in zip(letters, sources)]
    for name, text in zip(results, texts):
        body.append(f".reg .b{8 * result.itemsize} %{name};")
        body.append(text.format(r=f"%{name}", **{n: f"%{n}" for n in letters}))
        body.append(access(name, np.empty(0, result), load=False))
    parameters = ", ".join(f".param .u64 {name}" for name in (*results, *letters))
    return KERNEL.format(parameters=parameters, body="\n".join(f"    {line}" for line in body))


@pytest.fixture(scope="module")
def apply():
    """Function from texts, the type of their results and operand arrays to result arrays.

    Its device is closed after a file: beside one that is open, each other one collects garbage.
    """

    def run(texts, result, *sources):
        count = -(-len(sources[0]) // THREADS) * THREADS
        padded = [np.resize(source, count) for source in sources]
        module = device.load_ptx(kernel_ptx(texts, np.dtype(result), padded))
        results = [device.empty(count, result) for _ in texts]
        module["k"][count // THREADS, THREADS](*results, *(device.array(s) for s in padded))
        return [r.numpy()[: len(sources[0])] for r in results]

    with lockstep.Device("QV100", timing=False) as device:
        yield run


@pytest.fixture(scope="session")
def rng():
    return np.random.default_rng(20240607)


@pytest.fixture(scope="session")
def singles(rng):
    """f32 patterns of all magnitudes, the edges among them."""
    edges = [0, 1, 0x7FFFFF, 0x800000, 0x3F7FFFFF, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000]
    bits = rng.integers(0, 1 << 32, 1 << 16, np.uint32)
    bits[: len(edges)] = edges
    bits[len(edges) : 2 * len(edges)] = np.array(edges, np.uint32) | 1 << 31
    return bits.view(np.float32)
