#include "../program.cuh"
#include "merge_sort.cu"

#include <algorithm>

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 5000), grid = blocks(n, BLOCK);
    Random random;
    std::vector<int> values = random.integers(n, -1000, 1000);
    DeviceArray<int> a(values), b(n);
    merge_sort_block<<<grid, BLOCK>>>(n, a);
    bool in_a = true;
    for (int run = BLOCK; run < n; run *= 2, in_a = !in_a) {
        merge_sort<<<grid, BLOCK>>>(n, run, in_a ? a : b, in_a ? b : a);
    }
    std::sort(values.begin(), values.end());
    expect("values", (in_a ? a : b).download(), values);
    return finish();
}
