#include "../program.cuh"
#include "saxpy.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 50000);
    const float alpha = 2.5f;
    Random random;
    std::vector<float> x = random.reals(n), y = random.reals(n), expected(n);
    DeviceArray<float> device_x(x), device_y(y);
    saxpy<<<40, 256>>>(n, alpha, device_x, device_y);
    for (int i = 0; i < n; i++) {
        expected[i] = alpha * x[i] + y[i];
    }
    expect("y", device_y.download(), expected, 1e-6);
    return finish();
}
