"""What is done to the caches in no time, before a kernel: copies, a profiler's passes, warming."""

from collections.abc import Callable, Sequence

from msgspec.structs import astuple

from lockstep.engine.kernels import KernelTable
from lockstep.engine.machine import Machine
from lockstep.engine.running import Running
from lockstep.host_calls import Direction, MemoryCopy
from lockstep.model.core import bind
from lockstep.workload import Command, Kernel
from lockstep.workload.warm import MemoryPass, Warming, WarmSet

Preparation = MemoryPass | WarmSet | Warming
"""What is no part of a program."""


def warm_set(commands: Sequence[Command], end: int) -> WarmSet | None:
    """The warm set that the launch at place ``end`` begins with, if it has one."""
    last = end - 1
    while last >= 0 and isinstance(commands[last], MemoryPass):
        last -= 1
    command = commands[last] if last >= 0 else None
    return command if isinstance(command, WarmSet) else None


def prepare(
    machine: Machine, running: Running, alone: bool, held: WarmSet | None, now: int
) -> None:
    """What a launch does to caches before a CTA starts; ``alone``: no other kernel runs."""
    if alone:
        machine.prepare_caches(bind.l1_ways(running.kernel, machine.gpu))
    if held is not None:
        machine.hold_code(running.slot, running.bound, held, now)
    base = int(machine.sm.kernels[running.slot].constant_base)
    machine.bring_constants(base, bind.parameter_bytes(running.kernel, machine.gpu), now)


def apply(
    machine: Machine, command: MemoryCopy | Preparation, warm: Callable[[Kernel], None]
) -> list[tuple[int, int]]:
    """Do it, while nothing runs; ``warm`` lets a kernel pass through the caches.

    Returns address and bytes of what came from the host.
    """
    if isinstance(command, MemoryPass):
        machine.pass_through(*astuple(command))
    elif isinstance(command, WarmSet):
        machine.hold(command)
    elif isinstance(command, Warming):
        warm(command.kernel)
    elif command.direction is Direction.TO_DEVICE:
        machine.copy_to_device(command.address, command.bytes)
        return [(command.address, command.bytes)]
    return []


def warm(table: KernelTable, machine: Machine, kernel: Kernel, now: int, prepare: Callable) -> None:
    """Let the CTAs of a kernel pass through the caches; ``prepare`` does what a launch does.

    One that its front end ends early leaves what it did until then.
    """
    assert kernel.source is None, "what is executed at issue takes time"
    running = table.start(kernel, now)
    prepare(running)
    try:
        with machine.warming(now) as walk:
            while not running.over:
                table.feed(running)
                machine.sm = table.streams.sm
                walk(running.slot)
                for slot, cta, *_ in machine.take_retired():
                    table.retire(slot, cta, now)
    finally:
        table.finish(running)
