// Every form of texture and surface access that CUDA C++ has here; a thread has four words of
// coordinates and 16 bytes of results.

union Words {
    float4 f;
    int4 i;
    unsigned bits[4];
};

template <typename T>
__device__ void keep(T value, uint4 *out) {
    union {
        T value;
        unsigned char bytes[16];
        uint4 words;
    } all;
    all.words = make_uint4(0, 0, 0, 0);
    all.value = value;
    out[threadIdx.x] = all.words;
}

#define READ(NAME, T, EXPRESSION)                                                                  \
    extern "C" __global__ void NAME##_##T(cudaTextureObject_t t, const Words *source,          \
                                         uint4 *out) {                                             \
        Words at = source[threadIdx.x];                                                            \
        keep<T>(EXPRESSION, out);                                                                  \
    }
#define READ_ALL(NAME, FUNCTION, ...)                                                              \
    READ(NAME, float, FUNCTION<float>(t, __VA_ARGS__))                                             \
    READ(NAME, float2, FUNCTION<float2>(t, __VA_ARGS__))                                           \
    READ(NAME, float4, FUNCTION<float4>(t, __VA_ARGS__))                                           \
    READ(NAME, int, FUNCTION<int>(t, __VA_ARGS__))                                                 \
    READ(NAME, uchar4, FUNCTION<uchar4>(t, __VA_ARGS__))

READ_ALL(tex2d, tex2D, at.f.x, at.f.y)
READ(tex1d, float4, tex1D<float4>(t, at.f.x))
READ(fetch1d, int, tex1Dfetch<int>(t, at.i.x))
READ(tex3d, float, tex3D<float>(t, at.f.x, at.f.y, at.f.z))
READ(layered1d, float2, tex1DLayered<float2>(t, at.f.x, at.i.w))
READ(layered2d, float4, tex2DLayered<float4>(t, at.f.x, at.f.y, at.i.w))
READ(lod2d, float4, tex2DLod<float4>(t, at.f.x, at.f.y, at.f.w))
READ(lod3d, float4, tex3DLod<float4>(t, at.f.x, at.f.y, at.f.z, at.f.w))
READ(lodlayered2d, float4, tex2DLayeredLod<float4>(t, at.f.x, at.f.y, at.i.w, at.f.z))
READ(grad1d, float4, tex1DGrad<float4>(t, at.f.x, at.f.z, at.f.w))
READ(grad2d, float4,
     tex2DGrad<float4>(t, at.f.x, at.f.y, make_float2(at.f.z, 0), make_float2(0, at.f.w)))
READ(gradlayered1d, float4, tex1DLayeredGrad<float4>(t, at.f.x, at.i.w, at.f.y, at.f.z))
READ(cube, float4, texCubemap<float4>(t, at.f.x, at.f.y, at.f.z))
READ(layeredcube, float2, texCubemapLayered<float2>(t, at.f.x, at.f.y, at.f.z, at.i.w))
READ(gather0, float4, tex2Dgather<float4>(t, at.f.x, at.f.y, 0))
READ(gather2, float4, tex2Dgather<float4>(t, at.f.x, at.f.y, 2))
// Handles from memory: one for all, or one for each thread.

#define PICK(NAME, T, EXPRESSION)                                                                  \
    extern "C" __global__ void one_##NAME(const cudaTextureObject_t *table, const Words *source,   \
                                          uint4 *out) {                                            \
        Words at = source[threadIdx.x];                                                            \
        cudaTextureObject_t t = table[blockIdx.x];                                                 \
        keep<T>(EXPRESSION, out);                                                                  \
    }                                                                                              \
    extern "C" __global__ void many_##NAME(const cudaTextureObject_t *table, const Words *source,  \
                                           uint4 *out) {                                           \
        Words at = source[threadIdx.x];                                                            \
        cudaTextureObject_t t = table[threadIdx.x * 5 % 3];                                        \
        keep<T>(EXPRESSION, out);                                                                  \
    }

PICK(fetch1d, float, tex1Dfetch<float>(t, at.i.x))
PICK(tex2d, float4, tex2D<float4>(t, at.f.x, at.f.y))
PICK(tex3d, float4, tex3D<float4>(t, at.f.x, at.f.y, at.f.z))
PICK(layered2d, float4, tex2DLayered<float4>(t, at.f.x, at.f.y, at.i.w))
PICK(gradlayered2d, float4,
     tex2DLayeredGrad<float4>(t, at.f.x, at.f.y, at.i.w, make_float2(at.f.z, 0),
                              make_float2(0, at.f.z)))
PICK(layeredcube, float4, texCubemapLayered<float4>(t, at.f.x, at.f.y, at.f.z, at.i.w))
PICK(gather1, float4, tex2Dgather<float4>(t, at.f.x, at.f.y, 1))
PICK(surf2d, uint2, surf2Dread<uint2>(t, at.i.x, at.i.y, cudaBoundaryModeZero))

// Surfaces: what was there goes to the results, and what the results held goes there.

#define SURFACE(NAME, T, MODE, FUNCTION, ...)                                                      \
    extern "C" __global__ void NAME##_##T##_##MODE(cudaSurfaceObject_t s, const Words *source,     \
                                                   uint4 *out) {                                   \
        Words at = source[threadIdx.x];                                                            \
        union {                                                                                    \
            uint4 words;                                                                           \
            T value;                                                                               \
        } fresh;                                                                                   \
        fresh.words = out[threadIdx.x];                                                            \
        keep<T>(FUNCTION##read<T>(s, __VA_ARGS__, cudaBoundaryMode##MODE), out);                   \
        FUNCTION##write(fresh.value, s, __VA_ARGS__, cudaBoundaryMode##MODE);                      \
    }

using schar = signed char;
using uchar = unsigned char;
using ushort = unsigned short;
SURFACE(surf1d, schar, Zero, surf1D, at.i.x)
SURFACE(surf1d, uint4, Clamp, surf1D, at.i.x)
SURFACE(surf2d, uchar, Zero, surf2D, at.i.x, at.i.y)
SURFACE(surf2d, short, Clamp, surf2D, at.i.x, at.i.y)
SURFACE(surf2d, uchar4, Trap, surf2D, at.i.x, at.i.y)
SURFACE(surf2d, float2, Zero, surf2D, at.i.x, at.i.y)
SURFACE(surf2d, float4, Clamp, surf2D, at.i.x, at.i.y)
SURFACE(surf3d, ushort, Trap, surf3D, at.i.x, at.i.y, at.i.z)
SURFACE(surf3d, float, Zero, surf3D, at.i.x, at.i.y, at.i.z)
SURFACE(surflayered1d, float, Clamp, surf1DLayered, at.i.x, at.i.w)
SURFACE(surflayered2d, uint2, Zero, surf2DLayered, at.i.x, at.i.y, at.i.w)
