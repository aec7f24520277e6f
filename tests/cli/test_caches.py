"""``lockstep caches``: tables of programs of all kinds, files, pictures, errors."""

import os
import signal
import subprocess
import sys

import pandas as pd
import pytest
from rich.console import Console

from cli.drivers import KERNELS, driver
from lockstep.cli.caches import SHOWN_TABLES, tables

SIZES = ["--l1", "8K:32K", "--ways", "1:4"]


def test_a_built_in_program(call, tmp_path):
    done = call("caches", "lu", "--size", 48, *SIZES, "-o", "t.csv")
    assert done.exit_code == 0, done.output
    told = done.stderr.splitlines()  # on a slow host that kernels are translated, too
    assert told[-1] == "t.csv: 9 configurations, 7 launches"
    assert [line for line in told[:-1] if not line.startswith("Translating kernels:")] == []
    lines = done.stdout.splitlines()
    assert lines[0] == "L1 read misses, %; lines of 128 B"
    assert lines[1].split() == ["size", "1", "ways", "2", "ways", "4", "ways"]
    assert [line.split()[0] for line in lines[2:5]] == ["8K", "16K", "32K"]
    assert lines[5:] == ["Results are right: a."]
    table = pd.read_csv(tmp_path / "t.csv")
    assert table["l1_ways"].tolist() == [1, 2, 4] * 3 and "l2_bytes" not in table
    shown = [f"{100 * rate:.2f}" for rate in table["l1_miss_rate"]]
    assert [cell for line in lines[2:5] for cell in line.split()[1:]] == shown


def test_an_l2_behind_each_l1_and_parquet(call, tmp_path):
    pytest.importorskip("pyarrow")
    arguments = ["--l1", "16K,32K", "--ways", 4, "--l2", "64K,128K", "--l2-ways", "4,8"]
    done = call("caches", "lu", "--size", 48, *arguments, "-o", "t.parquet", "-q")
    assert (done.exit_code, done.output) == (0, "")
    assert call("caches", "lu", "--size", 48, *arguments, "-o", "t.csv").exit_code == 0
    table, text = pd.read_parquet(tmp_path / "t.parquet"), pd.read_csv(tmp_path / "t.csv")
    assert len(table) == 8 and table["l2_line"].tolist() == [128] * 8
    pd.testing.assert_frame_equal(table, text, check_dtype=False)


def test_the_gpus_own_caches(call, tmp_path):
    done = call("caches", "lu", "--size", 32, "-o", "t.csv")
    assert done.exit_code == 0 and "L2 misses, %; lines of 128 B behind an L1 of" in done.stdout
    assert len(pd.read_csv(tmp_path / "t.csv")) == 1


def test_whole_lines_and_orders(call, tmp_path):
    rows = []
    for more in ([], ["--whole-lines"], ["--order", "gto"]):
        assert call("caches", "lu", "--size", 64, "-q", "-o", "t.csv", *more).exit_code == 0
        rows.append(pd.read_csv(tmp_path / "t.csv").iloc[0])
    assert [row["l1_sectored"] for row in rows] == [True, False, True]
    assert rows[1]["l1_reads"] < rows[0]["l1_reads"] == rows[2]["l1_reads"]


def test_a_trace_and_recorded_calls(call, tmp_path):
    assert call("trace", "lu", "--size", 48, "-o", "lu.lst", "-q").exit_code == 0
    done = call("caches", "lu.lst", *SIZES, "-o", "a.csv")
    assert done.exit_code == 0 and "GPU: QV100 (the trace was recorded on it" in done.stderr
    assert call("caches", "lu", "--size", 48, *SIZES, "-q", "-o", "b.csv").exit_code == 0
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["absent.lst"], "absent.lst: no such file"),
        (["lu", "--l1", "16K:8K"], "'16K:8K' ends below where it begins"),
        (["lu", "--l1", "16Q"], "'16Q' is no amount of memory"),
        (["lu", "--l1", "16K:"], "'' is no amount of memory"),
        (["lu", "--l1", ""], "'' is no amount of memory"),
        (["lu", "--ways", "0"], "0 is not in the range x>=1"),
        (["lu", "--ways", "four"], "'four' is not a valid integer range"),
        (["lu", "--l1", "1000", "--ways", "4"], "no cache of 1000 bytes has 4 ways"),
        (["lu", "--l1", "16K", "--ways", "4", "--line", "256"], "lines have 32, 64, 128 bytes"),
        (["lu", "--l1", "1TB", "--ways", "1"], "at most 4194304 sets"),
        (["lu", "--l2", "1M"], "no cache of 1048576 bytes has 24 ways"),
        (["lu", "-o", "t.txt"], "t.txt: names no kind of table; expected .parquet or .csv"),
        (["lu", "-o", "x/t.csv"], "cannot write"),
        (["lu", "--plot", "x/t.png"], "cannot write"),
        (["lu", "--ptx"], "--ptx is for CUDA programs"),
        (["lu", "--order", "fifo"], "'fifo' is not one of 'lrr', 'gto'"),
        (["no_such_program"], "no_such_program"),
        (["calls"], "recorded calls need --gpu"),
        (["gemm_tiled", "--set", "sm.warps=4"], "one CTA needs"),
    ],
)
def test_what_cannot_be_looked_at(call, tmp_path, arguments, words):
    (tmp_path / "calls").mkdir()
    (tmp_path / "calls" / "calls.lcr").write_bytes(b"x")
    (tmp_path / "x").write_text("no folder")
    done = call("caches", *arguments)
    (line,) = done.stderr.splitlines()
    assert (done.exit_code, words in line) == (2, True), line


