// Memory pools as programs of either API see them.

#include "graph_api.h"

enum { READ_AND_WRITE = 3 }; // cudaMemAccessFlags
enum { ON_DEVICE = 1, ON_DEVICE_ONLY = 1 }; // cudaMemLocationType, cudaMemAllocationTypePinned

// cudaMemLocation, and the members of cudaMemPoolProps that matter
struct location {
    int kind, number;
};
struct pool_properties {
    int allocation, handles;
    struct location location;
    void *security;
    size_t most_bytes; // 0 = as many as there are
};

static int placed(const struct location *location) {
    bool right = location && location->kind == ON_DEVICE;
    return right ? gpu_check(location->number) : INVALID_VALUE;
}

API int NAME(MemPoolCreate)(struct pool **pool, const struct pool_properties *properties) {
    int status = pool && properties ? placed(&properties->location) : INVALID_VALUE;
    if (!status) {
        *pool = pool_new(properties->location.number, properties->most_bytes);
    }
    return answer(status);
}

API int NAME(MemPoolDestroy)(struct pool *pool) {
    return answer(pool_end(pool));
}

static int found(struct pool **pool, int device, struct pool *(*find)(int)) {
    int status = pool ? gpu_check(device) : INVALID_VALUE;
    if (!status) {
        *pool = find(device);
    }
    return answer(status);
}

API int NAME(DeviceGetDefaultMemPool)(struct pool **pool, int device) {
    return found(pool, device, pool_default);
}

API int NAME(DeviceGetMemPool)(struct pool **pool, int device) {
    return found(pool, device, pool_current);
}

API int NAME(DeviceSetMemPool)(int device, struct pool *pool) {
    int status = gpu_check(device);
    return answer(status ? status : pool_choose(device, pool));
}

// The same by places and kinds of memory, of which pools have one.

static int found_at(struct pool **pool, const struct location *location, int kind,
                    struct pool *(*find)(int)) {
    int status = kind == ON_DEVICE_ONLY ? placed(location) : INVALID_VALUE;
    return status ? answer(status) : found(pool, location->number, find);
}

API int NAME(MemGetDefaultMemPool)(struct pool **pool, const struct location *location, int kind) {
    return found_at(pool, location, kind, pool_default);
}

API int NAME(MemGetMemPool)(struct pool **pool, const struct location *location, int kind) {
    return found_at(pool, location, kind, pool_current);
}

API int NAME(MemSetMemPool)(const struct location *location, int kind, struct pool *pool) {
    int status = kind == ON_DEVICE_ONLY ? placed(location) : INVALID_VALUE;
    return answer(status ? status : pool_choose(location->number, pool));
}

API int NAME(MemPoolTrimTo)(struct pool *pool, size_t bytes) {
    return answer(pool_trim(pool, bytes));
}

API int NAME(MemPoolGetAccess)(int *flags, struct pool *pool, const struct location *location) {
    return answer(is_pool(pool) && location ? GIVE(flags, READ_AND_WRITE) : INVALID_VALUE);
}

API int NAME(MemPoolSetAccess)(struct pool *pool, const void *accesses, size_t count) {
    return answer(is_pool(pool) && (accesses || !count) ? SUCCESS : INVALID_VALUE);
}

API int NAME(MemPoolSetAttribute)(struct pool *pool, int attribute, const void *value) {
    return answer(pool_set(pool, attribute, value));
}

API int NAME(MemPoolGetAttribute)(struct pool *pool, int attribute, void *value) {
    return answer(pool_get(pool, attribute, value));
}

static int allocate_from(void **address, size_t bytes, struct pool *pool, stream_t stream) {
    uint64_t got = 0;
    int status = address && is_pool(pool) ? stream_allocate(handle_of(stream), bytes, pool, &got)
                                          : INVALID_VALUE;
    if (address) {
        *address = (void *)(uintptr_t)got;
    }
    return answer(status);
}

#ifdef RUNTIME
API int cudaMallocFromPoolAsync(void **address, size_t bytes, struct pool *pool, stream_t stream) {
    return allocate_from(address, bytes, pool, stream);
}
#else
API int cuMemAllocFromPoolAsync(void **address, size_t bytes, struct pool *pool, stream_t stream) {
    return bytes ? allocate_from(address, bytes, pool, stream) : INVALID_VALUE;
}
#endif
