// What threads keep of their own: the same bytes as many types, and a structure with gaps.
#ifdef __CUDACC__
#include <cuda_pipeline.h>
template <int size> INLINE void copied_of(u8 *to, const u8 *from, u32 zeros) {
    __pipeline_memcpy_async(to, from, size, zeros);
    __pipeline_commit();
    __pipeline_wait_prior(0);
}
#define copied(to, from, size, zeros) copied_of<size>(to, from, zeros)
#else
#define copied(to, from, size, zeros) \
    memcpy(to, from, size - (zeros)), memset((to) + size - (zeros), 0, zeros)
struct alignas(4) uchar4 { u8 x, y, z, w; };
struct alignas(4) short2 { i16 x, y; };
struct alignas(8) ushort4 { u16 x, y, z, w; };
struct alignas(8) int2 { i32 x, y; };
struct alignas(16) int4 { i32 x, y, z, w; };
struct alignas(16) uint4 { u32 x, y, z, w; };
struct alignas(16) longlong2 { i64 x, y; };
#endif
union alignas(16) Cell {
    u8 b[16];
    i8 sb[16];
    u16 h[8];
    i16 sh[8];
    u32 w[4];
    f64 d[2];
    u64 l[2];
    uchar4 c4[4];
    short2 s2[4];
    ushort4 us4[2];
    int2 i2[2];
    int4 i4[1];
    longlong2 l2[1];
};
INLINE u64 digest(const Cell &c) { return c.l[0] * 31 + c.l[1]; }
struct Record {
    u8 byte;
    u16 half;
    u32 word;
    f32 real;
    u64 wide;
    u8 bytes[3];
    INLINE u64 total() const {
        return byte + 3 * half + 5 * (u64)word + bits(real) + wide * 7 + bytes[0] * 9 + bytes[2];
    }
};
