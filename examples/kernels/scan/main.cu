#include "../program.cuh"
#include "scan.cu"

const int BLOCK = 256;

// Prefix sums of `values` in `prefix`: of the blocks, of their sums, then both added.
void prefix_sums(int n, const int *values, int *prefix) {
    int grid = blocks(n, BLOCK);
    DeviceArray<int> sums(grid), totals(grid);
    scan<<<grid, BLOCK, 2 * BLOCK * sizeof(int)>>>(n, values, prefix, sums);
    if (grid > 1) {
        prefix_sums(grid, sums, totals);
        scan_add<<<grid, BLOCK>>>(n, totals, prefix);
    }
}

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 100000);
    Random random;
    std::vector<int> x = random.integers(n, 0, 100), expected(n);
    DeviceArray<int> values(x), prefix(n);
    prefix_sums(n, values, prefix);
    for (int i = 0, sum = 0; i < n; i++) {
        expected[i] = sum += x[i];
    }
    expect("prefix", prefix.download(), expected);
    return finish();
}
