#include "../program.cuh"
#include "gemm_dp4a.cu"

#include <cstring>

// The rows of an n x n matrix, four values a word, filled up with zeros.
std::vector<int> packed(int n, const std::vector<signed char> &matrix) {
    int words = blocks(n, 4);
    std::vector<int> rows(n * words, 0);
    for (int i = 0; i < n; i++) {
        std::memcpy(&rows[i * words], &matrix[i * n], n);
    }
    return rows;
}

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 100);
    Random random;
    std::vector<signed char> a = random.integers<signed char>(n * n, -128, 128);
    std::vector<signed char> b = random.integers<signed char>(n * n, -128, 128), turned(n * n);
    for (int i = 0; i < n * n; i++) {
        turned[i % n * n + i / n] = b[i]; // the columns of b are packed
    }
    DeviceArray<int> device_a(packed(n, a)), device_b(packed(n, turned)), c(n * n);
    dim3 block(TILE, TILE), grid(blocks(n, TILE), blocks(n, TILE));
    gemm_dp4a<<<grid, block>>>(n, blocks(n, 4), device_a, device_b, c);
    expect("c", c.download(), product(n, n, n, a, b));
    return finish();
}
