"""Small PTX programs for clusters: every kernel is ``k(out)``, one word a thread, any cluster.

``%r`` is the CTA's rank, ``%m`` the size of its cluster, ``%o`` the next rank, ``%a`` the result.
"""

import numpy as np

from lockstep.isa.ptx.parser import parse
from ptx_twin.interpreter import run
from ptx_twin.memory import Memory
from ptx_twin.programs import END, HEADER

THREADS = 64  # of a CTA
SHAPES = {  # cluster, grid
    "one": (1, 3),
    "two": (2, 8),
    "planes": ((2, 1, 2), (4, 3, 2)),
    "eight": (8, 16),
}


def cases(names, shapes):
    """Programs in shapes; if the only CTA of a cluster ends early, nothing is left to look at."""
    nothing = ("a whole CTA ends early", "one")
    return [(name, shape) for name in names for shape in shapes if (name, shape) != nothing]


def by_twin(text, grid, cluster):
    """The words that the twin leaves."""
    memory, size = Memory(1 << 20), 4 * THREADS * int(np.prod(grid))
    out = memory.allocate(size)
    run(parse(text), "k", grid, THREADS, [out], memory, cluster=cluster)
    return np.frombuffer(memory.bytes_at(out, size), np.uint32)


def launch(entry, grid, cluster):
    """A launch of a loaded kernel, and the words that it leaves."""
    out = entry.module.device.array(np.zeros(THREADS * int(np.prod(grid)), np.uint32))
    configured = entry if cluster == 1 else entry.with_cluster(cluster)
    return configured[grid, THREADS](out), out


BEGIN = """
.visible .entry k(.param .u64 k_out) {directives}
{{
    .reg .b32 %i, %n, %a, %b, %c, %w, %r, %m, %o, %x, %y;
    .reg .b64 %out, %at, %d, %e, %g, %s;
    .reg .b16 %mask;
    .reg .pred %p, %q;
    .shared .align 128 .b32 tile[64];
    .shared .align 16 .b32 copy[64];
    .shared .align 8 .b64 barrier;
    ld.param.u64 %out, [k_out];
    mov.u32 %i, %tid.x;
    mov.u32 %n, %ctaid.z;
    mov.u32 %w, %nctaid.y;
    mov.u32 %x, %ctaid.y;
    mad.lo.u32 %n, %n, %w, %x;
    mov.u32 %w, %nctaid.x;
    mov.u32 %x, %ctaid.x;
    mad.lo.u32 %n, %n, %w, %x;
    mov.u32 %w, %ntid.x;
    mad.lo.u32 %n, %n, %w, %i;
    mad.wide.u32 %at, %n, 4, %out;
    mov.u32 %r, %cluster_ctarank;
    mov.u32 %m, %cluster_nctarank;
    add.u32 %o, %r, 1;
    rem.u32 %o, %o, %m;
    mov.u32 %x, tile;
    mad.lo.u32 %x, %i, 4, %x;
    st.shared.u32 [%x], %n;
    mov.u32 %a, 0;
"""


def kernel(body, directives=""):
    return f"{HEADER}{BEGIN.format(directives=directives)}{body}{END}"


MEET = """
    barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire;
"""
INITIALISE = """
    setp.ne.u32 %q, %i, 0;
    @!%q mbarrier.init.shared::cta.b64 [barrier], {count};
    @!%q fence.mbarrier_init.release.cluster;
    {expect}
"""
WAIT = """
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p, [barrier], 0;
    @!%p bra WAIT;
"""
BYTES = "mbarrier::complete_tx::bytes"


def transfer(body, count=1, expected=0):
    """Threads fill the copies of other CTAs, whose barriers count bytes or arrivals."""
    expect = ""
    if expected:
        expect = f"@!%q mbarrier.arrive.expect_tx.shared::cta.b64 %d, [barrier], {expected};"
    begin = INITIALISE.format(count=count, expect=expect)
    result = "mov.u32 %y, copy; mad.lo.u32 %y, %i, 4, %y; ld.shared.u32 %a, [%y];"
    return kernel(begin + MEET + body + WAIT + result + MEET)


def registers():
    """All special registers of clusters, mixed into one number."""
    names = [
        *(f"%{name}.{axis}" for name in ("clusterid", "nclusterid") for axis in "xyz"),
        *(f"%cluster_{name}.{axis}" for name in ("ctaid", "nctaid") for axis in "xyz"),
        "%cluster_ctarank",
        "%cluster_nctarank",
    ]
    lines = [f"mov.u32 %b, {name}; mad.lo.u32 %a, %a, 31, %b;" for name in names]
    lines.append("mov.pred %p, %is_explicit_cluster; selp.u32 %b, 1, 0, %p;")
    return kernel("\n".join([*lines, "mad.lo.u32 %a, %a, 31, %b;"]))


