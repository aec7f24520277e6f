import numpy as np
import pytest

from lockstep.errors import InputError
from lockstep.microbench import plan
from lockstep.microbench.benchmark import Target
from lockstep.microbench.suite import all_benchmarks

TARGET = Target(132, 90, full=True)
NAMES = ("device.sms", "lat.lds32")


@pytest.fixture
def benchmark():
    return next(b for b in all_benchmarks(TARGET) if b.name == "lat.lds32")


def test_a_plan_has_each_case_from_its_key_to_its_end(benchmark):
    head, *lines = plan.lines(TARGET, [benchmark])
    assert head == f"target 132 90 {TARGET.l2_bytes} {TARGET.shared_bytes}"
    assert lines[0] == "case lat.lds32|stride_bytes=0 conflict=0"
    assert lines[1] == "options 6 5 0 0 1"
    assert (
        "launch shared.lds32 1 32 0 0 0 0 buffer:out+0 buffer:sink+0 i32:0 segments:2,2,12" in lines
    )
    assert lines.count("end") == len(benchmark.cases)


def test_raw_words_become_rows(tmp_path, benchmark):
    file = tmp_path / "raw.txt"
    words = "0 9 10 60 100 960"
    file.write_text(
        f"target\t132 90 {TARGET.l2_bytes} {TARGET.shared_bytes}\n"
        "device\tSome GPU\t132\tL2 1, clock 2 kHz\n"
        f"lat.lds32|stride_bytes=4 conflict=1\t{words}\n"
        "failed\tlat.lds32|stride_bytes=8 conflict=2\tan illegal access\n"
    )
    raw = plan.Raw(file)
    assert raw.target == TARGET
    device, row = raw.rows(b for b in all_benchmarks(TARGET) if b.name in NAMES)
    assert (device.name, device.parameters, device.value) == ("device.sms", "Some GPU", 132)
    assert (row.parameters, row.value) == ("stride_bytes=4 conflict=1", np.float64(2.53125))
    assert raw.failures == ["lat.lds32|stride_bytes=8 conflict=2: an illegal access"]


@pytest.mark.parametrize("text", ["", "nonsense\n", "target\tx y\n", "target\t1 90 5\nkey\ta b\n"])
def test_what_is_no_raw_result_is_refused(tmp_path, text):
    (tmp_path / "raw.txt").write_text(text)
    with pytest.raises(InputError):
        plan.Raw(tmp_path / "raw.txt")


def test_too_few_words_are_refused(tmp_path, benchmark):
    file = tmp_path / "raw.txt"
    file.write_text("target\t132 90 5\nlat.lds32|stride_bytes=4 conflict=1\t1 2\n")
    with pytest.raises(InputError, match="expected 6 words"):
        list(plan.Raw(file).rows([benchmark]))
