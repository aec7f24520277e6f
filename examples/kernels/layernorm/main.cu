#include "../program.cuh"
#include "layernorm.cu"

int main(int argc, char **argv) {
    int rows = size_argument(argc, argv, 50);
    const int columns = 768, warps = 4;
    const float epsilon = 1e-5f;
    Random random;
    std::vector<float> x = random.reals(rows * columns, 0, 3);
    std::vector<float> scale = random.reals(columns), shift = random.reals(columns);
    std::vector<double> expected(x.size());
    DeviceArray<float> device_x(x), device_scale(scale), device_shift(shift), y(x.size());
    auto quads = [](float *values) { return reinterpret_cast<float4 *>(values); };
    layernorm<<<blocks(rows, warps), dim3(32, warps)>>>(rows, columns, epsilon, quads(device_x),
                                                        quads(device_scale), quads(device_shift),
                                                        quads(y));
    for (int row = 0; row < rows; row++) {
        const float *values = &x[row * columns];
        double mean = 0.0, variance = 0.0;
        for (int i = 0; i < columns; i++) {
            mean += values[i] / (double)columns;
        }
        for (int i = 0; i < columns; i++) {
            variance += (values[i] - mean) * (values[i] - mean) / columns;
        }
        for (int i = 0; i < columns; i++) {
            double normal = (values[i] - mean) / std::sqrt(variance + epsilon);
            expected[row * columns + i] = normal * scale[i] + shift[i];
        }
    }
    expect("y", y.download(), expected, 1e-4, 1e-5);
    return finish();
}
