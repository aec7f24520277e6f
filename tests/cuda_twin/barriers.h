// Barriers of which a register holds the number, or the count of threads, or both.
#ifdef __CUDACC__
#define COUNT_AT(operands, ...)                                                                    \
    u32 r;                                                                                         \
    asm volatile("{ .reg .pred q; setp.ne.u32 q, %1, 0; barrier.red.popc.u32 %0, " operands        \
                 ", q; }"                                                                          \
                 : "=r"(r)                                                                         \
                 : "r"(p), __VA_ARGS__                                                             \
                 : "memory");                                                                      \
    return r
INLINE void meet(u32 number) { asm volatile("barrier.sync %0;" ::"r"(number) : "memory"); }
INLINE void meet(u32 number, u32 n) {
    asm volatile("barrier.sync %0, %1;" ::"r"(number), "r"(n) : "memory");
}
INLINE u32 count_at(u32 number, u32 p) { COUNT_AT("%2", "r"(number)); }
INLINE u32 count_at(u32 number, u32 n, u32 p) { COUNT_AT("%2, %3", "r"(number), "r"(n)); }
INLINE u32 count_of(u32 n, u32 p) { COUNT_AT("6, %2", "r"(n)); }
#else
static void meet(u32) { __syncthreads(); }
static void meet(u32, u32) { __syncthreads(); }
static u32 count_at(u32, u32 p) { return __syncthreads_count(p); }
static u32 count_at(u32, u32, u32 p) { return __syncthreads_count(p); }
static u32 count_of(u32, u32 p) { return __syncthreads_count(p); }
#endif
