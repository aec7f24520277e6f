// Advice of managed memory, as programs give it to both APIs. Such memory is where the program and
// kernels both see it, so that nothing moves: what was said is kept for who asks.

#ifdef RUNTIME
#include "runtime.h"
#define FUNCTION(name) cudaMem##name
#define TELL(status) report(status)
#else
#include "driver.h"
#define FUNCTION(name) cuMem##name
#define TELL(status) translate(status)
#endif

struct location {
    int type, device;
};
enum { LOCATED_ON_DEVICE = 1 };

static int device_at(struct location location) {
    return location.type == LOCATED_ON_DEVICE ? location.device : ON_THE_HOST;
}

API int FUNCTION(Advise_v2)(const void *address, size_t bytes, int advice,
                            struct location location) {
    bool located = advice >= SET_PREFERRED && advice != UNSET_PREFERRED;
    return TELL(advise(address, bytes, advice, located ? device_at(location) : 0));
}

API int FUNCTION(PrefetchAsync_v2)(const void *address, size_t bytes, struct location location,
                                   unsigned flags, stream_t stream) {
    (void)flags;
    int status = stream_check(stream);
    return TELL(status ? status : advise(address, bytes, PREFETCHED, device_at(location)));
}

#if RUNTIME >= 13
API int cudaMemAdvise(const void *address, size_t bytes, int advice, struct location location) {
    return cudaMemAdvise_v2(address, bytes, advice, location);
}

API int cudaMemPrefetchAsync(const void *address, size_t bytes, struct location location,
                             unsigned flags, stream_t stream) {
    return cudaMemPrefetchAsync_v2(address, bytes, location, flags, stream);
}
#else
static struct location location_of(int device) {
    return (struct location){device == ON_THE_HOST ? 0 : LOCATED_ON_DEVICE, device};
}

API int FUNCTION(Advise)(const void *address, size_t bytes, int advice, int device) {
    return FUNCTION(Advise_v2)(address, bytes, advice, location_of(device));
}

API int FUNCTION(PrefetchAsync)(const void *address, size_t bytes, int device, stream_t stream) {
    return FUNCTION(PrefetchAsync_v2)(address, bytes, location_of(device), 0, stream);
}
#endif

API int FUNCTION(RangeGetAttribute)(void *data, size_t size, int attribute, const void *address,
                                    size_t bytes) {
    return TELL(advice_of(data, size, attribute, address, bytes));
}

API int FUNCTION(RangeGetAttributes)(void **data, size_t *sizes, const int *attributes,
                                     size_t count, const void *address, size_t bytes) {
    int status = data && sizes && attributes && count ? SUCCESS : INVALID_VALUE;
    for (size_t k = 0; k < count && !status; k++) {
        status = advice_of(data[k], sizes[k], attributes[k], address, bytes);
    }
    return TELL(status);
}

// Several at once: each range has the place whose range of ranges it is in.
static int prefetch_all(void *const *addresses, const size_t *sizes, size_t count,
                        const struct location *places, const size_t *first, size_t kinds,
                        stream_t stream) {
    bool right = addresses && sizes && count && places && first && kinds && !first[0];
    int status = right ? stream_check(stream) : INVALID_VALUE;
    for (size_t k = 0, place = 0; k < count && !status; k++) {
        while (place + 1 < kinds && first[place + 1] <= k) {
            place++;
        }
        status = advise(addresses[k], sizes[k], PREFETCHED, device_at(places[place]));
    }
    return TELL(status);
}

API int FUNCTION(PrefetchBatchAsync)(void **addresses, size_t *sizes, size_t count,
                                     struct location *places, size_t *first, size_t kinds,
                                     unsigned long long flags, stream_t stream) {
    (void)flags;
    return prefetch_all(addresses, sizes, count, places, first, kinds, stream);
}

// What is discarded may keep its content, as it does here.
API int FUNCTION(DiscardAndPrefetchBatchAsync)(void **addresses, size_t *sizes, size_t count,
                                               struct location *places, size_t *first, size_t kinds,
                                               unsigned long long flags, stream_t stream) {
    (void)flags;
    return prefetch_all(addresses, sizes, count, places, first, kinds, stream);
}

API int FUNCTION(DiscardBatchAsync)(void **addresses, size_t *sizes, size_t count,
                                    unsigned long long flags, stream_t stream) {
    (void)flags;
    int status = addresses && sizes && count ? stream_check(stream) : INVALID_VALUE;
    for (size_t k = 0; k < count && !status; k++) {
        int mostly;
        status = advice_of(&mostly, sizeof mostly, SET_READ_MOSTLY, addresses[k], sizes[k]);
    }
    return TELL(status);
}
