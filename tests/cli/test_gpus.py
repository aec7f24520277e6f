from lockstep import api


def test_every_gpu_is_listed_with_its_validation(call):
    done = call("gpus")
    assert done.exit_code == 0
    for name in api.gpu_names():
        assert name in done.stdout


def test_a_gpu_is_described_with_units_and_overrides(call):
    done = call("gpus", "QV100", "--set", "sm.count=40")
    assert done.exit_code == 0
    line = next(line for line in done.stdout.splitlines() if line.startswith("sm.count "))
    assert line.split()[1:3] == ["40", "SMs"]


def test_mistakes_are_told(call):
    assert call("gpus", "NOPE").exit_code == 2
    assert call("gpus", "").exit_code == 2
    assert call("gpus", "--set", "sm.count=40").exit_code == 2
