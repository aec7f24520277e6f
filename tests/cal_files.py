"""Kernel binaries in the layout of AMD's OpenCL compiler for Southern Islands: written, not read.

A source is assembly text in LLVM's syntax. Its comments that begin with ``;`` and a word of
``DIRECTIVES`` say what the assembler has no words for; those of ``METADATA`` go into the binary as
they stand. ``scripts/southern_islands_kernels.py`` makes binaries of the sources in
``examples/southern-islands/kernels``; tests write binaries that no compiler would.
"""

import re
import struct
import subprocess
from dataclasses import dataclass, field

METADATA = ("memory", "cws", "pointer", "value", "image", "sampler", "constarg", "reflection")
DIRECTIVES = ("kernel", "user", "groups", "items", "vgprs", "sgprs", "data")
ASSEMBLER = ("llvm-mc", "-arch=amdgcn", "-mcpu=tahiti", "-filetype=obj")
MACHINE, IL, TAHITI = 0x3FD, 25, 26
NOTE, LOAD, DICTIONARY = 4, 1, 0x70000002
SYMBOLS, STRINGS, PROGRAM = 2, 3, 1


@dataclass
class Source:
    """One kernel of a source: its text, and what its directives say."""

    name: str
    text: str = ""
    metadata: list[str] = field(default_factory=list)
    user: list[tuple[int, int, int, int]] = field(default_factory=list)  # class, slot, first, count
    groups: str = "x"
    items: int = 1
    vgprs: int = 4
    sgprs: int = 16
    float_mode: int = 0xC0

    @property
    def lds_bytes(self):
        """Bytes of LDS that the kernel itself declares."""
        return max(
            (int(m[17:]) for m in self.metadata if m.startswith(";memory:hwlocal:")), default=0
        )


def read_source(text):
    """The kernels of a source, and the data of its constant buffers by number."""
    kernels, data = [], {}
    for line in text.splitlines():
        word, _, rest = line.removeprefix(";").partition(":")
        directive = line.startswith(";") and word in (*METADATA, *DIRECTIVES)
        if directive and word == "kernel":
            kernels.append(Source(rest))
        elif directive and word == "data":
            number, _, values = rest.partition(":")
            data[int(number)] = data.get(int(number), b"") + words(
                int(value, 16) for value in values.split()
            )
        elif directive and word == "user":
            kernels[-1].user.append(tuple(int(value) for value in rest.split(":")))
        elif directive and word in DIRECTIVES:
            setattr(kernels[-1], word, rest if word == "groups" else int(rest))
        elif directive:
            kernels[-1].metadata.append(line)
        elif kernels:
            kernels[-1].text += line + "\n"
    return kernels, data


def assemble(text):
    """The bytes of instructions, by LLVM's assembler."""
    done = subprocess.run(ASSEMBLER, input=text.encode(), capture_output=True)
    if done.returncode:
        raise ValueError(done.stderr.decode())
    elf = done.stdout
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<3H", elf, 58)
    sections = [struct.unpack_from("<2I4Q", elf, table + k * size) for k in range(count)]
    for name, _, _, _, offset, length in sections:
        if elf[sections[names][4] + name :].startswith(b".text\0"):
            return elf[offset : offset + length]
    raise ValueError("no .text")


def from_source(text):
    """The binary of a source."""
    kernels, data = read_source(text)
    return binary([(kernel, assemble(kernel.text)) for kernel in kernels], data)


def binary(kernels, data=None):
    """A binary: pairs of a :class:`Source` and its code, and the data of constant buffers."""
    rodata, code, symbols = b"", b"", []
    for number, (kernel, instructions) in enumerate(kernels):
        texts = metadata(kernel, 1024 + number).encode()
        inner = program(kernel, instructions, data or {})
        for suffix, section, content in (
            ("metadata", "rodata", texts),
            ("header", "rodata", bytes(32)),
            ("kernel", "text", inner),
        ):
            place = rodata if section == "rodata" else code
            name = f"__OpenCL_{kernel.name}_{suffix}"
            symbols.append((name, len(place), len(content), section))
            rodata += content if section == "rodata" else b""
            code += content if section == "text" else b""
    for number, content in (data or {}).items():
        symbols.append((f"__OpenCL_{number}_global", len(rodata), len(content), "rodata"))
        rodata += content
    names = strings([symbol[0] for symbol in symbols])
    table = bytes(16) + b"".join(
        struct.pack("<3I2BH", names.index(name.encode() + b"\0"), offset, size, 1, 0,
                    {"rodata": 4, "text": 5}[section])
        for name, offset, size, section in symbols
    )  # fmt: skip
    sections = [
        (".shstrtab", STRINGS, None),
        (".strtab", STRINGS, names),
        (".symtab", SYMBOLS, table),
        (".rodata", PROGRAM, rodata),
        (".text", PROGRAM, code),
    ]
    return elf_file(sections)


def elf_file(sections):
    """The outer ELF; its symbol table is linked with no strings, as in the compiler's files."""
    labels = strings([name for name, _, _ in sections])
    offset, headers, contents = 52, [bytes(40)], b""
    for name, kind, given in sections:
        content = labels if given is None else given
        entry = 16 if kind == SYMBOLS else 0
        place = labels.index(b"\0" + name.encode() + b"\0") + 1
        headers.append(
            words([place, kind, 0, 0, offset + len(contents), len(content), 0, 0, 1, entry])
        )
        contents += content
    table = offset + len(contents)
    return elf_header(MACHINE, 0, 0, table, len(headers)) + contents + b"".join(headers)


