#include "../program.cuh"
#include "kmeans.cu"

const int VALUES = CLUSTERS * DIMENSIONS;

// Points about the corners of a cube, a dimension after the other.
std::vector<float> clouds(Random &random, int n) {
    std::vector<float> points(DIMENSIONS * n);
    for (int i = 0; i < n; i++) {
        for (int d = 0; d < DIMENSIONS; d++) {
            points[d * n + i] = 8.0f * (i % CLUSTERS >> d & 1) + random.real(0.0f, 1.0f);
        }
    }
    return points;
}

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 5000) + CLUSTERS;
    Random random;
    std::vector<float> points = clouds(random, n), start(VALUES);
    std::vector<double> means(VALUES, 0.0);
    std::vector<int> expected(n);
    for (int i = 0; i < n; i++) {
        int cluster = expected[i] = i % CLUSTERS, count = (n - cluster + CLUSTERS - 1) / CLUSTERS;
        for (int d = 0; d < DIMENSIONS; d++) {
            start[cluster * DIMENSIONS + d] = points[d * n + i]; // the last one of each
            means[cluster * DIMENSIONS + d] += points[d * n + i] / (double)count;
        }
    }
    DeviceArray<float> device_points(points), centroids(start);
    DeviceArray<float> sums(std::vector<float>(VALUES, 0.0f));
    DeviceArray<int> labels(n), counts(std::vector<int>(CLUSTERS, 0));
    for (int iteration = 0; iteration < 2; iteration++) {
        kmeans<<<blocks(n, 128), 128>>>(n, device_points, centroids, labels, sums, counts);
        kmeans_update<<<1, VALUES>>>(centroids, sums, counts);
    }
    expect("labels", labels.download(), expected);
    expect("centroids", centroids.download(), means, 1e-4);
    return finish();
}
