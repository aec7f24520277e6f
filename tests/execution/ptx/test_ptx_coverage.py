import re
from pathlib import Path

from lockstep.execution.ptx import coverage
from lockstep.execution.ptx.opcodes import TABLE, find

PAGE = Path(__file__).parents[3] / "docs" / "ptx-coverage.md"


def test_the_page_is_current():
    command = "python -m lockstep.execution.ptx.coverage > docs/ptx-coverage.md"
    assert PAGE.read_text(encoding="utf-8") == coverage.page(), f"run: {command}"


def test_every_opcode_of_the_table_is_on_the_page():
    assert coverage.forms().keys() == TABLE.keys()


def test_what_a_form_stands_for_is_found():
    for name, own in coverage.forms().items():
        for form in own:
            plain = form
            while "[" in plain:  # without what may be absent
                plain = re.sub(r"\[[^\[\]]*\]", "", plain)
            plain = re.sub(r"\{([^{}]*)\}", lambda m: m[1].split(",")[0], plain)
            assert plain.partition(".")[0] == name
            assert find(plain) is not None, form
