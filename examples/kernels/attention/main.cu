#include "../program.cuh"
#include "attention.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 100);
    const int heads = 2, count = heads * n * DEPTH;
    const float scale = 0.17677669f; // 1 / sqrt(DEPTH)
    Random random;
    std::vector<float> q = random.reals(count, -1, 1), k = random.reals(count, -1, 1);
    std::vector<float> v = random.reals(count, -1, 1);
    std::vector<double> expected(count, 0.0), weight(n);
    DeviceArray<float> device_q(q), device_k(k), device_v(v), out(count);
    attention<<<dim3(blocks(n, BLOCK), heads), BLOCK>>>(n, scale, device_q, device_k, device_v,
                                                        out);
    for (int row = 0; row < heads * n; row++) {
        int head = row / n * n; // the first key of this head
        double sum = 0.0;
        for (int j = 0; j < n; j++) {
            double score = 0.0;
            for (int d = 0; d < DEPTH; d++) {
                score += scale * q[row * DEPTH + d] * k[(head + j) * DEPTH + d];
            }
            sum += weight[j] = std::exp(score);
        }
        for (int j = 0; j < n; j++) {
            for (int d = 0; d < DEPTH; d++) {
                expected[row * DEPTH + d] += weight[j] / sum * v[(head + j) * DEPTH + d];
            }
        }
    }
    expect("out", out.download(), expected, 1e-4, 1e-5);
    return finish();
}
