"""``lockstep disasm``: the machine code in a program or a kernel binary."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.parameters import FILE
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.isa.sass.binary import Cubin, Image

TAHITI = "tahiti"


@click.command()
@click.argument("path", metavar="FILE", type=FILE)
@click.option("--arch", metavar="ARCH", help="Only code for this architecture, such as sm_80.")
@click.option("--kernel", metavar="NAME", help="Only functions whose name contains NAME.")
@click.option("--words", is_flag=True, help="Print the encodings too.")
@click.option("--list", "only_list", is_flag=True, help="List what FILE contains, without code.")
def command(path: Path, arch: str | None, kernel: str | None, words: bool, only_list: bool) -> None:
    """Disassemble the GPU code in FILE.

    FILE is a cubin, a fat binary, or an object, library or program that contains one. Each line is
    an address, the control bits and the instruction: barriers waited for, read and write barrier
    set, yield, stall count.

    FILE may also be a kernel binary of AMD's OpenCL compiler for Southern Islands (tahiti). What is
    printed of it can be assembled again by llvm-mc -arch=amdgcn -mcpu=tahiti.
    """
    from lockstep.cli.amd import is_binary_of_amd

    amd = is_binary_of_amd(path)
    for line in (_of_amd if amd else _of_nvidia)(path, arch, kernel, words, only_list):
        click.echo(line)


def _of_amd(
    path: Path, arch: str | None, kernel: str | None, words: bool, only_list: bool
) -> Iterator[str]:
    """The lines of a kernel binary for Southern Islands."""
    from lockstep.errors import InputError
    from lockstep.isa.gcn.container import read_file
    from lockstep.isa.gcn.decode import DecodeError
    from lockstep.isa.gcn.listing import listing

    binary = read_file(path)
    if arch not in (None, TAHITI):
        raise LockstepError(f"{path}: no code for {arch}; there is {TAHITI}")
    chosen = [(n, k) for n, k in enumerate(binary.kernels.values()) if (kernel or "") in k.name]
    if not chosen:
        raise LockstepError(f"{path}: no function is named {kernel!r}; --list says what there is")
    for number, each in chosen:
        if only_list:
            yield f"kernel {each.name}, {len(each.code)} bytes"
            continue
        try:
            yield from listing(each, number, words)
        except DecodeError as error:
            raise InputError(path, f"kernel {each.name}", str(error)) from error


def _of_nvidia(
    path: Path, arch: str | None, kernel: str | None, words: bool, only_list: bool
) -> Iterator[str]:
    """The lines of NVIDIA's cubins and fat binaries."""
    from lockstep.isa.sass.binary import read_images

    images = read_images(path)
    chosen = [i for i in images if arch is None or i.architecture == _architecture(arch)]
    if not chosen:
        there = ", ".join(sorted({f"sm_{i.architecture}" for i in images}))
        raise LockstepError(f"{path}: no code for {arch}; there is {there}")
    if kernel is not None and not any(_functions(image, path, kernel)[1] for image in chosen):
        raise LockstepError(f"{path}: no function is named {kernel!r}; --list says what there is")
    for image in chosen:
        yield from _lines(image, path, kernel, words, only_list)


def _architecture(text: str) -> int:
    digits = text.removeprefix("sm_").removeprefix("compute_").rstrip("af")
    if not digits.isdecimal() or len(digits) > 4:
        raise LockstepError(f"{text!r} is no architecture; expected for example sm_80")
    return int(digits)


def _functions(image: "Image", path: Path, kernel: str | None) -> "tuple[Cubin | None, list]":
    """The cubin in an image, if it is one, and its functions with ``kernel`` in their names."""
    from lockstep.isa.sass.binary import read_cubin

    if image.kind == "ptx":
        return None, []
    cubin = read_cubin(image.data, path)
    names = [(function, f"{function.title}\n{function.name}") for function in cubin.functions]
    return cubin, [function for function, name in names if (kernel or "") in name]


def _lines(
    image: "Image", path: Path, kernel: str | None, words: bool, only_list: bool
) -> Iterator[str]:
    from lockstep.isa.sass.binary import listing
    from lockstep.isa.sass.encoding import ARCHITECTURES

    yield f"{image.kind} sm_{image.architecture}, {len(image.data)} bytes"
    cubin, functions = _functions(image, path, kernel)
    if cubin is None:
        return
    for function in functions:
        if only_list or image.architecture not in ARCHITECTURES:
            yield f"  {function.title}, {len(function.code) // 16} instructions"
        else:
            yield from listing(cubin, function, words)
