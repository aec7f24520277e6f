#include "../program.cuh"
#include "vecadd.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 50000);
    Random random;
    std::vector<float> a = random.reals(n), b = random.reals(n), sum(n);
    DeviceArray<float> device_a(a), device_b(b), c(n);
    vecadd<<<blocks(n, 256), 256>>>(n, device_a, device_b, c);
    for (int i = 0; i < n; i++) {
        sum[i] = a[i] + b[i];
    }
    expect("c", c.download(), sum);
    return finish();
}
