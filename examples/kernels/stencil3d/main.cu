#include "../program.cuh"
#include "stencil3d.cu"

int main(int argc, char **argv) {
    int nx = size_argument(argc, argv, 40), ny = nx, nz = nx / 2 + 1, plane = nx * ny;
    const float alpha = 0.125f;
    Random random;
    std::vector<float> in = random.reals(plane * nz), expected = in;
    DeviceArray<float> device_in(in), out(in.size());
    dim3 block(32, 4), grid(blocks(nx, 32), blocks(ny, 4));
    stencil3d<<<grid, block>>>(nx, ny, nz, alpha, device_in, out);
    for (int z = 1; z < nz - 1; z++) {
        for (int y = 1; y < ny - 1; y++) {
            for (int x = 1; x < nx - 1; x++) {
                int i = z * plane + y * nx + x;
                float around = in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx];
                expected[i] += alpha * (around + in[i - plane] + in[i + plane] - 6.0f * in[i]);
            }
        }
    }
    expect("grid", out.download(), expected, 1e-5, 1e-6);
    return finish();
}
