#include "../program.cuh"
#include "bicg.cu"

int main(int argc, char **argv) {
    int rows = size_argument(argc, argv, 200), columns = rows * 3 / 4 + 1;
    Random random;
    std::vector<float> a = random.reals(rows * columns);
    std::vector<float> p = random.reals(columns), r = random.reals(rows);
    DeviceArray<float> device_a(a), device_p(p), device_r(r), q(rows);
    DeviceArray<float> s(std::vector<float>(columns, 0.0f));
    bicg_q<<<blocks(rows, 4), 128>>>(rows, columns, device_a, device_p, q);
    bicg_s<<<dim3(blocks(columns, 128), 8), 128>>>(rows, columns, device_a, device_r, s);
    expect("q", q.download(), product(rows, 1, columns, a, p), 1e-5);
    expect("s", s.download(), product(1, columns, rows, r, a), 1e-5);
    return finish();
}
