#include "../program.cuh"
#include "half_dot.cu"

int main(int argc, char **argv) {
    int pairs = blocks(size_argument(argc, argv, 100000), 2);
    Random random;
    std::vector<half2> x(pairs), y(pairs);
    long sum = 0;
    for (int i = 0; i < pairs; i++) { // small integers: sums are exact in any order
        int a = random.integer(-3, 4), b = random.integer(-3, 4);
        int c = random.integer(-3, 4), d = random.integer(-3, 4);
        x[i] = __floats2half2_rn((float)a, (float)b);
        y[i] = __floats2half2_rn((float)c, (float)d);
        sum += a * c + b * d;
    }
    DeviceArray<half2> device_x(x), device_y(y);
    DeviceArray<float> total(std::vector<float>{0.0f});
    half_dot<<<40, 128>>>(pairs, device_x, device_y, total);
    expect("total", total.download(), std::vector<long>{sum});
    return finish();
}
