"""Compiles Triton kernels to the machine code of ``tests/device/test_triton_machine_code.py``.

``pip install triton==3.5.1`` for sm_80, 3.6.0 for sm_90, which need no GPU, then::

    python scripts/sass_triton_tests.py 80
    python scripts/sass_triton_tests.py 90
"""

import argparse
from pathlib import Path

import msgspec
import sass_triton as kernels
import triton
import zstandard
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

FOLDER = Path(__file__).parents[1] / "tests/device/cubins"
FILES = {80: "triton.zst", 90: "triton_hopper.zst"}
TENSOR_CORES = ("matmul", "attention")  # what differs on sm_90: warpgroups multiply
SIZES = dict.fromkeys(("m", "n", "k", "sa", "sb", "sc"), "i32")
PROGRAMS = {  # kernel, types of arguments, constants, options
    "softmax": (
        kernels.softmax,
        {"x": "*fp32", "y": "*fp32", "n": "i32"},
        {"BLOCK": 256},
        {"num_warps": 4},
    ),
    "layer_norm": (
        kernels.layer_norm,
        {"x": "*fp16", "y": "*fp16", "w": "*fp32", "b": "*fp32", "n": "i32", "eps": "fp32"},
        {"BLOCK": 256},
        {"num_warps": 4},
    ),
    "matmul": (
        kernels.matmul,
        dict.fromkeys("abc", "*fp16") | SIZES,
        {"BM": 64, "BN": 64, "BK": 32},
        {"num_warps": 4, "num_stages": 3},
    ),
    "attention": (
        kernels.attention,
        dict.fromkeys("qkvo", "*fp16") | {"n": "i32", "scale": "fp32"},
        {"D": 64, "BM": 64, "BN": 32},
        {"num_warps": 4, "num_stages": 2},
    ),
}


def build(architecture: int, kernel, types: dict, constants: dict, options: dict) -> dict:
    """A cubin and what a launch of it needs; pointers are aligned to 16 bytes."""
    signature = types | dict.fromkeys(constants, "constexpr")
    aligned = {(i,): [["tt.divisibility", 16]] for i, t in enumerate(types.values()) if "*" in t}
    source = ASTSource(kernel, signature, constants, aligned)
    target = GPUTarget("cuda", architecture, 32)
    compiled = triton.compile(source, target=target, options=options)
    metadata = compiled.metadata
    return {
        "cubin": compiled.asm["cubin"],
        "threads": metadata.num_warps * 32,
        "shared": metadata.shared,
        **constants,
    }


def main() -> None:
    """Write those of an architecture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("architecture", type=int, choices=FILES)
    architecture = parser.parse_args().architecture
    wanted = PROGRAMS if architecture == min(FILES) else TENSOR_CORES
    packed = msgspec.msgpack.encode({n: build(architecture, *PROGRAMS[n]) for n in wanted})
    path = FOLDER / FILES[architecture]
    path.write_bytes(zstandard.ZstdCompressor(19).compress(packed))
    print(f"{path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
