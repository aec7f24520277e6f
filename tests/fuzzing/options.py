"""Target: the command line, with options and values that nobody would give."""

import io
import random
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

from fuzzing import gpus, mutations
from fuzzing.target import Target
from fuzzing.workloads import tiny
from lockstep import api
from lockstep.cli.main import main

TRACE = "tiny.lst"
CUBIN = Path(__file__).parents[1] / "isa" / "sass" / "binary" / "fixtures" / "scale_sm90.cubin"

WORDS = (
    *("--gpu", "QV100", "H100", "A100", "nothing", "--set", "sm.count=1", "sm.count=-1"),
    *("--threads", "--kernels", "1", "1-9", "0-99999999999", "9-1", ",", "1,,2", "--interval"),
    *("--limit-cycles", "--limit-instructions", "--quiet", "-q", "--timeline", "t.json.gz"),
    *("--json", "-", "r.json", "--out", "results", "tiny.lst", "absent.lst", "k.cubin", ".", ""),
    *("simulate", "info", "convert", "disasm", "gpus", "kernels", "--arch", "sm_90", "sm_1"),
    *("--kernel", "scale", "--words", "--list", "copy.lst", "copy", "sm_٣", "--", "--help"),
)


class Options(Target):
    """Arguments, one a line."""

    name, mebibytes, seconds, sample = "options", 4096, 60.0, 40

    def prepare(self, folder: Path) -> None:
        """A trace and a cubin."""
        super().prepare(folder)
        api.save(tiny(), folder / TRACE)
        self._files = {TRACE: (folder / TRACE).read_bytes(), "k.cubin": CUBIN.read_bytes()}

    def seeds(self) -> Sequence[bytes]:
        """One of each command that reads files and starts nothing."""
        limits = "--limit-cycles\n20000\n--set\nsm.count=1\n--set\ndram.channels=1"
        return [
            f"simulate\n{TRACE}\n--gpu\nQV100\n{limits}".encode(),
            f"simulate\n{TRACE}\n{limits}\n--kernels\n1\n--json\nr.json\n--interval\n100".encode(),
            f"simulate\n{TRACE}\n{limits}\n--timeline\nt.json.gz\n--out\nresults\n-q".encode(),
            f"info\n{TRACE}".encode(),
            f"convert\n{TRACE}\ncopy.lst".encode(),
            f"convert\n{TRACE}\ncopy".encode(),
            b"disasm\nk.cubin\n--kernel\nscale\n--words",
            b"gpus\nH100\n--set\nsm.count=7",
        ]

    def mutated(self, chance: random.Random, data: bytes, other: bytes) -> bytes:
        """Arguments go, come, change places and become others; numbers become edges."""
        words = data.decode().split("\n")
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            place = chance.randrange(1, len(words) + 1)
            match chance.randrange(5):
                case 0:
                    words[place:place] = chance.choices(WORDS, k=chance.choice((1, 2)))
                case 1:
                    del words[place : place + 1]
                case 2:
                    words[place : place + 1] = [chance.choice((*mutations.NUMBERS, *mutations.ODD))]
                case 3:
                    words[place : place + 1] = [chance.choice(WORDS)]
                case _:
                    words[place:place] = ["--set", _override(chance)]
        return "\n".join(words).replace("\0", "").encode("utf-8")  # no argument can have one

    def read(self, data: bytes) -> object:
        """The exit code, and the files that were written."""
        words = data.decode("utf-8", "replace").split("\n")
        for name, content in self._files.items():
            (self.folder / name).write_bytes(content)
        said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with chdir(self.folder), redirect_stdout(said), redirect_stderr(said):
            try:
                main.main(words, prog_name="lockstep", standalone_mode=False)
            except SystemExit as error:
                return error.code
        return 0


def _override(chance: random.Random) -> str:
    value = chance.choice((*mutations.NUMBERS, *gpus.VALUES))
    return f"{chance.choice(gpus.names())}={value}"


TARGETS = (Options,)
