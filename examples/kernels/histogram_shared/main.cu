#include "../program.cuh"
#include "histogram_shared.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 50000);
    Random random;
    auto data = random.integers<unsigned char>(n, 0, BINS);
    std::vector<unsigned> expected(BINS, 0);
    DeviceArray<unsigned> bins(expected);
    histogram_shared<<<20, 256>>>(n, DeviceArray<unsigned char>(data), bins);
    for (unsigned char value : data) {
        expected[value]++;
    }
    expect("bins", bins.download(), expected);
    return finish();
}
