// Two files of device code, linked: a function and variables of the other one.

#include "check.h"
extern __device__ int shared_counter;
__device__ int helper(int x);
__device__ char other_text(int x);
__global__ void texts(char *own, char *other) {
    own[threadIdx.x] = "function"[threadIdx.x & 7];
    other[threadIdx.x] = other_text(threadIdx.x);
}
__global__ void k(int *o) {
    o[threadIdx.x] = helper(threadIdx.x);
    atomicAdd(&shared_counter, 1);
}
int peek();
int main() {
    int *o;
    CK(cudaMalloc(&o, 128));
    k<<<1, 32>>>(o);
    int h[32];
    CK(cudaMemcpy(h, o, 128, cudaMemcpyDeviceToHost));
    OK(h[9] == 9 * 9 + 1);
    OK(peek() == 42);
    char *text = (char *)o, found[17] = {0};
    texts<<<1, 8>>>(text, text + 8);
    CK(cudaMemcpy(found, text, 16, cudaMemcpyDeviceToHost));
    OK(!strcmp(found, "functionvariable"));
    return finish();
}
