"""From rows to a GPU: what is inferred, what is inherited, what facts do; and the file of it."""

import tomllib
from pathlib import Path

import pytest

from lockstep.gpus import fields, library
from lockstep.tuning.document import to_toml
from lockstep.tuning.facts import read_facts
from lockstep.tuning.inferences import INFERENCES
from lockstep.tuning.rows import Row, Rows, read_rows
from lockstep.tuning.tuner import infer, quote

LATENCY = Row("lat.lds32", "stride_bytes=4 conflict=1", 30.99, "cycles", line=2)
WAYS = Row("lat.lds32", "stride_bytes=128 conflict=32", 124.0, "cycles", line=3)


@pytest.fixture(scope="module")
def shipped(repository):
    return read_rows(repository / "src/lockstep/microbench/data/h100-sxm.csv.xz")


def rows(*some):
    return Rows(Path("r.csv"), some)


def test_inferences_name_parameters_of_a_gpu_once():
    names = [inference.parameter for inference in INFERENCES]
    assert len(set(names)) == len(names)
    known = fields.flatten(library.gpu("H100_SXM"))
    for name in names:
        assert fields.parameter(name, known)


def test_rows_become_parameters_and_the_rest_is_the_bases():
    tuned = infer(rows(LATENCY, WAYS), library.loaded("QV100"))
    assert set(tuned.found) == {"shared.latency", "shared.pass_latency"}
    gpu = tuned.gpu("mine")
    assert (gpu.shared.latency, gpu.shared.pass_latency) == (31, 3)
    assert gpu.l1 == library.gpu("QV100").l1
    assert tuned.absent["l1.latency"].startswith("fewer than two rows lat.chase_ca")
    assert len(tuned.found) + len(tuned.absent) == len(INFERENCES)


def test_the_file_is_a_gpu_and_names_the_rows(tmp_path):
    tuned = infer(rows(LATENCY, WAYS), library.loaded("QV100"))
    path = tmp_path / "MINE.toml"
    path.write_text(to_toml(tuned, "lockstep tune r.csv"))
    loaded = library.loaded(path)
    assert library.replace(loaded.gpu, name="mine") == library.replace(
        tuned.gpu("mine"), validated=()
    )
    assert loaded.sources["shared.latency"] == (
        "lat.lds32: 30.99 cycles (stride_bytes=4 conflict=1)"
    )
    assert loaded.sources["l1.latency"].startswith("as QV100: ")
    assert "# l1.latency: fewer than two rows" in path.read_text()
    assert set(tomllib.loads(path.read_text())) == {"base", "shared"}


def test_a_text_of_any_kind_is_written_as_toml(tmp_path):
    odd = Row("lat.lds32", 'conflict=1 "\\ \x7f é', 23.0, "cycles", line=2)
    tuned = infer(rows(odd), library.loaded("QV100"))
    path = tmp_path / "MINE.toml"
    path.write_text(to_toml(tuned, "x"), encoding="utf-8")
    assert library.loaded(path).sources["shared.latency"] == quote([odd])


def test_facts_stand_in_the_place_of_rows(tmp_path):
    path = tmp_path / "facts.toml"
    path.write_text('base = "V100"\n[shared]\nlatency = [40, "a book"]\n[sm]\nctas = [8, "b"]\n')
    facts = read_facts(path, {})
    tuned = infer(rows(LATENCY, WAYS), library.loaded("QV100"), facts)
    assert tuned.gpu("mine").shared.latency == 40
    assert tuned.gpu("mine").sm.ctas == 8
    assert tuned.sources["shared.latency"] == "a book"
    assert "shared.latency" not in tuned.found


@pytest.mark.parametrize(
    "base", [name for name in library.names() if library.gpu(name).core == "sm"]
)
def test_every_base_takes_the_shipped_rows(shipped, base, tmp_path):
    tuned = infer(shipped, library.loaded(base))
    path = tmp_path / "MINE.toml"
    path.write_text(to_toml(tuned, "lockstep tune h100-sxm"), encoding="utf-8")
    assert library.loaded(path).gpu.clock_mhz == 1980
    assert len(tuned.found) > 40
    assert len({*tuned.found, *tuned.statistics, *tuned.absent}) == len(INFERENCES)


def test_what_cannot_be_beside_the_bases_is_the_bases(shipped):
    base = library.loaded("A100")
    tuned = infer(shipped, base)
    assert tuned.parameters["shared.bytes"] == base.gpu.shared.bytes
    assert "shared.bytes" not in tuned.sources
    assert tuned.absent["shared.bytes"].startswith("device.sms: smem/SM 233472: shared.bytes = ")
    assert "lat.cs2r" in tuned.absent["sm.units.special_move.operations.SPECIAL_MOVE"]


def test_a_unit_of_facts_gets_its_lanes_from_rows(shipped, tmp_path):
    path = tmp_path / "facts.toml"
    path.write_text('[sm.units.special_move]\ncount = [1, "a"]\nscope = ["subcore", "a"]\n')
    tuned = infer(shipped, library.loaded("A100"), read_facts(path, {}))
    unit = next(u for u in tuned.gpu("mine").sm.units if u.name == "special_move")
    assert (unit.lanes, unit.operations) == (8, {"SPECIAL_MOVE": 6})


def test_a_reading_outside_its_range_is_the_bases():
    huge = Row("lat.lds32", "conflict=1", 1e9, "cycles", line=2)
    tuned = infer(rows(huge), library.loaded("QV100"))
    assert "expected an integer from 2 to 4096" in tuned.absent["shared.latency"]
    assert tuned.gpu("mine").shared.latency == library.gpu("QV100").shared.latency
