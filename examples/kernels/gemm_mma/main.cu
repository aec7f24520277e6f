#include "../program.cuh"
#include "gemm_mma.cu"

#include <cstring>

// The upper halves of the numbers' bits: exact for small integers.
std::vector<bfloat16> upper_halves(const std::vector<float> &values) {
    std::vector<bfloat16> converted(values.size());
    for (size_t i = 0; i < values.size(); i++) {
        uint32_t bits;
        std::memcpy(&bits, &values[i], sizeof bits);
        converted[i] = (bfloat16)(bits >> 16);
    }
    return converted;
}

int main(int argc, char **argv) {
    int n = blocks(size_argument(argc, argv, 128), TILE) * TILE;
    Random random;
    std::vector<float> a = random.integers<float>(n * n, -4, 5);
    std::vector<float> b = random.integers<float>(n * n, -4, 5);
    DeviceArray<bfloat16> device_a(upper_halves(a)), device_b(upper_halves(b));
    DeviceArray<float> c(n * n);
    gemm_mma<<<dim3(n / TILE, n / TILE), BLOCK>>>(n, device_a, device_b, c);
    expect("c", c.download(), product(n, n, n, a, b));
    return finish();
}
