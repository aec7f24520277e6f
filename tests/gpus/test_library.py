"""The GPUs of the library, and overrides."""

import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from lockstep.errors import LockstepError, SpecError
from lockstep.gpus import datafile, library
from lockstep.gpus.units import threads_per_cycle

NAMES = [
    "A100", "CANDEL", "GPGPUSIM3_V100", "H100", "H100_SXM", "HD7770", "HD7850", "HD7870", "HD7970",
    "KEPLER_TITAN", "MCM_256", "QV100", "RTX2060", "RTX3070", "SST_VOLTA", "TITANV", "TITANX",
]  # fmt: skip

# What NVIDIA and AMD state: SMs, L2 in KB, GB/s, TFLOPS of FP32 at the clock of the preset.
DATASHEETS = {
    "KEPLER_TITAN": (14, 1536, 288.4, 2688 * 2 * 0.837e-3),
    "TITANX": (28, 3072, 480, 10.97),
    "QV100": (80, 6144, 870, 5120 * 2 * 1.132e-3),
    "TITANV": (80, 4608, 652.8, 5120 * 2 * 1.2e-3),
    "RTX2060": (30, 3072, 336, 1920 * 2 * 1.365e-3),
    "RTX3070": (46, 4096, 448, 5888 * 2 * 1.5e-3),
    "A100": (108, 40960, 1935, 19.5),
    "H100": (114, 51200, 2039, 51.2),
    "H100_SXM": (132, 51200, 3352, 66.9),
    "HD7770": (10, 512, 72, 1.28),
    "HD7850": (16, 512, 153.6, 1.76),
    "HD7870": (20, 512, 153.6, 2.56),
    "HD7970": (32, 768, 264, 3.79),
    "CANDEL": (10, 256, 48, 1.28),
    "GPGPUSIM3_V100": (80, 6144, 870, 5120 * 2 * 1.132e-3),
    "MCM_256": (256, 16384, 3072, 256 * 64 * 2 * 1.0e-3),  # the paper's, a Volta's SMs at 1 GHz
    "SST_VOLTA": (80, 6144, 512, 5120 * 2 * 1.2e-3),  # the report's, 16 channels of 32 GB/s
}


@pytest.fixture
def qv100():
    return library.gpu("QV100")


def test_the_library_has_these_gpus():
    assert library.names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_of_every_preset_has_a_source(name):
    rows = library.describe(library.gpu(name))
    missing = [r.name for r in rows if r.source in ("", "default", "given by the user")]
    assert not missing
    assert all(row.meaning for row in rows)
    assert len(rows) > 140


@pytest.mark.parametrize("name", NAMES)
def test_totals_are_those_of_the_datasheet(name):
    sms, l2_kb, bandwidth, tflops = DATASHEETS[name]
    gpu = library.gpu(name)
    totals = library.totals(gpu)
    assert gpu.sm.count == sms
    assert totals.l2_bytes == l2_kb * 1024
    assert totals.dram_gb_per_s == pytest.approx(bandwidth, rel=0.03)
    assert totals.fp32_tflops == pytest.approx(tflops, rel=0.01)


def test_throughputs_are_those_measured_on_a_titan_v():
    gpu = library.gpu("TITANV")
    per_sm = {op: threads_per_cycle(gpu, op) / 80 for op in ("FP32", "FP64", "SFU", "FP16")}
    assert per_sm == {"FP32": 64, "FP64": 32, "SFU": 16, "FP16": 64}
    assert threads_per_cycle(gpu, "HMMA") / 80 / 32 * 256 == 512  # FMA of an HMMA.884
    slices = gpu.dram.channels * gpu.l2.slices_per_channel
    assert slices * gpu.l2.bytes_per_cycle == 1536


def test_a_name_is_found_in_any_case_and_cached():
    assert library.gpu("qv100") is library.gpu("QV100")


def test_an_unknown_name_lists_the_near_ones():
    with pytest.raises(
        SpecError, match=r"'V100'; did you mean QV100.*known: A100, CANDEL, GPGPUSIM3"
    ):
        library.gpu("V100")


def test_source_says_from_which_preset_a_value_is_taken_over():
    assert "GV100 datasheet" in library.source("QV100", "sm.count")
    assert library.source("TITANV", "sm.count").startswith("as QV100: ")
    assert library.source("TITANV", "dram.channels").startswith("NVIDIA TITAN V")
    with pytest.raises(SpecError, match=r"did you mean sm\.count"):
        library.source("QV100", "sm.cuont")


