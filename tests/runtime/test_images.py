import struct

import pytest

import lockstep
from lockstep.device.properties import COUNT, attributes
from lockstep.gpus import library
from lockstep.isa.sass.binary import Image, images_of
from lockstep.runtime.choice import gpu_for_program
from lockstep.runtime.images import NoImage, find_entry, load_image

PTX = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n\0\0"


@pytest.mark.parametrize("name", lockstep.api.gpu_names())
def test_every_gpu_can_be_described(name):
    table = attributes(lockstep.api.gpu(name))
    assert len(table) == COUNT and table[75] >= 3 and table[16] > 0
    assert table[97] >= table[8] or name.startswith("KEPLER")


def test_the_largest_cache_and_bus():
    table = attributes(lockstep.api.gpu("A100"))
    assert (table[38], table[37], table[97]) == (40 << 20, 5120, 163 << 10)


def test_a_gpu_of_a_system_has_a_bus_of_its_own_and_all_register_memory():
    tables = [attributes(lockstep.api.gpu("A100"), index) for index in range(3)]
    assert [table[33] for table in tables] == [0, 1, 2]
    assert [table[99] for table in tables] == [1, 1, 1]


def test_the_limits_of_blocks_and_grids():
    table = attributes(lockstep.api.gpu("A100"))
    assert table[1:8].tolist() == [1024, 1024, 1024, 64, 2**31 - 1, 65535, 65535]


def test_ptx_alone_is_loaded_with_its_zeros():
    with lockstep.Device("QV100") as device:
        assert load_image(device, PTX).entries


def test_kernels_that_cannot_be_executed_leave_the_others():
    text = PTX.rstrip(b"\0") + b".entry bad() { .reg .b64 r; st.bulk.weak [r], r, 0; ret; }\n\0"
    with lockstep.Device("QV100") as device:
        module = load_image(device, text)
        assert find_entry(module, "k").parameter_bytes == 0
        with pytest.raises(lockstep.InputError, match=r"line 5, .* of sm_100 and later"):
            find_entry(module, "bad")


def test_text_that_is_no_ptx_is_refused_at_once():
    text = PTX.rstrip(b"\0") + b".entry bad() { .reg .b32 r; add.sat.u32 r, r, r; ret; }\n\0"
    with lockstep.Device("QV100") as device:
        used = device.memory.used
        with pytest.raises(lockstep.InputError, match=r"line 5, .* no instruction add\.sat\.u32"):
            load_image(device, text)
        assert device.memory.used == used


def test_code_of_another_architecture(repository):
    data = (repository / "tests/isa/sass/binary/fixtures/scale_sm90.cubin").read_bytes()
    with lockstep.Device("A100") as device, pytest.raises(NoImage, match="cubin for sm_90"):
        load_image(device, data)
    with lockstep.Device("H100") as device:
        assert load_image(device, data).entries
        with pytest.raises(NoImage):
            load_image(device, data, ptx=True)


@pytest.fixture
def fat_binary(repository):
    """Machine code for sm_80 and sm_86, and PTX for all from sm_75 on, in this order."""
    folder = repository / "tests" / "isa" / "sass" / "binary" / "fixtures"
    older, newer = (folder / f"scale_{name}.fatbin" for name in ("zstd", "lz4"))
    images = {
        (i.kind, i.architecture): i for f in (older, newer) for i in images_of(f.read_bytes(), f)
    }
    entries = b""
    for number, key in ((2, ("cubin", 80)), (2, ("cubin", 86)), (1, ("ptx", 75))):
        data = images[key].data
        numbers = number, 257, 64, len(data), 0, 0, 0, 0, key[1], 0, 0, 0, 0, 0
        entries += struct.pack("<HHIQIIHHIIIQQQ", *numbers) + data
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries


@pytest.mark.parametrize(
    ("architectures", "code"),
    [
        ((75,), "PTX"),
        ((80,), "machine code of sm_80"),
        ((80, 86), "machine code of sm_86"),
        ((89,), "machine code of sm_86"),  # none of its own: that of the newest it can run
        ((80, 86, 89), "machine code of sm_86"),
        ((90,), "PTX"),
        ((80, 90), "machine code of sm_80"),  # machine code, though there is PTX for the newer one
    ],
)
def test_the_newest_code_that_a_gpu_runs_is_loaded(fat_binary, architectures, code):
    gpu = library.replace(lockstep.gpu("RTX3070"), architectures=list(architectures))
    with lockstep.Device(gpu) as device:
        module = load_image(device, fat_binary)
        assert module.code == code
        module = load_image(device, fat_binary, ptx=True)
        assert module.code == "PTX"


@pytest.mark.parametrize(
    ("architectures", "name"),
    [
        ((62,), "TITANX"),
        ((80,), "A100"),
        ((86,), "RTX3070"),
        ((89,), "H100"),
        ((80, 90, 100, 120), "H100"),  # as programs are built for all GPUs that there are
        ((75, 100), "RTX2060"),
        ((100,), "A100"),
    ],
)
def test_the_gpu_for_a_program_is_the_one_whose_code_it_has(
    monkeypatch, tmp_path, architectures, name
):
    images = [Image("cubin", architecture, b"") for architecture in architectures]
    monkeypatch.setattr("lockstep.runtime.choice._images", lambda path: images)
    assert gpu_for_program(tmp_path).name == name
