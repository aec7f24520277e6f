"""Which functions of a cubin need what only a driver has, and nothing documents."""

from collections.abc import Collection

from lockstep.execution.programs.services import GRAPHS, SERVICES, of_graphs
from lockstep.isa.sass.binary import CODE, DESCRIPTORS, Cubin

_FIRST_RUNTIME = "cnp"  # what CUDA's first runtime for device code asks for begins so
_DRIVER = ("__cuda_syscall", _FIRST_RUNTIME)


def needs_driver(cubin: Cubin, served: Collection[str]) -> dict[str, str]:
    """Of each function that reaches something of a driver, why it cannot be executed.

    ``served``: names of functions that are not executed. Programs that were compiled for a debugger
    have functions that nobody calls.
    """
    called: dict[str, set[str]] = {}
    for relocation in cubin.relocations:
        name = relocation.section.removeprefix(CODE)
        calls = relocation.section.startswith(CODE) and relocation.kind not in DESCRIPTORS
        if calls and name not in served:
            called.setdefault(name, set()).add(relocation.symbol)
    found: dict[str, str] = {}
    for name, symbols in called.items():
        asked = next((s for s in sorted(symbols) if s.startswith(_DRIVER)), None)
        if asked is not None:
            found[name] = _reason(name, asked)
    undefined = {symbol for symbols in called.values() for symbol in symbols} - {*called, *SERVICES}
    found |= {name: of_graphs(name) for name in undefined if name.startswith(GRAPHS)}
    todo = list(found)
    while todo:
        callee = todo.pop()
        for name, symbols in called.items():
            if callee in symbols and name not in found:
                found[name] = found[callee]
                todo.append(name)
    return found


def _reason(name: str, asked: str) -> str:
    if asked.startswith(_FIRST_RUNTIME):
        return (
            f"it calls {name} of CUDA's first device runtime, which is not supported: compile "
            "without CUDA_FORCE_CDP1_IF_SUPPORTED"
        )
    return f"it calls {name}, for which a driver has the code ({asked})"
