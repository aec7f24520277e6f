// Products of matrices by a warp (mma.sync), by shape and type: one chain, or four.
#include "common.cuh"

#if __CUDA_ARCH__ >= 800
struct F32 { typedef float T; static const int registers = 4; };
struct S32 { typedef int T; static const int registers = 4; };
struct F64 { typedef double T; static const int registers = 2; };
struct H16 { typedef u32 T; static const int registers = 2; };

#define SHAPE(NAME, ACCUMULATOR, ...)                                                          \
  struct NAME {                                                                                \
    typedef ACCUMULATOR A;                                                                     \
    static __device__ __forceinline__ void apply(A::T *d, const u32 *a, const u32 *b) {        \
      __VA_ARGS__                                                                              \
    }                                                                                          \
  };
#define MMA(SHAPE, TYPES, C)                                                                   \
  asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES                                     \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"              \
               : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3])                            \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));

namespace shape {
SHAPE(m16n8k16_f16_f32, F32, MMA("m16n8k16", "f32.f16.f16.f32", "f"))
SHAPE(m16n8k16_bf16_f32, F32, MMA("m16n8k16", "f32.bf16.bf16.f32", "f"))
SHAPE(m16n8k32_s8, S32, MMA("m16n8k32", "s32.s8.s8.s32", "r"))
SHAPE(m16n8k8_tf32, F32, MMA("m16n8k8", "f32.tf32.tf32.f32", "f"))
SHAPE(m16n8k8_f16_f32, F32,
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "
                   "{%6}, {%0, %1, %2, %3};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                   : "r"(a[0]), "r"(a[1]), "r"(b[0]));)
SHAPE(m16n8k16_f16_f16, H16,
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, "
                   "{%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                   : "+r"(d[0]), "+r"(d[1])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));)
SHAPE(m8n8k4_f64, F64, double x = __hiloint2double(a[0], a[1]);
      double y = __hiloint2double(b[0], b[1]);
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, "
                   "{%0, %1};"
                   : "+d"(d[0]), "+d"(d[1])
                   : "d"(x), "d"(y));)
}  // namespace shape
#else
// Volta's own shape: a quarter of a warp has 8 x 8 elements.
struct F32 { typedef float T; static const int registers = 8; };
#define SHAPE(NAME, ACCUMULATOR, ...)                                                          \
  struct NAME {                                                                                \
    typedef ACCUMULATOR A;                                                                     \
    static __device__ __forceinline__ void apply(A::T *d, const u32 *a, const u32 *b) {        \
      __VA_ARGS__                                                                              \
    }                                                                                          \
  };
namespace shape {
SHAPE(m8n8k4_f16_f32, F32,
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0, %1, %2, %3, %4, %5, %6, "
                   "%7}, {%8, %9}, {%10, %11}, {%0, %1, %2, %3, %4, %5, %6, %7};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
                     "+f"(d[6]), "+f"(d[7])
                   : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));)
}  // namespace shape
#endif

template <class Shape, int CHAINS>
INLINE void products(u64 *out, float *sink, u32 v, Segments segments) {
  typename Shape::A::T d[CHAINS][Shape::A::registers > 4 ? 8 : 4] = {};
  u32 a[4] = {v, v + threadIdx.x, v, v}, b[2] = {v, v};
  SEGMENTS({
    UNROLL for (int u = 0; u < 16; u++) {
      UNROLL for (int k = 0; k < CHAINS; k++) Shape::apply(d[k], a, b);
    }
  })
  float s = 0;
  for (int k = 0; k < CHAINS; k++)
    for (int i = 0; i < Shape::A::registers; i++) s += (float)d[k][i];
  sink[threadIdx.x] = s;
}

#define KERNELS(NAME)                                                                   \
  extern "C" __global__ void __launch_bounds__(1024) NAME##_1(u64 *out, float *sink, u32 v, \
                                                              Segments segments) {      \
    products<shape::NAME, 1>(out, sink, v, segments);                                   \
  }                                                                                     \
  extern "C" __global__ void __launch_bounds__(1024) NAME##_4(u64 *out, float *sink, u32 v, \
                                                              Segments segments) {      \
    products<shape::NAME, 4>(out, sink, v, segments);                                   \
  }
#if __CUDA_ARCH__ >= 800
KERNELS(m16n8k16_f16_f32) KERNELS(m16n8k16_bf16_f32) KERNELS(m16n8k16_f16_f16)
KERNELS(m16n8k8_f16_f32) KERNELS(m16n8k8_tf32) KERNELS(m16n8k32_s8) KERNELS(m8n8k4_f64)
#else
KERNELS(m8n8k4_f16_f32)
#endif
