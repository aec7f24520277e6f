// Textures and surfaces over arrays, linear memory and rows.

#include "check.h"
__global__ void rd(cudaTextureObject_t t, float *o, int w) {
    int x = threadIdx.x, y = blockIdx.x;
    o[y * w + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}
__global__ void edge(cudaTextureObject_t t, float *o, int w) {
    o[threadIdx.x] = tex2D<float>(t, w - 1 + threadIdx.x + 0.5f, 0.5f);
}
__global__ void lin(cudaTextureObject_t t, float *o) {
    o[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x);
}
__global__ void wr(cudaSurfaceObject_t s, int w) {
    float v;
    surf2Dread(&v, s, threadIdx.x * 4, blockIdx.x);
    surf2Dwrite(v + 1, s, threadIdx.x * 4, blockIdx.x);
}
__global__ void lay(cudaTextureObject_t t, float *o) {
    o[threadIdx.x] = tex2DLayered<float>(t, threadIdx.x % 4 + 0.5f, 0.5f, threadIdx.x / 4);
}
int main() {
    const int w = 32, hh = 8;
    float h[w * hh], o[w * hh], *d;
    for (int i = 0; i < w * hh; i++)
        h[i] = i * 0.5f;
    CK(cudaMalloc(&d, sizeof o));
    cudaArray_t arr;
    auto cd = cudaCreateChannelDesc<float>();
    CK(cudaMallocArray(&arr, &cd, w, hh, cudaArraySurfaceLoadStore));
    CK(cudaMemcpy2DToArray(arr, 0, 0, h, w * 4, w * 4, hh, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = arr;
    cudaTextureDesc td = {};
    td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
    td.filterMode = cudaFilterModePoint;
    td.readMode = cudaReadModeElementType;
    cudaTextureObject_t t;
    CK(cudaCreateTextureObject(&t, &r, &td, nullptr));
    rd<<<hh, w>>>(t, d, w);
    CK(cudaMemcpy(o, d, sizeof o, cudaMemcpyDeviceToHost));
    OK(!memcmp(o, h, sizeof o));
    cudaSurfaceObject_t s;
    CK(cudaCreateSurfaceObject(&s, &r));
    wr<<<hh, w>>>(s, w);
    rd<<<hh, w>>>(t, d, w);
    CK(cudaMemcpy(o, d, sizeof o, cudaMemcpyDeviceToHost));
    OK(o[77] == h[77] + 1);
    cudaResourceDesc back;
    CK(cudaGetTextureObjectResourceDesc(&back, t));
    OK(back.res.array.array == arr);
    cudaTextureDesc tb;
    CK(cudaGetTextureObjectTextureDesc(&tb, t));
    OK(tb.filterMode == cudaFilterModePoint);
    r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = d;
    r.res.linear.desc = cd;
    r.res.linear.sizeInBytes = sizeof o;
    cudaTextureObject_t l;
    CK(cudaCreateTextureObject(&l, &r, &td, nullptr));
    float *e;
    CK(cudaMalloc(&e, 128));
    lin<<<1, 32>>>(l, e);
    CK(cudaMemcpy(o, e, 128, cudaMemcpyDeviceToHost));
    OK(o[5] == h[5] + 1);
    size_t pitch;
    float *p;
    CK(cudaMallocPitch((void **)&p, &pitch, w * 4, hh));
    CK(cudaMemcpy2D(p, pitch, h, w * 4, w * 4, hh, cudaMemcpyHostToDevice));
    r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D = {p, cd, w, hh, pitch};
    cudaTextureObject_t q;
    for (size_t wrong : {pitch + 16, (size_t)32}) { // of 32 bytes' multiples, and no row
        r.res.pitch2D.pitchInBytes = wrong;
        IS(cudaCreateTextureObject(&q, &r, &td, nullptr), cudaErrorInvalidValue);
    }
    r.res.pitch2D.pitchInBytes = pitch;
    CK(cudaCreateTextureObject(&q, &r, &td, nullptr));
    rd<<<hh, w>>>(q, d, w);
    CK(cudaMemcpy(o, d, sizeof o, cudaMemcpyDeviceToHost));
    OK(!memcmp(o, h, sizeof o));
    td.addressMode[0] = td.addressMode[1] = cudaAddressModeBorder;
    td.borderColor[0] = 7.5f;
    cudaTextureObject_t coloured;
    CK(cudaCreateTextureObject(&coloured, &r, &td, nullptr));
    edge<<<1, 2>>>(coloured, d, w);
    CK(cudaMemcpy(o, d, 8, cudaMemcpyDeviceToHost));
    OK(o[0] == h[w - 1] && o[1] == 7.5f);
    td.sRGB = 1;
    OK(cudaCreateTextureObject(&coloured, &r, &td, nullptr) == cudaErrorNotSupported);
    td.sRGB = 0;
    cudaArray_t la;
    CK(cudaMalloc3DArray(&la, &cd, make_cudaExtent(4, 2, 3), cudaArrayLayered));
    cudaMemcpy3DParms cp = {};
    cp.srcPtr = make_cudaPitchedPtr(h, 16, 4, 2);
    cp.dstArray = la;
    cp.extent = make_cudaExtent(4, 2, 3);
    cp.kind = cudaMemcpyHostToDevice;
    CK(cudaMemcpy3D(&cp));
    r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = la;
    cudaTextureObject_t lt;
    CK(cudaCreateTextureObject(&lt, &r, &td, nullptr));
    lay<<<1, 12>>>(lt, d);
    CK(cudaMemcpy(o, d, 48, cudaMemcpyDeviceToHost));
    OK(o[9] == h[17]);
    CK(cudaDestroyTextureObject(t));
    CK(cudaDestroySurfaceObject(s));
    CK(cudaFreeArray(arr));
    return finish();
}
