#include "../program.cuh"
#include "mm2.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 60), p = n + 1, q = n + 7;
    const float alpha = 1.5f, beta = 0.5f;
    Random random;
    std::vector<float> a = random.reals(n * p), b = random.reals(p * q);
    std::vector<float> c = random.reals(q * n), d = random.reals(n * n);
    DeviceArray<float> device_a(a), device_b(b), device_c(c), device_d(d), ab(n * q);
    dim3 block(32, 8);
    mm2<<<dim3(blocks(q, 32), blocks(n, 8)), block>>>(n, q, p, alpha, 0.0f, device_a, device_b, ab);
    mm2<<<dim3(blocks(n, 32), blocks(n, 8)), block>>>(n, n, q, 1.0f, beta, ab, device_c, device_d);
    std::vector<double> wide(c.begin(), c.end());
    std::vector<double> expected = product(n, n, q, product(n, q, p, a, b), wide);
    for (int i = 0; i < n * n; i++) {
        expected[i] = alpha * expected[i] + beta * d[i];
    }
    expect("d", device_d.download(), expected, 1e-5);
    return finish();
}
