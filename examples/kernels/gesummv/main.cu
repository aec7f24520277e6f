#include "../program.cuh"
#include "gesummv.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 200);
    const float alpha = 1.5f, beta = 0.75f;
    Random random;
    std::vector<float> a = random.reals(n * n), b = random.reals(n * n), x = random.reals(n);
    DeviceArray<float> device_a(a), device_b(b), device_x(x), y(n);
    gesummv<<<blocks(n, 64), 64>>>(n, alpha, beta, device_a, device_b, device_x, y);
    std::vector<double> expected = product(n, 1, n, a, x), other = product(n, 1, n, b, x);
    for (int i = 0; i < n; i++) {
        expected[i] = alpha * expected[i] + beta * other[i];
    }
    expect("y", y.download(), expected, 1e-5);
    return finish();
}
