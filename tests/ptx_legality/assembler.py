"""What ptxas says of instructions.

``PYTHONPATH=tests python -m ptx_legality.assembler`` asks again, after a change of forms.txt.
verdicts.txt has a line for each form of forms.txt: which of its names are legal on any of the
targets, as a hexadecimal number, the first name lowest.
"""

import re
import subprocess
import tempfile
from pathlib import Path

from ptx_legality import forms

VERDICTS = Path(__file__).with_name("verdicts.txt")
TARGETS = {"sm_90a": "8.8", "sm_100a": "8.8", "sm_120a": "8.8", "sm_75": "8.3"}
KERNEL = """.version {version}
.target {target}
.address_size 64
.visible .entry k(.param .u64 p0)
{{
.reg .b16 %h<40>; .reg .b32 %r<40>; .reg .b64 %d<40>; .reg .b128 %q<4>; .reg .pred %p<4>;
"""
MESSAGE = re.compile(r"line (\d+); (?:error|fatal)\s*:\s*(.*)")
BATCH = 1000
DEADLY = "ptxas does not survive it"


def complaints(instructions, target="sm_90a"):
    """For each instruction what ptxas has against it, "" if nothing."""
    found = [""] * len(instructions)
    left = list(range(len(instructions)))
    head = KERNEL.format(target=target, version=TARGETS[target])
    first = head.count("\n") + 1
    while left:
        failed, errors = _assemble(head, [instructions[i] for i in left], target)
        wrong = {int(line) - first: message for line, message in errors}
        for k, message in wrong.items():
            found[left[k]] = message
        if not wrong:
            if failed and len(left) == 1:
                found[left[0]] = DEADLY
            elif failed:
                for half in (left[::2], left[1::2]):
                    parts = complaints([instructions[i] for i in half], target)
                    for i, message in zip(half, parts):
                        found[i] = message
            return found
        left = [i for k, i in enumerate(left) if k not in wrong]
    return found


def _assemble(head, instructions, target):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "k.ptx"
        source.write_text(head + "\n".join(instructions) + "\nret;\n}\n")
        command = ["ptxas", "-O0", "-c", f"-arch={target}", str(source), "-o", f"{folder}/k.cubin"]
        done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, MESSAGE.findall(done.stderr)


def legal(candidates):
    """Of ``{name: [instruction, ...]}`` the names that some target takes with some operands.

    What ptxas did not survive for one target is asked about alone for the others: to find it among
    many takes most of the time.
    """
    taken, fatal = set(), set()
    for target in TARGETS:
        asked = [(n, text) for n in candidates if n not in taken for text in candidates[n]]
        quiet = [pair for pair in asked if pair[1] not in fatal]
        parts = [quiet[start : start + BATCH] for start in range(0, len(quiet), BATCH)]
        for part in parts + [[pair] for pair in asked if pair[1] in fatal]:
            answers = complaints([text for _, text in part], target)
            taken |= {name for (name, _), answer in zip(part, answers) if not answer}
            fatal |= {text for (_, text), answer in zip(part, answers) if answer == DEADLY}
    return taken


def main():
    lines = []
    for form, operands in forms.lines():
        names = forms.spelled(form)
        taken = legal({n: [forms.instruction(n, o) for o in operands] for n in names})
        lines.append(f"{sum(1 << i for i, name in enumerate(names) if name in taken):x}")
    VERDICTS.write_text("\n".join(lines) + "\n")


def verdicts():
    """``{name: whether it is legal}``; a name of two forms is legal if it is in one."""
    table = {}
    numbers = VERDICTS.read_text().splitlines()
    for (form, _), digits in zip(forms.lines(), numbers, strict=True):
        number = int(digits, 16)
        for i, name in enumerate(forms.spelled(form)):
            table[name] = table.get(name, False) or bool(number >> i & 1)
    return table


if __name__ == "__main__":
    main()
