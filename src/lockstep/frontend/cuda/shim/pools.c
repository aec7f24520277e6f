// The memory pool, of which there is one: its attributes (cudaMemPoolAttr, CUmemPool_attribute), which
// both APIs number alike, and what was allocated from it.

#include <pthread.h>
#include <string.h>

#include "gpu.h"

// The first three are int, the others 64 bits wide; all say 1 or 0 before they are set.
enum { FLAGS = 3, POOL_ATTRIBUTES = 8 };
static uint64_t pool[POOL_ATTRIBUTES + 1] = {[1] = 1, [2] = 1, [3] = 1};

enum { RESERVED = 5, MOST_RESERVED, USED, MOST_USED };
#define TAKEN ((uint64_t)1 << 63) // beside the bytes, which may be none
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void raise(int attribute, uint64_t value) {
    if (pool[attribute] < value) {
        pool[attribute] = value;
    }
}

void pool_took(const void *address, size_t bytes) {
    handle_put(POOL_MEMORY, address, (void *)(uintptr_t)(TAKEN | bytes));
    pthread_mutex_lock(&lock);
    pool[USED] += bytes;
    raise(RESERVED, pool[USED]);
    raise(MOST_USED, pool[USED]);
    raise(MOST_RESERVED, pool[RESERVED]);
    pthread_mutex_unlock(&lock);
}

void pool_gave(const void *address) {
    uint64_t known = (uint64_t)(uintptr_t)handle_get(POOL_MEMORY, address);
    if (known && handle_take(POOL_MEMORY, address)) {
        pthread_mutex_lock(&lock);
        pool[USED] -= known & ~TAKEN;
        pthread_mutex_unlock(&lock);
    }
}

void pool_reset(void) {
    pthread_mutex_lock(&lock);
    pool[USED] = pool[RESERVED] = 0;
    pthread_mutex_unlock(&lock);
}

void pool_trim(void) {
    pthread_mutex_lock(&lock);
    pool[RESERVED] = pool[USED];
    pthread_mutex_unlock(&lock);
}

int pool_get(int attribute, void *value) {
    if (attribute < 1 || attribute > POOL_ATTRIBUTES || !value) {
        return INVALID_VALUE;
    }
    memcpy(value, &pool[attribute], attribute > FLAGS ? sizeof(uint64_t) : sizeof(int));
    return SUCCESS;
}

int pool_set(int attribute, const void *value) {
    if (attribute < 1 || attribute > POOL_ATTRIBUTES || !value) {
        return INVALID_VALUE;
    }
    if (attribute >= RESERVED) { // only the marks, to zero: they begin anew from what there is
        bool zero = !memcmp(value, &(uint64_t){0}, sizeof(uint64_t));
        bool mark = attribute == MOST_RESERVED || attribute == MOST_USED;
        pool[attribute] = mark && zero ? pool[attribute - 1] : pool[attribute];
        return mark && zero ? SUCCESS : INVALID_VALUE;
    }
    memcpy(&pool[attribute], value, attribute > FLAGS ? sizeof(uint64_t) : sizeof(int));
    return SUCCESS;
}
