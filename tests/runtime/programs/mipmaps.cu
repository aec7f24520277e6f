#include "check.h"
// Levels of detail of a mipmapped array, and faces of a cubemap.
__global__ void level(cudaTextureObject_t t, float *out, float n) {
    out[threadIdx.x] = tex2DLod<float>(t, (threadIdx.x + 0.5f) / 8, 0.5f, n);
}
__global__ void face(cudaTextureObject_t t, float *out) {
    float sign = threadIdx.x & 1 ? -1 : 1, little = 0.1f;
    int axis = threadIdx.x / 2;
    out[threadIdx.x] = texCubemap<float>(t, axis == 0 ? sign : little, axis == 1 ? sign : little,
                                         axis == 2 ? sign : little);
}
static void levels(const cudaChannelFormatDesc &format, float *out) {
    cudaMipmappedArray_t mipmapped;
    CK(cudaMallocMipmappedArray(&mipmapped, &format, make_cudaExtent(8, 6, 0), 9));
    const size_t widths[] = {8, 4, 2, 1}, heights[] = {6, 3, 1, 1};
    for (unsigned k = 0; k < 4; k++) {
        cudaArray_t array;
        cudaExtent extent;
        CK(cudaGetMipmappedArrayLevel(&array, mipmapped, k));
        CK(cudaArrayGetInfo(nullptr, &extent, nullptr, array));
        IS(extent.width, widths[k]);
        IS(extent.height, heights[k]);
        std::vector<float> values(extent.width * extent.height, 10.0f * k + 1);
        size_t pitch = extent.width * sizeof(float);
        CK(cudaMemcpy2DToArray(array, 0, 0, values.data(), pitch, pitch, extent.height,
                               cudaMemcpyHostToDevice));
    }
    cudaArray_t none;
    IS(cudaGetMipmappedArrayLevel(&none, mipmapped, 4), cudaErrorInvalidValue);
    cudaGetLastError();
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmapped;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
    how.filterMode = how.mipmapFilterMode = cudaFilterModeLinear;
    how.normalizedCoords = 1;
    how.mipmapLevelBias = 0.25f;
    how.maxMipmapLevelClamp = 2.5f;
    cudaTextureObject_t texture;
    CK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    cudaTextureDesc back;
    CK(cudaGetTextureObjectTextureDesc(&back, texture));
    OK(back.maxMipmapLevelClamp == 2.5f);
    const float asked[] = {-1, 0, 0.5f, 1.75f, 7}, expected[] = {1, 3.5f, 8.5f, 21, 26};
    for (int k = 0; k < 5; k++) {
        float got[8];
        level<<<1, 8>>>(texture, out, asked[k]);
        CK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
        OK(got[3] == expected[k]);
    }
    CK(cudaDestroyTextureObject(texture));
    CK(cudaFreeMipmappedArray(mipmapped));
}
static void faces(const cudaChannelFormatDesc &format, float *out) {
    cudaArray_t cube;
    CK(cudaMalloc3DArray(&cube, &format, make_cudaExtent(2, 2, 6), cudaArrayCubemap));
    float values[24];
    for (int k = 0; k < 24; k++)
        values[k] = k / 4;
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(values, 8, 2, 2);
    copy.dstArray = cube;
    copy.extent = make_cudaExtent(2, 2, 6);
    copy.kind = cudaMemcpyHostToDevice;
    CK(cudaMemcpy3D(&copy));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = cube;
    cudaTextureDesc how = {};
    how.normalizedCoords = 1;
    cudaTextureObject_t texture;
    CK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    float got[6];
    face<<<1, 6>>>(texture, out);
    CK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int k = 0; k < 6; k++)
        OK(got[k] == k);
    CK(cudaDestroyTextureObject(texture));
    CK(cudaFreeArray(cube));
}
int main() {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    float *out;
    CK(cudaMalloc(&out, 32));
    levels(format, out);
    faces(format, out);
    CK(cudaFree(out));
    return finish();
}
