"""Checks the SASS decoder against NVIDIA's disassembler on a corpus of real instructions.

Development only: it needs files of NVIDIA's that are never committed. With
``pip install 'cuda-toolkit[nvcc,nvrtc,cudart,cccl]==12.9.*'`` for NVRTC and the headers, and the
folder ``triton/backends/nvidia/bin`` of the wheel of triton 3.5.1 (nvdisasm and ptxas 12.8)::

    python scripts/sass_corpus.py build /tmp/corpus --tools triton/backends/nvidia/bin
    python scripts/sass_corpus.py compare /tmp/corpus --tools triton/backends/nvidia/bin
    python scripts/sass_corpus.py sample /tmp/corpus --tools triton/backends/nvidia/bin

``build`` compiles ``scripts/corpus``, the built-in kernels and the PTX of ``sass_ptx.py`` for
every architecture and with several options, and keeps the distinct instruction words. ``compare``
decodes each and compares the text with nvdisasm's. ``sample`` writes the part of nvdisasm's
answers that the tests use.
"""

import argparse
import ctypes
import io
import random
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import sass_ptx
import zstandard
from elftools.elf.elffile import ELFFile

from lockstep.isa.sass.encoding import ARCHITECTURES, BYTES, decode

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "tests/isa/sass/encoding/nvdisasm"
SAMPLE_SIZE = 3500  # instructions of an architecture
EXAMPLES = 3  # of each opcode with its modifiers
OPTIONS = (
    (),
    ("--use_fast_math",),
    ("-maxrregcount=40",),
    ("-G",),
    ("--ftz=true", "--prec-div=false"),
    ("--fmad=false", "-maxrregcount=64"),
)
BATCH = 20000
_LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*/\*\s*0x[0-9a-f]{16}\s*\*/")
_LABEL = re.compile(r"^(\.L_\w+):")
_REFUSED = re.compile(r"at address 0x([0-9a-f]+)")


