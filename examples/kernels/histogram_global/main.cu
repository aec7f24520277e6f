#include "../program.cuh"
#include "histogram_global.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 50000);
    const int bin_count = 1000;
    Random random;
    std::vector<unsigned> keys(n), expected(bin_count, 0);
    for (unsigned &key : keys) {
        key = (unsigned)random.bits();
    }
    DeviceArray<unsigned> device_keys(keys), bins(expected);
    histogram_global<<<blocks(n, 128), 128>>>(n, bin_count, device_keys, bins);
    for (unsigned key : keys) {
        expected[(uint64_t)key * bin_count >> 32]++;
    }
    expect("bins", bins.download(), expected);
    return finish();
}
