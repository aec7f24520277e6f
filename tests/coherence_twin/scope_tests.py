"""Litmus tests of scopes in time: those of VI whose threads are an SM's, and more of one SM.

Threads of one number are warps of one CTA. What the memory model of PTX forbids must never be seen;
"seen" is allowed, and these caches show it. "unseen" is allowed, but these caches are stricter: a
request is in its L2 slice before any that left an SM later, because all ways to slices are queues,
equally long. What is weak comes of lines that are old in an L1, and of loads that wait for memory
while others do not; under stress, where requests to one partition pass those to another, it comes
of stores that wait for a credit, too.
"""

from coherence_twin.litmus import Litmus
from coherence_twin.litmus_tests import TESTS

STRICTER = (
    "SB relaxed",
    "IRIW relaxed",
    "2+2W relaxed",
    "MP acquire alone",
    "SB release acquire",
)
"""Allowed tests of the table of VI that show nothing in time, but under stress."""


def _two(left: str, right: str, l1s: tuple[int, int] = (0, 1)) -> tuple:
    return (l1s[0], left), (l1s[1], right)


def _mp(writes: str, reads: str, l1s: tuple[int, int] = (0, 1)) -> tuple:
    return _two(f"st x 1; {writes}", f"{reads}; ld x b", l1s)


WEAK = "a=1 b=0"
ROWS = [
    (
        "MP acq_rel fences",
        _mp("fence.acq_rel.gpu; st.gpu y 1", "ld.gpu y a; fence.acq_rel.gpu"),
        WEAK,
        "forbidden",
    ),
    (
        "MP acq_rel fences, sys",
        _mp("fence.acq_rel.sys; st.sys y 1", "ld.sys y a; fence.acq_rel.sys"),
        WEAK,
        "forbidden",
    ),
    (
        "MP fences cta",
        _mp("fence.acq_rel.cta; st.gpu y 1", "ld.gpu y a; fence.acq_rel.cta"),
        WEAK,
        "seen",
    ),
    (
        "MP fences cta, one SM",
        _mp("fence.acq_rel.cta; st.cta y 1", "ld.cta y a; fence.acq_rel.cta", (0, 0)),
        WEAK,
        "forbidden",
    ),
    ("MP membar", _mp("membar.gl; st.gpu y 1", "ld.gpu y a; membar.gl"), WEAK, "forbidden"),
    ("MP membar cta", _mp("membar.cta; st.gpu y 1", "ld.gpu y a; membar.cta"), WEAK, "seen"),
    ("MP atom acq_rel", _mp("atom.acq_rel.gpu y 1 c", "atom.acq_rel.gpu y 2 a"), WEAK, "forbidden"),
    ("MP red release", _mp("red.release.gpu y 1", "ld.acquire.gpu y a"), WEAK, "forbidden"),
    ("MP red release cta", _mp("red.release.cta y 1", "ld.acquire.cta y a"), WEAK, "seen"),
    ("MP gpu, one SM", _mp("st.release.gpu y 1", "ld.acquire.gpu y a", (0, 0)), WEAK, "forbidden"),
    ("MP barrier", _two("st x 1; bar", "bar; ld x a", (0, 0)), "a=0", "forbidden"),
    ("LB barrier", _two("ld x a; bar", "bar; st x 1", (0, 0)), "a=1", "forbidden"),
    (
        "LB cta, one SM",
        _two("ld x a; st.release.cta y 1", "ld.acquire.cta y b; st x 1", (0, 0)),
        "a=1 b=1",
        "forbidden",
    ),
    (
        "SB fences cta, one SM",
        _two("st x 1; fence.cta; ld y a", "st y 1; fence.cta; ld x b", (0, 0)),
        "a=0 b=0",
        "forbidden",
    ),
    ("SB weak", _two("st x 1; ld y a", "st y 1; ld x b"), "a=0 b=0", "seen"),
    ("LB weak", _two("ld x a; st y 1", "ld y b; st x 1"), "a=1 b=1", "seen"),
    ("CoRR, one SM", _two("st x 1", "ld x a; ld x b", (0, 0)), WEAK, "forbidden"),
    ("CoRR gpu, one SM", _two("st.gpu x 1", "ld.gpu x a; ld x b", (0, 0)), WEAK, "forbidden"),
    ("CoWW weak", ((0, "st x 1; st x 2"),), "x=1", "forbidden"),
    ("CoWR weak", ((0, "st x 1; ld x a"), (1, "ld x b")), "a=0", "forbidden"),
    ("CoRW weak", ((0, "ld x a; st x 1"),), "a=1", "forbidden"),
    (
        "IRIW weak",
        ((0, "st x 1"), (1, "st y 1"), (2, "ld x a; ld y b"), (3, "ld y c; ld x d")),
        "a=1 b=0 c=1 d=0",
        "seen",
    ),
    (
        "IRIW fences cta",
        (
            (0, "st.gpu x 1"),
            (1, "st.gpu y 1"),
            (2, "ld.gpu x a; fence.cta; ld y b"),
            (3, "ld.gpu y c; fence.cta; ld x d"),
        ),
        "a=1 b=0 c=1 d=0",
        "seen",
    ),
    (
        "WRC weak",
        ((0, "st x 1"), (1, "ld.gpu x a; st.gpu y 1"), (2, "ld.gpu y b; ld x c")),
        "a=1 b=1 c=0",
        "seen",
    ),
    (
        "WRC through one SM",
        (
            (0, "st.cta x 1"),
            (0, "ld.cta x a; need a; st.release.gpu y 1"),
            (1, "ld.acquire.gpu y b; ld x c"),
        ),
        "a=1 b=1 c=0",
        "forbidden",
    ),
    (
        "WRC cta",
        (
            (0, "st.gpu x 1"),
            (1, "ld.acquire.gpu x a; st.release.cta y 1"),
            (2, "ld.acquire.cta y b; ld x c"),
        ),
        "a=1 b=1 c=0",
        "seen",
    ),
    ("2+2W weak", _two("st x 1; st y 2", "st y 1; st x 2"), "x=1 y=1", "unseen"),
]
"""Beside the tests of VI."""

