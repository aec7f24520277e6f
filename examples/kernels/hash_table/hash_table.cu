// A hash table with linear probing: slots are claimed by compare-and-swap. The number of slots is a
// power of two and larger than the number of keys; no key is EMPTY.

#define EMPTY 0xffffffffu

__device__ unsigned slot_of(unsigned key, unsigned mask) {
    key ^= key >> 16;
    key *= 0x85ebca6bu; // an odd multiplier and shifts mix the bits
    key ^= key >> 13;
    return key & mask;
}

// Insert: equal keys share a slot, and their values are added.
extern "C" __global__ void hash_table(int n, unsigned mask, const unsigned *__restrict__ keys,
                                      const int *__restrict__ values, unsigned *slots, int *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned key = keys[i], slot = slot_of(key, mask);
    while (true) {
        unsigned held = atomicCAS(&slots[slot], EMPTY, key);
        if (held == EMPTY || held == key) {
            atomicAdd(&sums[slot], values[i]);
            return;
        }
        slot = (slot + 1) & mask;
    }
}

// Look up: the sum of a key's values, -1 for a key that was not inserted.
extern "C" __global__ void hash_table_find(int n, unsigned mask, const unsigned *__restrict__ keys,
                                           const unsigned *__restrict__ slots,
                                           const int *__restrict__ sums, int *__restrict__ found) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned key = keys[i], slot = slot_of(key, mask);
    while (slots[slot] != EMPTY && slots[slot] != key) {
        slot = (slot + 1) & mask;
    }
    found[i] = slots[slot] == key ? sums[slot] : -1;
}
