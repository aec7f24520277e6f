"""How kernels come to a device: from PTX, machine code, CUDA C++, Triton and Numba."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lockstep.device import ptx
from lockstep.device.module import Kernel, Module

if TYPE_CHECKING:
    from lockstep.device.device import Device


class Loader:
    """The part of a :class:`.Device` that loads code."""

    @property
    def _device(self) -> "Device":
        """The whole of it."""
        return cast("Device", self)

    def load_ptx(
        self,
        source: str | Path,
        variables: Mapping[str, int] | None = None,
        *,
        lazy: bool = False,
    ) -> ptx.PtxModule:
        """A module from PTX text, or from the file that a path names.

        ``variables``: device addresses of variables that are not to be made, by name, as of a
        module of machine code that was compiled from the same source. Raises :class:`InputError`
        if it is no PTX, or if anything in it cannot be executed; with ``lazy``, what cannot be
        executed is refused when a kernel that needs it is first launched.
        """
        self._device.check_open()
        return ptx.load(self._device, source, variables, lazy)

    def load_cubin(self, source: str | Path | bytes) -> Module:
        """A module of machine code from the bytes of a cubin, or from the file that a path names.

        Architectures are sm_70, sm_75, sm_80, sm_86, sm_89 and sm_90, whatever the modelled GPU.
        A cubin does not say which parameters of ``extern "C"`` kernels are floating-point: pass
        Python floats or NumPy scalars where they are.
        """
        from lockstep.device import cubin

        self._device.check_open()
        return cubin.CubinModule(self._device, *cubin.read(source))

    def compile(self, source: str, arch: str = "sm_70", options: tuple[str, ...] = ()) -> Module:
        """A module from CUDA C++ text, compiled by NVRTC (``pip install 'lockstep-gpu[cuda]'``).

        Kernels without ``extern "C"`` have mangled names; ``module[name]`` finds them by their
        plain name if it is unique. Raises :class:`LockstepError` with the compiler's log.
        """
        from lockstep.device.cuda import compile_cuda

        return self.load_ptx(compile_cuda(source, arch, options))

    def load_triton(
        self,
        kernel: Any,
        signature: dict[str, str],
        constants: dict[str, Any] | None = None,
        **options: Any,
    ) -> Kernel:
        """A kernel from a ``triton.jit`` function, see :func:`lockstep.device.triton.load`."""
        from lockstep.device import triton

        return triton.load(self._device, kernel, signature, constants, **options)

    def load_numba(self, kernel: Any, signature: Any, **options: Any) -> Kernel:
        """A kernel from a ``numba.cuda`` function, see :func:`lockstep.device.numba.load`."""
        from lockstep.device import numba

        return numba.load(self._device, kernel, signature, **options)
