"""The picture of a proxy beside its original."""

import pandas as pd

from lockstep.proxies.plots import against_original


def test_rates_are_drawn_by_set():
    rows = pd.DataFrame(
        {
            "set": ["l1", "l1", "dram", "dram"],
            "metric": ["l1_miss_rate"] * 2 + ["dram_latency", "dram_row_hit_rate"],
            "original": [0.25, 0.5, 300.0, 0.75],
            "proxy": [0.3, 0.4, 310.0, 0.7],
        }
    )
    (axes,) = against_original(rows).axes
    _, l1, dram = axes.lines
    assert (l1.get_label(), dram.get_label()) == ("l1", "dram")
    assert (list(l1.get_xdata()), list(l1.get_ydata())) == ([0.25, 0.5], [0.3, 0.4])
    assert (list(dram.get_xdata()), list(dram.get_ydata())) == ([0.75], [0.7])