def elf_header(machine, segments, segment_count, table, section_count):
    """The 52 bytes at the beginning of an ELF; section 1 names the others."""
    ident = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
    return ident + struct.pack(
        "<2H5I6H", 2, machine, 1, 0, segments, table, 0, 52, 32, segment_count, 40, section_count, 1
    )


def program(kernel, code, data):
    """The inner ELF of a kernel: a dictionary of two machines, of which IL's part is empty."""
    notes = b"".join(note(kind, content) for kind, content in kernel_notes(kernel, data))
    labels = strings([".shstrtab", ".text"])
    segments, table = 52, 52 + 3 * 32
    dictionary = table + 3 * 40
    names = dictionary + 2 * 20
    start = names + len(labels)
    length = len(notes) + len(code)
    body = b"".join(
        [
            words([DICTIONARY, dictionary, 0, 0, 40, 0, 0, 0]),
            words([NOTE, start, 0, 0, len(notes), 0, 0, 0]),
            words([LOAD, start + len(notes), 0, 0, len(code), len(code), 0, 0]),
            bytes(40),
            words([labels.index(b".shstrtab"), STRINGS, 0, 0, names, len(labels), 0, 0, 0, 0]),
            words(
                [labels.index(b".text"), PROGRAM, 0, 0, start + len(notes), len(code), 0, 0, 0, 0]
            ),
            words([IL, 4, start, 0, 0]),
            words([TAHITI, 4, start, length, 0]),
            labels,
        ]
    )
    return elf_header(0x7D, segments, 3, table, 3) + body + notes + code


def kernel_notes(kernel, data):
    """The notes that say something: program info, constant buffers, UAVs."""
    numbers = [int(m.split(":")[7]) for m in kernel.metadata if ":uav:" in m]
    numbers += [int(m.split(":")[4]) for m in kernel.metadata if re.match(r";image:.*:WO:", m)]
    uavs = sorted(set(numbers))
    arguments = [m for m in kernel.metadata if re.match(";(pointer|value|image)", m)]
    buffers = [(n, (len(d) + 15) // 16) for n, d in data.items()] + [(1, len(arguments)), (0, 15)]
    yield 16, words(value for uav in uavs for value in (uav, 4, 0, 5))
    yield 10, words(value for pair in buffers for value in pair)
    yield 1, words(value for pair in program_info(kernel) for value in pair)
    mask = [0] * 32
    for uav in uavs:
        mask[uav // 32] |= 1 << uav % 32
    yield 17, words(mask)


def program_info(kernel):
    """Pairs of an address and its value: registers, user elements, sizes, COMPUTE_PGM_RSRC2."""
    yield 0x80001000, len(kernel.user)
    for element in range(16):
        values = kernel.user[element] if element < len(kernel.user) else (0, 0, 0, 0)
        yield from ((0x80001001 + 4 * element + k, value) for k, value in enumerate(values))
    yield 0x80001041, kernel.vgprs
    yield 0x80001042, kernel.sgprs
    yield 0x80001043, kernel.float_mode
    users = max((first + count for _, _, first, count in kernel.user), default=0)
    enabled = sum(1 << 7 + "xyz".index(axis) for axis in kernel.groups)
    lds = (kernel.lds_bytes + 255) // 256
    yield 0x2E13, users << 1 | enabled | (kernel.items - 1) << 11 | lds << 15
    sizes = next((m.split(":")[1:] for m in kernel.metadata if m.startswith(";cws:")), (256, 0, 0))
    yield from ((0x8000001C + k, int(size)) for k, size in enumerate(sizes))
    yield 0x80000078, 64
    yield 0x80000082, kernel.lds_bytes


def metadata(kernel, unique):
    """The text about a kernel's arguments."""
    given = {m.split(":")[1] for m in kernel.metadata if m.startswith(";memory:")}
    lines = [f";memory:{kind}:0" for kind in ("uavprivate", "hwregion", "hwlocal")]
    lines = [line for line in lines if line.split(":")[1] not in given] + kernel.metadata
    head = [f";ARGSTART:__OpenCL_{kernel.name}_kernel", ";version:3:1:104", ";device:tahiti"]
    tail = [f";function:1:{unique + 7}", ";privateid:8", f";ARGEND:__OpenCL_{kernel.name}_kernel"]
    order = sorted(lines, key=lambda line: line.startswith(";reflection"))
    position = next((k for k, m in enumerate(order) if m.startswith(";reflection")), len(order))
    ordered = [*order[:position], *tail[:2], *order[position:]]
    return "\n".join([*head, f";uniqueid:{unique}", *ordered, tail[2]]) + "\n\0"


def note(kind, content):
    """One note of CAL."""
    return words([8, len(content), kind]) + b"ATI CAL\0" + content


def words(values):
    """Values as 32-bit words."""
    return b"".join(struct.pack("<I", value & 0xFFFFFFFF) for value in values)


def strings(names):
    """A string table."""
    return b"\0" + b"".join(name.encode() + b"\0" for name in names)
