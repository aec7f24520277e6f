// Groups of cooperative_groups: tiles within warps and across them, and partitions of tiles.
#ifdef __CUDACC__
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
template <int N> INLINE auto tile_of() { return cg::tiled_partition<N>(cg::this_thread_block()); }
#define TILE(name, device, ...)                                                                    \
    template <int N> INLINE u32 name(u32 v, u32 w) {                                               \
        auto t = tile_of<N>();                                                                     \
        return device;                                                                             \
    }
#define WIDE_TILE(name, device, ...)                                                               \
    template <int N> INLINE u32 name(u32 v, u32 w) {                                               \
        __shared__ cg::block_tile_memory<128> memory;                                              \
        auto t = cg::tiled_partition<N>(cg::this_thread_block(memory));                            \
        return device;                                                                             \
    }
#else
template <int N> static u32 tile_mask() {
    return N == 32 ? ~0u : ((1u << N % 32) - 1) << (here() & ~(N - 1u));
}
static u32 before(u32 mask) { return mask & ((1u << here()) - 1); }
template <class F> static u32 folded(u32 mask, u32 v, F f) {
    u32 r = 0;
    for (u32 lane = 0, first = 1; lane < 32; lane++) {
        if (!(mask >> lane & 1)) continue;
        u32 other = __shfl_sync(mask, v, lane);
        r = first ? other : f(r, other), first = 0;
    }
    return r;
}
static u32 summed_to(u32 mask, u32 v, u32 to) {  // over the lanes of both masks
    u32 r = 0;
    for (u32 lane = 0; lane < 32; lane++) {
        if (!(mask >> lane & 1)) continue;
        u32 other = __shfl_sync(mask, v, lane);
        if (to >> lane & 1) r += other;
    }
    return r;
}
#define TILE(name, device, ...)                                                                    \
    template <int N> INLINE u32 name(u32 v, u32 w) {                                               \
        u32 t = tile_mask<N>(), rank = here() & (N - 1), first = here() & ~(N - 1u);               \
        return __VA_ARGS__;                                                                        \
    }
// By all threads of a block, which write what they have.
template <class F> static u32 over_block(u32 size, u32 v, F f) {
    static u32 area[128];
    __syncthreads();
    area[linear()] = v;
    __syncthreads();
    u32 r = f(area + (linear() & ~(size - 1)));
    __syncthreads();
    return r;
}
#define WIDE_TILE(name, device, ...)                                                               \
    template <int N> INLINE u32 name(u32 v, u32 w) {                                               \
        return over_block(N, v, [=](const u32 *all) {                                              \
            u32 r = 0;                                                                             \
            __VA_ARGS__;                                                                           \
            return r;                                                                              \
        });                                                                                        \
    }
#endif

TILE(tile_sum, cg::reduce(t, v, cg::plus<u32>()), __reduce_add_sync(t, v))
TILE(tile_least, cg::reduce(t, v, cg::less<u32>()), __reduce_min_sync(t, v))
TILE(tile_most, cg::reduce(t, (i32)v, cg::greater<i32>()), __reduce_max_sync(t, (i32)v))
TILE(tile_xor, cg::reduce(t, v, cg::bit_xor<u32>()), __reduce_xor_sync(t, v))
TILE(tile_scan, cg::inclusive_scan(t, v), summed_to(t, v, before(t) | 1u << here()))
TILE(tile_scan_before, cg::exclusive_scan(t, v, cg::plus<u32>()), summed_to(t, v, before(t)))
TILE(tile_shfl, t.shfl(v, w & (N - 1)), __shfl_sync(t, v, w, N))
TILE(tile_xor_shfl, t.shfl_xor(v, 1) + t.shfl_xor(w, N / 2),
     __shfl_xor_sync(t, v, 1) + __shfl_xor_sync(t, w, N / 2))
TILE(tile_down, t.shfl_down(v, 1), __shfl_down_sync(t, v, 1, N))
TILE(tile_ballot, t.ballot(v & 1) + t.any(w & 1) + 2 * t.all(w & 2),
     (__ballot_sync(t, v & 1) >> first) + __any_sync(t, w & 1) + 2 * __all_sync(t, w & 2))
TILE(tile_match, t.match_any(v & 3), __match_any_sync(t, v & 3) >> first)
TILE(tile_place, t.thread_rank() + 100 * t.meta_group_rank() + v, rank + 100 * (linear() / N) + v)
TILE(tile_labeled, ([&] {
         auto g = cg::labeled_partition(t, (i32)(v & 3));
         return cg::reduce(g, w, cg::plus<u32>()) + g.thread_rank() + 64 * g.size();
     }()),
     ([=] {
         u32 g = __match_any_sync(t, v & 3);
         return __reduce_add_sync(g, w) + __popc(before(g)) + 64 * __popc(g);
     }()))
TILE(tile_binary, ([&] {
         auto g = cg::binary_partition(t, (bool)(v & 1));
         return g.shfl(w, g.size() - 1) + g.ballot(w & 4) + g.any(w & 8);
     }()),
     ([=] {
         u32 yes = __ballot_sync(t, v & 1), g = v & 1 ? yes : t & ~yes, packed = 0;
         u32 last = __shfl_sync(g, w, 31 - __clz(g)), votes = __ballot_sync(g, w & 4);
         for (u32 lane = 0, at = 0; lane < 32; lane++)
             if (g >> lane & 1) packed |= (votes >> lane & 1) << at++;
         return last + packed + __any_sync(g, w & 8);
     }()))
WIDE_TILE(wide_sum, cg::reduce(t, v, cg::plus<u32>()), for (int i = 0; i < N; i++) r += all[i])
WIDE_TILE(wide_most, cg::reduce(t, v, cg::greater<u32>()),
          for (int i = 0; i < N; i++) r = larger(r, all[i]))
WIDE_TILE(wide_shfl, t.shfl(v, w & (N - 1)), r = all[w & (N - 1)])
WIDE_TILE(wide_votes, t.any(v & 16) + 2 * t.all(v & 1),
          u32 any = 0, every = 1;
          for (int i = 0; i < N; i++) any |= all[i] >> 4 & 1, every &= all[i];
          r = any + 2 * (every & 1))
WIDE_TILE(wide_scan, cg::inclusive_scan(t, v),
          for (u32 i = 0; i <= (linear() & (N - 1)); i++) r += all[i])
