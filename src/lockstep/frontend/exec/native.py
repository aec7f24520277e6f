"""LLVM text to machine code, and machine code loaded into this process."""

import functools
import itertools
import re
from collections.abc import Iterable, Mapping

from llvmlite import binding

_SPREAD = re.compile(
    r"(%[\w.$-]+) = shufflevector (<(\d+) x i1>) (%[\w.$-]+), \2 poison, <\3 x i32> zeroinitializer"
)
_SPREAD_AS_MASK = r"""\1.first = extractelement \2 \4, i64 0
  \1.mask = sext i1 \1.first to i\3
  \1 = bitcast i\3 \1.mask to \2"""


def _initialize() -> None:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()


@functools.cache
def _machine() -> binding.TargetMachine:
    _initialize()
    target = binding.Target.from_triple(binding.get_process_triple())
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=2,
        reloc="pic",
        codemodel="small",
    )


def assemble(text: str) -> bytes:
    """Object code of an LLVM module.

    Code generation is left to choose well among vector instructions; before it, one pass folds
    constants and simplifies (instruction selection alone does not end on some constant vectors).
    """
    module, machine = binding.parse_assembly(text), _machine()
    passes = binding.create_new_module_pass_manager()
    passes.add_instruction_combine_pass()
    options = binding.create_pipeline_tuning_options(speed_level=1)
    passes.run(module, binding.create_pass_builder(machine, options))
    return machine.emit_object(_with_masks(module))


def _with_masks(module: binding.ModuleRef) -> binding.ModuleRef:
    """Let the first element of a predicate become that of all lanes by way of a mask.

    The pass above makes shuffles of comparisons of what is the same in every lane. LLVM 22.1 at
    times forgets such a shuffle where both the lanes and their mask are wanted (x86 with AVX-512):
    all lanes but the first were wrong.
    """
    text, count = _SPREAD.subn(_SPREAD_AS_MASK, str(module))
    return binding.parse_assembly(text) if count else module


@functools.cache
def _loader() -> binding.LLJIT:
    """One for the process, which gives each object one range of addresses for code and data.

    An engine of LLVM's older kind maps them one by one, wherever there is room: in a process that
    maps much, farther apart than the two GiB that machine code reaches.
    """
    _initialize()
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
        self._library = library.link(_loader(), f"program{next(_numbers)}")

    def address(self, function: str) -> int:
        """Address of a function."""
        return self._library[function]
