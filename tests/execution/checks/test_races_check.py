"""``check="races"``: accesses to shared memory that nothing orders, and what orders them."""

import pytest

OWN = "mad.lo.u32 %c, %i, 4, room;"  # each thread's word
OTHER = "xor.b32 %b, %i, 32; mad.lo.u32 %b, %b, 4, room;"  # that of one of the other warp
FIRST = "setp.lt.u32 %p, %i, 32;"
SECOND_WARP = "setp.ge.u32 %p, %i, 32;"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (f"{OWN} {OTHER} st.shared.u32 [%c], %i; ld.shared.u32 %a, [%b];", "read_after_write"),
        ("mov.u32 %c, room; st.shared.u32 [%c], %w; st.shared.u32 [%c], %i;", "write_after_write"),
        (f"{OWN} {OTHER} st.shared.u32 [%c], 0; bar.sync 0; ld.shared.u32 %a, [%b]; "
         "st.shared.u32 [%c], 1;", "write_after_read"),
        # Any addresses, broadcasts, generic addresses, atomics, copies.
        ("mov.u32 %c, room; ld.shared.u32 %a, [%c]; setp.eq.u32 %p, %i, 40; "
         "@%p st.shared.u32 [%c], %i;", "write_after_read"),
        ("mov.u64 %d, room; cvta.shared.u64 %d, %d; setp.eq.u32 %p, %i, 40; "
         "ld.u32 %a, [%d]; @%p st.u32 [%d], %i;", "write_after_read"),
        ("mov.u32 %c, room; setp.eq.u32 %p, %i, 40; @!%p atom.shared.add.u32 %a, [%c], 1; "
         "@%p st.shared.u32 [%c], %i;", "write_after_read"),
        ("mov.u32 %c, room; setp.eq.u32 %p, %i, 0; @%p cp.async.ca.shared.global [%c], [%out], 16; "
         "cp.async.wait_all; ld.shared.u32 %a, [%c+12];", "read_after_write"),
        (f"{OWN} st.shared.u32 [%c], %i; bar.warp.sync -1; ld.shared.u32 %a, [%c+4];",
         "write_after_read"),
        # Two lanes of a warp: in one instruction, and on two paths.
        ("shr.u32 %b, %i, 5; mad.lo.u32 %c, %b, 4, room; st.shared.u32 [%c], %i;",
         "write_after_write"),
        ("setp.eq.u32 %p, %i, 0; mov.u32 %c, room; @%p bra ONE; ld.shared.u32 %a, [%c]; bra END;\n"
         "ONE: st.shared.u32 [%c], %w;\nEND:", "write_after_read"),
        # Barriers that are not for all of them.
        (f"{OWN} {OTHER} {FIRST} st.shared.u32 [%c], %i; @%p bar.sync 1, 32; "
         "ld.shared.u32 %a, [%b];", "read_after_write"),
    ],
)  # fmt: skip
def test_races_are_found(find, body, kind):
    found = find("races", body)
    assert kind in {f.kind for f in found}
    assert all(f.check == "races" and f.place.line and f.other_place.line for f in found)


@pytest.mark.long
@pytest.mark.parametrize(
    "body",
    [
        f"{OWN} {OTHER} st.shared.u32 [%c], %i; bar.sync 0; ld.shared.u32 %a, [%b];",
        f"{OWN} {OTHER} st.shared.u32 [%c], %i; bar.sync 3, 64; ld.shared.u32 %a, [%b];",
        f"{OWN} {OTHER} ld.shared.u32 %a, [%b]; bar.sync 0; st.shared.u32 [%c], %i;",
        # One warp produces and only arrives, the other waits.
        f"{OWN} {OTHER} {FIRST} @%p st.shared.u32 [%c], %i; @%p bar.arrive 1, 64; "
        "@!%p bar.sync 1, 64; @!%p ld.shared.u32 %a, [%b];",
        # The same value, atomics among themselves, volatile accesses.
        "mov.u32 %c, room; st.shared.u32 [%c], 5;",
        "mov.u32 %c, room; atom.shared.add.u32 %a, [%c], 1; red.shared.max.u32 [%c], %i;",
        "mov.u32 %c, room; st.volatile.shared.u32 [%c], %i; ld.volatile.shared.u32 %a, [%c];",
        # Lanes that execute together, or have met.
        "setp.eq.u32 %p, %i, 0; mov.u32 %c, room; @!%p bra ON; st.shared.u32 [%c], %w;\n"
        f"ON: {SECOND_WARP} @%p bra END; bar.warp.sync -1; ld.shared.u32 %a, [%c];\nEND:",
        # Neighbouring bytes and halves.
        "add.u32 %c, %i, room; st.shared.u8 [%c], %i; ld.shared.u8 %a, [%c];",
        "mad.lo.u32 %c, %i, 2, room; st.shared.u16 [%c], %h; ld.shared.u16 %h, [%c];",
        # A lock whose holders have fences.
        """
    mov.u32 %c, room;
AGAIN:
    atom.shared.cas.b32 %a, [%c+256], 0, 1;
    setp.ne.u32 %p, %a, 0;
    @%p bra AGAIN;
    fence.acq_rel.cta;
    ld.shared.u32 %b, [%c];
    add.u32 %b, %b, 1;
    st.shared.u32 [%c], %b;
    fence.acq_rel.cta;
    atom.shared.exch.b32 %a, [%c+256], 0;
""",
    ],
)
def test_what_is_ordered_is_no_finding(find, body):
    assert [str(f) for f in find("races", f".reg .b16 %h;\n{body}")] == []


