// Copies that one call asks for several of, and copies of boxes between devices.

#include "runtime.h"

static int copy_all(void *const *to, void *const *source, const size_t *bytes, size_t count,
                    stream_t stream) {
    int status = to && source && bytes && count ? stream_check(stream) : INVALID_VALUE;
    for (size_t k = 0; k < count && !status; k++) {
        struct region target = {to[k], bytes[k]}, from = {source[k], bytes[k]};
        status = stream_copy(handle_of(stream), target, from, bytes[k], 1);
    }
    return report(status);
}

// How a batch reads its sources changes nothing: each copy is done before the next begins.
#if RUNTIME >= 13
API int cudaMemcpyBatchAsync(void *const *to, void *const *source, const size_t *bytes,
                             size_t count, const void *attributes, const size_t *first,
                             size_t kinds, stream_t stream) {
    (void)attributes, (void)first, (void)kinds;
    return copy_all(to, source, bytes, count, stream);
}
#else
API int cudaMemcpyBatchAsync(void **to, void **source, size_t *bytes, size_t count,
                             void *attributes, size_t *first, size_t kinds, size_t *failed,
                             stream_t stream) {
    (void)attributes, (void)first, (void)kinds;
    int status = copy_all(to, source, bytes, count, stream);
    if (status && failed) {
        *failed = ~(size_t)0; // it is not known which
    }
    return status;
}
#endif

struct peer_box_copy {
    struct array *source_array;
    struct position source_position;
    struct pitched source;
    int device;
    struct array *to_array;
    struct position to_position;
    struct pitched to;
    int to_device;
    struct extent extent;
};

API int cudaMemcpy3DPeerAsync(const struct peer_box_copy *copy, stream_t stream) {
    enum { GUESS = 4 }; // cudaMemcpyDefault
    if (!copy) {
        return report(INVALID_VALUE);
    }
    struct box_copy plain = {
        .source_array = copy->source_array,
        .source_position = copy->source_position,
        .source = copy->source,
        .to_array = copy->to_array,
        .to_position = copy->to_position,
        .to = copy->to,
        .extent = copy->extent,
        .kind = GUESS,
    };
    int status = gpu_check(copy->device);
    status = status ? status : gpu_check(copy->to_device);
    struct box box;
    status = status ? status : box_of(&box, &plain);
    return report(status ? status : stream_copy_box(handle_of(stream), &box));
}

API int cudaMemcpy3DPeer(const struct peer_box_copy *copy) {
    return cudaMemcpy3DPeerAsync(copy, BLOCKING);
}
