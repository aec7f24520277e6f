"""Kernels that read textures: eight words of coordinates for each thread, four words of results."""

import numpy as np

THREADS = 64


def module_text(instructions, declarations="", parameters=""):
    """A kernel with four words of coordinates in %f0 to %f3, four more in %f4 to %f7."""
    return f"""
.version 8.6
.target sm_90{parameters}
.address_size 64
{declarations}
.visible .entry k(.param .u64 texture, .param .u64 sampler, .param .u64 in, .param .u64 out)
{{
.reg .b64 %t, %s, %in, %out; .reg .f32 %f<8>; .reg .b32 %r<4>, %i; .reg .b16 %h<4>; .reg .pred %p;
ld.param.u64 %t, [texture]; ld.param.u64 %s, [sampler];
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %i, %tid.x;
mad.wide.u32 %in, %i, 32, %in; mad.wide.u32 %out, %i, 16, %out;
ld.global.v4.b32 {{%f0, %f1, %f2, %f3}}, [%in];
ld.global.v4.b32 {{%f4, %f5, %f6, %f7}}, [%in+16];
{instructions}
st.global.v4.b32 [%out], {{%r0, %r1, %r2, %r3}};
ret;
}}
"""


RESULTS = "{%r0, %r1, %r2, %r3}"


def run(device, text, texture, words, sampler=0):
    table = np.zeros((THREADS, 8), np.float32)
    table[:, : words.shape[1]] = words
    target = device.zeros((THREADS, 4), np.float32)
    device.load_ptx(text)["k"][1, THREADS](texture, sampler, device.array(table), target)
    return target.numpy()
