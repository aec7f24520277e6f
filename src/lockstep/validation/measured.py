"""What others measured on real GPUs, by the GPU of the library and the probe of ``probes.py``.

A board is not always the very one that the library models; each source says which it was.
"""

from typing import NamedTuple


class MeasuredValue(NamedTuple):
    """One number, of the probe with this name."""

    probe: str
    value: float
    source: str


TITAN_V = "TITAN V, Accel-Sim's GPU_Microbenchmark"
V100 = "V100, RRZE gpu-benches"
A100 = "A100 80 GB, RRZE gpu-benches"
H100 = "H100 PCIe, RRZE gpu-benches"
GH200 = "GH200, RRZE gpu-benches"
JIA = "V100, Jia 2018"
LUO = "Luo 2024"

# Cycles. What was measured through C code holds address arithmetic too: see each note.
LATENCIES = {
    "QV100": [
        MeasuredValue("FFMA", 4.128845, TITAN_V),
        MeasuredValue("IADD3", 4.349609, TITAN_V),
        MeasuredValue("HFMA2", 6.180664, TITAN_V),
        MeasuredValue("DFMA", 8.075317, TITAN_V),
        MeasuredValue("MUFU", 21.1453, f"{TITAN_V}: a square root"),
        MeasuredValue("shared load", 19, f"{JIA}; 27.0 of {TITAN_V} holds address arithmetic"),
        MeasuredValue("L1 hit", 27.9, f"{V100}; 33.7 of {TITAN_V} holds address arithmetic"),
        MeasuredValue("L2 hit", 212.1, V100),
        MeasuredValue("L2 hit, past the L1", 211.072, TITAN_V),
        MeasuredValue("DRAM", 425.0, V100),
    ],
    "A100": [
        MeasuredValue("shared load", 29.0, LUO),
        MeasuredValue("L1 hit", 33.1, A100),
        MeasuredValue("L2 hit", 205.6, A100),
        MeasuredValue("DRAM", 547.1, f"{A100}: 66 MB; 536.3 for 120 MB"),
    ],
    "H100": [
        MeasuredValue("shared load", 29.0, LUO),
        MeasuredValue("L1 hit", 32.1, GH200),
        MeasuredValue("DRAM", 849.98, "H100 PCIe, mgpusim: 512 MB, which holds misses of the TLB"),
    ],
}

# Lanes a cycle and SM: half the operations of a multiply-add, a quarter for two halves a lane.
LANES = {
    "QV100": [
        MeasuredValue("FFMA", 126.861778 / 2, TITAN_V),
        MeasuredValue("IADD3", 126.886719 / 2, TITAN_V),
        MeasuredValue("HFMA2", 249.334442 / 4, TITAN_V),
        MeasuredValue("DFMA", 63.930252 / 2, TITAN_V),
        MeasuredValue("MUFU", 15.976, TITAN_V),
    ]
}

# Fractions of peak. Those of the L1 by RRZE: at 1380 and 1410 MHz, 64 KB, one CTA of 256 threads.
FRACTIONS = {
    "QV100": [
        MeasuredValue("shared, 32-bit loads", 126.48 / 128, TITAN_V),
        MeasuredValue("shared, 64-bit loads", 127.932 / 128, TITAN_V),
        MeasuredValue("L1 and shared, 32-bit loads in turn", 99.708586 / 128, TITAN_V),
        MeasuredValue("L1, 32-bit loads in a loop", 54.83754 / 128, f"{TITAN_V}, one load a round"),
        MeasuredValue("L1, 32-bit loads", 78.3484 / 128, f"{TITAN_V}, four loads a round"),
        MeasuredValue("L1, 64-bit loads", 13873.4 / (80 * 128 * 1.38), f"{V100}, doubles"),
        MeasuredValue(
            "L1, 64-bit loads",
            122.759 / 128,
            f"{TITAN_V}, doubles; 113.9 B/clk for 64-bit vectors",
        ),
        MeasuredValue("L1, 128-bit loads", 116.437 / 128, TITAN_V),
        MeasuredValue("L2", 1365.42 / 1536, TITAN_V),
        MeasuredValue("DRAM, init", 897 / 898, V100),
        MeasuredValue("DRAM, read", 867 / 898, V100),
        MeasuredValue("DRAM, scale", 809 / 898, V100),
        MeasuredValue("DRAM, triad", 788 / 898, V100),
    ],
    "A100": [
        MeasuredValue("L1, 64-bit loads", 19042.7 / (108 * 128 * 1.41), f"{A100}, doubles"),
        MeasuredValue("DRAM, init", 1908 / 1935, A100),
        MeasuredValue("DRAM, read", 1776 / 1935, A100),
        MeasuredValue("DRAM, scale", 1737 / 1935, A100),
        MeasuredValue("DRAM, triad", 1794 / 1935, A100),
    ],
    "H100": [
        MeasuredValue("DRAM, init", 2018 / 2039, H100),
        MeasuredValue("DRAM, read", 1942 / 2039, H100),
        MeasuredValue("DRAM, scale", 1704 / 2039, H100),
        MeasuredValue("DRAM, triad", 1832 / 2039, H100),
    ],
}


class Recorded(NamedTuple):
    """A counter of a recorded program on a board, over the whole run."""

    trace: str
    gpu: str
    what: str
    metric: str
    value: float
    source: str


_MGPUSIM = "mgpusim, H100 PCIe, ncu"
_GPUCACHESIM = "gpucachesim, TITAN X (Pascal)"
_VECADD = "vecadd-f64-sm61-raw", "TITANX"
_READ, _WRITE = (f"lts__t_sectors_srcunit_tex_op_{way}.sum" for way in ("read", "write"))
RECORDED = [
    Recorded("ffma-sm90-10", "H100", "cycles", "cycles", 9576, _MGPUSIM),
    Recorded("ffma-sm90-20", "H100", "cycles", "cycles", 14781, _MGPUSIM),
    Recorded("ffma-sm90-30", "H100", "cycles", "cycles", 20028, _MGPUSIM),
    Recorded("ffma-sm90-40", "H100", "cycles", "cycles", 25446, _MGPUSIM),
    Recorded(*_VECADD, "cycles", "cycles", 13468, _GPUCACHESIM),
    Recorded(*_VECADD, "L2 read sectors", _READ, 49998, _GPUCACHESIM),
    Recorded(*_VECADD, "L2 write sectors", _WRITE, 25000, _GPUCACHESIM),
]
