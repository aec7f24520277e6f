// Textures and surfaces of every shape, fetched in every way.
#include <cuda_fp16.h>
#include <surface_indirect_functions.h>
#include <texture_indirect_functions.h>
typedef cudaTextureObject_t Texture;
typedef cudaSurfaceObject_t Surface;
#define FETCH(tag, T)                                                                            \
    extern "C" __global__ void fetch_##tag(T *o, Texture t, const float *f, int n) {             \
        int i = threadIdx.x;                                                                     \
        float x = f[i], y = f[i + 1], z = f[i + 2], l = f[i + 3];                                \
        o[0] = tex1D<T>(t, x);                                                                   \
        o[1] = tex1Dfetch<T>(t, i);                                                              \
        o[2] = tex2D<T>(t, x, y);                                                                \
        o[3] = tex3D<T>(t, x, y, z);                                                             \
        o[4] = texCubemap<T>(t, x, y, z);                                                        \
        o[5] = tex1DLayered<T>(t, x, n);                                                         \
        o[6] = tex2DLayered<T>(t, x, y, n);                                                      \
        o[7] = texCubemapLayered<T>(t, x, y, z, n);                                              \
        o[8] = tex1DLod<T>(t, x, l);                                                             \
        o[9] = tex2DLod<T>(t, x, y, l);                                                          \
        o[10] = tex3DLod<T>(t, x, y, z, l);                                                      \
        o[11] = texCubemapLod<T>(t, x, y, z, l);                                                 \
        o[12] = tex2DLayeredLod<T>(t, x, y, n, l);                                               \
        o[13] = tex1DGrad<T>(t, x, y, z);                                                        \
        o[14] = tex2DGrad<T>(t, x, y, make_float2(x, z), make_float2(y, l));                     \
        o[15] = tex3DGrad<T>(t, x, y, z, make_float4(x, y, z, l), make_float4(y, z, l, x));      \
        o[16] = tex2DLayeredGrad<T>(t, x, y, n, make_float2(x, z), make_float2(y, l));           \
        o[17] = tex1DLayeredLod<T>(t, x, n, l);                                                  \
    }
FETCH(float, float)
FETCH(float4, float4)
FETCH(int2, int2)
FETCH(uchar4, uchar4)
FETCH(short, short)
extern "C" __global__ void gather(float4 *o, int4 *q, Texture t, const float *f) {
    float x = f[threadIdx.x], y = f[threadIdx.x + 1];
    o[0] = tex2Dgather<float4>(t, x, y, 0);
    o[1] = tex2Dgather<float4>(t, x, y, 1);
    o[2] = tex2Dgather<float4>(t, x, y, 2);
    o[3] = tex2Dgather<float4>(t, x, y, 3);
    q[0] = tex2Dgather<int4>(t, x, y, 1);
}
extern "C" __global__ void queries(int *o, Texture t, Surface s) {
    int w, h, d, n, order, type;
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(w) : "l"(t));
    asm volatile("txq.height.b32 %0, [%1];" : "=r"(h) : "l"(t));
    asm volatile("txq.depth.b32 %0, [%1];" : "=r"(d) : "l"(t));
    asm volatile("txq.num_mipmap_levels.b32 %0, [%1];" : "=r"(n) : "l"(t));
    asm volatile("txq.channel_order.b32 %0, [%1];" : "=r"(order) : "l"(t));
    asm volatile("txq.channel_data_type.b32 %0, [%1];" : "=r"(type) : "l"(t));
    o[0] = w + h * 2 + d * 3 + n * 4 + order * 5 + type * 6;
    asm volatile("suq.width.b32 %0, [%1];" : "=r"(w) : "l"(s));
    asm volatile("suq.height.b32 %0, [%1];" : "=r"(h) : "l"(s));
    o[1] = w + h;
}
#define SURFACE(tag, T)                                                                          \
    extern "C" __global__ void surface_##tag(T *o, Surface s, int x, int y) {                    \
        T a, b, c, d, e, g;                                                                      \
        surf1Dread(&a, s, x);                                                                    \
        surf2Dread(&b, s, x, y, cudaBoundaryModeClamp);                                          \
        surf3Dread(&c, s, x, y, x, cudaBoundaryModeZero);                                        \
        surf1DLayeredread(&d, s, x, y);                                                          \
        surf2DLayeredread(&e, s, x, y, x);                                                       \
        surfCubemapread(&g, s, x, y, 3);                                                         \
        o[0] = a; o[1] = b; o[2] = c; o[3] = d; o[4] = e; o[5] = g;                              \
        surf1Dwrite(b, s, x);                                                                    \
        surf2Dwrite(c, s, x, y, cudaBoundaryModeClamp);                                          \
        surf3Dwrite(a, s, x, y, x, cudaBoundaryModeZero);                                        \
        surf1DLayeredwrite(e, s, x, y);                                                          \
        surf2DLayeredwrite(d, s, x, y, x, cudaBoundaryModeTrap);                                 \
    }
SURFACE(float, float)
SURFACE(float4, float4)
SURFACE(int2, int2)
SURFACE(uchar, unsigned char)
SURFACE(short, short)
extern "C" __global__ void surface_operations(Surface s, int *o, int x, int y) {
    asm volatile("sust.p.2d.v4.b32.trap [%0, {%1, %2}], {%1, %2, %1, %2};" ::"l"(s), "r"(x), "r"(y));
    asm volatile("sust.p.1d.b32.clamp [%0, {%1}], {%2};" ::"l"(s), "r"(x), "r"(y));
    asm volatile("sured.b.add.2d.u32.clamp [%0, {%1, %2}], %1;" ::"l"(s), "r"(x), "r"(y));
    asm volatile("sured.p.min.1d.b32.trap [%0, {%1}], %2;" ::"l"(s), "r"(x), "r"(y));
    asm volatile("sured.b.max.3d.s32.zero [%0, {%1, %2, %1, %1}], %1;" ::"l"(s), "r"(x), "r"(y));
    asm volatile("sured.b.or.1d.b32.zero [%0, {%1}], %1;" ::"l"(s), "r"(x), "r"(y));
    asm volatile("sured.b.add.1d.u64.trap [%0, {%1}], %2;" ::"l"(s), "r"(x), "l"((long long)y));
}
