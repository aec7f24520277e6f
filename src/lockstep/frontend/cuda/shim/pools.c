// Memory pools: each has its attributes (cudaMemPoolAttr, CUmemPool_attribute), which both APIs number
// alike, and counts what was allocated from it. The memory itself comes from the device, for all of them.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

// The first three are int, the others 64 bits wide; those say 1 or 0 before they are set.
enum { FLAGS = 3, THRESHOLD, RESERVED, MOST_RESERVED, USED, MOST_USED, POOL_ATTRIBUTES };

struct pool {
    uint64_t values[POOL_ATTRIBUTES];
    int device;
    uint64_t most_bytes;
    bool ended; // it goes with the last memory that is allocated from it
    unsigned count;
};

// Of memory that was allocated from a pool.
struct share {
    struct pool *pool;
    size_t bytes;
};

static struct pool *first[MOST_DEVICES], *chosen[MOST_DEVICES]; // the default one, the current one
LOCK(lock);

struct pool *pool_new(int device, size_t most_bytes) {
    struct pool *pool = calloc(1, sizeof *pool);
    *pool = (struct pool){.values = {[1] = 1, [2] = 1, [FLAGS] = 1},
                          .device = device,
                          .most_bytes = most_bytes ? most_bytes : UINT64_MAX};
    handle_add(POOL_HANDLE, pool);
    return pool;
}

struct pool *pool_default(int device) {
    pthread_mutex_lock(&lock);
    first[device] = first[device] ? first[device] : pool_new(device, 0);
    pthread_mutex_unlock(&lock);
    return first[device];
}

struct pool *pool_current(int device) {
    return chosen[device] ? chosen[device] : pool_default(device);
}

int pool_choose(int device, struct pool *pool) {
    if (!is_pool(pool) || pool->device != device) {
        return INVALID_VALUE;
    }
    chosen[device] = pool;
    return SUCCESS;
}

static void drop_unused(struct pool *pool) {
    if (pool->ended && !pool->count) {
        free(pool);
    }
}

// Where it was the current one, that is the default one again, which itself never ends.
int pool_end(struct pool *pool) {
    if (!is_pool(pool) || pool == first[pool->device]) {
        return INVALID_VALUE;
    }
    pthread_mutex_lock(&lock);
    handle_take(POOL_HANDLE, pool);
    if (chosen[pool->device] == pool) {
        chosen[pool->device] = NULL;
    }
    pool->ended = true;
    drop_unused(pool);
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

static void raise(struct pool *pool, int attribute, uint64_t value) {
    if (pool->values[attribute] < value) {
        pool->values[attribute] = value;
    }
}

bool pool_has_room(struct pool *pool, size_t bytes) {
    pthread_mutex_lock(&lock);
    uint64_t used = pool->values[USED];
    bool fits = used <= pool->most_bytes && bytes <= pool->most_bytes - used;
    pthread_mutex_unlock(&lock);
    return fits;
}

void pool_took(struct pool *pool, const void *address, size_t bytes) {
    struct share *share = malloc(sizeof *share);
    *share = (struct share){pool, bytes};
    handle_put(POOL_MEMORY, address, share);
    pthread_mutex_lock(&lock);
    pool->count++;
    pool->values[USED] += bytes;
    raise(pool, RESERVED, pool->values[USED]);
    raise(pool, MOST_USED, pool->values[USED]);
    raise(pool, MOST_RESERVED, pool->values[RESERVED]);
    pthread_mutex_unlock(&lock);
}

struct share *pool_share(const void *address) {
    struct share *share = handle_get(POOL_MEMORY, address);
    return share && handle_take(POOL_MEMORY, address) ? share : NULL;
}

void pool_gave(struct share *share, const void *address, bool freed) {
    if (share && !freed) {
        handle_put(POOL_MEMORY, address, share);
    } else if (share) {
        pthread_mutex_lock(&lock);
        share->pool->values[USED] -= share->bytes;
        share->pool->count--;
        drop_unused(share->pool);
        pthread_mutex_unlock(&lock);
        free(share);
    }
}

// The simulator has freed all.
void pool_reset(void) {
    for (int k = 0; k < MOST_DEVICES; k++) {
        for (struct pool *pool = first[k]; pool; pool = pool == first[k] ? chosen[k] : NULL) {
            pool->values[USED] = pool->values[RESERVED] = 0;
        }
        chosen[k] = NULL;
    }
}

int pool_trim(struct pool *pool, size_t keep) {
    if (!is_pool(pool)) {
        return INVALID_VALUE;
    }
    pthread_mutex_lock(&lock);
    uint64_t least = pool->values[USED] > keep ? pool->values[USED] : keep;
    if (pool->values[RESERVED] > least) {
        pool->values[RESERVED] = least;
    }
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

static bool is_right(const struct pool *pool, int attribute, const void *value) {
    return is_pool(pool) && value && attribute > 0 && attribute < POOL_ATTRIBUTES;
}

int pool_get(struct pool *pool, int attribute, void *value) {
    if (!is_right(pool, attribute, value)) {
        return INVALID_VALUE;
    }
    memcpy(value, &pool->values[attribute], attribute > FLAGS ? sizeof(uint64_t) : sizeof(int));
    return SUCCESS;
}

int pool_set(struct pool *pool, int attribute, const void *value) {
    if (!is_right(pool, attribute, value)) {
        return INVALID_VALUE;
    }
    uint64_t *place = &pool->values[attribute];
    if (attribute >= RESERVED) { // only the marks, to zero: they begin anew from what there is
        bool zero = !memcmp(value, &(uint64_t){0}, sizeof(uint64_t));
        bool mark = attribute == MOST_RESERVED || attribute == MOST_USED;
        *place = mark && zero ? place[-1] : *place;
        return mark && zero ? SUCCESS : INVALID_VALUE;
    }
    memcpy(place, value, attribute > FLAGS ? sizeof(uint64_t) : sizeof(int));
    return SUCCESS;
}
