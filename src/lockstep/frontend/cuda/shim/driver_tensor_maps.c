// The driver API's tensor maps: 128 bytes that the simulator makes and that nobody else reads.

#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { MAP_BYTES = 128, MAP_ALIGNMENT = 64, MOST_AXES = 5 };

// What a map is asked for with, in the order of the call's data.
struct numbers {
    int64_t sizes[MOST_AXES], strides[MOST_AXES], steps[MOST_AXES], box[MOST_AXES],
        upper[MOST_AXES];
};

static bool is_map(const void *map) {
    return map && handle_of(map) % MAP_ALIGNMENT == 0;
}

static int ask(unsigned call, const void *fields, size_t size, const void *data, size_t bytes,
               void *map) {
    struct reply reply = {0};
    int status = gpu_call(call, fields, size, data, bytes, &reply);
    if (!status) {
        memcpy(map, reply.data, MAP_BYTES);
    }
    free(reply.data);
    return translate(status);
}

static int encode(void *map, struct encode_tensor_map_request *request, struct numbers *numbers,
                  const uint64_t *sizes, const uint64_t *strides, const uint32_t *steps) {
    if (!is_map(map) || !sizes || !steps || (request->rank > 1 && !strides)) {
        return INVALID_VALUE;
    }
    for (uint64_t k = 0; k < request->rank && k < MOST_AXES; ++k) {
        numbers->sizes[k] = (int64_t)sizes[k];
        numbers->steps[k] = steps[k];
        if (k + 1 < request->rank) {
            numbers->strides[k] = (int64_t)strides[k];
        }
    }
    return ask(CALL_ENCODE_TENSOR_MAP, request, sizeof *request, numbers, sizeof *numbers, map);
}

API int cuTensorMapEncodeTiled(void *map, unsigned type, uint32_t rank, void *address,
                               const uint64_t *sizes, const uint64_t *strides,
                               const uint32_t *box, const uint32_t *steps, unsigned interleave,
                               unsigned swizzle, unsigned promotion, unsigned fill) {
    struct encode_tensor_map_request request = {
        .type = type,
        .rank = rank,
        .address = handle_of(address),
        .interleave = interleave,
        .swizzle = swizzle,
        .promotion = promotion,
        .fill = fill,
    };
    struct numbers numbers = {0};
    if (!box) {
        return INVALID_VALUE;
    }
    for (uint32_t k = 0; k < rank && k < MOST_AXES; ++k) {
        numbers.box[k] = box[k];
    }
    return encode(map, &request, &numbers, sizes, strides, steps);
}

API int cuTensorMapEncodeIm2col(void *map, unsigned type, uint32_t rank, void *address,
                                const uint64_t *sizes, const uint64_t *strides, const int *lower,
                                const int *upper, uint32_t channels, uint32_t pixels,
                                const uint32_t *steps, unsigned interleave, unsigned swizzle,
                                unsigned promotion, unsigned fill) {
    struct encode_tensor_map_request request = {
        .im2col = 1,
        .type = type,
        .rank = rank,
        .address = handle_of(address),
        .channels = channels,
        .pixels = pixels,
        .interleave = interleave,
        .swizzle = swizzle,
        .promotion = promotion,
        .fill = fill,
    };
    struct numbers numbers = {0};
    if (!lower || !upper) {
        return INVALID_VALUE;
    }
    for (uint32_t k = 0; k + 2 < rank && k + 2 < MOST_AXES; ++k) {
        numbers.box[k] = lower[k];
        numbers.upper[k] = upper[k];
    }
    return encode(map, &request, &numbers, sizes, strides, steps);
}

API int cuTensorMapReplaceAddress(void *map, void *address) {
    uint64_t where = handle_of(address);
    if (!is_map(map)) {
        return INVALID_VALUE;
    }
    return ask(CALL_MOVE_TENSOR_MAP, &where, sizeof where, map, MAP_BYTES, map);
}
