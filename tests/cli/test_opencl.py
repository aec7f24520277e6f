"""``lockstep opencl``."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from lockstep.cli.main import main

FOLDER = Path(__file__).parents[2] / "examples" / "southern-islands" / "kernels"
SCALE = str(FOLDER / "scale4.bin")
SIZES = ["--global", "64", "--local", "64"]
ARGUMENTS = ["--arg", "f4[64,4]", "--arg", "zeros:f4[64,4]", "--arg", "2.5"]


def run(*arguments):
    return CliRunner().invoke(main, ["opencl", *arguments])


def test_a_binary_says_what_its_kernels_take():
    result = run(str(FOLDER / "vector_add.bin"))
    wanted = "vector_add(global const float *a, global const float *b, global float *c, u32 n)\n"
    assert (result.exit_code, result.stdout) == (0, wanted)
    assert "write_only image out" in run(str(FOLDER / "image_copy.bin")).stdout


def test_an_array_is_printed_and_saved(tmp_path):
    values = np.random.default_rng(3).random((64, 4), dtype=np.float32)
    np.save(tmp_path / "in.npy", values)
    saved = tmp_path / "out.npy"
    result = run(SCALE, "scale4", *SIZES, "--arg", "factor=2.5", "--arg", f"in={tmp_path}/in.npy",
                 "--arg", "out=zeros:f4[64,4]", "--save", f"out={saved}")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert np.array_equal(np.load(saved), values * np.float32(2.5))
    printed = re.search(r"^out: float32\[64,4\] sha256 \w{16}: (\S+) ", result.stdout, re.MULTILINE)
    assert np.float32(printed[1]) == np.load(saved)[0, 0]
    assert "in: " not in result.stdout


def launch(kernel, *arguments):
    """A kernel of one work-group, whose first argument is called ``in``."""
    given = [text for argument in arguments for text in ("--arg", argument)]
    return run(str(FOLDER / f"{kernel}.bin"), kernel, *SIZES, *given)


def test_an_array_that_a_kernel_would_take_for_another_is_refused():
    result = launch("scan", "f8[64]", "zeros:f4[64]")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("lockstep: kernel scan, argument 0 (in): elements are of type ")


def test_a_seed_is_an_input_of_its_own():
    first, again, other = (
        run(SCALE, "scale4", *SIZES, *ARGUMENTS, "--seed", seed).stdout for seed in "112"
    )
    assert first == again != other


TRANSPOSE = [str(FOLDER / "transpose.bin"), "transpose", "--global", "64,64", "--local", "16,16",
             "--arg", "out=zeros:f4[64,64]", "--arg", "in=f4[64,64]", "--arg", "width=64",
             "--arg", "height=64"]  # fmt: skip


def test_a_trace_takes_the_cycles_of_the_launch(tmp_path):
    timed = run(*TRANSPOSE, "--timing", "--record", str(tmp_path / "t.lst"))
    assert timed.exit_code == 0, timed.output
    traced = CliRunner().invoke(main, ["simulate", str(tmp_path / "t.lst")])
    assert traced.exit_code == 0, traced.output
    assert traced.stdout.splitlines()[:2] == timed.stdout.splitlines()[:2]
    assert " wavefront instructions, " in timed.stdout and ", OPC " in timed.stdout
    assert "HD7770 was never compared with hardware measurements." in traced.stdout
    assert run(*TRANSPOSE, "-q", "--record", str(tmp_path / "u.lst")).stdout == ""
    assert (tmp_path / "u.lst").read_bytes() == (tmp_path / "t.lst").read_bytes()


def test_without_timing_a_table_has_the_words_of_opencl():
    head, row = run(*TRANSPOSE).stdout.splitlines()[:2]
    assert re.split(r"  +", head.strip())[:5] == [
        "kernel", "launches", "work-groups", "wavefront inst.", "work-item inst.",
    ]  # fmt: skip
    assert row.split()[:3] == ["transpose", "1", "16"]


def test_a_timeline_has_the_words_of_compute_units(tmp_path):
    path = tmp_path / "t.json.gz"
    assert run(*TRANSPOSE, "-q", "--timing", "--timeline", str(path)).exit_code == 0
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    names = {e["args"]["name"] for e in events if e["ph"] == "M" and "name" in e["args"]}
    assert {"CU 0", "work-group slot 0", "HD7770: transpose"} <= names


ADD = [str(FOLDER / "vector_add.bin"), "vector_add", "--global", "32768", "--local", "64",
       "--arg", "f4[32768]", "--arg", "f4[32768]", "--arg", "zeros:f4[32768]", "--arg", "32768",
       "--set", "sm.count=1", "--timing"]  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Cycles of all of a launch, and what is said of what it wrote."""
    path = tmp_path_factory.mktemp("whole") / "whole.json"
    said = run(*ADD, "--json", str(path)).stdout.splitlines()[-1]
    return json.loads(path.read_text())["kernels"][0]["cycles"], said


