#include "../program.cuh"
#include "histogram_cluster.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 50000);
    const int together = 4; // blocks of a cluster
    Random random;
    auto keys = random.integers<unsigned short>(n, 0, BINS);
    std::vector<unsigned> expected(BINS, 0);
    DeviceArray<unsigned> bins(expected);
    DeviceArray<unsigned short> on_device(keys);
    cudaLaunchConfig_t config = {};
    config.gridDim = 16;
    config.blockDim = 256;
    config.dynamicSmemBytes = BINS / together * sizeof(unsigned);
    cudaLaunchAttribute cluster[1];
    cluster[0].id = cudaLaunchAttributeClusterDimension;
    cluster[0].val.clusterDim.x = together;
    cluster[0].val.clusterDim.y = cluster[0].val.clusterDim.z = 1;
    config.attrs = cluster;
    config.numAttrs = 1;
    const unsigned short *source = on_device;
    unsigned *target = bins;
    CUDA_CHECK(cudaLaunchKernelEx(&config, histogram_cluster, n, source, target));
    for (unsigned short key : keys) {
        expected[key]++;
    }
    expect("bins", bins.download(), expected);
    return finish();
}
