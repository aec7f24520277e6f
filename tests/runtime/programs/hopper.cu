// A product of matrices by the tensor memory accelerator and warpgroups, and a bulk copy there and back.
#include "../../device/cubins/hopper.cu"
#include <cstdio>
#include <vector>

#define CK(call) if (cudaError_t e = call) { printf("%d: %s\n", __LINE__, cudaGetErrorString(e)); return 1; }
#define OK(fact) if (!(fact)) { printf("%d: not so\n", __LINE__); return 1; }

typedef CUresult (*Encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                           const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static CUresult describe(Encode encode, CUtensorMap *map, __half *at, int lines, int depth, int box) {
    cuuint64_t sizes[] = {(cuuint64_t)depth, (cuuint64_t)lines}, strides[] = {(cuuint64_t)depth * 2};
    cuuint32_t boxes[] = {DEPTH, (cuuint32_t)box}, steps[] = {1, 1};
    return encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, at, sizes, strides, boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

int main() {
    const int m = 256, n = 128, k = 256;
    std::vector<__half> a(m * k), b(n * k);
    for (int i = 0; i < m * k; i++) a[i] = __float2half(i * 7 % 13 - 6);
    for (int i = 0; i < n * k; i++) b[i] = __float2half(i * 5 % 11 - 5);
    __half *there[2];
    float *out;
    CK(cudaMalloc(&there[0], a.size() * 2));
    CK(cudaMalloc(&there[1], b.size() * 2));
    CK(cudaMalloc(&out, m * n * sizeof(float)));
    CK(cudaMemcpy(there[0], a.data(), a.size() * 2, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(there[1], b.data(), b.size() * 2, cudaMemcpyHostToDevice));
    void *found = nullptr;
    cudaDriverEntryPointQueryResult how;
    CK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &how));
    CUtensorMap maps[2];
    OK(!describe((Encode)found, &maps[0], there[0], m, k, ROWS));
    OK(!describe((Encode)found, &maps[1], there[1], n, k, COLUMNS));
    CK(cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Stages)));
    product<<<dim3(n / COLUMNS, m / ROWS), 384, sizeof(Stages)>>>(maps[0], maps[1], out, n, k);
    CK(cudaDeviceSynchronize());
    std::vector<float> c(m * n);
    CK(cudaMemcpy(c.data(), out, m * n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int d = 0; d < k; d++) sum += __half2float(a[i * k + d]) * __half2float(b[j * k + d]);
            OK(sum == c[i * n + j]);
        }

    std::vector<int> words(256);
    for (int i = 0; i < 256; i++) words[i] = 3 * i;
    int *in = (int *)there[0], *copied = (int *)out;
    CK(cudaMemcpy(in, words.data(), 1024, cudaMemcpyHostToDevice));
    there_and_back<<<1, 256>>>(in, copied);
    CK(cudaMemcpy(words.data(), copied, 1024, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++) OK(words[i] == 4 * i);
    puts("PASS");
}
