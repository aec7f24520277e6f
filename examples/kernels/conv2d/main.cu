#include "../program.cuh"
#include "conv2d.cu"

int main(int argc, char **argv) {
    int width = size_argument(argc, argv, 200), height = width * 2 / 3 + 1;
    Random random;
    std::vector<float> image = random.reals(width * height), weights = random.reals(9);
    DeviceArray<float> device_weights(weights), in(image), out(image.size());
    dim3 block(32, 8), grid(blocks(width, 32), blocks(height, 8));
    conv2d<<<grid, block>>>(width, height, device_weights, in, out);
    std::vector<double> expected(image.size(), 0.0);
    for (int y = 1; y < height - 1; y++) {
        for (int x = 1; x < width - 1; x++) {
            for (int k = 0; k < 9; k++) {
                int neighbour = (y + k / 3 - 1) * width + x + k % 3 - 1;
                expected[y * width + x] += (double)weights[k] * image[neighbour];
            }
        }
    }
    expect("out", out.download(), expected, 1e-5);
    return finish();
}
