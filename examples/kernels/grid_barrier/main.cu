#include "../program.cuh"
#include "grid_barrier.cu"

#include <algorithm>

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 10000);
    const int steps = 8;
    Random random;
    std::vector<float> start = random.reals(n);
    DeviceArray<float> a(start), b(n);
    DeviceArray<unsigned> arrived(std::vector<unsigned>{0});
    grid_barrier<<<16, 128>>>(n, steps, a, b, arrived);
    std::vector<double> now(start.begin(), start.end());
    for (int step = 0; step < steps; step++) {
        std::vector<double> old = now;
        for (int i = 0; i < n; i++) {
            double left = old[std::max(i - 1, 0)], right = old[std::min(i + 1, n - 1)];
            now[i] += 0.25 * (left - 2.0 * old[i] + right);
        }
    }
    expect("temperature", a.download(), now, 1e-5);
    return finish();
}
