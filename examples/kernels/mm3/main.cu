#include "../program.cuh"
#include "mm3.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 60);
    Random random;
    std::vector<float> a = random.reals(n * n), b = random.reals(n * n);
    std::vector<float> c = random.reals(n * n), d = random.reals(n * n);
    DeviceArray<float> device_a(a), device_b(b), device_c(c), device_d(d);
    DeviceArray<float> e(n * n), f(n * n), g(n * n);
    dim3 block(32, 4), grid(blocks(n, 32), blocks(n, 4 * ROWS));
    mm3<<<grid, block>>>(n, device_a, device_b, e);
    mm3<<<grid, block>>>(n, device_c, device_d, f);
    mm3<<<grid, block>>>(n, e, f, g);
    std::vector<double> expected = product(n, n, n, product(n, n, n, a, b), product(n, n, n, c, d));
    expect("g", g.download(), expected, 1e-5);
    return finish();
}
