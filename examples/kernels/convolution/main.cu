#include "../program.cuh"
#include "convolution.cu"

// Convolution along one axis with zeros beyond the border.
std::vector<double> convolved(int width, int height, const std::vector<double> &in,
                              const std::vector<float> &taps, bool along_rows) {
    std::vector<double> out(in.size(), 0.0);
    for (int i = 0; i < width * height; i++) {
        for (int k = -RADIUS; k <= RADIUS; k++) {
            int x = i % width + (along_rows ? k : 0), y = i / width + (along_rows ? 0 : k);
            if (x >= 0 && x < width && y >= 0 && y < height) {
                out[i] += taps[RADIUS - k] * in[y * width + x];
            }
        }
    }
    return out;
}

int main(int argc, char **argv) {
    int width = size_argument(argc, argv, 120), height = width * 2 / 3 + 1;
    Random random;
    std::vector<float> image = random.reals(width * height), taps = random.reals(2 * RADIUS + 1);
    DeviceArray<float> in(image), between(image.size()), out(image.size());
    CUDA_CHECK(cudaMemcpyToSymbol(convolution_taps, taps.data(), taps.size() * sizeof(float)));
    dim3 block(TILE_X, TILE_Y), grid(blocks(width, TILE_X), blocks(height, TILE_Y));
    convolution_rows<<<grid, block>>>(width, height, in, between);
    convolution_columns<<<grid, block>>>(width, height, between, out);
    std::vector<double> expected(image.begin(), image.end());
    expected = convolved(width, height, expected, taps, true);
    expected = convolved(width, height, expected, taps, false);
    expect("out", out.download(), expected, 1e-5);
    return finish();
}
