// The other file of linked.cu.

#include "check.h"
__device__ int shared_counter = 10;
__device__ __noinline__ int helper(int x) {
    return x * x + 1;
}
// Both files have a string, whose symbols have the same name.
__device__ __noinline__ char other_text(int x) {
    return "variables"[x & 7];
}
int peek() {
    int v;
    CK(cudaMemcpyFromSymbol(&v, shared_counter, 4));
    return v;
}
