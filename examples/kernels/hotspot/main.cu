#include "../program.cuh"
#include "hotspot.cu"

#include <algorithm>

const float ALONG = 0.1f, ACROSS = 0.05f, AIR = 0.01f;

std::vector<double> step(int width, int height, const std::vector<float> &power,
                         const std::vector<double> &in) {
    std::vector<double> out(in.size());
    auto at = [&](int x, int y) {
        return in[std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1)];
    };
    for (int i = 0; i < width * height; i++) {
        int x = i % width, y = i / width;
        double along = at(x - 1, y) + at(x + 1, y) - 2 * in[i];
        double across = at(x, y - 1) + at(x, y + 1) - 2 * in[i];
        out[i] = in[i] + power[i] + ALONG * along + ACROSS * across + AIR * (80 - in[i]);
    }
    return out;
}

int main(int argc, char **argv) {
    int width = size_argument(argc, argv, 100), height = width * 3 / 4 + 1;
    Random random;
    std::vector<float> power = random.reals(width * height), start = power;
    for (float &temperature : start) {
        temperature = random.real(70, 90);
    }
    DeviceArray<float> device_power(power), a(start), b(start.size());
    dim3 block(TILE, TILE), grid(blocks(width, OUTPUT), blocks(height, OUTPUT));
    hotspot<<<grid, block>>>(width, height, ALONG, ACROSS, AIR, device_power, a, b);
    hotspot<<<grid, block>>>(width, height, ALONG, ACROSS, AIR, device_power, b, a);
    std::vector<double> expected(start.begin(), start.end());
    for (int i = 0; i < 2 * STEPS; i++) {
        expected = step(width, height, power, expected);
    }
    expect("temperature", a.download(), expected, 1e-5);
    return finish();
}
