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


CONFIGURATION = "-gpgpu_n_clusters 5\n-gpgpu_strange 1\n"


def test_a_configuration_of_accel_sim(call, tmp_path):
    (tmp_path / "MINE").mkdir()
    (tmp_path / "MINE" / "gpgpusim.config").write_text(CONFIGURATION)
    for name in ("MINE", "MINE/gpgpusim.config"):
        done = call("gpus", name, "--set", "l2.ways=7")
        assert done.exit_code == 0, done.output
        rows = {line.split()[0]: line for line in done.stdout.splitlines() if "." in line}
        assert " -gpgpu_n_clusters, gpgpusim.config," in rows["sm.count"]
        assert "given by the user" in rows["l2.ways"]
        assert "no trace.config beside it" in done.stderr
        assert "line 2: -gpgpu_strange: 1 has no counterpart" in done.stderr
    (tmp_path / "EMPTY").mkdir()
    for command in (["gpus", "EMPTY"], ["simulate", "x", "--gpu", "EMPTY"]):
        done = call(*command)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert done.stderr.startswith("lockstep: EMPTY: a folder without gpgpusim.config")


def test_a_folder_with_the_name_of_a_gpu_is_the_gpu(call, tmp_path):
    (tmp_path / "QV100").mkdir()
    assert call("gpus", "QV100").exit_code == 0
