#include "../program.cuh"
#include "gemm_wmma.cu"

// Half precision holds small integers exactly.
std::vector<half> halves(const std::vector<float> &values) {
    std::vector<half> converted(values.size());
    for (size_t i = 0; i < values.size(); i++) {
        converted[i] = __float2half(values[i]);
    }
    return converted;
}

int main(int argc, char **argv) {
    int n = blocks(size_argument(argc, argv, 128), 64) * 64;
    Random random;
    std::vector<float> a = random.integers<float>(n * n, -4, 5);
    std::vector<float> b = random.integers<float>(n * n, -4, 5);
    DeviceArray<half> device_a(halves(a)), device_b(halves(b));
    DeviceArray<float> c(n * n);
    gemm_wmma<<<dim3(n / 64, n / 64), 128>>>(n, device_a, device_b, c);
    expect("c", c.download(), product(n, n, n, a, b));
    return finish();
}
