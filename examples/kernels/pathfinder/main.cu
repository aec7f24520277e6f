#include "../program.cuh"
#include "pathfinder.cu"

#include <algorithm>

int main(int argc, char **argv) {
    int columns = size_argument(argc, argv, 3000);
    const int rows = 20, at_once = 8;
    Random random;
    std::vector<int> cost = random.integers(rows * columns, 0, 10);
    std::vector<int> best(cost.begin(), cost.begin() + columns);
    DeviceArray<int> device_cost(cost), a(best), b(columns);
    bool in_a = true;
    for (int first = 1; first < rows; first += at_once, in_a = !in_a) {
        int count = std::min(at_once, rows - first);
        pathfinder<<<blocks(columns, BLOCK - 2 * count), BLOCK>>>(
            columns, count, device_cost + first * columns, in_a ? a : b, in_a ? b : a);
    }
    for (int row = 1; row < rows; row++) {
        std::vector<int> above = best;
        for (int x = 0; x < columns; x++) {
            int left = above[std::max(x - 1, 0)], right = above[std::min(x + 1, columns - 1)];
            best[x] = cost[row * columns + x] + std::min(above[x], std::min(left, right));
        }
    }
    expect("cost", (in_a ? a : b).download(), best);
    return finish();
}
