"""Modules that come to a device, and their kernels by name."""

import pytest

from lockstep.errors import InputError, WorkloadError


def test_ptx_from_a_file(device, ptx, tmp_path):
    path = tmp_path / "k.ptx"
    path.write_text(ptx)
    assert device.load_ptx(path)["axpy"].name == "axpy"
    assert device.load_ptx(str(path))["axpy"].name == "axpy"
    with pytest.raises(InputError, match="cannot read: No such file"):
        device.load_ptx(tmp_path / "absent.ptx")


def test_kernels_are_found_by_their_cpp_name(device):
    def entry(name):
        return f".visible .entry {name}()\n{{ ret; }}\n"

    head = ".version 7.0\n.target sm_70\n.address_size 64\n"
    module = device.load_ptx(head + entry("_Z4axpyPf") + entry("_Z4scanPf") + entry("_Z4scanPd"))
    assert module["axpy"].name == "_Z4axpyPf"
    with pytest.raises(WorkloadError, match=r"scan may be scan\(float\*\), scan\(double\*\)$"):
        module["scan"]
    with pytest.raises(WorkloadError, match=r"has no kernel sum; it has axpy\(float\*\), "):
        module["sum"]
