"""Litmus tests for each protocol; names as in the literature (Alglave et al., TOPLAS 2014).

What is forbidden follows, for VI, from the axioms of PTX's memory model: causality order through
releases and acquires whose scopes include both threads, fence-SC order, coherence, and no values
out of thin air. Where PTX allows what is forbidden here (coherence of weak accesses), these caches
promise more.
"""

from coherence_twin.litmus import HOST, Litmus


def _mp(first: str, second: str, reader: str, last: str) -> tuple[tuple[int, str], tuple[int, str]]:
    """Message passing from L1 0 to L1 1: data in x, a flag in y."""
    return (0, f"{first} x 1; {second} y 1"), (1, f"{reader} y a; {last} x b")


def _each(protocol: str, rows: list[tuple]) -> list[Litmus]:
    return [Litmus(row[0], protocol, *row[1:]) for row in rows]


_IRIW = (
    (0, "st.gpu x 1"),
    (1, "st.gpu y 1"),
    (2, "ld.gpu x a; {0}ld.gpu y b"),
    (3, "ld.gpu y c; {0}ld.gpu x d"),
)


def _iriw(between: str) -> tuple[tuple[int, str], ...]:
    return tuple((l1, text.format(between)) for l1, text in _IRIW)


def _two(left: str, right: str, l1s: tuple[int, int] = (0, 1)) -> tuple:
    return (l1s[0], left), (l1s[1], right)


COHERENCE = [
    ("CoRR", _two("st.gpu x 1", "ld.gpu x a; ld.gpu x b"), "a=1 b=0", "forbidden"),
    ("CoRR weak", _two("st x 1", "ld x a; ld x b"), "a=1 b=0", "forbidden"),
    ("CoRR mixed", _two("st.gpu x 1", "ld.gpu x a; ld x b"), "a=1 b=0", "forbidden"),
    ("CoWW", ((0, "st.gpu x 1; st.gpu x 2"),), "x=1", "forbidden"),
    ("CoWR", _two("st.gpu x 1; ld x a", "ld x b"), "a=0", "forbidden"),
    ("CoRW1", ((0, "ld.gpu x a; st.gpu x 1"),), "a=1", "forbidden"),
    ("CoRW2", _two("ld.gpu x a; st.gpu x 1", "st.gpu x 2"), "a=2 x=2", "forbidden"),
    ("exchange", _two("atom.gpu x 1 a", "atom.gpu x 2 b"), "a=0 b=0", "forbidden"),
    ("exchange after store", _two("st.gpu x 1; atom.gpu x 2 a", "ld x b"), "a=0", "forbidden"),
]

RELAXED = [
    ("MP relaxed", _mp("st.gpu", "st.gpu", "ld.gpu", "ld.gpu"), "a=1 b=0", "seen"),
    ("SB relaxed", _two("st.gpu x 1; ld.gpu y a", "st.gpu y 1; ld.gpu x b"), "a=0 b=0", "seen"),
    ("LB relaxed", _two("ld.gpu x a; st.gpu y 1", "ld.gpu y b; st.gpu x 1"), "a=1 b=1", "seen"),
    (
        "LB dependent",
        _two("ld.gpu x a; need a; st.gpu y 1", "ld.gpu y b; need b; st.gpu x 1"),
        "a=1 b=1",
        "forbidden",
    ),
    ("IRIW relaxed", _iriw(""), "a=1 b=0 c=1 d=0", "seen"),
    (
        "2+2W relaxed",
        _two("st.gpu x 1; st.gpu y 2", "st.gpu y 1; st.gpu x 2"),
        "x=1 y=1",
        "seen",
    ),
]

