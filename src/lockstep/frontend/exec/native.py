"""LLVM text to machine code, kept on disk by content, loaded into this process."""

import functools
import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from llvmlite import binding

from lockstep._jit import cache_root
from lockstep.errors import InputError
from lockstep.files import replacing


def _machine() -> binding.TargetMachine:
    """A new one each time: an execution engine takes its machine with it when it is freed."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_triple(binding.get_process_triple())
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=2,
        reloc="pic",
        codemodel="small",
    )


@functools.cache
def host_key() -> str:
    """What machine code depends on besides its source: the processor and LLVM."""
    parts = (
        binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten(),
        binding.llvm_version_info,
        binding.get_process_triple(),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


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


class Loaded:
    """Object code in this process; addresses are valid as long as the object lives."""

    def __init__(self, objects: bytes):
        empty = binding.parse_assembly("")
        self._engine = binding.create_mcjit_compiler(empty, _machine())
        self._engine.add_object_file(binding.ObjectFileRef.from_data(objects))
        self._engine.finalize_object()

    def address(self, symbol: str) -> int:
        """Address of a function."""
        return self._engine.get_function_address(symbol)


def cached(key: str, make: Callable[[], bytes]) -> bytes:
    """The bytes kept under a key, made and kept if there are none."""
    path = cache_root() / "native" / f"{key}-{host_key()}"
    try:
        return path.read_bytes()
    except OSError:
        content = make()
        _keep(path, content)
        return content


def _keep(path: Path, content: bytes) -> None:
    """Write whole or not at all; a read-only home costs only the time of the next translation."""
    with suppress(InputError), replacing(path) as temporary:
        temporary.write_bytes(content)
