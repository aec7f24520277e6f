"""Vector registers: all elements at once, or one by its name."""

import numpy as np
import pytest

from lockstep.errors import InputError


def test_elements_of_vector_registers_are_registers(run):
    got = run("""
    .reg .v4 .b32 v<2>; .reg .v2 .b32 w;
    mov.b32 v0.x, %i; add.u32 v0.y, v0.x, 1; mul.lo.u32 v0.z, v0.y, 3; mov.b32 v0.w, 7;
    mad.wide.u32 %d, %i, 16, %out;
    st.global.v4.b32 [%d+1024], v0;
    ld.global.v4.b32 v1, [%d+1024];
    mov.b64 %s, 0x500000002; mov.b64 w, %s;
    add.u32 %a, v1.z, v1.w; add.u32 %a, %a, w.y;
""")
    lanes = np.arange(32)
    assert got[:32].tolist() == (3 * (lanes + 1) + 12).tolist()
    stored = got[256 : 256 + 128].reshape(32, 4)
    np.testing.assert_array_equal(stored.T, [lanes, lanes + 1, 3 * lanes + 3, np.full(32, 7)])


def test_vectors_move_at_once(run):
    """Each is read before one is written; one may be a special register, of which w is 0."""
    got = run("""
    .reg .v4 .u32 v; .reg .v2 .f32 w; .reg .u32 p, q, n; .reg .f32 f, g; .reg .u16 h<4>;
    mov.v4.u32 v, %tid;
    mov.v4.u32 {_, n, _, _}, %ntid;
    mov.v2.f32 w, {0f3f800000, 2.5};
    mov.b32 p, 3; mov.b32 q, 70;
    mov.v2.b32 {p, q}, {q, p};
    mov.v4.u16 {h0, h1, h2, h3}, %ctaid;
    cvt.rni.u32.f32 %a, w.y;
    mad.lo.u32 %a, p, 10, %a; mad.lo.u32 %a, q, 10000, %a;
    mad.lo.u32 %a, n, 100000, %a; mad.lo.u32 %a, v.x, 1000000, %a; add.u32 %a, %a, v.w;
""")
    assert got[:32].tolist() == [2 + 700 + 30_000 + 100_000 + 1_000_000 * k for k in range(32)]


def test_vectors_of_other_sizes_are_refused(run):
    for text in ("{%a, %b}, %tid", "{%a, %b, %a, %b}, {%b, %a}", "{%a, %b}, %a"):
        with pytest.raises(InputError, match=r"vectors? of [24] elements"):
            run(f"mov.v2.u32 {text};")
