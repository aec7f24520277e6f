"""Targets: PTX as text, checked; translated, without code for this host; and executed."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest import mock

from llvmlite import binding

from fuzzing import mutations
from fuzzing.target import Target
from isa.ptx.test_ptx_fuzz import WORDS
from lockstep import Device
from lockstep.device.module import Module
from lockstep.execution.programs import kept, native
from lockstep.execution.programs.program import Recording
from lockstep.execution.ptx.check import check
from lockstep.isa.ptx.parser import parse

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
NAMES = ("histogram_global", "vecadd", "texture", "spin_lock", "reduce_shared", "reduce_shuffle")
SHARED_BYTES = 98304
INSTRUCTIONS = (
    *("add.s32", "mul.wide.u32", "mad.lo.s32", "setp.lt.u32", "selp.b32", "cvt.rn.f32.s32"),
    *("ld.global.v4.u32", "st.shared.b32", "atom.global.add.u32", "red.shared.or.b32", "bar.sync"),
    *("shfl.sync.idx.b32", "vote.sync.ballot.b32", "match.any.sync.b32", "membar.gl", "exit"),
    *("prmt.b32", "bfe.u64", "lop3.b32", "div.rn.f64", "sqrt.approx.f32", "tex.2d.v4.f32.s32"),
    *("@%p1", "@!%p1", "bra", "brx.idx", "call.uni", "%rd1", "%f1", "[%rd1+4]", "%ctaid.y"),
)


@cache
def texts() -> list[bytes]:
    """Small kernels, without their comments."""
    found = [(KERNELS / name / f"{name}.ptx").read_text() for name in NAMES]
    return [re.sub(r"//.*|^\s*\n", "", text, flags=re.MULTILINE).encode() for text in found]


class Checked(Target):
    """PTX is parsed, and its instructions are checked."""

    name = "ptx"
    mutations = mutations.text([*WORDS, *INSTRUCTIONS])

    def seeds(self) -> Sequence[bytes]:
        """Small kernels."""
        return texts()

    def read(self, data: bytes) -> object:
        """The entries and their instructions."""
        module = parse(data.decode("utf-8", "replace"), "k.ptx")
        check(module, SHARED_BYTES)
        return [(name, repr(module.functions[name].instructions)) for name in module.entries]


@contextmanager
def unassembled() -> Iterator[None]:
    """Translations are checked by LLVM, but no code is made of them, and none is kept."""

    def verify(text: str, soon: bool) -> bytes:
        module = binding.parse_assembly(text)
        module.verify()
        return text.encode()

    def again(_: object, make: Callable[[], object]) -> object:
        return make()

    with (
        mock.patch.object(native, "assemble", verify),
        mock.patch.object(kept, "program", again),
        mock.patch.object(kept, "routine", again),
        mock.patch.object(kept, "once", again),
    ):
        yield


class OnDevice(Target):
    """Modules on a device of each worker."""

    mebibytes = 4096
    seconds, sample = 60.0, 8

    def load(self, device: Device, data: bytes) -> Module:
        """The module of an input."""
        raise NotImplementedError

    @contextmanager
    def device(self) -> Iterator[Device]:
        """A device with little memory."""
        with Device("QV100", memory_bytes=1 << 28, limit_instructions=20_000) as device:
            yield device


class Translated(OnDevice):
    """What is accepted can be translated, with all that is recorded."""

    def read(self, data: bytes) -> object:
        """The programs of all kernels."""
        with self.device() as device, unassembled():
            module = self.load(device, data)
            recording = Recording.EVERYTHING | Recording.PROFILE
            return [(n, module[n].translate(recording).parts) for n in module.entries]


class TranslatedPtx(Translated):
    """PTX to LLVM."""

    name = "ptx-translate"
    mutations = mutations.text([*WORDS, *INSTRUCTIONS])

    def seeds(self) -> Sequence[bytes]:
        """Small kernels."""
        return texts()

    def load(self, device: Device, data: bytes) -> Module:
        """The module of a text."""
        return device.load_ptx(data.decode("utf-8", "replace") + "\n")


TARGETS = (Checked, TranslatedPtx)
