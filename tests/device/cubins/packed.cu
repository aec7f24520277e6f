// Pointers in packed structures, whose bytes compilers name one by one, to what is in memory of each kind.

struct __attribute__((packed)) Packed {
    char before;
    int *pointer;
    char after;
};

__device__ int values[4] = {10, 11, 12, 13};
__device__ Packed in_global = {7, &values[2], 9};
__constant__ Packed in_constant = {5, &values[3], 6};

extern "C" __global__ void packed(long long *out) {
    out[0] = *in_global.pointer;
    out[1] = *in_constant.pointer;
    out[2] = in_global.before * 16 + in_global.after;
    out[3] = in_constant.before * 16 + in_constant.after;
}
