// C = A B on tensor cores through the WMMA interface: half precision in, single precision out.
// A block of four warps makes 64 x 64 values of C, each warp 32 x 32. The edge is a multiple of 64.

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

#define EDGE 16 // of a fragment

extern "C" __global__ void gemm_wmma(int n, const half *__restrict__ a, const half *__restrict__ b,
                                     float *__restrict__ c) {
    int warp = threadIdx.x / warpSize;
    int row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
    wmma::fragment<wmma::accumulator, EDGE, EDGE, EDGE, float> sum[2][2];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            wmma::fill_fragment(sum[i][j], 0.0f);
        }
    }
    for (int k = 0; k < n; k += EDGE) {
        wmma::fragment<wmma::matrix_a, EDGE, EDGE, EDGE, half, wmma::row_major> left[2];
        wmma::fragment<wmma::matrix_b, EDGE, EDGE, EDGE, half, wmma::row_major> right[2];
        for (int i = 0; i < 2; i++) {
            wmma::load_matrix_sync(left[i], a + (row + i * EDGE) * n + k, n);
            wmma::load_matrix_sync(right[i], b + k * n + column + i * EDGE, n);
        }
        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++) {
                wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
            }
        }
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            float *to = c + (row + i * EDGE) * n + column + j * EDGE;
            wmma::store_matrix_sync(to, sum[i][j], n, wmma::mem_row_major);
        }
    }
}
