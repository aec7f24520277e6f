// k-means by Lloyd's iteration; coordinates lie one dimension after the other.

#define CLUSTERS 8
#define DIMENSIONS 4

// The nearest centroid of each point, and the sums that the next centroids come from.
extern "C" __global__ void kmeans(int n, const float *__restrict__ points,
                                  const float *__restrict__ centroids, int *__restrict__ labels,
                                  float *sums, int *counts) {
    __shared__ float centre[CLUSTERS * DIMENSIONS], sum[CLUSTERS * DIMENSIONS];
    __shared__ int count[CLUSTERS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < CLUSTERS * DIMENSIONS) {
        centre[t] = centroids[t];
        sum[t] = 0.0f;
    }
    if (t < CLUSTERS) {
        count[t] = 0;
    }
    __syncthreads();
    if (i < n) {
        float point[DIMENSIONS], nearest = 1e30f;
        int label = 0;
#pragma unroll
        for (int d = 0; d < DIMENSIONS; d++) {
            point[d] = points[d * n + i];
        }
        for (int k = 0; k < CLUSTERS; k++) {
            float distance = 0.0f;
#pragma unroll
            for (int d = 0; d < DIMENSIONS; d++) {
                float difference = point[d] - centre[k * DIMENSIONS + d];
                distance += difference * difference;
            }
            if (distance < nearest) {
                nearest = distance;
                label = k;
            }
        }
        labels[i] = label;
        atomicAdd(&count[label], 1);
#pragma unroll
        for (int d = 0; d < DIMENSIONS; d++) {
            atomicAdd(&sum[label * DIMENSIONS + d], point[d]);
        }
    }
    __syncthreads();
    if (t < CLUSTERS * DIMENSIONS) {
        atomicAdd(&sums[t], sum[t]);
    }
    if (t < CLUSTERS) {
        atomicAdd(&counts[t], count[t]);
    }
}

// The mean of each cluster; one without points stays. Sums and counts are cleared for later.
extern "C" __global__ void kmeans_update(float *centroids, float *sums, int *counts) {
    int t = threadIdx.x, cluster = t / DIMENSIONS;
    int count = counts[cluster];
    if (count > 0) {
        centroids[t] = sums[t] / (float)count;
    }
    sums[t] = 0.0f;
    __syncthreads();
    if (t % DIMENSIONS == 0) {
        counts[cluster] = 0;
    }
}