class Compiler:
    """NVRTC, through its C interface."""

    def __init__(self):
        folders = [
            p
            for root in find_spec("nvidia").submodule_search_locations
            for p in Path(root).iterdir()
        ]
        self.library = ctypes.CDLL(
            str(next(f for p in folders for f in p.glob("lib/libnvrtc.so.*")))
        )
        self.includes = [f"-I{p / 'include'}" for p in folders if (p / "include").is_dir()]

    def compile(self, source: Path, architecture: int, options: Iterable[str]) -> bytes | None:
        """A cubin, or None if the source does not compile for that architecture."""
        program = ctypes.c_void_p()
        text = source.read_bytes()
        self.library.nvrtcCreateProgram(
            ctypes.byref(program), text, str(source).encode(), 0, None, None
        )
        fixed = (f"-arch=sm_{architecture}", "-std=c++17", "-default-device", "--device-int128")
        arguments = [a.encode() for a in (*fixed, *self.includes, *options)]
        array = (ctypes.c_char_p * len(arguments))(*arguments)
        if self.library.nvrtcCompileProgram(program, len(arguments), array):
            return None
        size = ctypes.c_size_t()
        self.library.nvrtcGetCUBINSize(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self.library.nvrtcGetCUBIN(program, buffer)
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        return buffer.raw


def assemble(tools: Path, ptx: str, target: str) -> bytes | None:
    """A cubin from PTX, or None if ptxas refuses it."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder, "a.ptx"), Path(folder, "a.cubin")
        source.write_text(ptx)
        command = [tools / "ptxas", f"-arch={target}", "-o", result, source]
        done = subprocess.run(command, capture_output=True, check=False)
        return result.read_bytes() if done.returncode == 0 else None


def words(cubin: bytes) -> Iterator[int]:
    """The instruction words of a cubin's code sections."""
    for section in ELFFile(io.BytesIO(cubin)).iter_sections():
        if section.name.startswith(".text."):
            data = section.data()
            for start in range(0, len(data) - BYTES + 1, BYTES):
                yield int.from_bytes(data[start : start + BYTES], "little")


def build(folder: Path, tools: Path, architectures: list[int]) -> None:
    """Compile everything; one file of distinct words an architecture."""
    compiler = Compiler()
    sources = [*sorted((ROOT / "scripts/corpus").glob("*.cu"))]
    kernels = sorted((ROOT / "examples/kernels").glob("*/*.cu"))
    sources += [p for p in kernels if p.name != "main.cu"]
    folder.mkdir(parents=True, exist_ok=True)
    for architecture in architectures:
        found: set[int] = set()
        for options in OPTIONS:
            for source in sources:
                cubin = compiler.compile(source, architecture, options)
                if cubin is None:
                    print(f"sm_{architecture}: {source.name} does not compile, {' '.join(options)}")
                found.update(words(cubin or b"") if cubin else ())
        found.update(_assembled(tools, architecture))
        path = folder / f"sm_{architecture}.words"
        path.write_text("".join(f"{word:032x}\n" for word in sorted(found)))
        print(f"sm_{architecture}: {len(found)} distinct instructions")


def _assembled(tools: Path, architecture: int) -> Iterator[int]:
    for i, snippet in enumerate(sass_ptx.snippets()):
        variant = "a" if snippet.since.endswith("a") else ""
        first = int(snippet.since.rstrip("a"))
        if first <= architecture <= snippet.until and not (variant and architecture != first):
            target = f"sm_{architecture}{variant}"
            cubin = assemble(tools, sass_ptx.module(snippet, target, i % 7), target)
            yield from words(cubin) if cubin else ()


def disassemble(tools: Path, architecture: int, code: list[int]) -> list[tuple[int, str] | None]:
    """What nvdisasm prints for each word, with the pc it had; None where it refuses the word."""
    live, answers = list(range(len(code))), [None] * len(code)
    while live:
        output = _run(tools, architecture, [code[i] for i in live])
        refused = {int(m, 16) // BYTES for m in _REFUSED.findall(output)}
        if refused:
            live = [i for place, i in enumerate(live) if place not in refused]
            continue
        texts = _texts(output, len(live))
        for place, i in enumerate(live):
            answers[i] = (place * BYTES, texts[place * BYTES])
        return answers
    return answers


def _run(tools: Path, architecture: int, code: list[int]) -> str:
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(b"".join(word.to_bytes(BYTES, "little") for word in code))
        file.flush()
        command = [tools / "nvdisasm", "-b", f"SM{architecture}", "-hex", "-ndf", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr


def _texts(output: str, count: int) -> dict[int, str]:
    labels, pending, texts = {}, [], {}
    for line in output.splitlines():
        if label := _LABEL.match(line):
            pending.append(label[1])
        elif found := _LINE.match(line):
            pc = int(found[1], 16)
            labels.update(dict.fromkeys(pending, pc))
            pending, texts[pc] = [], found[2]
    labels.update(dict.fromkeys(pending, count * BYTES))
    return {pc: normalise(text, labels) for pc, text in texts.items()}


def normalise(text: str, labels: dict[str, int]) -> str:
    """Labels become addresses, and the disassembler's irregular spaces are taken out."""
    text = re.sub(r"`\((\.L_\w+)\)", lambda m: hex(labels[m[1]]), text)
    text = re.sub(r"\s*\?PM\d\s*$", "", text)
    return re.sub(r"\s+", " ", re.sub(r"\s+,", ",", text.replace("] [", "]["))).strip()


def answers(folder: Path, tools: Path, architecture: int) -> Iterator[tuple[int, int, str]]:
    """Word, pc and text of every instruction of the corpus."""
    lines = (folder / f"sm_{architecture}.words").read_text().split()
    code = [int(line, 16) for line in lines]
    for start in range(0, len(code), BATCH):
        batch = code[start : start + BATCH]
        for word, answer in zip(batch, disassemble(tools, architecture, batch), strict=True):
            if answer is None:
                print(f"sm_{architecture}: nvdisasm refuses {word:#034x}")
            else:
                yield word, *answer


def compare(folder: Path, tools: Path, architectures: list[int]) -> None:
    """Count and show where the decoder and nvdisasm differ."""
    for architecture in architectures:
        total = different = 0
        for word, pc, text in answers(folder, tools, architecture):
            total += 1
            ours = decode(word, architecture, pc).text()
            if ours != text:
                different += 1
                print(f"sm_{architecture} {word:#034x}\n  nvdisasm {text}\n  decoder  {ours}")
        print(f"sm_{architecture}: {total - different} of {total} instructions agree")


def sample(folder: Path, tools: Path, architectures: list[int]) -> None:
    """Write some examples of every opcode with its modifiers, then others at random."""
    for architecture in architectures:
        kinds = defaultdict(list)
        everything = list(answers(folder, tools, architecture))
        random.Random(architecture).shuffle(everything)
        for answer in everything:
            opcode = re.sub(r"^@\S+ ", "", answer[2]).split(" ")[0]
            kinds[answer[0] & 0xFFF, opcode].append(answer)
        chosen = [a for group in kinds.values() for a in group[:EXAMPLES]]
        rest = [a for group in kinds.values() for a in group[EXAMPLES:]]
        chosen += rest[: max(0, SAMPLE_SIZE - len(chosen))]
        lines = "".join(f"{word:032x} {pc:x} {text}\n" for word, pc, text in sorted(chosen))
        SAMPLES.mkdir(parents=True, exist_ok=True)
        packed = zstandard.ZstdCompressor(level=19).compress(lines.encode())
        (SAMPLES / f"sm_{architecture}.txt.zst").write_bytes(packed)
        print(f"sm_{architecture}: {len(chosen)} answers, {len(packed)} bytes")


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("action", choices=["build", "compare", "sample"])
    parser.add_argument("folder", type=Path, help="where the corpus is kept")
    parser.add_argument("--tools", type=Path, required=True, help="folder of nvdisasm and ptxas")
    parser.add_argument("--architecture", type=int, action="append", choices=ARCHITECTURES)
    arguments = parser.parse_args()
    action = {"build": build, "compare": compare, "sample": sample}[arguments.action]
    action(arguments.folder, arguments.tools, arguments.architecture or list(ARCHITECTURES))


if __name__ == "__main__":
    main()
