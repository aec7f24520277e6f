import gzip
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import lockstep

QV100 = ("--gpu", "QV100")


def test_the_summary_goes_to_stdout_and_the_rest_to_stderr(call, trace, engine):
    done = call("simulate", trace)
    assert done.exit_code == 0
    assert "Speed of light" in done.stdout and "QV100" in done.stdout
    assert done.stderr.splitlines()[0] == (
        "GPU: QV100 (the trace has binaries of version 70; --gpu chooses)"
    )
    assert "Compiling." in done.stderr


def test_an_empty_name_is_no_gpu(call, trace):
    done = call("simulate", trace, "--gpu", "")
    assert done.exit_code == 2
    assert done.stderr.startswith("lockstep: no GPU is named ''")


def test_the_gpu_is_that_of_the_recording(call, trace, engine, tmp_path):
    workload = lockstep.load(trace)
    workload.gpu = "RTX3070"
    lockstep.save(workload, tmp_path / "recorded.lst")
    done = call("simulate", tmp_path / "recorded.lst")
    assert engine.calls[-1][1].name == "RTX3070"
    assert done.stderr.splitlines()[0] == (
        "GPU: RTX3070 (the trace was recorded on it; --gpu chooses)"
    )


def test_quiet_prints_nothing(call, trace, engine):
    done = call("simulate", trace, "--quiet")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")


def test_options_reach_the_engine(call, trace, engine):
    options = ["--threads", "3", "--kernels", "1-2", "--limit-instructions", "500"]
    options += ["--limit-cycles", "600", "--interval", "70", "--set", "sm.count=40"]
    assert call("simulate", trace, *QV100, *options).exit_code == 0
    workload, gpu, given = engine.calls[0]
    assert [k.name for k in workload.kernels] == ["first", "second"]
    assert (gpu.name, gpu.sm.count) == ("QV100", 40)
    assert given == {
        "threads": 3,
        "kernels": {1, 2},
        "limit_instructions": 500,
        "limit_cycles": 600,
        "outside": None,
        "stop": None,
        "stop_interval": None,
        "first_cta": {},
        "interval": 70,
        "cta_events": False,
        "policies": {},
        "ranks": 1,
        "frozen": None,
        "warm": set(),
        "keep": None,
        "drive": None,
        "source": False,
    }


@pytest.mark.parametrize(("every", "seconds"), [("2m", 120.0), ("0.5s", 0.5), ("1h", 3600.0)])
def test_checkpoints_are_written_as_often_as_is_said(call, trace, engine, every, seconds):
    options = ["--checkpoint", f"every={every}", "--checkpoint-dir", "kept"]
    assert call("simulate", trace, *QV100, *options).exit_code == 0
    keep = engine.calls[0][2]["keep"]
    assert (str(keep.folder), keep.seconds) == ("kept", seconds)


def test_how_often_needs_where(call, trace):
    done = call("simulate", trace, *QV100, "--checkpoint", "every=60s")
    assert done.exit_code == 2
    assert "--checkpoint needs --checkpoint-dir: nothing is written without" in done.stderr


@pytest.mark.parametrize("option", ["--checkpoint-dir", "--resume"])
def test_a_plot_has_no_checkpoint(call, trace, option):
    done = call("simulate", trace, *QV100, "--plot", "ipc.svg", option, "kept")
    assert done.exit_code == 2
    assert f"--plot and {option}: what was drawn so far is in no checkpoint" in done.stderr


@pytest.mark.parametrize("every", ["60s", "every=60", "every=-1s", "every=1e3s", "every=s"])
def test_how_often_is_said_in_one_way(call, trace, every):
    done = call("simulate", trace, *QV100, "--checkpoint", every)
    assert done.exit_code == 2
    assert f"{every!r} says not how often; expected e.g. every=60s" in done.stderr


def test_a_run_goes_on_from_a_checkpoint_and_from_no_other(call, trace, tmp_path):
    command = ["simulate", trace, *QV100, "--quiet", "--json"]
    kept = ["--checkpoint", "every=0s", "--checkpoint-dir", "kept"]
    assert call(*command, "a.json", *kept).exit_code == 0
    assert call(*command, "b.json", "--resume", "kept", "--threads", "2").exit_code == 0
    a, b = (json.loads((tmp_path / f"{name}.json").read_text())["kernels"] for name in "ab")
    assert a == b
    done = call(*command, "c.json", "--resume", "kept", "--set", "sm.count=40")
    assert done.exit_code == 2
    assert "kept/checkpoint: the checkpoint is of another GPU: resume with" in done.stderr
    done = call(*command, "c.json", "--resume", "none")
    assert "cannot read the checkpoint: No such file" in done.stderr


def test_files_are_written(call, trace, engine, tmp_path):
    files = ["--json", "r.json", "--out", "out", "--timeline", "t.json.gz"]
    assert call("simulate", trace, *QV100, *files).exit_code == 0
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["gpu"] == "QV100"
    assert [k["id"] for k in document["kernels"]] == [1, 2]
    names = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert names == ["kernels.parquet", "manifest.json", "series.parquet", "summary.txt"]
    assert "Speed of light" in (tmp_path / "out" / "summary.txt").read_text()
    events = json.loads(gzip.decompress((tmp_path / "t.json.gz").read_bytes()))["traceEvents"]
    assert {"M", "X", "C"} == {e["ph"] for e in events}
    assert engine.calls[0][2]["cta_events"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "r.json", "t.json.gz"]


