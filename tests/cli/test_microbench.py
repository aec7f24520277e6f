import csv

from click.testing import CliRunner

from lockstep.cli.main import main


def run(*arguments):
    return CliRunner().invoke(main, ["microbench", *arguments])


def test_what_there_is_is_listed():
    result = run("--list", "--only", "shared")
    assert result.exit_code == 0
    assert "lat.lds32" in result.stdout
    assert "lat.chase_ca" not in result.stdout


def test_a_simulator_may_run_all_rows_of_hardware():
    small, full = (run("--list", "--only", "thr.ffma", *more).stdout for more in ((), ("--full",)))
    assert [text.split()[-7] for text in (small, full)] == ["5", "11"]


def test_rows_are_shown_and_written(tmp_path):
    file = tmp_path / "rows.csv"
    result = run("--only", "lat.lds64", "-o", str(file))
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(file.open()))
    assert [r["name"] for r in rows] == ["lat.lds64"] * 4
    assert all(r["unit"] == "cycles" and float(r["value"]) > 20 for r in rows)
    assert "stride_bytes=128" in result.stdout


def test_rows_stand_beside_measured_ones():
    result = run("--only", "lat.lds32", "--against", "h100-sxm")
    assert result.exit_code == 0, result.output
    assert "within 5 %" in result.stdout
    assert "measured rows left out: not run" in result.stdout


def test_an_unknown_benchmark_is_refused():
    result = run("--only", "lat.nothing")
    assert result.exit_code == 2
    assert "no benchmark lat.nothing" in result.output


def test_a_machine_with_a_gpu_gets_full_sizes_of_its_sms(tmp_path):
    folder = tmp_path / "out"
    result = run("--export", str(folder), "--gpu", "A100", "--set", "sm.count=46")
    assert result.exit_code == 0, result.output
    assert (folder / "plan.txt").read_text().startswith("target 46 80 ")
    assert "wgmma" not in (folder / "plan.txt").read_text()


def test_raw_results_become_rows(tmp_path):
    file = tmp_path / "raw.txt"
    file.write_text("target\t132 90 52428800\nlat.iadd3|warps=1 ilp=1\t0 1 0 264 0 2376\n")
    result = run("--raw", str(file), "-o", str(tmp_path / "rows.csv"))
    assert result.exit_code == 0, result.output
    assert "lat.iadd3,warps=1 ilp=1,4.125,cycles" in (tmp_path / "rows.csv").read_text()
