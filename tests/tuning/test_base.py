"""Which GPU of the library a device is like."""

from pathlib import Path

import pytest

from lockstep.errors import SpecError
from lockstep.gpus import library
from lockstep.tuning.base import LIKES, base_of
from lockstep.tuning.facts import NONE
from lockstep.tuning.rows import Row, Rows


def device(name, notes=""):
    return Rows(Path("r.csv"), (Row("device.sms", name, 132.0, "SMs", notes, line=2),))


@pytest.mark.parametrize(
    ("name", "notes", "expected"),
    [
        ("NVIDIA H100 80GB HBM3", "", "H100"),
        ("NVIDIA A100-SXM4-80GB", "clock 1410000 kHz, compute 8.0", "A100"),
        ("NVIDIA GeForce RTX 4090", "compute capability 8.9", "RTX3070"),
        ("NVIDIA B200", "sm_100", "H100"),
        ("Tesla V100-SXM2-16GB", "compute 7.0, L2 6291456", "QV100"),
    ],
)
def test_a_device_is_known_by_its_name_or_its_compute_capability(name, notes, expected):
    assert base_of(None, device(name, notes), NONE).gpu.name == expected


def test_the_user_and_the_facts_come_first():
    h100 = device("NVIDIA H100 80GB HBM3")
    assert base_of("QV100", h100, NONE._replace(base="A100")).gpu.name == "QV100"
    assert base_of(None, h100, NONE._replace(base="A100")).gpu.name == "A100"


def test_a_device_that_is_like_none_is_refused():
    with pytest.raises(SpecError, match="Some GPU, is like no GPU of the library for certain"):
        base_of(None, device("Some GPU"), NONE)
    with pytest.raises(SpecError, match="the device, without a row"):
        base_of(None, Rows(Path("r.csv"), (Row("a", "", 1.0, "us"),)), NONE)


@pytest.mark.parametrize("name", ["HD7770", "CANDEL"])
def test_a_base_of_compute_units_is_refused(name):
    with pytest.raises(SpecError, match=rf"r.csv: {name} has compute units.* nearest: A100, ") as e:
        base_of(name, device("NVIDIA H100 80GB HBM3"), NONE)
    assert "HD7770," not in str(e.value)


def test_there_is_one_like_of_each_architecture():
    architectures = [max(library.gpu(name).architectures) for name in LIKES]
    assert architectures == sorted(set(architectures))
