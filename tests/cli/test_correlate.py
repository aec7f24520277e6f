"""``lockstep correlate`` on results of runs, in each of their forms."""

import json

import pytest

from lockstep import correlation
from lockstep.gpus import spec
from lockstep.metrics import output
from lockstep.metrics.result import Result
from lockstep.report import pictures
from lockstep.workload import Workload

HARDWARE = """\
program,kernel,size,cycles,dram__sectors_read.sum
made,kernel_1,s,10000,100
made,kernel_2,s,12000,100
made,kernel_1,l,99999,100
"""


@pytest.fixture
def result(synthetic) -> Result:
    return Result(synthetic.make_run(), synthetic.small_gpu(), Workload("made", []))


@pytest.fixture
def hardware(tmp_path):
    path = tmp_path / "hardware.csv"
    path.write_text(HARDWARE)
    return path


def test_all_forms_of_a_result_are_the_same_numbers(call, hardware, result, tmp_path, monkeypatch):
    result.to_json("made.json")
    result.save("parquet")
    monkeypatch.setattr(output, "has_parquet", lambda: False)
    result.save("csv")
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    expected = correlation.correlate(hardware, result, where={"size": "s"}).to_dict()
    assert expected["coverage"]["compared"] == 2
    for source in ("made.json", "parquet", "csv", "made=parquet"):
        done = call("correlate", hardware, source, "--where", "size=s", "--json", "c.json")
        assert done.exit_code == 0, done.output
        document = json.loads((tmp_path / "c.json").read_text())
        assert document["statistics"]["gpc__cycles_elapsed.max"] == pytest.approx(
            expected["statistics"]["gpc__cycles_elapsed.max"]
        )
        assert len(document["rows"]) == 2


def test_tables_go_to_the_terminal_and_remarks_to_stderr(call, hardware, result):
    result.to_json("made.json")
    done = call("correlate", hardware, "made.json", "--where", "size=l", "--top", 1)
    assert done.exit_code == 0
    assert "1 of 1 measured launch compared" in done.stdout
    assert "Worst rows by gpc__cycles_elapsed.max" in done.stdout
    assert done.stderr == "lockstep: made: only simulated: kernel_2 (1)\n"


def test_rows_of_a_program(call, hardware, result):
    result.to_json("made.json")
    options = ("--where", "size=s", "--group-by", "program", "--metric", "dram*")
    done = call("correlate", hardware, "made.json", *options)
    assert "2 of 2 measured launches compared" in done.stdout
    assert "1 row by program" in done.stdout
    assert "2 launches" in done.stdout
    assert "gpc__" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "measured several times, with another size (l, s): --where size=l"),
        (("--where", "size"), "expected COLUMN=VALUE"),
        (("--where", "pass=A"), "has no column pass"),
        (("--where", "size=s", "--metric", "cycle"), "no counter that both sides have"),
        (("--where", "size=s", "--min-cycles", "1e9"), "no row is left to compare"),
        (("--where", "size=s", "--plots", "made.json"), "cannot write: is a file"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(call, hardware, result, arguments, problem):
    result.to_json("made.json")
    done = call("correlate", hardware, "made.json", *arguments)
    assert done.exit_code == 2
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_run_without_times_is_refused(call, hardware):
    spec_of_none = {"gpu": spec.GPU.__name__, "kernels": [{"name": "k", "launches": 2}]}
    output.write_json("none.json", spec_of_none)
    done = call("correlate", hardware, "none.json")
    assert done.exit_code == 2
    assert "no result with times" in done.stderr


def test_a_page_with_plots(call, hardware, result, tmp_path):
    pytest.importorskip("matplotlib")
    result.to_json("made.json")
    options = ("--where", "size=s", "--metric", "cycles", "--html", "page.html")
    assert call("correlate", hardware, "made.json", *options).exit_code == 0
    assert (tmp_path / "page.html").read_text().count("<svg") == 2


def test_without_matplotlib_nothing_is_read_in_vain(call, hardware, monkeypatch):
    monkeypatch.setattr(pictures.importlib.util, "find_spec", lambda name: None)
    done = call("correlate", hardware, "absent.json", "--html", "page.html")
    assert done.exit_code == 2
    assert done.stderr == f"lockstep: {pictures.NO_MATPLOTLIB}\n"
