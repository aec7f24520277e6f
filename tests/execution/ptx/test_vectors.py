"""Vector registers: all elements at once, or one by its name."""

import numpy as np


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
