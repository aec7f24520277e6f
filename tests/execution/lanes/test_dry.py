"""A builder that emits nothing gives values of the types that are emitted."""

import random

from lockstep.errors import InputError
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.dry import DryBuilder
from lockstep.execution.lanes.module import LaneModule
from lockstep.execution.ptx import check
from lockstep.execution.ptx.spelling import spelling
from lockstep.isa.ptx.parser import parse
from ptx_legality import assembler, forms


def lifted(monkeypatch, builder, module):
    """LLVM's types, and ours, of the registers that an instruction reads and writes."""
    lifts = []
    open_lift = check._DryLift.open
    with monkeypatch.context() as patch:
        patch.setattr(check, "DryBuilder", builder)
        patch.setattr(
            check._DryLift, "open", lambda lift, *a: (lifts.append(lift), open_lift(lift, *a))
        )
        assert not check.refusals(module, 1 << 20)
    return {name: (str(v.ir.type), v.type) for name, v in lifts[0]._values.items()}


def emitting(lanes):
    """A builder that emits."""
    return LaneBuilder(LaneModule(lanes), "block0")


def instructions(seed, count):
    """Modules of one legal instruction each, and its text."""
    verdicts, rng = assembler.verdicts(), random.Random(seed)
    for form, operands in rng.choices(forms.lines(), k=count):
        legal = [n for n in forms.spelled(form) if verdicts[n] and spelling(n)]
        text = forms.instruction(rng.choice(legal), operands[0]) if legal else "ret;"
        try:
            head = assembler.KERNEL.format(target="sm_90a", version="8.8")
            module = parse(f"{head}{text}\n}}\n")
        except InputError:
            continue  # operands of another name of the form
        if not check.refusals(module, 1 << 20):
            yield module, text


def test_values_have_the_types_of_what_is_emitted(monkeypatch):
    compared = 0
    for module, text in instructions(3, 240):
        dry = lifted(monkeypatch, DryBuilder, module)
        real = lifted(monkeypatch, emitting, module)
        assert dry == real, text
        compared += bool(dry)
    assert compared > 100
