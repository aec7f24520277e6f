"""Machine code before the clock starts: compiled once, then loaded from the disk cache.

The phase of the SMs takes about as long as all else together, and Numba compiles one function at
a time in a process: so another process compiles all else, and this one finds it on the disk.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

import numpy as np
from msgspec.structs import replace

from lockstep._jit import DISABLED, aside, is_compiled
from lockstep.engine import packets
from lockstep.engine.building import (
    Links,
    build_memory_side,
    build_sms,
    compiled,
    groups,
    wires,
)
from lockstep.engine.groups import PARTITIONS, SMS, Group, ends
from lockstep.engine.machine import Machine
from lockstep.engine.windows import run_windows
from lockstep.gpus import library
from lockstep.gpus.spec import GPU
from lockstep.model import contents, outside, partition
from lockstep.model.control import Control
from lockstep.model.core import between, constant
from lockstep.model.dispatch import dispatcher, state
from lockstep.model.modules import router
from lockstep.model.modules import state as modules
from lockstep.model.records import records
from lockstep.model.sm import sm
from lockstep.outside import ANSWER, REQUEST

NOTICE = "Compiling the model: this happens once for each version, and takes about a minute."
_ASIDE = "from lockstep.engine import compilation; compilation.compile_aside()"
_ready: set[str] = set()  # kinds of GPUs whose machine code is kept


def compile_model(gpu: GPU, notice: Callable[[str], None] | None = None) -> float:
    """Compile what is not kept yet, by running an idle one-SM machine; returns the seconds it took.

    What is kept is loaded when it is called first, which counts as compiling, too. ``notice`` is
    told if there is something to compile.
    """
    kind = f"{gpu.core}, {'several modules' if gpu.modules.count > 1 else 'one'}"
    if kind in _ready:
        return 0.0
    if is_model_compiled(gpu.core, gpu.modules.count > 1):
        _ready.add(kind)
        return 0.0
    begin = perf_counter()
    if notice:
        notice(NOTICE)
    tiny = _tiny(gpu)
    with _all_but_sms_in_another_process():
        links, memory = build_memory_side(tiny, {})
        sms = build_sms(tiny, memory, links, {})
        compiled(groups(links, sms, memory, modules.build(tiny))[SMS])
    machine = Machine(tiny, 1, {})
    machine.next_dispatch(0)
    _exchange(machine.links, machine.sm.control)
    machine.prepare_caches(1)
    machine.bring_constants(0, 1, 0)
    machine.copy_to_device(0, 0)
    machine.run_windows(0, 1, 1, 1)
    machine.settle(1)
    machine.close()
    _ready.add(kind)
    return perf_counter() - begin


def is_model_compiled(core: str = "sm", several: bool = False) -> bool:
    """Whether the phases of this version, and the loop over windows, were compiled and kept.

    ``core``: as ``GPU.core``; ``several``: of a GPU of several modules.
    """
    run: Callable[..., object] = sm.run_linked
    if core == "cu":
        from lockstep.model.cu import cu  # only where there are some: start-up time is felt

        run = cu.run_linked
    wanted: list[Callable[..., object]] = [run, partition.run_linked, run_windows]
    if several:
        wanted.append(router.run_linked)
    return all(map(is_compiled, wanted))


def compile_aside() -> None:
    """What the other process does. It ends with this one, however this one ends."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    compile_all_but_sms()


def _end_with_input() -> None:
    """The other side never writes: standard input ends when that process has gone."""
    sys.stdin.buffer.read()
    os._exit(1)


def compile_all_but_sms() -> None:
    """All entry points but the phase of the SMs; any GPU makes the same machine code.

    The loop over windows, which needs both phases, is short and follows when they are there.
    """
    tiny = _tiny(library.gpu("QV100"))
    links, memory = build_memory_side(tiny, {})
    sms = build_sms(tiny, memory, links, {})
    compiled(groups(links, sms, memory, modules.build(tiny))[PARTITIONS])
    contents.copy_to_device(memory, 0, 0)
    contents.pass_through(memory, 0, 0, False)
    contents.flush(memory)
    partition.settle(memory, 0)
    between.prepare_l1(sms, 1, False)
    constant.bring(sms, 0, 1, 0)
    between.settle_all(sms, 0)
    d = state.build(tiny, sms.control)
    dispatcher.dispatch(d, 0, 1)
    dispatcher.next_dispatch(d, 0)
    _exchange(links, sms.control)
    _meet_outside(links, tiny)


def _exchange(links: Links, control: Control) -> None:
    """What a machine does between two windows that is one of several."""
    joined = wires(links)
    state = tuple(wire.link for wire in joined), ends(joined), control
    words = np.zeros(packets.HEADER, np.int64)
    shards = max(max(link.credits.shape) for link in state[0])
    owners = np.zeros((3, shards), np.int64)  # everything is of part 0, and 1 and 2 have nothing
    packets.pack(words, owners, 1, 2, *state, words)
    packets.unpack(words, owners, 1, 2, *state)


def _meet_outside(links: Links, gpu: GPU) -> None:
    """What it does whose memory is outside."""
    sizes = gpu.l2.sector_bytes, gpu.interconnect.flit_bytes
    own = outside.build(links.requests, links.replies, *sizes)
    compiled(Group(1, outside.run_linked, own))
    outside.collect(own, records(1, REQUEST))
    answers = records(1, ANSWER)
    outside.accept(own, answers, 0, 0, 0, 0)
    outside.answer(own, answers, 0, 0)


def _tiny(gpu: GPU) -> GPU:
    """One SM and one channel, on each of two modules if there are several: small to build."""
    n = min(gpu.modules.count, 2)
    modules = replace(gpu.modules, count=n)
    sm, dram = replace(gpu.sm, count=n), replace(gpu.dram, channels=n)
    return replace(gpu, sm=sm, dram=dram, modules=modules)


@contextmanager
def _all_but_sms_in_another_process() -> Iterator[None]:
    """It runs meanwhile. If it fails, only time is lost: what is missing is compiled here."""
    if DISABLED or not aside.can_start():
        yield
        return
    process = aside.start(_ASIDE)
    assert process.stdin is not None, "it is a pipe"
    try:
        yield
        process.wait()
    finally:
        process.kill()
        process.stdin.close()
        process.wait()