def test_a_missing_folder_is_made(call, tmp_path):
    done = call("caches", "lu", "--size", 32, "-q", "-o", "new/folder/t.csv")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "new" / "folder" / "t.csv").is_file()


def test_what_cannot_be_built_is_said(call):
    arguments = ["lu", "--size", 32, "--l1", "8K:32K", "--ways", "3,4"]
    done = call("caches", *arguments)
    assert done.exit_code == 0 and done.stderr.splitlines() == [
        "lockstep: L1s left out: 3 of 6: no cache of 8192 bytes has 3 ways with lines of 128 bytes:"
        " it is no multiple of ways times line",
        "3 configurations, 4 launches",
    ]
    assert call("caches", *arguments, "-q").stderr == ""
    done = call("caches", "lu", "--size", 32, "--l2", "1M,3M")
    assert "lockstep: L2s left out: 1 of 2: no cache of 1048576 bytes has 24" in done.stderr


def test_ways_that_nobody_asked_for_are_said_to_be_those_of_the_gpu(call):
    for arguments, option in ((["--l1", "16K"], "--ways"), (["--l2", "1M"], "--l2-ways")):
        done = call("caches", "lu", "--size", 32, *arguments)
        assert done.exit_code == 2
        assert f"these ways are the GPU's: {option} says others" in done.stderr
        assert "these ways" not in call("caches", "lu", *arguments, option, "7").stderr


def test_a_picture(call, tmp_path):
    pytest.importorskip("matplotlib")
    done = call("caches", "lu", "--size", 32, *SIZES, "--plot", "p.png", "-q")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"
    before = (tmp_path / "p.png").read_bytes()
    more = ["--l2-ways", "12,24", "--plot", "p.png", "-q"]
    assert call("caches", "lu", "--size", 32, *SIZES, *more).exit_code == 0
    assert (tmp_path / "p.png").read_bytes() != before


def test_a_grid_that_is_executed_at_issue(call):
    """A device executes it without time; its accesses are as they come."""
    done = call("caches", "grid_barrier", *SIZES)
    assert done.exit_code == 0, done.output
    assert done.stderr.splitlines()[-1] == "9 configurations, 1 launches"


def a_table(ways):
    columns = ["l1_line", "l1_bytes", "l1_ways", "l1_miss_rate"]
    return pd.DataFrame([(128, n << 10, w, 1 / w) for n in (8, 16) for w in ways], columns=columns)


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_no_number_is_cut(width):
    ways = [1 << k for k in range(15)]
    ((title, parts),) = tables(a_table(ways), width)
    assert title == "L1 read misses, %; lines of 128 B"
    console, found = Console(width=width), []
    for part in parts:
        with console.capture() as capture:
            console.print(part)
        lines = capture.get().splitlines()
        assert len(lines) == 3 and max(map(len, lines)) <= width
        assert [line.split()[0] for line in lines] == ["size", "8K", "16K"]
        found += lines[1].split()[1:]
    assert found == [f"{100 / way:.2f}" for way in ways]


def test_so_many_tables_are_shown(call):
    more = ["--l2", "3M", "-o", "t.csv"]
    done = call("caches", "lu", "--size", 32, *SIZES, *more[:2])
    assert done.stderr.splitlines()[0] == "4 more tables: -o FILE writes all"
    assert done.stdout.count("misses, %") == SHOWN_TABLES
    assert "more tables" not in call("caches", "lu", "--size", 32, *SIZES, *more).stderr


def test_what_was_launched_before_a_failure_is_written(call, tmp_path, monkeypatch):
    from lockstep import kernels
    from lockstep.errors import LockstepError

    def run(device, size, seed):
        device.load_ptx(KERNELS)["count"][1, 32](5)
        raise LockstepError("it fails")

    class Program:
        pass

    Program.run = staticmethod(run)
    monkeypatch.setattr(kernels, "load", lambda name: Program)
    done = call("caches", "lu", "-o", "t.csv")
    assert done.exit_code == 2 and done.stderr.splitlines()[-1] == "lockstep: it fails"
    assert "t.csv: 1 configurations, 1 launches" in done.stderr
    assert len(pd.read_csv(tmp_path / "t.csv")) == 1


