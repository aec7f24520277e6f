// CUDA's words for a host compiler: every thread of a block is a fiber, and what a warp or a block
// does together is done when all whom it names have come. Threads run in one of two orders; a
// program that gives other results in the other order is none that CUDA defines.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <functional>
#include <memory>
#include <vector>

#define __device__
#define __global__
#define __constant__ static
#define __shared__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#define DYNAMIC_SHARED(name) static unsigned name[4096]

struct dim3 {
    unsigned x, y, z;
};

enum Operation { NONE, BARRIER, COUNT, AND, OR, SHUFFLE, BALLOT, ANY, MATCH, ALL_MATCH, ADD, MIN,
                 MAX, SMIN, SMAX, ALL_AND, ALL_OR, ALL_XOR, SYNC };

struct Thread {
    dim3 place;
    unsigned linear, lane;
    bool done;
    Operation waits;
    unsigned mask, source;
    uint64_t value, result;
    ucontext_t context;
    std::unique_ptr<char[]> stack;
};

static std::vector<Thread> threads;
static Thread *current;
static ucontext_t scheduler;
static std::function<void()> body;
static dim3 threadIdxOf, blockIdx, blockDim, gridDim;
static const size_t STACK = 1 << 17;

#define threadIdx (current->place)

[[noreturn]] static void undefined(const char *what) {
    fprintf(stderr, "not a defined program: %s\n", what);
    abort();
}

static uint64_t wait_for(Operation operation, unsigned mask, uint64_t value, unsigned source = 0) {
    Thread *self = current;
    if (operation >= SHUFFLE && !(mask >> self->lane & 1)) undefined("a lane is not in its mask");
    self->waits = operation, self->mask = mask, self->value = value, self->source = source;
    swapcontext(&self->context, &scheduler);
    return self->result;
}

static void enter() {
    body();
    current->done = true;
    swapcontext(&current->context, &scheduler);
}

static uint64_t together(const std::vector<Thread *> &lanes, const Thread &self) {
    uint64_t all = self.value;
    unsigned low = self.value, found = 0;
    for (Thread *t : lanes) {
        unsigned v = t->value;
        switch (self.waits) {
        case SHUFFLE: if (t->lane == self.source) return t->value; found = 0xDEADBEEF; break;
        case BALLOT: found |= (t->value != 0) << t->lane; break;
        case ANY: found |= t->value != 0; break;
        case MATCH: found |= (t->value == self.value) << t->lane; break;
        case ALL_MATCH: found |= t->value != self.value; break;
        case ADD: found += v; break;
        case MIN: low = v < low ? v : low; break;
        case MAX: low = v > low ? v : low; break;
        case SMIN: low = (int)v < (int)low ? v : low; break;
        case SMAX: low = (int)v > (int)low ? v : low; break;
        case ALL_AND: all &= v; break;
        case ALL_OR: all |= v; break;
        case ALL_XOR: found ^= v; break;
        default: break;
        }
    }
    switch (self.waits) {
    case MIN: case MAX: case SMIN: case SMAX: return low;
    case ALL_AND: case ALL_OR: return all;
    case ALL_MATCH: return found ? 0 : self.mask;
    default: return found;
    }
}

static bool release_lanes(size_t first) {
    Thread &self = threads[first];
    if (self.done || self.waits < SHUFFLE) return false;
    size_t warp = first - self.lane;
    std::vector<Thread *> lanes;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(self.mask >> lane & 1)) continue;
        if (warp + lane >= threads.size() || threads[warp + lane].done)
            undefined("a mask names a lane that has left");
        Thread &t = threads[warp + lane];
        if (t.waits != self.waits || t.mask != self.mask) return false;
        lanes.push_back(&t);
    }
    for (Thread *t : lanes) t->result = together(lanes, *t);
    for (Thread *t : lanes) t->waits = NONE;
    return true;
}