@pytest.mark.parametrize("option", ["--json", "--timeline"])
def test_standard_output_is_for_one_file_alone(trace, tmp_path, option):
    command = [sys.executable, "-m", "lockstep", "simulate", str(trace), *QV100, option, "-"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert "Speed of light" in done.stderr
    assert not list(tmp_path.iterdir())


def test_one_file_that_cannot_be_written_stops_no_other(call, trace, engine, tmp_path):
    files = ["--json", "/dev/full", "--out", "out", "--timeline", "/dev/full"]
    done = call("simulate", trace, *QV100, *files)
    assert done.exit_code == 2
    problem = "/dev/full: cannot write: No space left on device"
    assert done.stderr.splitlines()[-1] == f"lockstep: {problem}; {problem}"
    assert (tmp_path / "out" / "summary.txt").exists()
    assert "Speed of light" in done.stdout


def test_a_run_that_ended_early_writes_partial_results_and_exits_1(call, trace, engine, tmp_path):
    engine.changes = {"stopped": "cycle limit of 10 reached"}
    done = call("simulate", trace, "--quiet", "--json", "r.json")
    assert done.exit_code == 1
    assert done.stderr == "lockstep: ended early: cycle limit of 10 reached\n"
    assert json.loads((tmp_path / "r.json").read_text())["stopped"] == "cycle limit of 10 reached"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gpu", "QV1000"], "QV1000"),
        (["--set", "sm.cuont=4"], "sm.count"),
        (["--set", "sm.count=-4"], "sm.count"),
        (["--set", "sm.count"], "sm.count"),
        (["--kernels", "7"], "no kernel 7 in tiny; its kernels are 1 to 2"),
        (["--kernels", "1-99"], "no kernel 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ... in tiny"),
        (["--json", "directory"], "directory: cannot write"),
        (["--out", "file"], "file: cannot write"),
        (["--timeline", "file/t.json"], "cannot write"),
        (["--report", "file/r.html"], "cannot write"),
    ],
)
def test_bad_input_is_told_before_the_simulation(call, trace, engine, tmp_path, arguments, message):
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").write_text("")
    done = call("simulate", trace, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr.splitlines()[-1]
    assert not engine.calls


@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"\x89LST\r\n\x1a\n", b"\xfd7zXZ\0"])
@pytest.mark.parametrize("name", ["x.lst", "x.traceg", "x.traceg.xz", "kernelslist.g"])
def test_damaged_traces_are_one_line(call, engine, tmp_path, content, name):
    (tmp_path / name).write_bytes(content)
    done = call("simulate", name, "--gpu", "QV100")
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1 and name in done.stderr


def test_a_real_run_end_to_end(trace, tmp_path):
    """The command as users start it, with the engine, in a process of its own."""
    target = tmp_path / "r.json"
    command = [sys.executable, "-m", "lockstep", "simulate", str(trace), "--json", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Speed of light" in done.stdout
    document = json.loads(target.read_text())
    assert document["total"]["warp_instructions"] == 2 * 4 * 2 * 7
    assert document["total"]["thread_instructions"] == 32 * document["total"]["warp_instructions"]
    assert all(k["cycles"] > 0 for k in document["kernels"])


def test_ipc_over_time_is_drawn(call, repository, monkeypatch):
    pytest.importorskip("matplotlib")
    figures = []
    monkeypatch.setattr("lockstep.report.pictures.write_plot", lambda *given: figures.append(given))
    trace = repository / "examples" / "gemm.lst"
    done = call("simulate", trace, *QV100, "--json", "a.json", "--plot", "ipc.svg")
    assert done.exit_code == 0, done.output
    (kernel,) = json.loads(Path("a.json").read_text())["kernels"]
    ((figure, path),) = figures
    assert path.name == "ipc.svg" and kernel["complete"]
    (stairs,) = figure.axes[0].patches
    ipc, edges, _ = stairs.get_data()
    assert 0.99 * kernel["cycles"] < edges[-1] <= kernel["cycles"]
    assert (ipc * (edges[1:] - edges[:-1])).sum() == pytest.approx(kernel["warp_instructions"])


def test_no_plot_where_none_can_be_drawn(call, trace, engine):
    pytest.importorskip("matplotlib")
    done = call("simulate", trace, *QV100, "--plot", "ipc.pdf")
    assert done.exit_code == 2 and not engine.calls
    assert done.stderr == "lockstep: ipc.pdf: a picture's name ends in .png or .svg\n"
    done = call("simulate", trace, *QV100, "--plot", "ipc.svg", "--quiet")
    assert done.exit_code == 0
    assert done.stderr == "lockstep: ipc.svg was not drawn: no kernel ran for a bin of IPC\n"
    assert engine.calls[0][2]["stop_interval"] == 50


def test_progress_is_shown_on_a_terminal_only(trace, tmp_path):
    """A pseudo-terminal on stderr; the fake engine of the other tests reports progress."""
    code = (
        "import sys, time; from lockstep.cli.progress import Progress\n"
        "with Progress() as p:\n    p.update(1, 4, 100, 1000, 'k'); p.update(2, 4, 100, 1000, 'k')"
    )
    leader, follower = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stderr=follower, check=True, timeout=60)
    os.close(follower)
    shown = os.read(leader, 65536).decode()
    os.close(leader)
    assert "25%" in shown and "50%" in shown and "left" in shown
