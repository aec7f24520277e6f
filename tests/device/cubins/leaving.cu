// Two conditions under which lanes leave: nvcc 13 makes one of them the guard of EXIT, the other its operand.

extern "C" __global__ void either(int *out) {
    int i = threadIdx.x;
    out[i] = -1;
    if (i % 3 == 0 || i % 7 == 2) {
        out[i] = __activemask();
    }
}
