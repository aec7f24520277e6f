#include "../program.cuh"
#include "spmv.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 1000);
    Random random;
    std::vector<int> first{0}, columns;
    std::vector<float> values, x = random.reals(n);
    std::vector<double> expected(n, 0.0);
    for (int row = 0; row < n; row++) {
        for (int left = random.integer(1, 61); left > 0; left--) {
            columns.push_back(random.integer(0, n));
            values.push_back(random.real(0.0f, 1.0f));
            expected[row] += (double)values.back() * x[columns.back()];
        }
        first.push_back((int)columns.size());
    }
    DeviceArray<int> device_first(first), device_columns(columns);
    DeviceArray<float> device_values(values), device_x(x), y(n);
    spmv<<<blocks(n, 4), 128>>>(n, device_first, device_columns, device_values, device_x, y);
    expect("y", y.download(), expected, 1e-5);
    return finish();
}
