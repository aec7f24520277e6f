"""LLVM text to machine code, and machine code loaded into this process."""

import functools
import itertools
from collections.abc import Iterable, Mapping

from llvmlite import binding


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
    return machine.emit_object(module)


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
