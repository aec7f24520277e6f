"""Object code in this process, without Numba."""

import functools
import itertools
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from llvmlite import binding

_alive: list[object] = []


class Processor(NamedTuple):
    """What machine code is made for, in LLVM's words."""

    name: str
    features: str  # all that there are, "+avx2,-avx512f"
    llvm: tuple[int, ...]
    triple: str


@functools.cache
def processor() -> Processor:
    """The processor of this host, and the LLVM that knows it."""
    return Processor(
        binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten(),
        tuple(binding.llvm_version_info),
        binding.get_process_triple(),
    )


def host_key() -> str:
    """What object code depends on besides its source: the processor and LLVM."""
    return repr(tuple(processor()))


def initialize() -> None:
    """Let LLVM know this host."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()


@functools.cache
def _loader() -> binding.LLJIT:
    """One for the process, which gives each object one range of addresses for code and data.

    An engine of LLVM's older kind maps them one by one, wherever there is room: in a process that
    maps much, farther apart than the two GiB that machine code reaches.
    """
    initialize()
    return binding.create_lljit_compiler(use_jit_link=True)


_numbers = itertools.count()


class Loaded:
    """Object code in this process; addresses are valid as long as the object lives."""

    def __init__(
        self, objects: bytes, functions: Iterable[str], numbers: Mapping[str, int] | None = None
    ):
        """``functions``: the symbols of those whose addresses are wanted.

        ``numbers``: what symbols that are not defined stand for.
        """
        library = binding.JITLibraryBuilder().add_object_img(objects).add_current_process()
        for function in functions:
            library.export_symbol(function)
        for symbol, number in (numbers or {}).items():
            library.import_symbol(symbol, number)
        self._library = library.link(_loader(), f"objects{next(_numbers)}")

    def address(self, function: str) -> int:
        """Address of a function."""
        return self._library[function]


def load(objects: bytes, symbol: str) -> int:
    """Address of a function of an object file, which stays in the process."""
    loaded = Loaded(objects, [symbol])
    _alive.append(loaded)
    return loaded.address(symbol)
