"""Run the 76 unit kernels of `examples/unit-kernels`, by PTX and by machine code.

    python scripts/unit_kernels.py [NAME ...]
    python scripts/unit_kernels.py --document docs/unit-kernels.md

Each result is compared with NumPy's. Exit code 1: one is wrong, or cannot be executed. The last two
columns are table 2 of Sandia's report on SST-GPU: what unit tests of the same operations, by
libraries and not from this source, did there.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import zstandard

import lockstep
from lockstep.kernels import files
from lockstep.validation import document

FOLDER = Path(__file__).parents[1] / "examples" / "unit-kernels"
CODES = ("ptx", "cubin")
GROUPS = {
    "BLAS": ("blas", "blas", "KERNELS"),
    "sparse": ("sparse", "sparse", "KERNELS"),
    "common": ("common", "common", "KERNELS"),
    "batched, serial": ("batched_serial", "batched", "SERIAL"),
    "batched, team": ("batched_team", "batched", "TEAMS"),
}
"""By heading: the program, the file that defines its kernels, and their name in it."""
NOT_PARSED = frozenset(
    f"sparse_{name}_double_int_int_TestExecSpace"
    for name in [
        "spadd",
        "gauss_seidel",
        "block_gauss_seidel",
        "crsmatrix",
        "blkcrsmatrix",
        "replaceSumIntoLonger",
        "replaceSumInto",
        "graph_color",
    ]
) | {"common_ArithTraits"}
_SOLVED = ("l_l", "l_u", "r_u")
FAILED = frozenset(
    [
        "nrminf_double",
        "nrminf_mv_double",
        "reciprocal_double",
        "reciprocal_mv_double",
        "gemv_double",
        "gemm_double",
        "sparse_spgemm_double_int_int_TestExecSpace",
        "sparse_graph_color_d2_double_int_int_TestExecSpace",
        "common_set_bit_count",
        "batched_scalar_serial_trsv_l_nt_n_double_double",
        "batched_scalar_serial_trsv_u_nt_n_double_double",
    ]
) | {
    f"batched_scalar_{kind}_trsm_{side}_nt_n_double_double"
    for kind in ("serial", "team")
    for side in _SOLVED
}
FAILED_IN_SST = frozenset(
    [
        "batched_scalar_serial_set_double_double",
        "batched_scalar_serial_lu_double",
        "batched_scalar_serial_trsv_l_nt_u_double_double",
        "batched_scalar_serial_trsv_u_nt_u_double_double",
        "batched_scalar_team_set_double_double",
        "batched_scalar_team_lu_double",
    ]
)
"""Table 2: not read by GPGPU-Sim's parser; failed in GPGPU-Sim; failed only in SST."""


class UnitKernel(NamedTuple):
    """One row of table 2: ``run(device, module, rng, views)`` launches it and returns checks."""

    name: str
    heading: str
    program: str
    run: object


class UnitTable(NamedTuple):
    """The rows of a document; ``problems`` by kernel and code."""

    kernels: list[UnitKernel]
    problems: dict[tuple[str, str], str]
    key = "unit kernels"

    def markdown(self) -> list[str]:
        """A row a kernel."""
        rows = ["| kernel | group | PTX | machine code | GPGPU-Sim | in SST |"]
        rows.append("| --- | --- | --- | --- | --- | --- |")
        for kernel in self.kernels:
            ours = [self.problems.get((kernel.name, code)) or "OK" for code in CODES]
            cells = [f"`{kernel.name}`", kernel.heading, *ours, *published(kernel.name)]
            rows.append(f"| {' | '.join(cells)} |")
        return rows


def published(name: str) -> tuple[str, str]:
    """What table 2 says of GPGPU-Sim, and of it in SST."""
    if name in NOT_PARSED:
        return "not parsed", "failed"
    if name in FAILED:
        return "failed", "failed"
    return "OK", "failed" if name in FAILED_IN_SST else "OK"


def unit_kernels() -> list[UnitKernel]:
    """All, in the order of their groups."""
    found = []
    for heading, (program, definition, table) in GROUPS.items():
        module = files.module(FOLDER / f"{definition}.py", f"unit_kernels_{definition}")
        pairs = getattr(module, table).items()
        found += [UnitKernel(name, heading, program, run) for name, run in pairs]
    return found


def code_of(program: str, code: str) -> bytes:
    """The PTX or the machine code of a group."""
    return zstandard.decompress((FOLDER / f"{program}.{code}.zst").read_bytes())


def problems_of(kernels: list[UnitKernel], code: str, **options) -> Iterator[tuple[str, str]]:
    """Each kernel's name, and what was wrong with it, if anything; ``options``: of the device."""
    views = files.module(FOLDER / "views.py", "unit_kernels_views")
    for program in dict.fromkeys(kernel.program for kernel in kernels):
        with lockstep.Device("A100", **options) as device:
            content = code_of(program, code)
            load = device.load_cubin if code == "cubin" else device.load_ptx
            module = load(content if code == "cubin" else content.decode())
            for kernel in kernels:
                if kernel.program == program:
                    yield kernel.name, _problem(kernel, device, module, views)


def _problem(kernel: UnitKernel, device: lockstep.Device, module: object, views: object) -> str:
    try:
        rng = np.random.default_rng(1)
        for check in kernel.run(device, module, rng, views):
            check.verify()
    except lockstep.LockstepError as error:
        return str(error)
    return ""


def main() -> int:
    """Run the kernels that are named, or all; print and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--timing", action="store_true", help="simulate their launches, too")
    parser.add_argument("--document", type=Path)
    given = parser.parse_args()
    kernels = [k for k in unit_kernels() if not given.names or k.name in given.names]
    problems = {}
    for code in CODES:
        for name, problem in problems_of(kernels, code, timing=given.timing):
            problems[name, code] = problem
            print(f"{code:5} {name}: {problem or 'OK'}", flush=True)
    right = [not any(problems[kernel.name, code] for code in CODES) for kernel in kernels]
    print(f"{sum(right)} of {len(kernels)} right by PTX and by machine code")
    if given.document:
        document.renew(given.document, [UnitTable(kernels, problems)])
    return int(not all(right))


if __name__ == "__main__":
    sys.exit(main())