def test_replace_changes_what_is_named_and_nothing_else(qv100):
    changed = library.replace(
        qv100, **{"sm.count": 40, "sm.units.fp32.lanes": 32, "l1.carveouts": (98304,)}
    )
    assert (changed.sm.count, changed.sm.units[0].lanes, changed.l1.carveouts) == (40, 32, (98304,))
    back = library.replace(
        changed, **{"sm.count": 80, "sm.units.fp32.lanes": 16, "l1.carveouts": qv100.l1.carveouts}
    )
    assert back == qv100
    assert qv100.sm.count == 80


def test_numbers_of_numpy_are_numbers(qv100):
    changed = library.replace(qv100, **{"sm.count": np.int64(12), "clock_mhz": np.float32(1000)})
    assert (changed.sm.count, changed.clock_mhz) == (12, 1000.0)
    assert type(changed.sm.count) is int


def test_replace_takes_whole_groups(qv100):
    a100 = library.gpu("A100")
    changed = library.replace(qv100, dram=a100.dram, **{"sm.units": a100.sm.units, "name": "mixed"})
    assert (changed.dram, changed.sm.units, changed.name) == (a100.dram, a100.sm.units, "mixed")
    changed = library.replace(qv100, **{"dram.timing": {"nRCD": 3}})
    assert changed.dram.timing == {"nRCD": 3}


@pytest.mark.parametrize("what", ["l1", "dram"])
def test_units_are_replaced_by_units_alone(qv100, what):
    with pytest.raises(SpecError, match="expected execution units"):
        library.replace(qv100, **{"sm.units": getattr(qv100, what)})
    with pytest.raises(SpecError, match="expected execution units"):
        library.replace(qv100, **{"sm.units": [getattr(qv100, what)]})
    assert library.replace(qv100, **{"sm.units": list(qv100.sm.units)}) == qv100


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("sm.count=40", 40),
        (" sm.count = 0x10 ", 16),
        ("clock_mhz=1.5e3", 1500.0),
        ("l1.cache_global=false", False),
        ("l1.protocol=write_evict", "write_evict"),
        ("dram.timing.nRCD=14", 14),
        ("dram.timing.nFAW=20", 20),
        ("sm.units.fp32.operations.FP32=5", 5),
        ("sm.units.fp32.intervals.FP32=3", 3),
        ("sm.units.fp64.scope=sm", "sm"),
        ("l1.carveouts=0, 98304", (0, 98304)),
        ("architectures=", ()),
    ],
)
def test_apply_reads_texts(qv100, text, value):
    changed = library.apply(qv100, [text])
    rows = {row.name: row for row in library.describe(changed)}
    row = rows[text.partition("=")[0].strip()]
    assert (row.value, row.source) == (value, "given by the user")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sm.count=0", "sm.count = 0: expected an integer from 1 to 4096 (SMs)"),
        ("sm.count=40.5", "sm.count = 40.5: expected an integer from 1 to 4096 (SMs)"),
        ("sm.count=", "sm.count = : expected an integer from 1 to 4096 (SMs)"),
        ("sm.cuont=3", "no parameter is named 'sm.cuont'; did you mean sm.count or sm.ctas?"),
        ("count=3", "no parameter is named 'count'; did you mean sm.count"),
        ("sm.count", "sm.count: expected parameter=value, such as sm.count=40"),
        ("sm=3", "sm is a group of parameters: expected one of them, such as sm.count"),
        ("sm.units.fp32=3", "sm.units.fp32 is a group"),
        ("sm.units.fp33.lanes=3", "no execution unit is named 'fp33': expected one of fp32, int"),
        ("sm.units.fp32.name=x", "no parameter is named 'sm.units.fp32.name'"),
        ("sm.count.x=3", "no parameter is named 'sm.count.x'"),
        ("clock_mhz=nan", "clock_mhz = nan: expected a number from 1 to 20000 (MHz)"),
        ("clock_mhz=inf", "clock_mhz = inf: expected a number"),
        ("launch.flush_l1=1", "launch.flush_l1 = 1: expected true or false"),
        ("host.copy=back", "host.copy = back: expected one of instant, timed"),
        ("l1.carveouts=0,x", "l1.carveouts = 0,x: expected a list, each an integer from 0"),
        ("dram.timing.=3", "no parameter is named 'dram.timing.'"),
        ("dram.timing.rcd=3", "dram.timing.rcd: expected a name such as nRCD"),
        ("=3", "no parameter is named ''"),
    ],
)
def test_a_bad_override_says_what_was_expected(qv100, text, message):
    with pytest.raises(SpecError) as error:
        library.apply(qv100, [text])
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"sm.count": True},
        {"sm.count": None},
        {"sm.count": "9" * 5000},
        {"sm.count": {"x": 1}},
        {"clock_mhz": True},
        {"clock_mhz": 10**400},
        {"sm.units": ["fp32"]},
        {"sm.units": 3},
        {"sm.units": ()},
        {"l1": {"latency": 3}},
        {"name": 3},
        {"description": 3},
        {"dram.timing": {}} | {"sm.count": 0},
    ],
)
def test_a_bad_value_of_any_type_is_a_spec_error(qv100, changes):
    with pytest.raises(SpecError):
        library.replace(qv100, **changes)


