// Fences between the ways to memory: one asks whether memory has several addresses.

extern "C" __global__ void fences(int *out) {
    out[0] = 1;
    asm volatile("fence.proxy.alias;" ::: "memory");
    out[1] = out[0] + 1;
    asm volatile("fence.proxy.async;" ::: "memory");
    out[2] = out[1] + 1;
}
