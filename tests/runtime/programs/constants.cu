// Constant memory above the middle of its bank: operands, loads by an index, parameters.

#include "check.h"

struct Parameters {
    int values[7000];
};

__constant__ int numbers[16000];

__global__ void fixed(int *out) {
    out[threadIdx.x] = numbers[9000] * (int)threadIdx.x + numbers[15999];
}

__global__ void indexed(int *out, int k) {
    const int i = threadIdx.x;
    out[i] = numbers[12000 + i] + numbers[k - 3] + numbers[i < 4 ? i : i - 4];
}

__global__ void given(const __grid_constant__ Parameters given, int *out, long long last) {
    out[threadIdx.x] = given.values[6999] + given.values[100 * threadIdx.x] + (int)(last >> 33);
}

int main() {
    static int host[16000], out[64];
    static Parameters parameters;
    for (int i = 0; i < 16000; i++)
        host[i] = 7 * i + 1;
    for (int i = 0; i < 7000; i++)
        parameters.values[i] = 3 * i;
    int *d;
    CK(cudaMalloc(&d, sizeof out));
    CK(cudaMemcpyToSymbol(numbers, host, sizeof host));
    fixed<<<1, 64>>>(d);
    CK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        IS(out[i], host[9000] * i + host[15999]);
    indexed<<<1, 64>>>(d, 13000);
    CK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        IS(out[i], host[12000 + i] + host[12997] + host[i < 4 ? i : i - 4]);
    given<<<1, 64>>>(parameters, d, 5LL << 33);
    CK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        IS(out[i], 3 * 6999 + 300 * i + 5);
    return finish();
}
