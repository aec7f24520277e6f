#include "../program.cuh"
#include "softmax.cu"

#include <algorithm>

int main(int argc, char **argv) {
    int rows = size_argument(argc, argv, 30);
    const int columns = 1000;
    Random random;
    std::vector<float> x = random.reals(rows * columns, -10, 10);
    std::vector<double> expected(x.size());
    DeviceArray<float> device_x(x), y(x.size());
    softmax<<<rows, 256, columns * sizeof(float)>>>(columns, device_x, y);
    for (int row = 0; row < rows; row++) {
        auto first = x.begin() + row * columns;
        double largest = *std::max_element(first, first + columns), sum = 0.0;
        for (int i = row * columns; i < (row + 1) * columns; i++) {
            sum += expected[i] = std::exp(x[i] - largest);
        }
        for (int i = row * columns; i < (row + 1) * columns; i++) {
            expected[i] /= sum;
        }
    }
    expect("y", y.download(), expected, 1e-5, 1e-9);
    return finish();
}