@pytest.mark.parametrize(
    ("rule", "error"),
    [("windows:speed_up=4", 0.05), ("photon:warps=64", 0.05), ("pkp:threshold=9,window=900", 0.6)],
)
def test_a_launch_that_runs_in_part_is_estimated_and_its_results_are_whole(
    tmp_path, whole, rule, error
):
    part = run(*ADD, "--inside", rule, "--json", str(tmp_path / "part.json"))
    assert part.exit_code == 0, part.output
    assert "Estimated from 1 of 1 launches, 1 of them in part" in part.stdout
    wanted, wrote = whole
    assert part.stdout.splitlines()[-1] == wrote
    found = json.loads((tmp_path / "part.json").read_text())
    assert found["kernels"][0]["cycles"] < wanted
    assert abs(found["estimate"]["cycles"]["estimated"] / wanted - 1) < error


def test_a_trace_has_one_format(tmp_path):
    result = run(*TRANSPOSE, "--record", str(tmp_path / "t"))
    assert result.exit_code == 2
    assert "expected FILE.lst; Accel-Sim's format has no wavefronts" in result.stderr


def test_quiet_prints_nothing():
    assert run(SCALE, "scale4", *SIZES, *ARGUMENTS, "-q").stdout == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["scale4", *ARGUMENTS], "--global and --local"),
        (["scale", *SIZES, *ARGUMENTS], "did you mean scale4"),
        (["scale4", *SIZES, *ARGUMENTS[:4]], "--arg is missing for factor"),
        (["scale4", *SIZES, *ARGUMENTS, "--arg", "1"], "scale4 takes in, out, factor"),
        (["scale4", *SIZES, *ARGUMENTS, "--arg", "in=1"], "in is given twice"),
        (["scale4", *SIZES, *ARGUMENTS[:4], "--arg", "x"], "factor: argument 'x'"),
        (["scale4", *SIZES, *ARGUMENTS[:4], "--arg", "local:x"], "expected bytes"),
        (["scale4", *SIZES, "--arg", "none.npy", *ARGUMENTS[2:]], "none.npy: cannot read"),
        (["scale4", *SIZES, *ARGUMENTS, "--save", "factor=f.npy"], "has the arrays in, out"),
        (["scale4", *SIZES, *ARGUMENTS, "--save", "out"], "expected NAME=FILE.npy"),
        (["scale4", *SIZES, *ARGUMENTS, "--out", "folder"], "need --timing"),
        (["scale4", *SIZES, *ARGUMENTS, "--inside", "pkp"], "--inside needs --timing"),
        (["scale4", *SIZES, *ARGUMENTS, "--timing", "--inside", "tbpoint"], "of a trace alone"),
    ],
)
def test_a_mistake_is_one_line(arguments, said):
    result = run(SCALE, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_what_is_no_binary_is_refused():
    result = run(str(FOLDER / "scale4.s"))
    assert result.exit_code == 2
    assert "scale4.s" in result.stderr and len(result.stderr.splitlines()) == 1
