#include "../program.cuh"
#include "syrk.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 80), depth = n / 2 + 1;
    const float alpha = 1.5f, beta = 0.5f;
    Random random;
    std::vector<float> a = random.reals(n * depth), c = random.reals(n * n);
    DeviceArray<float> device_a(a), device_c(c);
    dim3 block(32, 8), grid(blocks(n, 32), blocks(n, 8));
    syrk<<<grid, block>>>(n, depth, alpha, beta, device_a, device_c);
    std::vector<double> expected(c.begin(), c.end());
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < depth; k++) {
                sum += (double)a[i * depth + k] * a[j * depth + k];
            }
            expected[i * n + j] = alpha * sum + beta * c[i * n + j];
        }
    }
    expect("c", device_c.download(), expected, 1e-5);
    return finish();
}
