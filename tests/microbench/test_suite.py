"""The declarations fit each other, the kernels, and the measured table that ships."""

import re
from collections import Counter

import pytest

from lockstep.api import gpu as find_gpu
from lockstep.microbench import against, code
from lockstep.microbench.benchmark import ARCHITECTURES, Launch, Target
from lockstep.microbench.suite import all_benchmarks
from lockstep.microbench.suite.direct import DIRECT
from lockstep.microbench.suite.kinds import ACCELSIM

SMALL, FULL = Target(132, 90), Target(132, 90, full=True)


@pytest.mark.parametrize("target", [SMALL, FULL], ids=["small", "full"])
def test_no_row_is_declared_twice(target):
    rows = [(r.name, r.parameters) for b in all_benchmarks(target) for c in b.cases for r in c.rows]
    assert [row for row, count in Counter(rows).items() if count > 1] == []
    names = [b.name for b in all_benchmarks(target)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_kernel_that_is_launched_is_there(architecture):
    target = Target(132, architecture, full=True)
    for benchmark in all_benchmarks(target):
        if not benchmark.runs_on(target):
            continue
        for case in benchmark.cases:
            for launch in (*case.warm, *case.launches):
                if isinstance(launch, Launch):
                    file, _, kernel = launch.kernel.partition(".")
                    assert f".text.{kernel}\0".encode() in code.cubin(architecture, file), launch


def test_every_buffer_that_is_named_is_there():
    for benchmark in all_benchmarks(FULL):
        for case in benchmark.cases:
            buffers = {b.name for b in case.buffers}
            launches = [s for s in (*case.warm, *case.launches) if isinstance(s, Launch)]
            named = {a.value for s in launches for a in s.arguments if a.kind == "buffer"}
            assert named <= buffers, case.key
            assert len(buffers) == len(case.buffers), case.key


def test_keys_are_one_line():
    for benchmark in all_benchmarks(FULL):
        for case in benchmark.cases:
            assert re.fullmatch(r"[^\t\n]+", case.key)


def test_the_full_suite_has_the_rows_that_were_measured():
    ours = {r.key for r in against.reference("h100-sxm")}
    declared = {
        (r.name, r.parameters) for b in all_benchmarks(FULL) for c in b.cases for r in c.rows
    }
    names = {name for name, _ in declared}
    missing = [
        (name, parameters)
        for name, parameters in ours
        if name in names and (name, re.sub(r"sm=\d+", "sm={sm}", parameters)) not in declared
    ]
    assert missing == []


def test_a_simulator_runs_rows_that_were_measured():
    measured = {r.key for r in against.reference("h100-sxm")}
    rows = [(r.name, r.parameters) for b in all_benchmarks(SMALL) for c in b.cases for r in c.rows]
    assert sum(row in measured for row in rows) > 0.8 * len(rows)


def test_no_path_of_a_machine_is_in_the_code():
    for file in code.package().joinpath("cubins").iterdir():
        name, architecture = file.name.removesuffix(code.SUFFIX).split(".sm_")
        assert not re.search(rb"/(work|home|tmp|usr)/", code.cubin(int(architecture), name))


def test_there_are_benchmarks_of_all_kinds_of_accel_sim():
    names = {name for b in all_benchmarks(FULL) for name in b.names}
    assert len(ACCELSIM) >= 38
    assert {name for ours in ACCELSIM.values() for name in ours} <= names
    assert len(all_benchmarks(FULL)) >= 60
    assert len(names) >= 271


def test_direct_parameters_are_of_a_gpu_and_their_benchmarks_run_in_a_simulator():
    gpu = find_gpu("H100_SXM")
    ours = {b.name: b for b in all_benchmarks(SMALL)}
    for name, parameters in DIRECT.items():
        assert not ours[name].hardware_only
        for path in parameters:
            value = gpu
            for part in path.split("."):
                units = isinstance(value, tuple)
                value = next(u for u in value if u.name == part) if units else getattr(value, part)


def test_every_benchmark_says_what_it_is():
    for benchmark in all_benchmarks(FULL):
        assert benchmark.what
        assert benchmark.loop or benchmark.name == "device.sms", benchmark.name
