#include "../program.cuh"
#include "mvt.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 200);
    Random random;
    std::vector<float> a = random.reals(n * n), zeros(n, 0.0f);
    std::vector<float> y1 = random.reals(n), y2 = random.reals(n);
    DeviceArray<float> device_a(a), device_y1(y1), device_y2(y2), x1(zeros), x2(zeros);
    mvt<<<blocks(n, 64), 64>>>(n, device_a, device_y1, x1);
    mvt_transposed<<<blocks(n, 64), 64>>>(n, device_a, device_y2, x2);
    expect("x1", x1.download(), product(n, 1, n, a, y1), 1e-5);
    expect("x2", x2.download(), product(1, n, n, y2, a), 1e-5);
    return finish();
}
