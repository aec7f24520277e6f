"""LLVM text to machine code."""

import functools
import re

from llvmlite import binding

from lockstep._jit.holding import SignalHold
from lockstep._jit.loading import initialize

_SPREAD = re.compile(
    r"%([\w.$-]+) = shufflevector (<(\d+) x i1>) (%[\w.$-]+), \2 poison, <\3 x i32> zeroinitializer"
)
_SPREAD_AS_MASK = r"""%first.\1 = extractelement \2 \4, i64 0
  %mask.\1 = sext i1 %first.\1 to i\3
  %\1 = bitcast i\3 %mask.\1 to \2"""  # nothing can be added to a name that is a number


@functools.cache
def _machine(soon: bool = False) -> binding.TargetMachine:
    initialize()
    target = binding.Target.from_triple(binding.get_process_triple())
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        # 1 writes code in 9 % less time; saxpy and GEMM lose up to a sixth and a tenth. 0 takes
        # half as long, for code that runs 25 to 35 % longer.
        opt=0 if soon else 2,
        reloc="pic",
        codemodel="small",
    )


def prepare() -> None:
    """Load LLVM before anything is to be assembled."""
    _machine()


def assemble(text: str, soon: bool = False) -> bytes:
    """Object code of an LLVM module; ``soon``: rather than code that runs fast.

    Code generation is left to choose well among vector instructions; before it, one pass folds
    constants and simplifies (instruction selection alone does not end on some constant vectors).
    """
    with SignalHold().held():  # finalizers free what LLVM made: a handler's exception is lost there
        return _assembled(text, soon)


def _assembled(text: str, soon: bool) -> bytes:
    module, machine = binding.parse_assembly(text), _machine(soon)
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
