"""Compiles Triton kernels to the machine code of ``tests/device/test_triton_machine_code.py``.

``pip install triton==3.5.1``, which needs no GPU, then::

    python scripts/sass_triton_tests.py
"""

from pathlib import Path

import msgspec
import sass_triton as kernels
import triton
import zstandard
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

PATH = Path(__file__).parents[1] / "tests/device/cubins/triton.zst"
ARCHITECTURE = 80
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


def build(kernel, types: dict, constants: dict, options: dict) -> dict:
    """A cubin and what a launch of it needs; pointers are aligned to 16 bytes."""
    signature = types | dict.fromkeys(constants, "constexpr")
    aligned = {(i,): [["tt.divisibility", 16]] for i, t in enumerate(types.values()) if "*" in t}
    source = ASTSource(kernel, signature, constants, aligned)
    target = GPUTarget("cuda", ARCHITECTURE, 32)
    compiled = triton.compile(source, target=target, options=options)
    metadata = compiled.metadata
    return {
        "cubin": compiled.asm["cubin"],
        "threads": metadata.num_warps * 32,
        "shared": metadata.shared,
        **constants,
    }


def main() -> None:
    """Write all of them."""
    packed = msgspec.msgpack.encode({name: build(*parts) for name, parts in PROGRAMS.items()})
    PATH.write_bytes(zstandard.ZstdCompressor(19).compress(packed))
    print(f"{PATH.stat().st_size} bytes")


if __name__ == "__main__":
    main()
