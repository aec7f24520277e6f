"""GPU data files: every leaf has a source, errors name the file."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.errors import InputError, LockstepError, SpecError
from lockstep.gpus import library

PRESET = (library._FOLDER / "QV100.toml").read_bytes()


@pytest.fixture
def load(tmp_path):
    def read(text):
        path = tmp_path / "mine.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return library.gpu(path)

    return read


def test_a_preset_is_complete_without_a_base(load):
    gpu = load(PRESET)
    assert library.replace(gpu, name="QV100") == library.gpu("QV100")


def test_what_a_file_leaves_out_has_the_default_of_the_specification(load, tmp_path):
    text = (
        PRESET.decode()
        .replace("issue_width = ", 'policy = ["lrr", "x"]  #')
        .replace('policy = ["lrr", "A', '# ["lrr", "A')
    )
    gpu = load(text)
    assert (gpu.sm.scheduler.policy, gpu.sm.scheduler.issue_width) == ("lrr", 1)
    assert library.source(tmp_path / "mine.toml", "sm.scheduler.issue_width") == "default"


def test_a_file_may_drop_parts_of_its_base_and_add_units(load):
    gpu = load(
        'base = "QV100"\nremove = ["sm.units.tensor", "dram.timing"]\n'
        '[sm.units.dpx]\nlanes = [8, "guess"]\n'
        '[sm.units.dpx.operations]\nIMMA = [9, "guess"]\n'
    )
    names = [unit.name for unit in gpu.sm.units]
    assert "tensor" not in names and names[-1] == "dpx"
    assert gpu.dram.timing == {}


def test_a_base_may_be_a_file_beside_it(tmp_path):
    (tmp_path / "a.toml").write_text('base = "QV100"\nclock_mhz = [1000, "x"]\n')
    (tmp_path / "b.toml").write_text('base = "a.toml"\n')
    assert library.gpu(tmp_path / "b.toml").clock_mhz == 1000.0
    assert library.source(tmp_path / "b.toml", "clock_mhz") == "as a: x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("count = 3", "no parameter is named 'count'"),
        ("[sm]\ncount = 80", 'sm.count: expected [value, "source"], the value an integer from 1'),
        ("[sm]\ncount = [80]", 'sm.count: expected [value, "source"]'),
        ('[sm]\ncount = [80, ""]', "sm.count: the source is empty"),
        ("[sm]\ncount = [80, 3]", 'sm.count: expected [value, "source"]'),
        ('[sm]\ncount = [0, "x"]', "sm.count = 0: expected an integer from 1 to 4096 (SMs)"),
        ('[sm]\ncount = [true, "x"]', "sm.count = True: expected an integer"),
        ('[sm]\ncuont = [3, "x"]', "no parameter is named 'sm.cuont'; did you mean sm.count"),
        ('sm = [3, "x"]', "sm is a group of parameters"),
        ('"sm.count" = [3, "x"]', "sm.count: expected a name without dots"),
        ('name = ["x", "y"]', "no parameter is named 'name'"),
        ('[sm.units.fp32]\nname = ["x", "y"]', "no parameter is named 'sm.units.fp32.name'"),
        ('remove = ["sm.units.none"]', "remove: no parameter is named 'sm.units.none'"),
        ('remove = ["l1.latency"]', "l1.latency is missing"),
        ('remove = "l1"', "remove: expected a list of dotted names"),
        ('[l2]\nlatency = [30, "x"]', "l2.latency = 30: expected more than l1.latency"),
        ('[dram.timing]\n"n RCD" = [3, "x"]', "no parameter is named 'dram.timing.n RCD'"),
        ("[dram.timing]\nnRCD = 2020-01-01", 'dram.timing.nRCD: expected [value, "source"]'),
    ],
)
def test_a_wrong_parameter_is_named_with_the_file(load, text, message):
    base = "" if text.startswith("base") else 'base = "QV100"\n'
    with pytest.raises(SpecError) as error:
        load(base + text)
    path, _, rest = str(error.value).partition(".toml: ")
    assert path.endswith("mine") and rest.startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is missing: expected"),
        ('base = "V100"', "no GPU is named 'V100'"),
        ("base = 3", "base: expected the name"),
        ('base = "mine.toml"', "the bases form a circle"),
        ('base = "none.toml"', "No such file"),
        ("[sm\n", "mine.toml, line 1: Expected"),
        ('a = 1\nb = "', "mine.toml"),
        ("a = 1\na = 2", "mine.toml, the end: Cannot overwrite"),
        (b"\xff\xfe", "mine.toml, byte 0: expected UTF-8"),
        ("a = " + "[" * 5000, "not a GPU data file"),
        ("a = " + "9" * 5000, "not a GPU data file"),
        ("a." * 3000 + "a = 1", "more than"),
        ("sm.count = [{" + "a." * 3000 + 'a = 1}, "guess"]', "more than"),
        ("a." * 40_000 + "a = 1", "a key of more than 32 parts"),
        ('"a b" . ' * 40 + "a = 1", "a key of more than 32 parts"),
        ("#" * (1 << 21), "larger than 1048576 bytes"),
    ],
)
def test_a_file_that_cannot_be_understood_is_one_line(load, text, message):
    with pytest.raises(LockstepError) as error:
        load(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_is_an_input_error(tmp_path):
    with pytest.raises(InputError):
        library.gpu(tmp_path)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(PRESET) - 1), st.binary(max_size=3), st.integers(0, 40))
def test_a_damaged_file_loads_or_is_one_line(tmp_path_factory, position, replacement, removed):
    path = tmp_path_factory.getbasetemp() / "damaged.toml"
    path.write_bytes(PRESET[:position] + replacement + PRESET[position + removed :])
    try:
        library.gpu(path)
    except LockstepError as error:
        assert "\n" not in str(error)
        assert "damaged.toml" in str(error)
