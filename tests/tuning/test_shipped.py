"""``H100_SXM`` is what the tuner makes of an H100's rows and of the facts beside it."""

import pytest

from lockstep.gpus import fields, library
from lockstep.tuning import infer, read_rows
from lockstep.tuning.base import base_of
from lockstep.tuning.document import to_toml
from lockstep.tuning.facts import read_facts
from lockstep.tuning.fit import fit

ROWS = "src/lockstep/microbench/data/h100-sxm.csv.xz"
FACTS = "src/lockstep/tuning/data/h100-sxm.toml"
SHIPPED = "src/lockstep/gpus/H100_SXM.toml"
COMMAND = "lockstep tune h100-sxm --facts h100-sxm.toml --rounds 0"


@pytest.fixture(scope="module")
def tuned(repository):
    rows = read_rows(repository / ROWS)
    facts = read_facts(repository / FACTS, fields.flatten(library.gpu("H100_SXM")))
    made = infer(rows, base_of(None, rows, facts), facts)
    fit(made, rows, None, rounds=0)
    return made


def test_the_shipped_file_is_the_tuners(repository, tuned):
    """If not: change the facts or the inferences, and make the file as docs/tune.md says."""
    assert (repository / SHIPPED).read_text(encoding="utf-8") == to_toml(tuned, COMMAND)


def test_most_of_what_it_says_comes_from_rows(tuned):
    assert len(tuned.found) > 60
    assert not set(tuned.found) & set(tuned.facts.values)


def test_no_fact_says_what_rows_say_themselves(tuned, repository):
    """A fact in the place of a direct reading has to differ, or it would be none."""
    rows = read_rows(repository / ROWS)
    for path, value in tuned.facts.values.items():
        less = {p: v for p, v in tuned.facts.values.items() if p != path}
        alone = infer(rows, tuned.base, tuned.facts._replace(values=less))
        found = alone.found.get(path)
        assert found is None or found.value != value, path
