"""Which functions a kernel may reach, which call a call may make, and which call themselves."""

from collections.abc import Iterator

from lockstep.execution.programs.services import GRAPHS, of_graphs
from lockstep.execution.ptx.graph import refuse, service_of
from lockstep.execution.state import address_of
from lockstep.isa.ptx.syntax import (
    Call,
    Function,
    Instruction,
    Module,
    Symbol,
    Variable,
)

_FIRST_RUNTIME = ("cudaGetParameterBuffer", "cudaLaunchDevice")
"""Functions of CUDA's first device runtime by which kernels launch kernels."""


def function_address(module: Module, name: str) -> int:
    """What a program gets when it takes the address of a function: never null."""
    body = module.aliases.get(name, name)
    return address_of(list(module.functions), body)


class CallGraph:
    """The functions of one kernel.

    ``functions``: all that it may reach, callees first as far as possible, the kernel last.
    ``recursive``: names of those that may be active twice in a thread.
    """

    def __init__(self, module: Module, entry: Function):
        self.module = module
        self.functions: list[Function] = []
        self._callees: dict[str, list[str]] = {}
        self._taken: list[str] | None = None
        self._visit(entry)
        self.recursive = {f.name for f in self.functions if f.name in self._reached(f.name)}

    def _visit(self, function: Function) -> None:
        calls = (i for i in function.instructions if i.opcode == "call")
        found = (f for i in calls for f in self.callees(function, i))
        callees = self._callees[function.name] = list(dict.fromkeys(f.name for f in found))
        for name in callees:
            if name not in self._callees:
                self._visit(self.module.functions[name])
        self.functions.append(function)

    def _reached(self, name: str) -> set[str]:
        reached: set[str] = set()
        todo = list(self._callees[name])
        while todo:
            function = todo.pop()
            if function not in reached:
                reached.add(function)
                todo += self._callees[function]
        return reached

    def callees(self, function: Function, instruction: Instruction) -> list[Function]:
        """The functions that a call may enter; none for a service of the host.

        Raises :class:`InputError` if there is no body, or no list or prototype of targets.
        """
        call: Call = instruction.operands[0]
        if service_of(self.module, instruction) is not None:
            return []
        if isinstance(call.callee, Symbol):
            return [self._body(instruction, call.callee.name)]
        if call.targets in function.tables:
            return [self._body(instruction, n) for n in function.tables[call.targets]]
        shape = function.prototypes.get(call.targets)
        if shape is None:
            raise refuse(self.module, instruction, "an indirect call needs a list or a prototype")
        wanted = (_sizes(shape.returns), _sizes(shape.parameters))
        bodies = [self.module.functions[n] for n in self._addressed()]
        return [f for f in bodies if (_sizes(f.returns), _sizes(f.parameters)) == wanted]

    def _body(self, instruction: Instruction, name: str) -> Function:
        body = self.module.functions.get(self.module.aliases.get(name, name))
        if name.startswith(_FIRST_RUNTIME):
            message = (
                f"{name}: kernels that launch kernels by CUDA's first device runtime are not "
                "supported: compile without CUDA_FORCE_CDP1_IF_SUPPORTED"
            )
            raise refuse(self.module, instruction, message)
        if name.startswith(GRAPHS) and (body is None or not body.has_body):
            raise refuse(self.module, instruction, of_graphs(name))
        if body is None or not body.has_body:
            raise refuse(self.module, instruction, f"function {name} has no body in this module")
        return body

    def _addressed(self) -> list[str]:
        """Functions with a body whose address the module takes somewhere."""
        if self._taken is None:
            module = self.module
            names = (module.aliases.get(n, n) for n in _symbols(module))
            functions = module.functions
            self._taken = [n for n in dict.fromkeys(names) if n in functions]
            self._taken = [n for n in self._taken if functions[n].has_body]
        return self._taken


def _sizes(variables: tuple[Variable, ...]) -> list[int]:
    return [v.bytes for v in variables]


def _symbols(module: Module) -> Iterator[str]:
    """Names in initialisers and in operands, callees of direct calls excepted."""
    for variable in module.variables.values():
        yield from (value.name for value in variable.initial if isinstance(value, Symbol))
    for function in module.functions.values():
        for variable in function.variables:
            yield from (value.name for value in variable.initial if isinstance(value, Symbol))
        for instruction in function.instructions:
            operands = [*instruction.operands]
            operands += [o for c in operands if isinstance(c, Call) for o in c.arguments]
            yield from (o.name for o in operands if isinstance(o, Symbol))