VI = [
    ("MP weak", _mp("st", "st", "ld", "ld"), "a=1 b=0", "seen"),
    ("MP gpu", _mp("st", "st.release.gpu", "ld.acquire.gpu", "ld"), "a=1 b=0", "forbidden"),
    ("MP sys", _mp("st", "st.release.sys", "ld.acquire.sys", "ld"), "a=1 b=0", "forbidden"),
    ("MP release alone", _mp("st", "st.release.gpu", "ld.gpu", "ld"), "a=1 b=0", "seen"),
    ("MP acquire alone", _mp("st", "st.gpu", "ld.acquire.gpu", "ld"), "a=1 b=0", "seen"),
    ("MP cta, two SMs", _mp("st", "st.release.cta", "ld.acquire.cta", "ld"), "a=1 b=0", "seen"),
    (
        "MP cta, one SM",
        _two("st x 1; st.release.cta y 1", "ld.acquire.cta y a; ld x b", (0, 0)),
        "a=1 b=0",
        "forbidden",
    ),
    (
        "MP fences",
        _two("st x 1; fence.gpu; st.gpu y 1", "ld.gpu y a; fence.gpu; ld x b"),
        "a=1 b=0",
        "forbidden",
    ),
    (
        "MP atomics",
        _two("st x 1; fence.gpu; atom.gpu y 1 c", "atom.gpu y 2 a; fence.gpu; ld x b"),
        "a=1 b=0",
        "forbidden",
    ),
    (
        "SB fences gpu",
        _two("st x 1; fence.gpu; ld y a", "st y 1; fence.gpu; ld x b"),
        "a=0 b=0",
        "forbidden",
    ),
    (
        "SB fences cta",
        _two("st x 1; fence.cta; ld y a", "st y 1; fence.cta; ld x b"),
        "a=0 b=0",
        "seen",
    ),
    (
        "SB release acquire",
        _two(
            "st.release.gpu x 1; ld.acquire.gpu y a",
            "st.release.gpu y 1; ld.acquire.gpu x b",
        ),
        "a=0 b=0",
        "seen",
    ),
    (
        "LB release acquire",
        _two(
            "ld.acquire.gpu x a; st.release.gpu y 1",
            "ld.acquire.gpu y b; st.release.gpu x 1",
        ),
        "a=1 b=1",
        "forbidden",
    ),
    ("IRIW fences", _iriw("fence.gpu; "), "a=1 b=0 c=1 d=0", "forbidden"),
    (
        "IRIW acquires",
        tuple((l1, text.replace("ld.gpu", "ld.acquire.gpu")) for l1, text in _iriw("")),
        "a=1 b=0 c=1 d=0",
        "unseen",
    ),
    (
        "WRC",
        (
            (0, "st.gpu x 1"),
            (1, "ld.acquire.gpu x a; st.release.gpu y 1"),
            (2, "ld.acquire.gpu y b; ld x c"),
        ),
        "a=1 b=1 c=0",
        "forbidden",
    ),
    (
        "ISA2",
        (
            (0, "st x 1; st.release.gpu y 1"),
            (1, "ld.acquire.gpu y a; st.release.gpu z 1"),
            (2, "ld.acquire.gpu z b; ld x c"),
        ),
        "a=1 b=1 c=0",
        "forbidden",
    ),
    (
        "ISA2 through one SM",
        (
            (0, "st x 1; st.release.cta y 1"),
            (0, "ld.acquire.cta y a; st.release.gpu z 1"),
            (1, "ld.acquire.gpu z b; ld x c"),
        ),
        "a=1 b=1 c=0",
        "forbidden",
    ),
    (
        "2+2W fences",
        _two("st.gpu x 1; fence.gpu; st.gpu y 2", "st.gpu y 1; fence.gpu; st.gpu x 2"),
        "x=1 y=1",
        "forbidden",
    ),
    (
        "R fences",
        _two("st.gpu x 1; fence.gpu; st.gpu y 1", "st.gpu y 2; fence.gpu; ld.gpu x a"),
        "y=2 a=0",
        "forbidden",
    ),
    (
        "S release acquire",
        _two("st.gpu x 2; st.release.gpu y 1", "ld.acquire.gpu y a; st.gpu x 1"),
        "a=1 x=2",
        "forbidden",
    ),
    (
        "MP to the host",
        _two("st x 1; st.release.sys y 1", "ld.acquire.sys y a; ld x b", (0, HOST)),
        "a=1 b=0",
        "forbidden",
        "xy",
    ),
    (
        "MP to the host, weak",
        _two("st x 1; st y 1", "ld.acquire.sys y a; ld x b", (0, HOST)),
        "a=1 b=0",
        "seen",
        "xy",
    ),
    (
        "MP from the host",
        _two("st x 1; st.release.sys y 1", "ld.acquire.sys y a; ld x b", (HOST, 0)),
        "a=1 b=0",
        "forbidden",
        "xy",
    ),
    (
        "MP from the host, weak",
        _two("st x 1; st y 1", "ld y a; ld x b", (HOST, 0)),
        "a=1 b=0",
        "seen",
        "xy",
    ),
]

