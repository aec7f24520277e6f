"""Instructions to ask NVIDIA's assembler about: forms.txt, spelled out, with operands.

A line of forms.txt is ``form | operands ; other operands``. Forms are written as those of the table
of opcodes; ``@A`` is any type. Operands: ``t`` a register of the last type's size, ``T`` of the
first's, ``w`` twice as wide; ``h r d p`` registers of 16, 32, 64 bits and a predicate; ``R4 D2``
braces of so many; ``g`` an address; else as it stands.
"""

import functools
import itertools
import re
from pathlib import Path

FORMS = Path(__file__).with_name("forms.txt")
ANY = "u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 b128 f16 f16x2 bf16 bf16x2 f32 f32x2 f64"
ANY = (ANY + " pred tf32 u16x2 s16x2").split()
TYPE = re.compile(r"[usbf]\d+(x2)?|bf16(x2)?|pred|tf32|u?e\dm\d(x[24])?")
SIZES = {1: "p", 8: "h", 16: "h", 32: "r", 64: "d", 128: "q"}


@functools.cache
def lines():
    """Forms and the operands of each."""
    texts = FORMS.read_text(encoding="utf-8").splitlines()
    table = (line.partition("|") for line in texts if not line.startswith("#"))
    return [(form.strip(), [o.strip() for o in rest.split(";")]) for form, _, rest in table]


def spelled(form):
    """All names that a form stands for, in order."""
    return list(dict.fromkeys(_spelled(form.replace("@A", "{" + ",".join(ANY) + "}"))))


def _spelled(form):
    found = re.search(r"[\[{]", form)
    if not found:
        return [form]
    start = found.start()
    end = _closing(form, start)
    inner = form[start + 1 : end]
    choices = ["", inner] if form[start] == "[" else _choices(inner)
    middles = [name for choice in choices for name in _spelled(choice)]
    rests = _spelled(form[end + 1 :])
    return [form[:start] + middle + rest for middle in middles for rest in rests]


def _closing(text, start):
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] in "[{") - (text[place] in "]}")
        if depth == 0:
            return place
    raise ValueError(text)


def _choices(text):
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def bits(kind):
    """The size of a type's register."""
    if kind in ("pred", "tf32"):
        return {"pred": 1, "tf32": 32}[kind]
    if "e" in kind:
        return 8 if kind.startswith("e2m1") or not kind.endswith("x2") else 16
    return int(re.search(r"\d+", kind)[0]) * (2 if kind.endswith("x2") else 1)


def instruction(name, operands):
    """The text of an instruction."""
    kinds = [word for word in name.split(".")[1:] if TYPE.fullmatch(word)] or ["b32"]
    count = itertools.count(1)
    return f"{name} {', '.join(_operand(token, kinds, count) for token in operands.split())};"


def _operand(token, kinds, count):
    if token.startswith("{"):
        return "{" + ",".join(_operand(t, kinds, count) for t in token[1:-1].split(",")) + "}"
    if "|" in token:
        return "|".join(_operand(t, kinds, count) for t in token.split("|"))
    if re.fullmatch(r"[RD]\d", token):
        letter = token[0].lower()
        return "{" + ",".join(f"%{letter}{next(count)}" for _ in range(int(token[1]))) + "}"
    sizes = {"t": bits(kinds[-1]), "T": bits(kinds[0]), "w": min(128, 2 * bits(kinds[-1]))}
    if token in sizes:
        token = SIZES[max(sizes[token], 1)] if token != "w" or sizes[token] > 2 else "p"
    if token in ("h", "r", "d"):
        return f"%{token}{next(count)}"
    if token in ("p", "q"):
        return f"%{token}{next(count) % 4}"
    return f"[%d{next(count)}]" if token == "g" else token
