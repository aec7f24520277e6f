// Numbers that programs set and ask for, on which nothing depends here: limits (cudaLimit, CUlimit),
// attributes of the memory pool (cudaMemPoolAttr, CUmemPool_attribute). Both APIs number them alike.

#include <string.h>

#include "gpu.h"

enum { LIMITS = 7, UNSUPPORTED_LIMIT = 215 };

// Bytes of a thread's stack, of printf's buffer, of malloc's heap; depth and count of launches by
// kernels; bytes of an L2 fetch, of persisting L2. A new context's values on hardware.
static size_t limits[LIMITS] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};

int limit_get(size_t *value, int limit) {
    if (limit < 0 || limit >= LIMITS) {
        return UNSUPPORTED_LIMIT;
    }
    *value = limits[limit];
    return SUCCESS;
}

int limit_set(int limit, size_t value) {
    if (limit < 0 || limit >= LIMITS) {
        return UNSUPPORTED_LIMIT;
    }
    limits[limit] = value;
    return SUCCESS;
}

// The first three are int, the others 64 bits wide; all say 1 or 0 before they are set.
enum { FLAGS = 3, POOL_ATTRIBUTES = 8 };
static uint64_t pool[POOL_ATTRIBUTES + 1] = {[1] = 1, [2] = 1, [3] = 1};

int pool_get(int attribute, void *value) {
    if (attribute < 1 || attribute > POOL_ATTRIBUTES) {
        return INVALID_VALUE;
    }
    memcpy(value, &pool[attribute], attribute > FLAGS ? sizeof(uint64_t) : sizeof(int));
    return SUCCESS;
}

int pool_set(int attribute, const void *value) {
    if (attribute < 1 || attribute > POOL_ATTRIBUTES) {
        return INVALID_VALUE;
    }
    memcpy(&pool[attribute], value, attribute > FLAGS ? sizeof(uint64_t) : sizeof(int));
    return SUCCESS;
}
