#include "../program.cuh"
#include "reduce_shuffle.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 100000);
    Random random;
    std::vector<float> x = random.reals(n);
    DeviceArray<float> device_x(x), total(std::vector<float>{0.0f});
    reduce_shuffle<<<40, 256>>>(n, device_x, total);
    double sum = 0.0;
    for (float value : x) {
        sum += value;
    }
    expect("total", total.download(), std::vector<double>{sum}, 1e-5);
    return finish();
}
