import pytest

from lockstep.isa.sass.binary import Relocation, relocated
from lockstep.isa.sass.encoding import decode

ADDRESS = 0x7000_1234_5678
MOVE = 0x000FE200_00000F00_00000000_00047802  # MOV R4, 0x0
CALL = 0x000FEA00_03C00000_00000000_00007943  # CALL.ABS.NOINC 0x0


def text(word, kind, address, architecture=80, addend=0):
    relocation = Relocation(".text.k", 0, kind, "name", addend)
    changed = relocated(relocation, word.to_bytes(16, "little"), address)
    return decode(int.from_bytes(changed, "little"), architecture, 0).text()


def test_halves_of_an_address_are_immediates():
    assert text(MOVE, 56, ADDRESS) == "MOV R4, 0x12345678"
    assert text(MOVE, 57, ADDRESS) == "MOV R4, 0x7000"
    assert text(MOVE, 57, 0xFFFF_FFFF, addend=1) == "MOV R4, 0x1"


def test_a_call_gets_its_target():
    assert text(CALL, 58, 0x4560) == "CALL.ABS.NOINC 0x4560"
    assert text(CALL, 75, 0x4560, 90) == "CALL.ABS.NOINC 0x4560"
    assert text(CALL, 75, 0x12_3456_7890, 90) == "CALL.ABS.NOINC 0x1234567890"


@pytest.mark.parametrize("kind", [2, 4])
def test_data_becomes_the_whole_address_and_nothing_else_changes(kind):
    relocation = Relocation(".nv.global.init", 0, kind, "name", 8)
    assert relocated(relocation, bytes(8), ADDRESS) == (ADDRESS + 8).to_bytes(8, "little")
    moved = relocated(Relocation(".text.k", 0, 56, "name"), MOVE.to_bytes(16, "little"), 0)
    assert moved == MOVE.to_bytes(16, "little")


def test_an_unknown_kind_is_not_guessed():
    with pytest.raises(KeyError):
        relocated(Relocation(".text.k", 0, 9999, "name"), bytes(16), 0)