static bool release_block() {
    uint64_t count = 0, waiting = 0, all = 1, any = 0;
    for (Thread &t : threads) {
        if (t.done) continue;
        if (t.waits == NONE || t.waits >= SHUFFLE) return false;
        waiting++, count += t.value != 0, all &= t.value != 0, any |= t.value != 0;
    }
    for (Thread &t : threads) {
        t.result = t.waits == COUNT ? count : t.waits == AND ? all : any;
        t.waits = NONE;
    }
    return waiting > 0;
}

static void run_block(bool backwards) {
    size_t n = threads.size();
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < n; i++) {
            current = &threads[backwards ? n - 1 - i : i];
            if (current->done || current->waits != NONE) continue;
            swapcontext(&scheduler, &current->context);
            moved = true;
        }
        for (size_t i = 0; i < n; i++) moved |= release_lanes(backwards ? n - 1 - i : i);
        if (!moved) moved = release_block();
    }
    for (Thread &t : threads)
        if (!t.done) undefined("threads wait for each other");
}

static void launch(dim3 grid, dim3 block, bool backwards, std::function<void()> kernel) {
    gridDim = grid, blockDim = block, body = kernel;
    unsigned count = block.x * block.y * block.z, blocks = grid.x * grid.y * grid.z;
    threads.resize(count);
    for (unsigned b = 0; b < blocks; b++) {
        unsigned which = backwards ? blocks - 1 - b : b;
        blockIdx = {which % grid.x, which / grid.x % grid.y, which / grid.x / grid.y};
        for (unsigned i = 0; i < count; i++) {
            Thread &t = threads[i];
            if (!t.stack) t.stack.reset(new char[STACK]);
            t.place = {i % block.x, i / block.x % block.y, i / block.x / block.y};
            t.linear = i, t.lane = i % 32, t.done = false, t.waits = NONE;
            getcontext(&t.context);
            t.context.uc_stack.ss_sp = t.stack.get();
            t.context.uc_stack.ss_size = STACK;
            t.context.uc_link = &scheduler;
            makecontext(&t.context, enter, 0);
        }
        run_block(backwards);
    }
}

