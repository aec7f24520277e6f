#include "../program.cuh"
#include "conv3d.cu"

int main(int argc, char **argv) {
    int nx = size_argument(argc, argv, 30), ny = nx, nz = nx / 2 + 1;
    const float weights[] = {0.5f, 0.25f, -0.125f, 0.0625f};
    Random random;
    std::vector<float> volume = random.reals(nx * ny * nz);
    DeviceArray<float> in(volume), out(volume.size());
    dim3 block(32, 4, 2), grid(blocks(nx, 32), blocks(ny, 4), blocks(nz, 2));
    conv3d<<<grid, block>>>(nx, ny, nz, weights[0], weights[1], weights[2], weights[3], in, out);
    std::vector<double> expected(volume.size(), 0.0);
    for (int i = 0; i < nx * ny * nz; i++) {
        int x = i % nx, y = i / nx % ny, z = i / (nx * ny);
        bool inside = x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1;
        for (int n = 0; inside && n < 27; n++) {
            int u = n % 3 - 1, v = n / 3 % 3 - 1, w = n / 9 - 1;
            expected[i] += weights[u * u + v * v + w * w] * volume[i + (w * ny + v) * nx + u];
        }
    }
    expect("out", out.download(), expected, 1e-5, 1e-6);
    return finish();
}
