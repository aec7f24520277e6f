"""Small kernels written for these tests, and devices to run them on."""

import pytest

import lockstep

KERNELS = """
.version 7.0
.target sm_70
.address_size 64

.global .align 4 .u32 total[2];
.const .align 4 .f32 scale = 0f40000000;

// y[i] = a * x[i] + y[i]
.visible .entry axpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
    .reg .pred %p<2>;
    .reg .f32 %f<5>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    ld.param.u32 %r1, [n];
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    ld.global.f32 %f3, [%rd5];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd5], %f4;
DONE:
    ret;
}

// out[i] = i % 8 + the sum of i % 8 values in[3 i ...], through local and shared memory
.visible .entry mixed(.param .u64 in, .param .u64 out)
{
    .shared .align 4 .b8 buffer[512];
    .local .align 4 .b8 own[16];
    .reg .pred %p<4>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd3, %r4, 12;
    add.s64 %rd4, %rd1, %rd3;
    and.b32 %r5, %r4, 7;
    mov.u32 %r6, 0;
    mov.u32 %r7, own;
    setp.gt.u32 %p3, %r5, 3;
    st.local.u32 [%r7], %r5;
    @%p3 st.local.u32 [%r7+4], %r1;
LOOP:
    setp.eq.u32 %p1, %r5, 0;
    @%p1 bra SUMMED;
    ld.global.u32 %r8, [%rd4];
    add.u32 %r6, %r6, %r8;
    add.s64 %rd4, %rd4, 4;
    sub.u32 %r5, %r5, 1;
    bra LOOP;
SUMMED:
    ld.local.u32 %r9, [%r7];
    add.u32 %r6, %r6, %r9;
    shl.b32 %r10, %r1, 2;
    mov.u32 %r11, buffer;
    add.u32 %r11, %r11, %r10;
    st.shared.u32 [%r11], %r6;
    bar.sync 0;
    ld.shared.u32 %r12, [%r11];
    mul.wide.u32 %rd5, %r4, 4;
    add.s64 %rd6, %rd2, %rd5;
    st.global.u32 [%rd6], %r12;
    ret;
}

.visible .entry wild(.param .u64 at)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [at];
    mov.u32 %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""


@pytest.fixture(scope="session")
def ptx():
    """PTX of three kernels: axpy, mixed, and wild, which writes anywhere."""
    return KERNELS


@pytest.fixture(scope="session")
def small_gpu():
    """A GPU of four SMs, so that runs are short."""
    return lockstep.gpu("QV100", ["sm.count=4"])


@pytest.fixture
def device(small_gpu):
    """A device that executes only."""
    with lockstep.Device(small_gpu) as device:
        yield device


@pytest.fixture
def timed(small_gpu):
    """A device that also simulates, and profiles."""
    with lockstep.Device(small_gpu, timing=True, profile=True) as device:
        yield device