MACHINE_CODE = [
    (
        "MP SASS",
        _two(
            "STG.E x 1; MEMBAR.SC.GPU; STG.E.STRONG.GPU y 1",
            "LDG.E.STRONG.GPU y a; CCTL.IVALL; LDG.E x b",
        ),
        WEAK,
        "forbidden",
    ),
    (
        "MP SASS, sys",
        _two(
            "STG.E x 1; MEMBAR.ALL.SYS; STG.E.STRONG.SYS y 1",
            "LDG.E.STRONG.SYS y a; CCTL.IVALL; LDG.E x b",
        ),
        WEAK,
        "forbidden",
    ),
    (
        "MP SASS without CCTL",
        _two("STG.E x 1; MEMBAR.ALL.GPU; STG.E.STRONG.GPU y 1", "LDG.E.STRONG.GPU y a; LDG.E x b"),
        WEAK,
        "seen",
    ),
    (
        "MP SASS cta, two SMs",
        _two(
            "STG.E x 1; MEMBAR.ALL.CTA; STG.E.STRONG.SM y 1",
            "LDG.E.STRONG.SM y a; need a; LDG.E x b",
        ),
        WEAK,
        "seen",
    ),
    (
        "MP SASS cta, one SM",
        _two(
            "STG.E x 1; MEMBAR.ALL.CTA; STG.E.STRONG.SM y 1",
            "LDG.E.STRONG.SM y a; need a; LDG.E x b",
            (0, 0),
        ),
        WEAK,
        "forbidden",
    ),
    (
        "SB SASS",
        _two(
            "STG.E.STRONG.GPU x 1; MEMBAR.SC.GPU; CCTL.IVALL; LDG.E y a",
            "STG.E.STRONG.GPU y 1; MEMBAR.SC.GPU; CCTL.IVALL; LDG.E x b",
        ),
        "a=0 b=0",
        "forbidden",
    ),
]
"""The same as nvcc writes it."""

TIMED = [
    test._replace(verdict="unseen") if test.name in STRICTER else test
    for test in TESTS
    if test.protocol == "vi" and not test.far
]
TIMED += [Litmus(row[0], "vi", *row[1:]) for row in (*ROWS, *MACHINE_CODE)]

UNDER_STRESS = (*STRICTER, "2+2W weak")
"""What is seen under stress alone."""


def verdict(test: Litmus, stress: bool) -> str:
    """What a test should show."""
    return "seen" if stress and test.name in UNDER_STRESS else test.verdict
