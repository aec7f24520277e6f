from functools import cache
from pathlib import Path

import pytest
import zstandard

SAMPLES = Path(__file__).parent / "nvdisasm"


@cache
def _answers(architecture: int) -> list[tuple[int, int, str]]:
    packed = (SAMPLES / f"sm_{architecture}.txt.zst").read_bytes()
    lines = zstandard.ZstdDecompressor().decompress(packed).decode().splitlines()
    split = [line.split(" ", 2) for line in lines]
    return [(int(word, 16), int(pc, 16), text) for word, pc, text in split]


@pytest.fixture(scope="session")
def answers():
    """NVIDIA's disassembly of real instructions: a function to (word, pc, text)s."""
    return _answers
