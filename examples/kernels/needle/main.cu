#include "../program.cuh"
#include "needle.cu"

#include <algorithm>

int main(int argc, char **argv) {
    int tiles = blocks(size_argument(argc, argv, 120), TILE), n = tiles * TILE, pitch = n + 1;
    const int letters = 20, gap = -8;
    Random random;
    auto a = random.integers<signed char>(n, 0, letters);
    auto b = random.integers<signed char>(n, 0, letters);
    std::vector<int> similarity = random.integers(letters * letters, -6, 12);
    std::vector<int> expected(pitch * pitch, 0);
    for (int i = 0; i <= n; i++) {
        expected[i] = expected[i * pitch] = gap * i;
    }
    DeviceArray<signed char> device_a(a), device_b(b);
    DeviceArray<int> device_similarity(similarity), score(expected);
    for (int diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        int first = std::max(0, diagonal - tiles + 1);
        int count = std::min(diagonal, tiles - 1) - first + 1;
        needle<<<count, TILE>>>(n, diagonal, first, gap, device_a, device_b, device_similarity,
                                letters, score);
    }
    for (int i = 1; i <= n; i++) {
        for (int j = 1; j <= n; j++) {
            int *at = &expected[i * pitch + j];
            int match = at[-pitch - 1] + similarity[a[i - 1] * letters + b[j - 1]];
            *at = std::max(match, gap + std::max(at[-1], at[-pitch]));
        }
    }
    expect("score", score.download(), expected);
    return finish();
}
