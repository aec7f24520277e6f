"""Hypothesis strategies: random small workloads, and random GPUs that are legal."""

from hypothesis import strategies as st

from lockstep.builder import KernelBuilder, program
from lockstep.errors import SpecError
from lockstep.gpus import library
from lockstep.workload import MemoryCopy

A = 0x7F0000000000
REGISTERS = st.integers(0, 12)
STREAMS, CONTROL = st.integers(0, 2), st.booleans()
COMPUTE = (
    "FFMA R{0}, R{1}, R{2}, R{3}", "IADD3 R{0}, R{1}, R{2}, R{3}", "MOV R{0}, R{1}",
    "MUFU.RCP R{0}, R{1}", "SHFL.IDX PT, R{0}, R{1}, R{2}, 0x1f", "DADD R{0}, R{1}, R{2}",
    "NOP", "BRA 0x0", "S2R R{0}, SR_TID.X", "FADD R{0}, R{1}, c[0x0][0x160]",
    "IADD3 R{0}, R{1}, c[0x3][0x40], R{2}",
)  # fmt: skip
MEMORY = (
    "LDG.E R{0}, [R{1}]", "LDG.E.64 R{0}, [R{1}]", "LDG.E.STRONG.GPU R{0}, [R{1}]",
    "STG.E [R{1}], R{0}", "STG.E.128 [R{1}], R{0}", "LDL R{0}, [R{1}]", "STL [R{1}], R{0}",
    "LDS R{0}, [R{1}]", "STS.64 [R{1}], R{0}", "ATOMS.ADD R{0}, [R{1}], R{2}",
    "ATOMG.E.ADD.STRONG.GPU PT, R{0}, [R{1}], R{2}", "RED.E.ADD.STRONG.GPU [R{1}], R{0}",
    "LDC R{0}, c[0x0][R{1}]", "LDGSTS.E [R{0}], [R{1}]",
)  # fmt: skip
ORDERING = ("MEMBAR.SC.GPU", "LDGDEPBAR", "DEPBAR.LE SB0, 0x0", "DEPBAR.LE SB0, 0x1")


@st.composite
def kernels(draw, stream=STREAMS, control=CONTROL, warp_size=32):
    """A kernel of a few CTAs that cannot deadlock."""
    k = KernelBuilder(
        f"random{draw(st.integers(0, 3))}",
        grid=draw(st.sampled_from([1, 2, 5, (2, 3), (1, 2, 2)])),
        block=draw(st.sampled_from([1, 31, 32, 33, 64, 96, 128, (8, 8, 2)])),
        registers=draw(st.sampled_from([16, 32, 100])),
        shared_bytes=draw(st.sampled_from([0, 256, 3000])),
        architecture=80,
        stream=draw(stream),
        warp_size=warp_size,
    )
    _body(draw, k, draw(control), 0, uniform=True)
    if k._code.instructions["stall"][:1].tolist() not in ([], [-1]):
        k("EXIT", stall=1)
    return k


def _body(draw, k, control, depth, uniform):
    for _ in range(draw(st.integers(0 if depth else 1, 4))):
        kind = draw(st.integers(0, 9))
        if kind == 0 and depth < 2:
            with k.loop(draw(st.integers(0, 3))):
                _body(draw, k, control, depth + 1, uniform)
        elif kind == 1 and depth < 2:
            with k.lanes(draw(_masks(k))):
                _body(draw, k, control, depth + 1, uniform=False)
        elif kind == 2 and uniform:  # a barrier that some warps skip would never open
            k(f"BAR.SYNC {draw(st.integers(0, 3)):#x}", **_bits(draw, control))
        elif kind == 3:
            k(draw(st.sampled_from(ORDERING)), **_bits(draw, control))
        elif kind <= 6:
            _memory(draw, k, control)
        else:
            text = draw(st.sampled_from(COMPUTE)).format(*(draw(REGISTERS) for _ in range(4)))
            k(text, mask=draw(st.one_of(st.none(), _masks(k))), **_bits(draw, control))


def _memory(draw, k, control):
    text = draw(st.sampled_from(MEMORY)).format(*(draw(REGISTERS) for _ in range(3)))
    base = A if "G" in text.split()[0] or text.startswith("RED") else 0
    pattern = draw(st.sampled_from(["coalesced", "strided", "broadcast", "random"]))
    address = {
        "coalesced": k.coalesced(base, 16, step=512),
        "strided": k.strided(base, 144),
        "broadcast": k.broadcast(base, step=64),
        "random": k.random(base, 1 << 14, 16, seed=draw(st.integers(0, 9))),
    }[pattern]
    k(text, address=address, mask=draw(st.one_of(st.none(), _masks(k))), **_bits(draw, control))


def _masks(k):
    by_warp = st.integers(0, 3).map(lambda n: lambda at: (at.warp + at.lane * 0) % 4 != n)
    return st.one_of(st.integers(0, (1 << k.warp_size) - 1), by_warp)


def _bits(draw, control):
    """Control bits: barriers are set and waited for at random; a wait for none passes."""
    if not control:
        return {}
    numbers = st.sampled_from([0, 1, 5, 7])
    return {
        "stall": draw(st.integers(0, 4)),
        "yields": draw(st.integers(0, 1)),
        "write_barrier": draw(numbers),
        "read_barrier": draw(numbers),
        "wait": tuple(draw(st.sets(st.sampled_from([0, 1, 5])))),
    }


