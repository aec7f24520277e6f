#include "../program.cuh"
#include "atax.cu"

int main(int argc, char **argv) {
    int rows = size_argument(argc, argv, 200), columns = rows * 3 / 4 + 1;
    Random random;
    std::vector<float> a = random.reals(rows * columns), x = random.reals(columns);
    DeviceArray<float> device_a(a), device_x(x), between(rows), y(columns);
    atax<<<blocks(rows, 128), 128>>>(rows, columns, device_a, device_x, between);
    atax_transposed<<<blocks(columns, 128), 128>>>(rows, columns, device_a, between, y);
    std::vector<double> ax = product(rows, 1, columns, a, x);
    std::vector<double> wide(a.begin(), a.end());
    expect("y", y.download(), product(1, columns, rows, ax, wide), 1e-5);
    return finish();
}
