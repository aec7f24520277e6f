import re

import pytest

from lockstep.isa.instruction import OpClass
from lockstep.isa.sass.encoding.layout import (
    ARCHITECTURES,
    TABLES,
    layouts,
    read,
    vocabulary,
)
from lockstep.isa.sass.opcodes import is_known

KEYS = {
    "code", "file", "forms", "guard", "halves", "immediate", "modifiers", "name", "power_of_two",
    "results", "signs", "since", "sources", "until", "variants", "when",
}  # fmt: skip
WITHOUT_DOCUMENTATION = {
    "SYNCS",
    "RPCMOV",
    "TMML",
    "PMTRIG",
    "CGAERRBAR",
    "JMXU",
    "USETSHMSZ",
    "WARPGROUPSET",
}


def entries():
    return [(table, entry) for table in TABLES for entry in read(table)["instruction"]]


def test_entries_have_known_keys_and_a_name():
    for table, entry in entries():
        assert set(entry) <= KEYS, (table, entry)
        assert re.fullmatch(r"[A-Z0-9]+(\.\w+)*(_\w+)?", entry["name"]), entry["name"]
        assert all(set(v) <= KEYS for v in entry.get("variants", ())), entry["name"]


def test_every_list_of_words_is_used():
    used = str([entry for _, entry in entries()])
    lists = read("values")
    for name in lists["values"]:
        assert re.search(rf"\b{name}@", used), name


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_mnemonics_are_in_the_opcode_tables(architecture):
    found = {layout.mnemonic for each in layouts(architecture).values() for layout in each}
    unknown = {name for name in found if not is_known(name, architecture)}
    assert unknown <= WITHOUT_DOCUMENTATION


def test_architectures_grow():
    sizes = [len(layouts(a)) for a in ARCHITECTURES]
    assert sizes[0] < sizes[1] < sizes[2] < sizes[-1]


def test_special_registers_have_names():
    assert vocabulary(70).values["special"][33] == ("SR_TID.X",)
    assert vocabulary(70).values["special"][136] == ("SR136",)
    assert vocabulary(90).values["special"][136] == ("SR_CgaCtaId",)


def test_classes_of_undescribed_opcodes_exist():
    assert set(read("undescribed")["class"]) <= set(OpClass.__members__)
