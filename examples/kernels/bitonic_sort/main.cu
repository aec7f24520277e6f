#include "../program.cuh"
#include "bitonic_sort.cu"

#include <algorithm>

int main(int argc, char **argv) {
    int wanted = size_argument(argc, argv, 5000), n = 2 * BLOCK;
    while (n < wanted) {
        n *= 2;
    }
    Random random;
    std::vector<int> values = random.integers(n, -1000000, 1000000);
    DeviceArray<int> array(values);
    int grid = n / (2 * BLOCK);
    bitonic_sort_shared<<<grid, BLOCK>>>(2 * BLOCK, BLOCK, 1, array);
    for (int length = 4 * BLOCK; length <= n; length *= 2) {
        for (int stride = length / 2; stride > BLOCK; stride /= 2) {
            bitonic_sort<<<grid, BLOCK>>>(n, length, stride, array);
        }
        bitonic_sort_shared<<<grid, BLOCK>>>(length, BLOCK, 0, array);
    }
    std::sort(values.begin(), values.end());
    expect("values", array.download(), values);
    return finish();
}
