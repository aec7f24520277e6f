#include "../program.cuh"
#include "fma_chains.cu"

int main(int argc, char **argv) {
    int iterations = size_argument(argc, argv, 10);
    const int grid = 20, block = 128;
    const float a = 0.99f, b = 0.25f;
    Random random;
    std::vector<float> start = random.reals(grid * block);
    std::vector<double> expected(start.size(), 0.0);
    DeviceArray<float> x(start);
    fma_chains<<<grid, block>>>(iterations, a, b, x);
    for (size_t i = 0; i < start.size(); i++) {
        for (int chain = 0; chain < CHAINS; chain++) {
            double value = start[i] + chain;
            for (int step = 0; step < iterations * 32 / CHAINS; step++) {
                value = value * a + b;
            }
            expected[i] += value;
        }
    }
    expect("x", x.download(), expected, 1e-4);
    return finish();
}