template <class T> static uint64_t to_bits(T value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T> static T of_bits(uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void __syncthreads() { wait_for(BARRIER, 0, 0); }
static int __syncthreads_count(int p) { return wait_for(COUNT, 0, p != 0); }
static int __syncthreads_and(int p) { return wait_for(AND, 0, p != 0); }
static int __syncthreads_or(int p) { return wait_for(OR, 0, p != 0); }
static void __syncwarp(unsigned mask) { wait_for(SYNC, mask, 0); }
static unsigned __ballot_sync(unsigned mask, int p) { return wait_for(BALLOT, mask, p != 0); }
static int __any_sync(unsigned mask, int p) { return wait_for(ANY, mask, p != 0); }
static int __all_sync(unsigned mask, int p) { return !wait_for(ANY, mask, p == 0); }
template <class T> static unsigned __match_any_sync(unsigned mask, T v) {
    return wait_for(MATCH, mask, to_bits(v));
}
template <class T> static unsigned __match_all_sync(unsigned mask, T v, int *same) {
    unsigned found = wait_for(ALL_MATCH, mask, to_bits(v));
    *same = found != 0;
    return found;
}
static unsigned __reduce_add_sync(unsigned mask, unsigned v) { return wait_for(ADD, mask, v); }
static unsigned __reduce_min_sync(unsigned mask, unsigned v) { return wait_for(MIN, mask, v); }
static unsigned __reduce_max_sync(unsigned mask, unsigned v) { return wait_for(MAX, mask, v); }
static int __reduce_min_sync(unsigned mask, int v) { return wait_for(SMIN, mask, (unsigned)v); }
static int __reduce_max_sync(unsigned mask, int v) { return wait_for(SMAX, mask, (unsigned)v); }
static unsigned __reduce_and_sync(unsigned mask, unsigned v) { return wait_for(ALL_AND, mask, v); }
static unsigned __reduce_or_sync(unsigned mask, unsigned v) { return wait_for(ALL_OR, mask, v); }
static unsigned __reduce_xor_sync(unsigned mask, unsigned v) { return wait_for(ALL_XOR, mask, v); }

// A segment of `width` lanes; out of it a lane reads itself.
template <class T> static T shuffled(unsigned mask, T v, int source, int width) {
    int first = current->lane & ~(width - 1);
    bool inside = source >= first && source < first + width;
    return of_bits<T>(wait_for(SHUFFLE, mask, to_bits(v), inside ? source : current->lane));
}
template <class T> static T __shfl_sync(unsigned mask, T v, int source, int width = 32) {
    int first = current->lane & ~(width - 1);
    return shuffled(mask, v, first + (source & (width - 1)), width);
}
template <class T> static T __shfl_xor_sync(unsigned mask, T v, int x, int width = 32) {
    int source = current->lane ^ x, first = current->lane & ~(width - 1);
    return shuffled(mask, v, source < first + width ? source : (int)current->lane, 32);
}
template <class T> static T __shfl_up_sync(unsigned mask, T v, unsigned d, int width = 32) {
    return shuffled(mask, v, (int)current->lane - (int)d, width);
}
template <class T> static T __shfl_down_sync(unsigned mask, T v, unsigned d, int width = 32) {
    return shuffled(mask, v, (int)current->lane + (int)d, width);
}

template <class T> static T atomicAdd(T *p, T v) { T old = *p; *p = old + v; return old; }
template <class T> static T atomicSub(T *p, T v) { T old = *p; *p = old - v; return old; }
static unsigned atomicInc(unsigned *p, unsigned v) {
    unsigned old = *p;
    *p = old >= v ? 0 : old + 1;
    return old;
}
static unsigned atomicDec(unsigned *p, unsigned v) {
    unsigned old = *p;
    *p = old == 0 || old > v ? v : old - 1;
    return old;
}
template <class T> static T atomicMin(T *p, T v) { T old = *p; *p = v < old ? v : old; return old; }
template <class T> static T atomicMax(T *p, T v) { T old = *p; *p = v > old ? v : old; return old; }
template <class T> static T atomicAnd(T *p, T v) { T old = *p; *p = old & v; return old; }
template <class T> static T atomicOr(T *p, T v) { T old = *p; *p = old | v; return old; }
template <class T> static T atomicXor(T *p, T v) { T old = *p; *p = old ^ v; return old; }
template <class T> static T atomicExch(T *p, T v) { T old = *p; *p = v; return old; }
template <class T> static T atomicCAS(T *p, T c, T v) { T old = *p; if (old == c) *p = v; return old; }

static int __popc(unsigned v) { return __builtin_popcount(v); }
static int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static int __clz(int v) { return v ? __builtin_clz(v) : 32; }
static int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
static int __ffs(int v) { return __builtin_ffs(v); }
static unsigned __brev(unsigned v) {
    unsigned r = 0;
    for (int i = 0; i < 32; i++) r |= (v >> i & 1) << (31 - i);
    return r;
}
static unsigned __umulhi(unsigned a, unsigned b) { return (uint64_t)a * b >> 32; }
static int __mulhi(int a, int b) { return (int64_t)a * b >> 32; }
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned __int128)a * b >> 64;
}
static unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
    uint64_t both = (uint64_t)b << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) r |= (unsigned)(both >> 8 * (s >> 4 * i & 7) & 255) << 8 * i;
    return r;
}
static unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
    return ((uint64_t)hi << 32 | lo) << (s & 31) >> 32;
}
static unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
    return ((uint64_t)hi << 32 | lo) >> (s & 31);
}
static unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
static int __dp4a(int a, int b, int c) {
    unsigned r = c;
    for (int i = 0; i < 4; i++) r += (int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i);
    return r;
}
static float __uint_as_float(unsigned v) { return of_bits<float>(v); }
static unsigned __float_as_uint(float v) { return to_bits(v); }
static double __longlong_as_double(long long v) { return of_bits<double>(v); }
static long long __double_as_longlong(double v) { return to_bits(v); }
#include "emulated_floats.h"
#include "emulated_integers.h"