_HERE = "mov.u32 %y, {name}; mad.lo.u32 %y, %i, 4, %y;"
_COPY = _HERE.format(name="copy") + "mapa.shared::cluster.u32 %y, %y, %o;"
_TOLD = "mov.u32 %b, barrier; mapa.shared::cluster.u32 %b, %b, %o;"

PROGRAMS = {
    "registers": registers(),
    "a load by a shared address": kernel(
        MEET + "mapa.shared::cluster.u32 %y, %x, %o; ld.shared::cluster.u32 %a, [%y];" + MEET
    ),
    "a load by the name of a variable": kernel(
        MEET + "mapa.shared::cluster.u32 %y, tile, %o; ld.shared::cluster.u32 %a, [%y+8];" + MEET
    ),
    "a load by a generic address": kernel(
        MEET
        + "cvt.u64.u32 %d, %x; cvta.shared::cta.u64 %d, %d; mapa.u64 %e, %d, %o; ld.u32 %a, [%e];"
        + MEET
    ),
    "a load by a generic address that is converted back": kernel(
        MEET
        + "cvt.u64.u32 %d, %x; cvta.shared.u64 %d, %d; mapa.u64 %e, %d, %o;"
        + "cvta.to.shared::cluster.u64 %e, %e; ld.relaxed.cluster.shared::cluster.u32 %a, [%e];"
        + MEET
    ),
    "each lane reads another CTA": kernel(
        MEET
        + "rem.u32 %b, %i, %m; mapa.shared::cluster.u32 %y, %x, %b;"
        + "ld.shared::cluster.u32 %a, [%y];"
        + MEET
    ),
    "an address of its own CTA that was mapped": kernel(
        MEET
        + "mapa.shared::cluster.u32 %y, %x, %r; ld.shared::cta.u32 %a, [%y]; cvt.u64.u32 %d, %y;"
        + "cvta.shared::cluster.u64 %d, %d; ld.u32 %b, [%d]; mad.lo.u32 %a, %a, 3, %b;"
        + MEET
    ),
    "vectors are stored into another CTA": kernel(
        "shl.b32 %b, %i, 2; setp.lt.u32 %p, %i, 16;"
        + "mov.u32 %y, copy; mad.lo.u32 %y, %b, 4, %y; mapa.shared::cluster.u32 %y, %y, %o;"
        + MEET
        + "add.u32 %c, %n, 7; @%p st.shared::cluster.v4.u32 [%y], {%n, %c, %i, %r};"
        + MEET
        + _HERE.format(name="copy")
        + "ld.shared.u32 %a, [%y];"
    ),
    "atomics on all CTAs": kernel(
        "mov.u32 %b, 0;" + _HERE.format(name="copy") + "st.shared.u32 [%y], %b; mov.u32 %c, 0;"
        + MEET
        + "NEXT: mapa.shared::cluster.u32 %b, %y, %c;"
        + "atom.shared::cluster.add.u32 %w, [%b], %n; red.shared::cluster.add.u32 [%b+0], %i;"
        + "cvt.u64.u32 %d, %b; cvta.shared::cluster.u64 %d, %d; red.cluster.add.u32 [%d], %r;"
        + "add.u32 %c, %c, 1; setp.lt.u32 %p, %c, %m; @%p bra NEXT;"
        + MEET
        + "ld.shared.u32 %a, [%y];"
    ),
    "what addresses say of themselves": kernel(
        "mapa.shared::cluster.u32 %y, %x, %o; getctarank.shared::cluster.u32 %a, %y;"
        "getctarank.shared::cluster.u32 %b, %x; mad.lo.u32 %a, %a, 32, %b;"
        "cvt.u64.u32 %d, %y; cvta.shared::cluster.u64 %d, %d; getctarank.u64 %b, %d;"
        "mad.lo.u32 %a, %a, 32, %b;"
        + "".join(
            f"isspacep.{space} %p, %{register}; selp.u32 %b, 1, 0, %p; mad.lo.u32 %a, %a, 2, %b;"
            for register in ("d", "out")
            for space in ("shared", "shared::cta", "shared::cluster", "global", "local")
        )
        + "cvt.u64.u32 %d, %x; cvta.shared.u64 %d, %d;"
        + "".join(
            f"isspacep.{space} %p, %d; selp.u32 %b, 1, 0, %p; mad.lo.u32 %a, %a, 2, %b;"
            for space in ("shared::cta", "shared::cluster", "global")
        )
    ),
    "an address that another CTA is told": kernel(
        _COPY
        + MEET
        + "st.shared::cluster.u32 [%y], %x;"
        + MEET
        + _HERE.format(name="copy")
        + "ld.shared.u32 %y, [%y]; ld.shared::cluster.u32 %a, [%y];"
        + MEET
    ),
    "a flag in another CTA is awaited without a barrier": kernel(
        "mov.u32 %b, 0; st.shared.u32 [copy], %b;"
        + MEET
        + "mapa.shared::cluster.u32 %y, copy, %o; mov.u32 %b, 1; setp.ne.u32 %q, %i, 0;"
        + "setp.ne.u32 %p, %r, 0; @%p bra LOOK;"
        + "@!%q st.release.cluster.shared::cluster.u32 [%y], %b;"
        + "LOOK: ld.acquire.cluster.shared::cta.u32 %c, [copy];"
        + "setp.eq.u32 %p, %c, 0; @%p bra LOOK;"
        + "@!%q st.release.cluster.shared::cluster.u32 [%y], %b; add.u32 %a, %c, %n;"
        + MEET
    ),
    "some threads end before the others wait": kernel(
        "add.u32 %b, %i, %r; and.b32 %b, %b, 3; mov.u32 %a, 5; setp.eq.u32 %p, %b, 0;"
        "st.global.u32 [%at], %a; @%p exit;"
        + MEET
        + "setp.eq.u32 %p, %b, 1; mov.u32 %a, 6; st.global.u32 [%at], %a; @%p exit;"
        + MEET
        + "mov.u32 %a, 7;"
    ),
    "a whole CTA ends early": kernel(
        "setp.eq.u32 %p, %r, 0; mov.u32 %a, 3; st.global.u32 [%at], %a; @%p exit;"
        + MEET
        + MEET
        + "mov.u32 %a, 4;"
    ),
    "arrivals long before the wait": kernel(
        "barrier.cluster.arrive.relaxed; add.u32 %a, %n, 1; barrier.cluster.wait;" * 3
        + "mapa.shared::cluster.u32 %y, %x, %o; ld.shared::cluster.u32 %a, [%y];"
        + MEET
    ),
    "stores that complete a barrier": transfer(
        f"{_COPY}{_TOLD} st.async.weak.shared::cluster.{BYTES}.u32 [%y], %n, [%b];", expected=256
    ),
    "vector stores that complete a barrier": transfer(
        "shl.b32 %w, %i, 2; setp.lt.u32 %p, %i, 16; mov.u32 %y, copy; mad.lo.u32 %y, %w, 4, %y;"
        f"mapa.shared::cluster.u32 %y, %y, %o; {_TOLD}"
        f"@%p st.async.shared::cluster.{BYTES}.v4.b32 [%y], {{%n, %i, %r, %m}}, [%b];",
        expected=256,
    ),
    "reductions that complete a barrier": transfer(
        "mov.u32 %c, 9; mov.u32 %y, copy; mad.lo.u32 %y, %i, 4, %y; st.shared.u32 [%y], %c;"
        + MEET
        + f"{_COPY}{_TOLD}"
        + f"red.async.relaxed.cluster.shared::cluster.{BYTES}.add.u32 [%y], %n, [%b];",
        expected=256,
    ),
    "arrivals at another CTA's barrier": transfer(
        f"{_COPY}{_TOLD} st.shared::cluster.u32 [%y], %n;"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%b];",
        count=64,
    ),
    "a copy from CTA to CTA": transfer(
        f"mov.u32 %y, copy; mapa.shared::cluster.u32 %y, %y, %o; {_TOLD} bar.sync 0;"
        "mov.u32 %c, tile;"
        f"@!%q cp.async.bulk.shared::cluster.shared::cta.{BYTES} [%y], [%c], 256, [%b];",
        expected=256,
    ),
    "a copy to every other CTA": transfer(
        "st.global.u32 [%at], %n; bar.sync 0; mov.u32 %c, 0x5555; cvt.u16.u32 %mask, %c;"
        "setp.ne.u32 %p, %r, 0; or.pred %p, %p, %q;"
        f"@!%p cp.async.bulk.shared::cluster.global.{BYTES}.multicast::cluster "
        "[copy], [%at], 256, [barrier], %mask;"
        "and.b32 %b, %r, 1; setp.ne.u32 %p, %b, 0; @%p bra DONE;" + WAIT.replace("WAIT", "COME")
        + "DONE: and.b32 %b, %r, 1; setp.eq.u32 %p, %b, 0; or.pred %p, %p, %q;"
        "@!%p mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [barrier], 256;"
        "setp.eq.u32 %p, %b, 0; @!%p st.shared.u32 [copy], %r;",
        expected=256,
    ),
}  # fmt: skip
