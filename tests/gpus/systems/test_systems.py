"""The systems of the library, and files of others."""

import pytest

from lockstep.errors import InputError, SpecError
from lockstep.gpus import systems

FILE = """
description = ["two boards", "a test"]
gpus = [["QV100", "QV100"], "a test"]
[fabric]
topology = ["nvlink", "a test"]
bandwidth = [25.0, "a test"]
links = [["0-1 x2"], "a test"]
"""


@pytest.mark.parametrize("name", systems.names())
def test_every_parameter_of_a_preset_has_a_source(name):
    spec, sources = systems.spec(name), systems.sources(name)
    stated = {"description", "gpus", "fabric.topology"}
    assert stated <= sources.keys() and all(len(text) > 5 for text in sources.values())
    numbers = {key for key in sources if key.startswith("fabric.")}
    assert len(numbers) >= 2 and len(systems.system(name).gpus) == len(spec.gpus)


@pytest.mark.parametrize(
    ("name", "gpus", "gb_per_s"),
    [("DGX_1V", 8, 6 * 25), ("DGX_A100", 8, 12 * 25), ("DGX_H100", 8, 18 * 25)],
)
def test_presets_have_the_bandwidth_of_their_white_papers(name, gpus, gb_per_s):
    system = systems.system(name)
    fabric = system.spec.fabric
    links = [fabric.links_per_gpu] * gpus
    if fabric.topology == "nvlink":
        links = [sum(n for pair, n in system.links.items() if k in pair) for k in range(gpus)]
    assert [n * fabric.bandwidth for n in links] == [gb_per_s] * gpus
    assert all(gpu.host.copy == "timed" for gpu in system.gpus)


@pytest.mark.parametrize(("name", "gb_per_s"), [("DGX_1V", 15.75), ("DGX_H100", 63.0)])
def test_links_to_the_host_are_those_of_the_gpus(name, gb_per_s):
    assert {gpu.host.link_bandwidth for gpu in systems.system(name).gpus} == {gb_per_s}


def test_half_a_cube_mesh_is_joined_and_its_diagonals_are_not():
    whole, half = systems.system("dgx_1v"), systems.system("DGX_1V", 4)
    assert [b for b in range(8) if whole.are_joined(0, b)] == [1, 2, 3, 4]
    assert all(half.are_joined(a, b) for a in range(4) for b in range(4) if a != b)
    assert max(map(max, half.links)) == 3 and not half.are_joined(2, 2)


def test_changes_are_of_all_gpus():
    system = systems.system("A100_PCIE", 2, ("sm.count=8",))
    assert [gpu.sm.count for gpu in system.gpus] == [8, 8]


def test_a_file_of_a_user(tmp_path):
    path = tmp_path / "pair.toml"
    path.write_text(FILE)
    system = systems.system(path)
    assert (system.name, system.links) == ("pair", {(0, 1): 2})
    assert systems.sources(str(path))["fabric.bandwidth"] == "a test"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["0-1 x2"]', '["0+1"]', "fabric.links: '0\\+1': expected two GPUs, 0-1 or 0-3 x2"),
        ('["0-1 x2"]', '["1-1"]', "a link joins two GPUs"),
        ('["0-1 x2"]', '["0-1", "1-0"]', "that pair stands there already"),
        ('links = [["0-1 x2"], "a test"]', "", "fabric.links is missing: the fabric is nvlink"),
        ("[25.0", "[0.0", "fabric.bandwidth = 0.0: expected GB/s above 0"),
        ('["nvlink"', '["pcie"', "fabric.links is of nvlink: the fabric is pcie"),
        ('["nvlink"', '["wires"', "Invalid enum value 'wires'"),
        ('[25.0, "a test"]', "25.0", "every number names its source"),
        ('[25.0, "a test"]', '[25.0, " "]', "the source is empty"),
        ("bandwidth", "speed", "speed"),
        ("[fabric]", "[fabric.more]", "a system has parameters of its own and of its fabric"),
        ('["QV100", "QV100"]', '["QV100", "QV999"]', "no GPU is named 'QV999'"),
    ],
)
def test_wrong_files_are_refused_in_a_line(tmp_path, old, new, message):
    path = tmp_path / "pair.toml"
    assert old in FILE
    path.write_text(FILE.replace(old, new))
    with pytest.raises(SpecError, match=message) as error:
        systems.system(path)
    assert "\n" not in str(error.value)


def test_what_is_no_file_or_no_name(tmp_path):
    with pytest.raises(InputError):
        systems.system(tmp_path / "none.toml")
    with pytest.raises(SpecError, match="known: A100_PCIE, DGX_1V"):
        systems.system("DGX_H10")
    with pytest.raises(SpecError, match="9 GPUs of DGX_1V: it has 8"):
        systems.system("DGX_1V", 9)
