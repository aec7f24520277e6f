// Arrays, textures and surfaces of the driver API, and copies with them.

#include "check.h"

#include <cuda.h>

enum { W = 20, H = 12, D = 5 };

__global__ void points(cudaTextureObject_t t, float *out) {
    int x = threadIdx.x, y = blockIdx.x;
    out[y * W + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}
__global__ void slices(cudaTextureObject_t t, int *out) {
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    out[(z * H + y) * W + x] = tex3D<int>(t, x, y, z);
}
__global__ void layers(cudaTextureObject_t t, float *out) {
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    out[(z * H + y) * W + x] = tex2DLayered<float>(t, (x + 0.5f) / W, (y + 0.5f) / H, z);
}
__global__ void linear(cudaTextureObject_t t, float4 *out) {
    out[threadIdx.x] = tex1Dfetch<float4>(t, threadIdx.x);
}
__global__ void whole(cudaTextureObject_t t, uint4 *out) {
    out[threadIdx.x] = tex1Dfetch<uint4>(t, threadIdx.x);
}
__global__ void level(cudaTextureObject_t t, float *out, float at) {
    out[threadIdx.x] = tex2DLod<float>(t, threadIdx.x + 0.5f, 0.5f, at);
}
__global__ void draw(cudaSurfaceObject_t s) {
    int x = threadIdx.x, y = blockIdx.x;
    surf2Dwrite<short>(short(100 * y - x), s, 2 * x, y);
}

static CUDA_TEXTURE_DESC how(unsigned flags, CUfilter_mode filter = CU_TR_FILTER_MODE_POINT) {
    CUDA_TEXTURE_DESC desc = {};
    for (auto &mode : desc.addressMode)
        mode = CU_TR_ADDRESS_MODE_CLAMP;
    desc.filterMode = desc.mipmapFilterMode = filter;
    desc.flags = flags;
    desc.maxMipmapLevelClamp = 30;
    return desc;
}

static CUtexObject texture(const CUDA_RESOURCE_DESC &of, const CUDA_TEXTURE_DESC &desc) {
    CUtexObject object;
    CK(cuTexObjectCreate(&object, &of, &desc, NULL));
    return object;
}

template <class T> static std::vector<T> read(T *device, size_t n) {
    std::vector<T> host(n);
    CK(cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
    CK(cudaFree(device));
    return host;
}

template <class T> static T *room(size_t n) {
    T *device;
    CK(cudaMalloc(&device, n * sizeof(T)));
    return device;
}

static void flat() {
    float host[H][W], back[H][W], part[3][4];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            host[y][x] = 10 * y + x;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR desc = {W, H, CU_AD_FORMAT_FLOAT, 1}, told;
    CK(cuArrayCreate(&array, &desc));
    CK(cuArrayGetDescriptor(&told, array));
    OK(told.Width == W && told.Height == H && told.Format == CU_AD_FORMAT_FLOAT);
    OK(told.NumChannels == 1);
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.srcPitch = copy.WidthInBytes = sizeof host[0];
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.Height = H;
    CK(cuMemcpy2D(&copy));

    CUDA_RESOURCE_DESC of = {}, again;
    of.resType = CU_RESOURCE_TYPE_ARRAY;
    of.res.array.hArray = array;
    CUDA_TEXTURE_DESC asked;
    CUtexObject object = texture(of, how(0));
    float *out = room<float>(W * H);
    points<<<H, W>>>(object, out);
    OK(!memcmp(read(out, W * H).data(), host, sizeof host));
    CK(cuTexObjectGetResourceDesc(&again, object));
    CK(cuTexObjectGetTextureDesc(&asked, object));
    OK(again.res.array.hArray == array && asked.addressMode[1] == CU_TR_ADDRESS_MODE_CLAMP);
    CK(cuTexObjectDestroy(object));

    CUDA_MEMCPY2D box = {}; // a part of it, to the host
    box.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    box.srcArray = array;
    box.srcXInBytes = 3 * sizeof(float), box.srcY = 2;
    box.dstMemoryType = CU_MEMORYTYPE_HOST;
    box.dstHost = part;
    box.dstPitch = box.WidthInBytes = sizeof part[0];
    box.Height = 3;
    CK(cuMemcpy2D(&box));
    OK(part[0][0] == host[2][3] && part[2][3] == host[4][6]);

    CK(cuMemcpyHtoA(array, sizeof host[0], host, sizeof host[0])); // the second row
    CK(cuMemcpyAtoH(back, array, 0, sizeof host));
    OK(!memcmp(back[0], host[0], sizeof host[0]) && !memcmp(back[1], host[0], sizeof host[0]));
    OK(!memcmp(back[2], host[2], sizeof host[0]));
    CUdeviceptr memory;
    CUarray other;
    CK(cuMemAlloc(&memory, sizeof host));
    CK(cuArrayCreate(&other, &desc));
    CK(cuMemcpyAtoD(memory, array, 0, sizeof host));
    CK(cuMemcpyDtoA(other, 0, memory, sizeof host));
    CK(cuMemcpyAtoA(other, 0, array, sizeof host[0] * 3, sizeof host[0]));
    CK(cuMemcpyAtoH(back, other, 0, sizeof host));
    OK(!memcmp(back[0], host[3], sizeof host[0]) && !memcmp(back[5], host[5], sizeof host[0]));
    CK(cuMemFree(memory));
    CK(cuArrayDestroy(other));
    CK(cuArrayDestroy(array));
}

template <class T> static CUarray deep(unsigned flags, CUarray_format format, const T *host) {
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR desc = {W, H, D, format, 1, flags}, told;
    CK(cuArray3DCreate(&array, &desc));
    CK(cuArray3DGetDescriptor(&told, array));
    OK(told.Depth == D && told.Format == format && told.Flags == flags);
    CUDA_MEMCPY3D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.srcPitch = copy.WidthInBytes = W * sizeof(T);
    copy.srcHeight = copy.Height = H;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.Depth = D;
    CK(cuMemcpy3D(&copy));
    return array;
}

static void with_depth() {
    std::vector<int> numbers(W * H * D);
    std::vector<float> reals(W * H * D);
    for (int k = 0; k < W * H * D; k++)
        numbers[k] = 7 * k - 1000, reals[k] = 0.5f * k;
    CUDA_RESOURCE_DESC of = {};
    of.res.array.hArray = deep(0, CU_AD_FORMAT_SIGNED_INT32, numbers.data());
    int *out = room<int>(W * H * D);
    slices<<<dim3(H, D), W>>>(texture(of, how(CU_TRSF_READ_AS_INTEGER)), out);
    OK(read(out, W * H * D) == numbers);
    of.res.array.hArray = deep(CUDA_ARRAY3D_LAYERED, CU_AD_FORMAT_FLOAT, reals.data());
    float *found = room<float>(W * H * D);
    layers<<<dim3(H, D), W>>>(texture(of, how(CU_TRSF_NORMALIZED_COORDINATES)), found);
    OK(read(found, W * H * D) == reals);
}

static void from_memory() {
    unsigned char host[32][4];
    for (int k = 0; k < 128; k++)
        host[k / 4][k % 4] = 2 * k;
    CUdeviceptr memory;
    CK(cuMemAlloc(&memory, sizeof host));
    CK(cuMemcpyHtoD(memory, host, sizeof host));
    CUDA_RESOURCE_DESC of = {}, again;
    of.resType = CU_RESOURCE_TYPE_LINEAR;
    of.res.linear = {memory, CU_AD_FORMAT_UNSIGNED_INT8, 4, sizeof host};
    float4 *out = room<float4>(32);
    CUtexObject object = texture(of, how(0)); // from 0 to 1
    linear<<<1, 32>>>(object, out);
    OK(read(out, 32)[31].w == host[31][3] / 255.0f);
    CK(cuTexObjectGetResourceDesc(&again, object));
    OK(again.res.linear.numChannels == 4 && again.res.linear.sizeInBytes == sizeof host);
    OK(again.res.linear.format == CU_AD_FORMAT_UNSIGNED_INT8);
    uint4 *as_they_are = room<uint4>(32);
    whole<<<1, 32>>>(texture(of, how(CU_TRSF_READ_AS_INTEGER)), as_they_are);
    OK(read(as_they_are, 32)[31].w == host[31][3]);
    of.resType = CU_RESOURCE_TYPE_PITCH2D; // 8 x 4 of the bytes
    of.res.pitch2D = {memory, CU_AD_FORMAT_UNSIGNED_INT8, 1, W, 4, 32};
    float *rows = room<float>(W * 4);
    points<<<4, W>>>(texture(of, how(0)), rows);
    OK(read(rows, W * 4)[3 * W + 5] == host[(3 * 32 + 5) / 4][1] / 255.0f);
}

static void levels() {
    CUmipmappedArray mipmapped;
    CUDA_ARRAY3D_DESCRIPTOR desc = {32, 32, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CK(cuMipmappedArrayCreate(&mipmapped, &desc, 3));
    float host[32];
    for (unsigned k = 0; k < 3; k++) {
        CUarray array;
        CK(cuMipmappedArrayGetLevel(&array, mipmapped, k));
        for (int x = 0; x < 32; x++)
            host[x] = 100 * k + x;
        CK(cuMemcpyHtoA(array, 0, host, (32 >> k) * sizeof(float)));
    }
    CUarray none;
    IS(cuMipmappedArrayGetLevel(&none, mipmapped, 3), CUDA_ERROR_INVALID_VALUE);
    CUDA_RESOURCE_DESC of = {};
    of.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    of.res.mipmap.hMipmappedArray = mipmapped;
    float *out = room<float>(8);
    level<<<1, 8>>>(texture(of, how(0)), out, 2);
    OK(read(out, 8)[7] == 207);
    CK(cuMipmappedArrayDestroy(mipmapped));
}

static void surface() {
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR desc = {W, H, 0, CU_AD_FORMAT_SIGNED_INT16, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CK(cuArray3DCreate(&array, &desc));
    CUDA_RESOURCE_DESC of = {};
    of.res.array.hArray = array;
    CUsurfObject object;
    CK(cuSurfObjectCreate(&object, &of));
    draw<<<H, W>>>(object);
    short back[H][W];
    CK(cuMemcpyAtoH(back, array, 0, sizeof back));
    OK(back[7][3] == 697 && back[11][19] == 1081);
    CK(cuSurfObjectDestroy(object));
    desc.Format = CUarray_format(5);
    IS(cuArray3DCreate(&array, &desc), CUDA_ERROR_INVALID_VALUE);
    desc = {W, H, 0, CU_AD_FORMAT_HALF, 3, 0};
    IS(cuArray3DCreate(&array, &desc), CUDA_ERROR_INVALID_VALUE);
}

static void between() {
    // arrays and memory, with the contexts of both
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR desc = {W, H, D, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
    CK(cuArray3DCreate(&array, &desc));
    std::vector<unsigned> sent(W * H * D), back(sent.size());
    for (size_t k = 0; k < sent.size(); k++)
        sent[k] = 7 * k;
    CUcontext context;
    CK(cuCtxGetCurrent(&context));
    CUDA_MEMCPY3D_PEER copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = sent.data();
    copy.srcPitch = W * 4;
    copy.srcHeight = H;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.srcContext = copy.dstContext = context;
    copy.WidthInBytes = W * 4;
    copy.Height = H;
    copy.Depth = D;
    CK(cuMemcpy3DPeer(&copy));
    CUdeviceptr memory;
    CK(cuMemAlloc(&memory, sent.size() * 4));
    CUDA_MEMCPY3D_PEER on = {};
    on.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    on.srcArray = array;
    on.srcContext = on.dstContext = context;
    on.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    on.dstDevice = memory;
    on.dstPitch = W * 4;
    on.dstHeight = H;
    on.WidthInBytes = W * 4;
    on.Height = H;
    on.Depth = D;
    CK(cuMemcpy3DPeerAsync(&on, nullptr));
    CK(cuMemcpyDtoH(back.data(), memory, back.size() * 4));
    OK(back == sent);
    IS(cuMemcpy3DPeer(nullptr), CUDA_ERROR_INVALID_VALUE);

    // several copies of one call
    CUdeviceptr to[] = {memory, (CUdeviceptr)back.data()}, source[] = {memory + 40, memory};
    size_t bytes[] = {40, 80}, first[] = {0};
    CUmemcpyAttributes as = {};
    as.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    CUstream stream;
    CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
#if CUDA_VERSION >= 13000
    CK(cuMemcpyBatchAsync(to, source, bytes, 2, &as, first, 1, stream));
    IS(cuMemcpyBatchAsync(to, source, bytes, 0, &as, first, 1, stream), CUDA_ERROR_INVALID_VALUE);
#else
    size_t failed;
    CK(cuMemcpyBatchAsync(to, source, bytes, 2, &as, first, 1, &failed, stream));
    IS(cuMemcpyBatchAsync(to, source, bytes, 0, &as, first, 1, &failed, stream),
       CUDA_ERROR_INVALID_VALUE);
#endif
    CK(cuStreamSynchronize(stream));
    OK(back[0] == 70 && back[9] == 133 && back[10] == 70 && back[19] == 133);

    // a run of one array's bytes in another
    cudaArray_t one, other;
    auto format = cudaCreateChannelDesc<unsigned>();
    CK(cudaMallocArray(&one, &format, W, H));
    CK(cudaMallocArray(&other, &format, W, H));
    CK(cudaMemcpy2DToArray(one, 0, 0, sent.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
    CK(cudaMemcpyArrayToArray(other, 8, 2, one, 16, 1, 100, cudaMemcpyDeviceToDevice));
    CK(cudaMemcpy2DFromArray(back.data(), W * 4, other, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
    OK(back[2 * W + 2] == 7 * (W + 4) && back[2 * W + 26] == 7 * (W + 28));

    CUdeviceptr shared;
    CK(cuMemAllocManaged(&shared, 4096, CU_MEM_ATTACH_GLOBAL));
    CK(cuStreamAttachMemAsync(stream, shared, 0, CU_MEM_ATTACH_SINGLE));
    CK(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                  CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
    CK(cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                          cudaFlushGPUDirectRDMAWritesToAllDevices));
    IS(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                  (CUflushGPUDirectRDMAWritesScope)3),
       CUDA_ERROR_INVALID_VALUE);
}

int main() {
    CK(cudaFree(0));
    between();
    flat();
    with_depth();
    from_memory();
    levels();
    surface();
    return finish();
}
