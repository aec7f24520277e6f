"""The programs of the benchmarks compute what NumPy computes, in the launches they say."""

import sys
from pathlib import Path

import pytest

from lockstep import Device, gpu
from lockstep.kernels.definition import WrongResult

FOLDER = Path(__file__).parents[2] / "benchmarks"
LAUNCHES = {
    "gaussian": lambda n: 2 * (n - 1),
    "gramschmidt": lambda n: 3 * n,
    "fdtd2d": lambda n: 3 * 500,
    "decoder": lambda n: (12 * 10 + 3) * n,
    "perceptron": lambda n: 2,
    "diffusion": lambda n: 2 * 2,
    "tracking": lambda n: 1,
}


@pytest.fixture(scope="module")
def programs():
    sys.path.insert(0, str(FOLDER))
    try:
        import programs

        yield programs
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def truths(programs, load_script):
    return load_script(FOLDER / "sampling_truth.py")


@pytest.mark.long
@pytest.mark.parametrize("name", LAUNCHES)
def test_results_are_those_of_numpy(programs, name):
    program = programs.load(name)
    with Device(profile=True) as device:
        for check in program.run(device, program.small):
            check.verify()
        assert len(device.launches) == LAUNCHES[name](program.small)


@pytest.mark.long
@pytest.mark.parametrize("name", ["gaussian", "gramschmidt", "decoder", "perceptron", "diffusion"])
def test_another_result_is_found(programs, name):
    program = programs.load(name)
    with Device() as device:
        check, *_ = program.run(device, program.small)
        right = check.expected()
        wrong = type(check)(check.name, check.actual, lambda: right * 1.1, check.rtol, check.atol)
        with pytest.raises(WrongResult):
            wrong.verify()


def test_all_programs_are_tested(programs):
    assert sorted(LAUNCHES) == sorted(programs.NAMES)
    for name in programs.NAMES:
        program = programs.load(name)
        assert program.source.is_file() and program.ptx.is_file()


def test_a_truth_is_written_and_read(truths, tmp_path):
    program, device = truths.Program.of("gaussian:9"), gpu("QV100")
    truth = truths.truth(program, device)
    assert len(truth.table) == 16 and truth.table.level == 3 and truth.table.has_times
    path = truths.place(tmp_path, program, device)
    truth.write(path)
    again = truths.Truth.read(path)
    assert path.name == "gaussian-9-QV100.parquet"
    assert again.table.digest == truth.table.digest
    assert (again.table.times == truth.table.times).all()
    assert again[1:] == truth[1:]


def test_what_is_there_is_left_alone(truths, tmp_path, monkeypatch, capsys):
    arguments = ["sampling_truth.py", "--truth", str(tmp_path), "gaussian:9"]
    monkeypatch.setattr("sys.argv", arguments)
    truths.main()
    truths.main()
    assert capsys.readouterr().out.count("gaussian-9-QV100.parquet: 16 launches") == 1
