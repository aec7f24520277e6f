// cudaLimit and CUlimit, which share their numbers: kept and answered, nothing depends on them.

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
