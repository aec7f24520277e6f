import pytest

from lockstep._jit import perf_map, target
from lockstep._jit.settings import DISABLED
from test_jit import run

PROGRAM = """
import os
from lockstep._jit import functions
from lockstep.model import link

load, placed = functions.loading.load, []
functions.loading.load = lambda objects, symbol: placed.append(load(objects, symbol)) or placed[-1]
link.next_arrival(link.build(2, 3, 10, 4, 1), 0, 3, 1)
print(os.getpid(), *map(hex, placed))
"""


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZN8lockstep5model4link7deliverB4v487B68A4Zni", "lockstep.model.link.deliver"),
        ("_ZN1a10bcdefghijk", "a.bcdefghijk"),
        ("block12", "block12"),
        ("_ZNx", "_ZNx"),
    ],
)
def test_names_of_the_model_are_dotted(symbol, name):
    assert perf_map.name_of(symbol) == name


@pytest.mark.skipif(DISABLED or not target.is_linux_x86(), reason="of machine code on Linux")
def test_what_is_placed_is_told():
    run(PROGRAM)  # what is compiled is not placed
    process, *places = run(PROGRAM, LOCKSTEP_PERF_MAP="1")
    file = perf_map.FOLDER / f"perf-{process}.map"
    rows = [line.split(" ", 2) for line in file.read_text().splitlines()]
    file.unlink()
    ranges = {name: range(int(at, 16), int(at, 16) + int(size, 16)) for at, size, name in rows}
    assert len(places) == 1
    inside = [name for name, at in ranges.items() if int(places[0], 16) in at]
    assert len(inside) == 1 and "lockstep.model.link.next_arrival" in inside[0]


def test_nothing_is_told_where_nobody_wants_it():
    run(PROGRAM)
    process, *places = run(PROGRAM, LOCKSTEP_PERF_MAP="")
    assert len(places) == 1 or DISABLED
    assert not (perf_map.FOLDER / f"perf-{process}.map").exists()
