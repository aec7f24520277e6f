#include "../program.cuh"
#include "gemm_tiled.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 100);
    Random random;
    std::vector<float> a = random.reals(n * n), b = random.reals(n * n);
    DeviceArray<float> device_a(a), device_b(b), c(n * n);
    dim3 block(TILE, TILE), grid(blocks(n, TILE), blocks(n, TILE));
    gemm_tiled<<<grid, block>>>(n, device_a, device_b, c);
    expect("c", c.download(), product(n, n, n, a, b), 1e-5);
    return finish();
}
