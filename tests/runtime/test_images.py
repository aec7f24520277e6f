import pytest

import lockstep
from lockstep.runtime.images import NoImage, find_entry, load_image
from lockstep.runtime.properties import COUNT, attributes

PTX = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n\0\0"


@pytest.mark.parametrize("name", lockstep.api.gpu_names())
def test_every_gpu_can_be_described(name):
    table = attributes(lockstep.api.gpu(name))
    assert len(table) == COUNT and table[75] >= 3 and table[16] > 0
    assert table[97] >= table[8] or name.startswith("KEPLER")


def test_the_largest_cache_and_bus():
    table = attributes(lockstep.api.gpu("A100"))
    assert (table[38], table[37], table[97]) == (40 << 20, 5120, 163 << 10)


def test_the_limits_of_blocks_and_grids():
    table = attributes(lockstep.api.gpu("A100"))
    assert table[1:8].tolist() == [1024, 1024, 1024, 64, 2**31 - 1, 65535, 65535]


def test_ptx_alone_is_loaded_with_its_zeros():
    with lockstep.Device("QV100") as device:
        assert load_image(device, PTX).entries


def test_kernels_that_cannot_be_executed_leave_the_others():
    text = PTX.rstrip(b"\0") + b".entry bad() { .reg .b32 r; add.sat.u32 r, r, r; ret; }\n\0"
    with lockstep.Device("QV100") as device:
        module = load_image(device, text)
        assert find_entry(module, "k").parameter_bytes == 0
        with pytest.raises(lockstep.InputError, match=r"line 5, .* no instruction add\.sat\.u32"):
            find_entry(module, "bad")


def test_code_of_another_architecture(repository):
    data = (repository / "tests/isa/sass/binary/fixtures/scale_sm90.cubin").read_bytes()
    with lockstep.Device("A100") as device, pytest.raises(NoImage, match="cubin for sm_90"):
        load_image(device, data)
    with lockstep.Device("H100") as device:
        assert load_image(device, data).entries
        with pytest.raises(NoImage):
            load_image(device, data, ptx=True)
