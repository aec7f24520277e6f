#include "../program.cuh"
#include "montecarlo.cu"

// The first word and the second that the kernel draws for a path.
void draw(uint32_t counter, uint32_t key, uint32_t &x, uint32_t &y) {
    x = counter;
    y = 0;
    for (int round = 0; round < 10; round++, key += 0x9E3779B9u) {
        uint64_t wide = (uint64_t)0xD256D193u * x;
        x = (uint32_t)(wide >> 32) ^ key ^ y;
        y = (uint32_t)wide;
    }
}

int main(int argc, char **argv) {
    int paths = size_argument(argc, argv, 20000);
    const uint32_t seed = 2025;
    const float spot = 100.0f, strike = 105.0f, drift = 0.01f, deviation = 0.25f;
    DeviceArray<float> total(std::vector<float>{0.0f});
    montecarlo<<<20, 256>>>(paths, seed, spot, strike, drift, deviation, total);
    double sum = 0.0;
    for (int i = 0; i < paths; i++) {
        uint32_t x, y;
        draw(i, seed, x, y);
        double u = ((x >> 8) + 1) / 16777216.0, v = (y >> 8) / 16777216.0;
        double normal = std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * 3.141592653589793 * v);
        sum += std::fmax(spot * std::exp(drift + deviation * normal) - strike, 0.0);
    }
    expect("total", total.download(), std::vector<double>{sum}, 1e-4);
    return finish();
}