@st.composite
def workloads(draw, most=3, **how):
    """A few kernels and memory copies."""
    commands = []
    for _ in range(draw(st.integers(1, most))):
        if draw(st.booleans()):
            commands.append(MemoryCopy(A + draw(st.integers(0, 4096)), draw(st.integers(0, 8192))))
        commands.append(draw(kernels(**how)))
    return program(*commands, name="random")


CHOICES = {
    "sm.count": (1, 2, 3),
    "sm.subcores": (1, 2, 3, 4),
    "sm.warps": (5, 8, 16),
    "sm.ctas": (1, 3, 32),
    "sm.registers": (16384, 65536),
    "sm.barrier_latency": (1, 16),
    "sm.scheduler.policy": ("gto", "lrr", "gty", "oldest"),
    "sm.scheduler.issue_width": (1, 2),
    "sm.front_end.l0_bytes": (0, 512, 12288),
    "sm.front_end.l1_bytes": (0, 1024, 131072),
    "sm.front_end.stream_buffer": (0, 1, 8),
    "sm.front_end.buffer": (1, 3),
    "sm.front_end.redirect": (0, 8),
    "sm.operands.style": ("ports", "collectors"),
    "sm.operands.banks": (1, 2, 4),
    "sm.operands.collectors": (1, 3),
    "sm.memory.queue": (1, 4),
    "sm.memory.address_interval": (1, 4),
    "sm.memory.wide_address_interval": (1, 6),
    "sm.memory.accept_interval": (1, 2),
    "sm.memory.coalescer": ("sector", "line"),
    "sm.memory.outstanding": (1, 3, 256),
    "shared.banks": (16, 32),
    "shared.pass_lanes": (16, 64, 32),
    "constant.bytes": (0, 512),
    "constant.ways": (1, 2),
    "l1.bytes": (65536, 131072),
    "l1.sets": (1, 3, 4),
    "l1.banks": (1, 4),
    "l1.allocate": ("fill", "miss"),
    "l1.replacement": ("lru", "fifo", "random"),
    "l1.hash": ("linear", "xor", "ipoly"),
    "l1.protocol": ("write_through", "write_evict"),
    "l1.cache_global": (False, True),
    "l1.mshr_entries": (1, 4, 512),
    "l1.mshr_merges": (1, 8),
    "l1.miss_queue": (1, 16),
    "interconnect.latency": (1, 7, 60),
    "interconnect.clock_mhz": (700.0, 1132.0, 3000.0),
    "interconnect.flit_bytes": (8, 32),
    "interconnect.buffer": (1, 2, 16),
    "interconnect.reply_buffer": (1, 32),
    "l2.slices_per_channel": (1, 2, 3),
    "l2.sets": (1, 5, 32),
    "l2.ways": (1, 2, 24),
    "l2.clock_mhz": (500.0, 1132.0),
    "l2.mshr_entries": (1, 8, 192),
    "l2.mshr_merges": (1, 4),
    "l2.mshr_full": ("stall", "nack"),
    "l2.queue": (1, 64),
    "l2.protocol": ("write_validate", "write_fetch"),
    "l2.replacement": ("lru", "fifo", "random"),
    "l2.slice_hash": ("ipoly", "linear", "xor"),
    "l2.set_hash": ("linear", "xor", "ipoly"),
    "dram.channels": (1, 2, 3, 5),
    "dram.clock_mhz": (500.0, 850.0, 1600.0),
    "dram.scheduler": ("frfcfs", "fcfs"),
    "dram.page": ("open", "closed"),
    "dram.read_queue": (1, 64),
    "dram.write_queue": (1, 64),
    "dram.bank_hash": ("xor", "linear"),
    "dram.refresh": (False, True),
    "launch.overhead": (0, 700),
    "launch.cta_interval": (0.3, 1.0, 90.0),
    "launch.concurrent_kernels": (1, 2, 4),
    "launch.flush_l1": (False, True),
    "launch.l2": ("flush", "kept"),
}  # fmt: skip


BASE = library.replace(
    library.gpu("QV100"), **{name: values[-1] for name, values in CHOICES.items()}
)


@st.composite
def gpus(draw, warp_size=32):
    """A GPU with some parameters changed, and the changes; those that are illegal are left out."""
    names = draw(st.lists(st.sampled_from(sorted(CHOICES)), max_size=12, unique=True))
    changes = {n: draw(st.sampled_from(CHOICES[n])) for n in ["sm.count", "dram.channels", *names]}
    return changed(changes | {"sm.warp_size": warp_size})


@st.composite
def runs(draw, **how):
    """A workload, a GPU that runs it, and what was changed of that: warps of 32 or 64 threads."""
    warp_size = draw(st.sampled_from([32, 64]))
    workload = draw(workloads(warp_size=warp_size, **how))
    return workload, *draw(gpus(warp_size=warp_size))


def changed(changes):
    """(the GPU, the changes made to it)."""
    try:
        return library.replace(BASE, **changes), changes
    except SpecError:
        gpu, made = BASE, {}
        for name, value in changes.items():
            try:
                gpu, made[name] = library.replace(gpu, **{name: value}), value
            except SpecError:
                continue
        return gpu, made
