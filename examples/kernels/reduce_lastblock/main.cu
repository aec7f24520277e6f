#include "../program.cuh"
#include "reduce_lastblock.cu"

#include <algorithm>

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 100000);
    const int grid = 40;
    Random random;
    std::vector<float> x = random.reals(n);
    DeviceArray<float> device_x(x);
    DeviceArray<float2> of_block(grid), result(1);
    DeviceArray<unsigned> finished(std::vector<unsigned>{0});
    reduce_lastblock<<<grid, BLOCK>>>(n, device_x, of_block, finished, result);
    float2 actual = result.download()[0];
    double sum = 0.0;
    for (float value : x) {
        sum += value;
    }
    expect("sum", std::vector<float>{actual.x}, std::vector<double>{sum}, 1e-5);
    float largest = *std::max_element(x.begin(), x.end());
    expect("maximum", std::vector<float>{actual.y}, std::vector<float>{largest});
    expect("finished", finished.download(), std::vector<int>{0});
    return finish();
}
