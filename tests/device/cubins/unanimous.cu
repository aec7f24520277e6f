// Lanes that a condition divides are together again at the next shuffle. nvcc 13 passes over what
// some of them do by BRA.U, in warps of which none does it.

static __device__ int before(int value, int *sums, int *all) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, sum = value;
    for (int distance = 1; distance < 32; distance *= 2) {
        int other = __shfl_up_sync(~0u, sum, distance);
        if (lane >= distance)
            sum += other;
    }
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        int total = lane < (blockDim.x >> 5) ? sums[lane] : 0;
        for (int distance = 1; distance < 32; distance *= 2) {
            int other = __shfl_up_sync(~0u, total, distance);
            if (lane >= distance)
                total += other;
        }
        sums[lane] = total;
    }
    __syncthreads();
    int start = warp ? sums[warp - 1] : 0;
    *all = sums[(blockDim.x >> 5) - 1];
    __syncthreads();
    return start + sum - value;
}

// The code points of UTF-8, and how many there are.
extern "C" __global__ void decode(const unsigned char *text, int count, unsigned *points,
                                  int *points_count) {
    __shared__ int sums[32];
    int base = 0;
    for (int start = 0; start < count; start += blockDim.x) {
        int i = start + threadIdx.x, all;
        bool leads = i < count && (text[i] & 0xc0) != 0x80;
        int place = base + before(leads, sums, &all);
        if (leads) {
            unsigned first = text[i];
            int bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
            unsigned point = bytes == 1 ? first : first & (0x7f >> bytes);
            for (int k = 1; k < bytes; k++)
                point = point << 6 | (text[i + k] & 0x3f);
            points[place] = point;
        }
        base += all;
    }
    if (threadIdx.x == 0)
        *points_count = base;
}
