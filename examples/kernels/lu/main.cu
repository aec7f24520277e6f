#include "../program.cuh"
#include "lu.cu"

int main(int argc, char **argv) {
    int tiles = blocks(size_argument(argc, argv, 80), TILE), n = tiles * TILE;
    Random random;
    std::vector<float> matrix = random.reals(n * n);
    for (int i = 0; i < n; i++) {
        matrix[i * n + i] += (float)n; // no pivoting is needed
    }
    DeviceArray<float> a(matrix);
    for (int k = 0; k < tiles; k++) {
        int left = tiles - k - 1;
        lu_diagonal<<<1, TILE>>>(n, k * TILE, a);
        if (left > 0) {
            lu_perimeter<<<dim3(left, 2), TILE>>>(n, k * TILE, a);
            lu_interior<<<dim3(left, left), dim3(TILE, TILE)>>>(n, k * TILE, a);
        }
    }
    std::vector<double> expected(matrix.begin(), matrix.end());
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) {
            double factor = expected[i * n + k] /= expected[k * n + k];
            for (int j = k + 1; j < n; j++) {
                expected[i * n + j] -= factor * expected[k * n + j];
            }
        }
    }
    expect("a", a.download(), expected, 1e-3, 1e-4);
    return finish();
}