SI = [
    ("MP", _mp("st", "st", "ld", "ld"), "a=1 b=0", "seen"),
    (
        "MP waits, GLC",
        _two("st.gpu x 1; wait; st.gpu y 1", "ld.gpu y a; wait; ld.gpu x b"),
        "a=1 b=0",
        "forbidden",
    ),
    (
        "MP waits, no GLC",
        _two("st x 1; wait; st y 1", "ld.gpu y a; wait; ld x b"),
        "a=1 b=0",
        "seen",
    ),
    (
        "MP invalidation",
        _two("st x 1; wait; st y 1", "ld.gpu y a; fence.gpu; ld x b"),
        "a=1 b=0",
        "forbidden",
    ),
    (
        "MP SLC",
        _two("st.sys x 1; wait; st.sys y 1", "ld.sys y a; wait; ld.sys x b"),
        "a=1 b=0",
        "forbidden",
    ),
    (
        "MP SLC past dirty lines",
        _two("st x 1; wait; st y 1", "ld.sys y a; wait; ld.sys x b"),
        "a=1 b=0",
        "forbidden",
    ),
    (
        "SB waits, GLC",
        _two("st.gpu x 1; wait; ld.gpu y a", "st.gpu y 1; wait; ld.gpu x b"),
        "a=0 b=0",
        "forbidden",
    ),
    (
        "SB waits, no GLC",
        _two("st x 1; wait; ld y a", "st y 1; wait; ld x b"),
        "a=0 b=0",
        "seen",
    ),
    ("IRIW waits, GLC", _iriw("wait; "), "a=1 b=0 c=1 d=0", "forbidden"),
    (
        "LB waits",
        _two("ld.gpu x a; wait; st.gpu y 1", "ld.gpu y b; wait; st.gpu x 1"),
        "a=1 b=1",
        "forbidden",
    ),
    (
        "2+2W waits",
        _two("st.gpu x 1; wait; st.gpu y 2", "st.gpu y 1; wait; st.gpu x 2"),
        "x=1 y=1",
        "forbidden",
    ),
]

NMOESI = [
    (
        "MP waits",
        _two("st.gpu x 1; wait; st.gpu y 1", "ld y a; wait; ld x b"),
        "a=1 b=0",
        "forbidden",
    ),
    (
        "MP waits, nc_store",
        _two("st x 1; wait; st.gpu y 1", "ld y a; wait; ld x b"),
        "a=1 b=0",
        "seen",
    ),
    (
        "SB waits",
        _two("st.gpu x 1; wait; ld y a", "st.gpu y 1; wait; ld x b"),
        "a=0 b=0",
        "forbidden",
    ),
    ("IRIW waits", _iriw("wait; "), "a=1 b=0 c=1 d=0", "forbidden"),
    (
        "LB waits",
        _two("ld x a; wait; st.gpu y 1", "ld y b; wait; st.gpu x 1"),
        "a=1 b=1",
        "forbidden",
    ),
    (
        "2+2W waits",
        _two("st.gpu x 1; wait; st.gpu y 2", "st.gpu y 1; wait; st.gpu x 2"),
        "x=1 y=1",
        "forbidden",
    ),
]

TESTS = [
    *_each("vi", [*COHERENCE, *RELAXED, *VI]),
    *_each("si", [*COHERENCE, *RELAXED, *SI]),
    *_each("nmoesi", [*COHERENCE, *RELAXED, *NMOESI]),
]
