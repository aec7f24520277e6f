// Limits (cudaLimit, CUlimit), which both APIs number alike. The simulator is told of those on which
// something depends.

#include <string.h>

#include "gpu.h"

enum { LIMITS = 7, UNSUPPORTED_LIMIT = 215 };
enum { SYNC_DEPTH = 3, FETCH_BYTES = 5, PERSISTING_L2 = 6, MOST_FETCH_BYTES = 128 };
enum { MAJOR = 75, MOST_PERSISTING_L2 = 108 };

// Bytes of a thread's stack, of printf's buffer, of malloc's heap; depth and count of launches by
// kernels; bytes of an L2 fetch, of persisting L2. A new context's values on hardware.
static const size_t initial[LIMITS] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};
static size_t limits[LIMITS] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};

// Which GPUs have which: the descriptions of enum cudaLimit and of cudaDeviceSetLimit.
static bool exists(int limit) {
    int major = gpu_attribute(MAJOR);
    return limit >= 0 && limit < LIMITS && (limit != SYNC_DEPTH || major < 9) &&
           (limit != PERSISTING_L2 || major >= 8);
}

int limit_get(size_t *value, int limit) {
    int status;
    if (!value || !gpu_device(&status)) {
        return value ? status : INVALID_VALUE;
    }
    if (!exists(limit)) {
        return UNSUPPORTED_LIMIT;
    }
    *value = limits[limit];
    return SUCCESS;
}

static size_t smaller(size_t value, size_t most) {
    return value < most ? value : most;
}

int limit_set(int limit, size_t value) {
    int status;
    if (!gpu_device(&status)) {
        return status;
    }
    if (!exists(limit)) {
        return UNSUPPORTED_LIMIT;
    }
    if (limit == LIMIT_STACK || limit == LIMIT_HEAP || limit == LIMIT_PENDING_LAUNCHES) {
        struct set_limit_request request = {(uint64_t)limit, value};
        status =
            gpu_call(CALL_SET_LIMIT, &request, sizeof request, NULL, 0, &(struct reply){0});
    } else if (limit == FETCH_BYTES) {
        value = smaller(value, MOST_FETCH_BYTES);
    } else if (limit == PERSISTING_L2) {
        value = smaller(value, (size_t)gpu_attribute(MOST_PERSISTING_L2));
    }
    if (!status) {
        limits[limit] = value;
    }
    return status;
}

int device_reset(void) {
    held_drop();
    int status = gpu_call(CALL_RESET, NULL, 0, NULL, 0, &(struct reply){0});
    if (!status) {
        memcpy(limits, initial, sizeof limits);
        pool_reset();
        graph_memory_reset();
    }
    return status;
}
