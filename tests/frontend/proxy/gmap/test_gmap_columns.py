"""A model of G-MAP in a file: what is saved is loaded, what could not be drawn from is refused."""

import numpy as np
import pytest

from gmap_models import launched, proxy_of, random_tuple
from lockstep.errors import InputError
from lockstep.frontend.proxy import Proxy
from lockstep.frontend.proxy.gmap import GmapModel
from lockstep.frontend.proxy.gmap.sites import LINE_MASK, MOST_DISTANCE
from lockstep.frontend.tracefile.columns import Malformed
from lockstep.isa.instruction import OpClass


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("counting", ["published", "stack"])
def test_what_is_saved_is_loaded(seed, counting, tmp_path):
    given = proxy_of(random_tuple(seed), counting=counting)
    given.save(tmp_path / "app.proxy")
    found = Proxy.load(tmp_path / "app.proxy")
    ours, theirs = given.models[0], found.models[0]
    assert theirs.facts() == ours.facts()
    for name, column in ours.columns().items():
        assert theirs.columns()[name].tolist() == column.tolist(), name
    assert found.workload(seed=5).digest == given.workload(seed=5).digest


def damaged(**changes):
    """Columns and facts of a model, some of them changed by functions."""
    model = GmapModel(random_tuple(1), 2)
    columns = {name: column.copy() for name, column in model.columns().items()}
    facts = model.facts()
    for name, change in changes.items():
        where = facts if name in facts else columns
        where[name] = change(where[name])
    return facts, columns


def first(value):
    """A change of the first number of a column."""

    def change(column):
        column[0] = value
        return column

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("allocations", lambda _: 1, "allocation of a site"),
        ("allocations", lambda _: "2", "expected allocations"),
        ("allocations", lambda _: -1, "expected allocations"),
        ("reuse", lambda _: "other", "published or stack"),
        ("self_probability", lambda _: 1.5, "self_probability"),
        ("self_probability", lambda _: float("nan"), "self_probability"),
        ("self_probability", lambda _: None, "self_probability"),
        ("site_op", first(OpClass.SHUFFLE), "load, store, or wait"),
        ("site_op", lambda c: c[1:], "site_"),
        ("site_pc", first(-1), "pc of a site"),
        ("site_past_l1", first(2), "past_l1"),
        ("site_whole", first(1), "stores alone"),
        ("site_sectors", first(16), "sectors of a site"),
        ("site_sectors", first(0), "a sector"),
        ("site_base", first(LINE_MASK + 1), "base of a site"),
        ("path_entries", first(1 << 40), "length of a path"),
        ("path_entries", first(0), "as many entries"),
        ("path_entries", lambda c: c[:0], "at least one path"),
        ("path_warps", first(0), "warps of a path"),
        ("path_warps", first(1 << 31), "warps of a path"),
        ("path_warps", first((1 << 31) - 1), "warps of a path: expected a sum"),
        ("entry", first(6 << 5), "entry of a path"),
        ("entry", first(-1), "entry of a path"),
        ("inter_values", first(0), "as many values of inter"),
        ("inter_values", lambda c: c[1:], "6 histograms of inter"),
        ("intra_value", first(1 << 41), "intra out of range"),
        ("intra_value", first(LINE_MASK), "ascending values of intra"),
        ("intra_count", first(0), "counts of intra"),
        ("intra_count", first((1 << 31) - 1), "counts of intra: expected a sum"),
        ("reuse_value", first(-2), "reuse out of range"),
        ("reuse_value", first(MOST_DISTANCE + 1), "reuse out of range"),
        ("reuse_count", lambda c: c[1:], "a count for each"),
    ],
)
def test_what_is_damaged_is_refused(name, change, message):
    with pytest.raises(Malformed, match=message):
        GmapModel.of(*damaged(**{name: change}))


def test_a_column_that_is_missing_or_unknown_is_named():
    facts, columns = damaged()
    for changed in ({**columns, "more": columns["entry"]}, dict(list(columns.items())[1:])):
        with pytest.raises(Malformed, match=r"more|site_pc"):
            GmapModel.of(facts, changed)


@pytest.mark.long
def test_whatever_columns_hold_they_are_refused_or_can_be_drawn_from():
    random = np.random.default_rng(0)
    drawn = 0
    for _ in range(400):
        facts, columns = damaged()
        name = random.choice([name for name, column in columns.items() if len(column)])
        place = random.integers(len(columns[name]))
        columns[name][place] = random.choice([-1, 0, 1, 2, 5, 31, 1 << 20, (1 << 63) - 1])
        try:
            model = GmapModel.of(facts, columns)
        except Malformed:
            continue
        drawn += 1
        _, _, ctas = model.generate(launched(grid=(2, 1, 1)))
        assert len(list(ctas())) == 2
    assert 20 < drawn < 380


def test_a_damaged_file_is_one_line_with_its_place(tmp_path):
    path = tmp_path / "app.proxy"
    proxy_of(random_tuple(1)).save(path)
    data = bytearray(path.read_bytes())
    data[-5] ^= 16
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"app.proxy, byte \d+: checksum"):
        Proxy.load(path)
