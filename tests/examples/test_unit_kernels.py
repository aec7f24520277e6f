"""The unit kernels: as many as the table has, a sample of them by PTX and by machine code."""

import shutil
import subprocess
from collections import Counter

import pytest

SAMPLE = (
    "nrminf_mv_double",
    "sparse_spgemm_double_int_int_TestExecSpace",
    "sparse_graph_color_d2_double_int_int_TestExecSpace",
    "common_set_bit_count",
    "batched_scalar_serial_trsv_u_nt_n_double_double",
    "batched_scalar_team_lu_double",
)
"""Of each group some that failed elsewhere; ``scripts/unit_kernels.py`` runs all."""


@pytest.fixture(scope="module")
def script(load_script, repository):
    return load_script(repository / "scripts" / "unit_kernels.py")


@pytest.fixture(scope="module")
def kernels(script):
    return script.unit_kernels()


def test_there_are_as_many_as_in_the_report(script, kernels):
    assert len({kernel.name for kernel in kernels}) == 76
    assert list(Counter(kernel.heading for kernel in kernels).values()) == [29, 10, 3, 19, 15]
    published = Counter(script.published(kernel.name) for kernel in kernels)
    assert published == {
        ("OK", "OK"): 44, ("OK", "failed"): 6, ("failed", "failed"): 17, ("not parsed", "failed"): 9
    }  # fmt: skip


def test_the_table_of_the_page_has_all_of_them(script, kernels, repository):
    rows = script.UnitTable(kernels, {}).markdown()
    assert "\n".join(rows) in (repository / "docs" / "unit-kernels.md").read_text()


@pytest.mark.long
@pytest.mark.parametrize("code", ["ptx", "cubin"])
def test_a_sample_is_right(script, kernels, code):
    chosen = [kernel for kernel in kernels if kernel.name in SAMPLE]
    found = dict(script.problems_of(chosen, code, timing=False))
    assert found == dict.fromkeys(SAMPLE, "")


def test_a_wrong_result_is_found(script, kernels):
    """Code that is right for another kernel is not for this one."""
    names = {kernel.name: kernel for kernel in kernels}
    wrong = names["common_ffs"]._replace(run=_in_place_of("common_set_bit_count", names))
    assert "values differ" in dict(script.problems_of([wrong], "ptx", timing=False))["common_ffs"]


def _in_place_of(name, names):
    """Runs a kernel under the name of another."""

    def run(device, module, rng, views):
        return names["common_ffs"].run(device, {"common_ffs": module[name]}, rng, views)

    return run


def test_packed_code_is_that_of_the_sources(load_script, repository, script):
    found = shutil.which("nvcc")
    release = "release 13.0"
    if not found or release not in subprocess.check_output([found, "--version"], text=True):
        pytest.skip(f"needs nvcc, {release}")
    build = load_script(repository / "examples" / "unit-kernels" / "build.py")
    assert build.compiled("common", "ptx") == script.code_of("common", "ptx")
