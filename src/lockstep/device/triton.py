"""Triton kernels: compiled to PTX ahead of time, which needs no GPU."""

import importlib.util
from typing import Any

from lockstep.device.module import Configured, Launcher
from lockstep.device.ptx import PtxKernel, PtxModule
from lockstep.errors import LockstepError, WorkloadError
from lockstep.isa.instruction import WARP_SIZE


class TritonKernel(PtxKernel):
    """A Triton kernel: ``kernel[grid](*arguments)`` or ``kernel[grid, stream](*arguments)``.

    Arguments are those that are no constants, in order; block and shared memory are Triton's.
    """

    def __init__(self, module: PtxModule, compiled: Any):
        kernel = module[compiled.metadata.name]
        assert isinstance(kernel, PtxKernel)
        super().__init__(module, kernel.function)
        self._metadata = compiled.metadata

    def __getitem__(self, configuration: Any) -> Configured:
        """Choose the grid and optionally a stream."""
        with_stream = (
            isinstance(configuration, tuple)
            and len(configuration) == 2
            and not isinstance(configuration[1], int)
        )
        grid, stream = configuration if with_stream else (configuration, None)
        block = self._metadata.num_warps * WARP_SIZE
        return super().__getitem__((grid, block, self._metadata.shared, stream))

    def flatten(self, arguments: tuple) -> tuple:
        """The arguments, and Triton's own behind them: pointers to scratch memory."""
        missing = len(self.parameters) - len(arguments)
        if not 0 <= missing <= 2:
            given, most = len(arguments), len(self.parameters)
            raise WorkloadError(f"kernel {self.name}: {given} arguments; expected up to {most}")
        return (*arguments, *(0,) * missing)


def load(
    device: Launcher,
    kernel: Any,
    signature: dict[str, str],
    constants: dict[str, Any] | None = None,
    arch: int = 80,
    **options: Any,
) -> TritonKernel:
    """Compile a ``triton.jit`` function for ``device``.

    ``signature`` gives the type of each parameter, as in ``{"x": "*fp32", "n": "i32"}``;
    ``constants`` the values of the ``tl.constexpr`` ones. ``options`` are Triton's: ``num_warps``,
    ``num_stages``. Raises :class:`LockstepError` if Triton is not installed, or refuses.
    """
    if importlib.util.find_spec("triton") is None:
        raise LockstepError("Triton is not installed: pip install triton")
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    constants = constants or {}
    types = dict.fromkeys(kernel.arg_names, "constexpr") | signature
    try:
        source = ASTSource(fn=kernel, signature=types, constexprs=constants)
        compiled = triton.compile(
            source, target=GPUTarget("cuda", arch, WARP_SIZE), options=options
        )
    except Exception as error:  # Triton's compiler has no common class of errors
        raise LockstepError(f"Triton: {type(error).__name__}: {error}") from error
    if getattr(compiled.metadata, "global_scratch_size", 0):
        raise LockstepError(f"Triton kernel {kernel.__name__} needs global scratch memory")
    module = device.load_ptx(compiled.asm["ptx"])
    assert isinstance(module, PtxModule)
    return TritonKernel(module, compiled)
