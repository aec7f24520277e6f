"""Systems on the command line: what is listed, and programs on several GPUs."""

import json
import shutil
import sys

import pytest

from lockstep.gpus import systems

COUNT = """
import ctypes
rt = ctypes.CDLL("libcudart.so.13")
count, x, y = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
assert rt.cudaGetDeviceCount(ctypes.byref(count)) == 0
assert rt.cudaMalloc(ctypes.byref(x), ctypes.c_size_t(1024)) == 0
assert rt.cudaSetDevice(count.value - 1) == 0
assert rt.cudaMalloc(ctypes.byref(y), ctypes.c_size_t(1024)) == 0
assert rt.cudaMemcpyPeer(y, count.value - 1, x, 0, ctypes.c_size_t(1024)) == 0
print(count.value)
"""


@pytest.fixture
def program():
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("needs a C compiler, and there is none")
    return [sys.executable, "-c", COUNT]


def test_systems_are_listed_and_described(call):
    listed = call("systems").stdout
    assert [line.partition(":")[0] for line in listed.splitlines()] == systems.names()
    shown = call("systems", "dgx_h100").stdout.splitlines()
    place = shown.index("fabric.links_per_gpu = 18")
    assert "eighteen links" in shown[place + 1]
    wrong = call("systems", "DGX_X")
    assert wrong.exit_code == 2 and "known: A100_PCIE" in wrong.stderr


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["--system", "DGX_1V", "--gpus", "3"], 3),
        (["--system", "DGX_1V"], 8),
        (["--gpus", "2"], 2),
        (["--gpu", "QV100", "--gpus", "5"], 5),
        ([], 1),
    ],
)
def test_a_program_has_so_many_devices(call, program, capfd, options, count):
    done = call("run", "--timing", "none", "--quiet", *options, *program)
    assert done.exit_code == 0 and capfd.readouterr().out == f"{count}\n"


def test_files_of_a_run(call, program, tmp_path, capfd):
    small = ("--set", "sm.count=4", "--set", "dram.channels=2")
    files = ("--json", str(tmp_path / "a.json"), "--timeline", str(tmp_path / "t.json"))
    files += ("--report", str(tmp_path / "r.html"))
    done = call("run", "--system", "DGX_1V", "--gpus", "2", *small, *files, *program)
    assert done.exit_code == 0, done.stderr
    assert "GPU 0 > host" in done.stderr and "between devices (1.0 KB)" in done.stderr
    document = json.loads((tmp_path / "a.json").read_text())
    (copy,) = document["peer_copies"]
    assert (document["system"], len(document["gpus"])) == ("DGX_1V", 2)
    assert (copy["source"], copy["to"], copy["bytes"], copy["staged"]) == (0, 1, 1024, True)
    used = [link["link"] for link in document["links"] if link["bytes"]]
    assert used == ["GPU 0 > host", "host > GPU 1"]
    assert "on DGX_1V" in (tmp_path / "r.html").read_text()
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert {"host", "links"} < names and any(name.startswith("GPU 1: QV100") for name in names)
    tracks = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert {"GPU 0 > host", "host > GPU 1", "copies 0 > 1, stream 0"} < tracks


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--system", "DGX_1V", "--gpu", "H100"], "--system has its GPUs"),
        (["--gpus", "17"], "17 GPUs: expected 1 to 16"),
        (["--gpus", "0"], "--gpus"),
        (["--system", "DGX_1V", "--gpus", "9"], "9 GPUs of DGX_1V: it has 8"),
        (["--system", "DGX_1V", "--out", "tables"], "--out is for one GPU"),
        (["--gpus", "2", "--source"], "--source is for one GPU"),
        (["--gpus", "2", "--advice"], "--advice is for one GPU"),
        (["--gpus", "2", "--checkpoint-dir", "d"], "--checkpoint-dir is for one GPU"),
        (["--gpus", "2", "--timing", "sample:2"], "need --timing full or none"),
    ],
)
def test_what_does_not_go_together(call, program, options, message):
    done = call("run", *options, *program)
    assert done.exit_code == 2 and message in done.stderr


def test_only_cuda_programs_choose_among_gpus(call):
    done = call("run", "vecadd", "--gpus", "2")
    assert done.exit_code == 2 and "lockstep.System" in done.stderr
