#include "../program.cuh"
#include "pointer_chase.cu"

#include <algorithm>
#include <numeric>

const int STRIDE = 32; // integers between elements: a line of 128 bytes each

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 2048);
    Random random;
    std::vector<int> order(n), chain(n * STRIDE, 0);
    std::iota(order.begin(), order.end(), 0);
    for (int i = n - 1; i > 1; i--) {
        std::swap(order[i], order[random.integer(1, i + 1)]); // the chain begins at element 0
    }
    for (int i = 0; i < n; i++) {
        chain[order[i] * STRIDE] = order[(i + 1) % n] * STRIDE;
    }
    DeviceArray<int> next(chain), end(1);
    pointer_chase<<<1, 1>>>(n - 1, next, end);
    expect("end", end.download(), std::vector<int>{order[n - 1] * STRIDE});
    return finish();
}
