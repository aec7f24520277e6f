// Products of single precision, whose instructions tests give scales that no compiler makes.
extern "C" __global__ void nearest(float *out, const float *x, const float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __fmul_rn(x[i], y[i]);
}

extern "C" __global__ void to_zero(float *out, const float *x, const float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __fmul_rz(x[i], y[i]);
}

extern "C" __global__ void flushed(float *out, const float *x, const float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm("mul.ftz.f32 %0, %1, %2;" : "=f"(out[i]) : "f"(x[i]), "f"(y[i]));
}

extern "C" __global__ void saturated(float *out, const float *x, const float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __saturatef(__fmul_rn(x[i], y[i]));
}

extern "C" __global__ void by_a_number(float *out, const float *x, const float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __fmul_rn(x[i], 3.7f);
}