def test_the_digest_is_stable_and_covers_every_parameter(qv100):
    digest = library.digest(qv100)
    assert len(digest) == 64
    assert library.digest(library.apply(qv100, ["description=x", "validated=y"])) == digest
    assert library.digest(library.replace(qv100, name="other")) == digest
    assert library.digest(library.replace(qv100, clock_mhz=1132)) == digest
    for text in ("sm.count=81", "dram.timing.nRCD=13", "sm.units.int.lanes=8", "l1.hash=xor"):
        assert library.digest(library.apply(qv100, [text])) != digest


def test_the_digest_is_the_same_in_another_process(qv100):
    code = "from lockstep.gpus import library; print(library.digest(library.gpu('qv100')))"
    folder = Path(library.__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(folder), "PYTHONHASHSEED": "12345"},
    )  # fmt: skip
    assert run.stdout.strip() == library.digest(qv100)


def test_a_file_of_the_user_works_like_a_name(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('base = "qv100"\n[sm]\ncount = [84, "the full chip"]\n')
    gpu = library.gpu(path)
    assert (gpu.name, gpu.sm.count) == ("mine", 84)
    assert library.gpu(str(path)) == gpu
    assert library.source(path, "sm.count") == "the full chip"
    rows = {row.name: row for row in library.describe(gpu, path)}
    assert rows["sm.count"].source == "the full chip"
    assert rows["sm.warps"].source.startswith("as QV100: ")


def test_a_missing_file_is_an_error_of_ours(tmp_path):
    with pytest.raises(LockstepError, match="No such file"):
        library.gpu(tmp_path / "none.toml")
    with pytest.raises(LockstepError):
        library.gpu("some/where.toml")


def test_presets_that_begin_with_each_other_are_a_circle(tmp_path, monkeypatch):
    monkeypatch.setattr(library, "_FOLDER", tmp_path)
    for name, base in (("HEN", "EGG"), ("EGG", "HEN")):
        (tmp_path / f"{name}.toml").write_text(f'base = "{base}"\n')
    with pytest.raises(SpecError, match="the bases form a circle"):
        library.gpu("HEN")


@pytest.mark.parametrize("name", library.names())
def test_a_preset_that_was_kept_is_the_one_in_its_file(name, monkeypatch):
    monkeypatch.setattr(library, "_presets", {})
    library.loaded(name)  # kept now, if it was not
    monkeypatch.setattr(library, "_presets", {})
    kept = library.loaded(name)
    read = datafile.load(library._find(name, Path()), library._load)
    assert kept == read and repr(kept) == repr(read)
    assert list(kept.sources) == list(read.sources)


@pytest.mark.parametrize("name", ["QV100", "H100_SXM", "HD7770"])
def test_a_whole_number_where_a_broken_one_may_stand_has_the_same_digest(name):
    gpu = library.gpu(name)
    clock = float(int(gpu.clock_mhz))
    whole = msgspec.structs.replace(gpu, clock_mhz=int(clock))
    broken = msgspec.structs.replace(gpu, clock_mhz=clock)
    assert library.digest(whole) == library.digest(broken)
    assert library.digest(msgspec.structs.replace(gpu, description="x")) == library.digest(gpu)
