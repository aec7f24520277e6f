#include "../program.cuh"
#include "reduce_shared.cu"

const int BLOCK = 256;

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 100000);
    Random random;
    std::vector<float> x = random.reals(n);
    DeviceArray<float> values(x), sums(blocks(n, 2 * BLOCK));
    float *from = values, *to = sums;
    for (int left = n; left > 1 || from == values; left = blocks(left, 2 * BLOCK)) {
        reduce_shared<<<blocks(left, 2 * BLOCK), BLOCK, BLOCK * sizeof(float)>>>(left, from, to);
        std::swap(from, to); // the longer array is free again
    }
    double sum = 0.0;
    for (float value : x) {
        sum += value;
    }
    float total;
    CUDA_CHECK(cudaMemcpy(&total, from, sizeof(float), cudaMemcpyDeviceToHost));
    expect("sum", std::vector<float>{total}, std::vector<double>{sum}, 1e-5);
    return finish();
}