def test_an_executable_and_its_calls_have_one_table(call, compiler, tmp_path, capfd):
    text = driver("launch(3); launch(4); cu.cuCtxSynchronize(); print('hi'); sys.exit(5)")
    done = call("caches", "--gpu", "A100", "-o", "a.csv", sys.executable, "-c", text)
    assert done.exit_code == 5, done.output
    assert capfd.readouterr().out == "hi\n" and done.stdout == ""
    assert "a.csv: 1 configurations, 2 launches" in done.stderr
    text = text.replace("; sys.exit(5)", "")
    run = ["run", "--timing", "none", "--gpu", "A100", "--record", "calls", sys.executable]
    assert call(*run, "-c", text).exit_code == 0
    done = call("caches", "calls", "--gpu", "A100", "-o", "b.csv")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    done = call("caches", "--gpu", "A100", "-q", sys.executable, "-c", "raise SystemExit(7)")
    assert (done.exit_code, done.stderr) == (7, "")


@pytest.mark.long
def test_a_signal_leaves_what_was_launched_before_it(compiler, tmp_path):
    text = driver("launch(3); cu.cuCtxSynchronize(); print('go', flush=True); time.sleep(60)")
    command = [sys.executable, "-m", "lockstep", "caches", "--gpu", "A100", "-o", "t.csv"]
    task = subprocess.Popen(
        [*command, sys.executable, "-c", text],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )
    assert task.stdout.readline() == "go\n"
    task.send_signal(signal.SIGINT)
    _, errors = task.communicate(timeout=60)
    assert task.returncode == 130, errors
    assert "t.csv: 1 configurations, 1 launches" in errors
    assert len(pd.read_csv(tmp_path / "t.csv")) == 1


def test_replacement_and_prefetcher_are_those_of_the_gpu(call, tmp_path):
    changes = ["--set", "l1.replacement=fifo", "--set", "l1.prefetcher=stride"]
    changes += ["--set", "l1.prefetch_degree=2", "--set", "l2.replacement=nru"]
    options = ["lu", "--size", 32, "--l1", "8K", "--ways", 4, "--l2", "768K", "--quiet"]
    decided = ["l1_replacement", "l1_prefetcher", "l2_replacement", "l2_prefetcher"]
    path = tmp_path / "t.csv"
    assert not call("caches", *options, *changes, "-o", path).exit_code
    table = pd.read_csv(path)
    assert table[decided].to_numpy().tolist() == [["fifo", "stride", "nru", "none"]]
    assert table["l1_degree"].tolist() == [2]
    said = ["--replacement", "lru", "--prefetcher", "none", "--l2-replacement", "random"]
    assert not call("caches", *options, *changes, *said, "-o", path).exit_code
    assert pd.read_csv(path)[decided].to_numpy().tolist() == [["lru", "none", "random", "none"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prefetch-degree", 2], "--prefetch-degree is of a prefetcher, and there is none"),
        (["--l2-prefetch-window", 8], "and there is none: --l2-prefetcher"),
        (["--l2", "3M", "--dram-gap", 5], "requests by the clock: --dram-outstanding 0"),
    ],
)
def test_what_would_be_of_no_effect_is_refused(call, options, message):
    done = call("caches", "lu", "--size", 32, *options)
    assert done.exit_code == 2 and message in done.stderr


def test_prefetchers_of_both_levels(call, tmp_path):
    options = ["--l1", "8K", "--ways", 4, "--prefetcher", "stride", "--prefetch-degree", "1:4"]
    options += ["--l2", "64K", "--l2-ways", 8, "--l2-prefetcher", "stream"]
    options += ["--l2-prefetch-degree", "2", "--l2-prefetch-window", "8,16"]
    done = call("caches", "lu", "--size", 48, *options, "-q", "-o", "t.csv")
    assert done.exit_code == 0, done.output
    table = pd.read_csv(tmp_path / "t.csv")
    assert table["l1_degree"].tolist() == [1, 1, 2, 2, 4, 4]
    assert table["l2_window"].tolist() == [8, 16] * 3
    assert set(table["l2_degree"]) == {2} and set(table["l2_prefetcher"]) == {"stream"}
    done = call("caches", "lu", "--l1", "8K", "--ways", 4, "--prefetch-degree", 32,
                "--prefetcher", "stride")  # fmt: skip
    assert done.exit_code == 2 and "asks for 1 to 16 lines" in done.stderr


def test_memories_behind_an_l2(call, tmp_path):
    options = ["--dram-channels", "4,8", "--dram-bus", 8, "--dram-order", "RoBaRaCoCh,ChRaBaRoCo"]
    done = call("caches", "lu", "--size", 48, *options, "-o", "t.csv")
    assert done.exit_code == 0, done.output
    assert "DRAM behind an L1 of" in done.stdout
    table = pd.read_csv(tmp_path / "t.csv")
    assert table["dram_channels"].tolist() == [4, 4, 8, 8]
    assert table["dram_order"].tolist() == ["RoBaRaCoCh", "ChRaBaRoCo"] * 2
    assert (table["dram_reads"] > 0).all()
    done = call("caches", "lu", "--dram-order", "RoCo")
    assert done.exit_code == 2 and "'RoCo' is no order of addresses" in done.stderr
