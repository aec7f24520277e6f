#include "../program.cuh"
#include "stencil2d.cu"

std::vector<float> step(int nx, int ny, const std::vector<float> &in) {
    std::vector<float> out = in;
    for (int y = 1; y < ny - 1; y++) {
        for (int x = 1; x < nx - 1; x++) {
            int i = y * nx + x;
            out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
        }
    }
    return out;
}

int main(int argc, char **argv) {
    int nx = size_argument(argc, argv, 150), ny = nx * 3 / 4 + 1;
    Random random;
    std::vector<float> expected = random.reals(nx * ny);
    DeviceArray<float> a(expected), b(nx * ny);
    dim3 block(TILE_X, TILE_Y), grid(blocks(nx, TILE_X), blocks(ny, TILE_Y));
    stencil2d<<<grid, block>>>(nx, ny, a, b);
    stencil2d<<<grid, block>>>(nx, ny, b, a);
    expected = step(nx, ny, step(nx, ny, expected));
    expect("grid", a.download(), expected, 1e-6);
    return finish();
}
