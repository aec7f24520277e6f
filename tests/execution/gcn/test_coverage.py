"""Each opcode has a twin or a kernel that runs it, or is refused as the documentation says."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import cal_files
import lockstep
from gcn_twin import division, real, scalars, whole
from gcn_twin.programs import KERNELS, instructions
from lockstep.errors import LockstepError
from lockstep.execution.gcn import instructions as filled  # noqa: F401 (fills the table)
from lockstep.execution.gcn.opcodes import TABLE
from lockstep.execution.gcn.reduction import REDUCTION
from lockstep.execution.gcn.scalar import SCALAR
from lockstep.execution.gcn.vector import VECTOR
from lockstep.isa.gcn import container
from lockstep.isa.gcn.operations import OPERATIONS

PAGE = Path(__file__).parents[3] / "docs" / "southern-islands.md"
NAMES = {o.name for o in OPERATIONS.values()}
TWINS = (
    *(whole.INTEGER, whole.BITS, whole.PACKED, real.FLOATING, real.DOUBLE, real.EXPONENTS),
    *(real.ELEMENTARY, real.CUBE, real.CONVERT, real.COMPARE, division.DIVISION, scalars.SCALAR),
    REDUCTION,  # of which test_reduction.py has the twin
)
END = "000081bf"  # s_endpgm


def refused():
    """The patterns of opcodes in the page's table."""
    rows = re.findall(r"^\| (`.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    named = [pattern for row in rows for pattern in re.findall(r"`([^`]+)`", row)]
    return [pattern for pattern in named if "." not in pattern]  # parameters have tables, too


def test_opcodes_are_executed_or_refused_as_documented():
    executed = NAMES & {*TABLE, *VECTOR, *SCALAR}
    patterns = refused()
    assert (len(NAMES), len(executed)) == (815, 694)
    documented = {n for n in NAMES for p in patterns if fnmatchcase(n, p)}
    assert documented == NAMES - executed
    for pattern in patterns:
        assert any(fnmatchcase(name, pattern) for name in NAMES), pattern


def test_what_is_executed_is_tested():
    """Arithmetic by twins, the rest in kernels of tests, which compare with NumPy."""
    assert {name for table in TWINS for name in table} == {*VECTOR, *SCALAR}
    ran = set()
    for path in KERNELS.glob("*.bin"):
        for kernel in container.read_file(path).kernels:
            ran |= {*instructions(path.stem, kernel)}
    assert (NAMES & {*TABLE}) - ran == set()


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("001f80be", "s_getpc_b64"),
        ("010090bf", "s_sendmsg"),
        ("0000f8d8 00000001", "ds_append"),
        ("000180f1 0404a600", "image_get_lod"),
        ("0f0000f8 00000000", "exp"),
        ("010080b9", "s_setreg_b32"),
    ],
)
def test_a_refusal_has_name_and_place(code, name):
    source = cal_files.Source("k", vgprs=8, sgprs=40)
    nothing = "000080bf"  # s_nop
    data = cal_files.binary([(source, bytes.fromhex(nothing + code + END))])
    with lockstep.Device(memory_bytes=1 << 20) as device:
        message = rf"^<binary>: kernel k, 0x0004 {name} .*: {name} is not supported$"
        with pytest.raises(LockstepError, match=message):
            device.load_gcn(data)["k"][64, 64]()