OBJECT = """
    .reg .b64 %state;
    mov.u32 %c, room;
    setp.eq.u32 %p, %i, 0;
    @%p mbarrier.init.shared.b64 [%c+256], 64;
    bar.sync 0;
    mad.lo.u32 %a, %i, 4, room;
    st.shared.u32 [%a], %i;
    mbarrier.arrive.shared.b64 %state, [%c+256];
"""
WAIT = """
WAIT:
    mbarrier.test_wait.shared.b64 %q, [%c+256], %state;
    @!%q bra WAIT;
"""


@pytest.mark.parametrize(("wait", "count"), [(WAIT, 0), ("", 1)])
def test_barrier_objects_order_what_came_before_the_arrivals(find, wait, count):
    found = find("races", f"{OBJECT}{wait}{OTHER} ld.shared.u32 %a, [%b];")
    assert [f.kind for f in found].count("read_after_write") == count


REMOTE = """
    .reg .b32 %r;
    mov.u32 %r, %cluster_ctarank;
    mad.lo.u32 %c, %i, 4, room;
    st.shared.u32 [%c], %i;
    {wait}
    xor.b32 %r, %r, 1;
    mapa.shared::cluster.u32 %b, %c, %r;
    ld.shared::cluster.u32 %a, [%b];
    barrier.cluster.arrive; barrier.cluster.wait;
"""


@pytest.mark.parametrize(
    ("wait", "count"), [("barrier.cluster.arrive; barrier.cluster.wait;", 0), ("bar.sync 0;", 1)]
)
def test_blocks_of_a_cluster_are_ordered_by_its_barrier(find, wait, count):
    found = find("races", REMOTE.format(wait=wait), grid=2, cluster=2)
    assert [f.kind for f in found].count("read_after_write") == count
    assert all({f.cta, f.other_cta} == {(0, 0, 0), (1, 0, 0)} for f in found)


FLAG = """
    .reg .pred %first;
    mov.u32 %c, room; setp.lt.u32 %first, %i, 32;
    @!%first bra WAIT;
    setp.eq.u32 %q, %i, 0;
    @%q st.shared.u32 [%c], 5;
    @%q {release};
    bra DONE;
WAIT:
    ld.acquire.cta.shared.u32 %a, [%c+8];
    setp.eq.u32 %q, %a, 0;
    @%q bra WAIT;
    ld.shared.u32 %b, [%c];
DONE:
"""


@pytest.mark.parametrize(
    ("release", "count"),
    [
        ("red.release.cta.shared.or.b32 [%c+8], 1", 0),
        ("st.release.cta.shared.u32 [%c+8], 1", 0),
        ("atom.acq_rel.cta.shared.or.b32 %a, [%c+8], 1", 0),
        ("red.relaxed.cta.shared.or.b32 [%c+8], 1", 1),
        ("st.relaxed.cta.shared.u32 [%c+8], 1", 1),
    ],
)
def test_what_came_before_a_release_is_passed_on(find, release, count):
    kinds = [found.kind for found in find("races", FLAG.format(release=release))]
    assert kinds == ["read_after_write"] * count


LATER = """
    .reg .b32 %r, %number; .reg .pred %late, %second;
    mov.u32 %r, %cluster_ctarank; mov.u32 %number, %clusterid.x;
    setp.ge.u32 %late, %number, 1024; setp.eq.u32 %second, %r, 1;
    mov.u32 %c, %tid.x; mad.lo.u32 %c, %c, 4, room;
    @!%late st.shared.u32 [%c], %i;
    mapa.shared::cluster.u32 %b, %c, 0;
    and.pred %late, %late, %second;
    @%late ld.shared::cluster.u32 %a, [%b];
"""


def test_what_an_earlier_cluster_did_in_the_same_place_is_over(find):
    """At most 912 blocks of 48 KB are on the GPU at a time, and 4,096 in these places."""
    room = ".shared .align 16 .b8 room[49152];\n"
    assert find("races", LATER, grid=4096, cluster=2, before=room, words=1 << 18) == []


def test_both_threads_and_lines_are_named(find):
    body = f"{OWN} {OTHER} st.shared.u32 [%c], %i;\n ld.shared.u32 %a, [%b];"
    (found,) = [f for f in find("races", body) if f.kind == "read_after_write"]
    assert found.place.line == found.other_place.line + 1
    assert {found.thread[0] // 32, found.other_thread[0] // 32} == {0, 1}
    assert found.thread[0] == found.other_thread[0] ^ 32 and found.count == 32
    assert "read after write without order, 4 bytes at 0x" in str(found)


def test_a_launch_does_not_see_what_the_one_before_did(find):
    body = f"{OWN} {OTHER} ld.shared.u32 %a, [%b]; bar.sync 0; st.shared.u32 [%c], %i;"
    assert find("races", body, grid=3, words=256) == []
