"""Object code in this process, without Numba."""

import functools

from llvmlite import binding

_alive: list[object] = []


@functools.cache
def host_key() -> str:
    """What object code depends on besides its source: the processor and LLVM."""
    parts = (
        binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten(),
        binding.llvm_version_info,
        binding.get_process_triple(),
    )
    return repr(parts)


def _machine() -> binding.TargetMachine:
    """A new one each time: an execution engine takes its machine with it."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_triple(binding.get_process_triple()).create_target_machine(
        reloc="default", codemodel="jitdefault"
    )


def load(objects: bytes, symbol: str) -> int:
    """Address of a function of an object file, which stays in the process."""
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _machine())
    engine.add_object_file(binding.ObjectFileRef.from_data(objects))
    engine.finalize_object()
    _alive.append(engine)
    return engine.get_function_address(symbol)
