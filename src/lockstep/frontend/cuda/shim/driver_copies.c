// The driver API's copies and fills.

#include "array.h"
#include "driver.h"

enum { ON_HOST = 1, ARRAY = 3 }; // CUmemorytype

API int cuMemcpyAsync(pointer_t to, pointer_t source, size_t bytes, stream_t stream) {
    struct region target = {(void *)(uintptr_t)to, bytes}, from = {(void *)(uintptr_t)source, bytes};
    return translate(stream_copy(handle_of(stream), target, from, bytes, 1));
}

API int cuMemcpy(pointer_t to, pointer_t source, size_t bytes) {
    return cuMemcpyAsync(to, source, bytes, BLOCKING);
}

// What the device can name: its memory, and what is registered of the program's.
static bool is_named(pointer_t address) {
    const void *pointer = (const void *)(uintptr_t)address;
    return gpu_is_device(pointer) || host_is_registered(pointer);
}

API int cuMemcpyDtoDAsync(pointer_t to, pointer_t source, size_t bytes, stream_t stream) {
    bool right = !bytes || (is_named(to) && is_named(source));
    return right ? cuMemcpyAsync(to, source, bytes, stream) : INVALID_VALUE;
}
ALSO(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync);

API int cuMemcpyDtoD(pointer_t to, pointer_t source, size_t bytes) {
    return cuMemcpyDtoDAsync(to, source, bytes, BLOCKING);
}
ALSO(cuMemcpyDtoD_v2, cuMemcpyDtoD);

API int cuMemcpyHtoDAsync(pointer_t to, const void *source, size_t bytes, stream_t stream) {
    bool right = !bytes || is_named(to);
    return right ? cuMemcpyAsync(to, handle_of(source), bytes, stream) : INVALID_VALUE;
}
ALSO(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync);

API int cuMemcpyHtoD(pointer_t to, const void *source, size_t bytes) {
    return cuMemcpyHtoDAsync(to, source, bytes, BLOCKING);
}
ALSO(cuMemcpyHtoD_v2, cuMemcpyHtoD);

API int cuMemcpyDtoHAsync(void *to, pointer_t source, size_t bytes, stream_t stream) {
    bool right = !bytes || is_named(source);
    return right ? cuMemcpyAsync(handle_of(to), source, bytes, stream) : INVALID_VALUE;
}
ALSO(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync);

API int cuMemcpyDtoH(void *to, pointer_t source, size_t bytes) {
    return cuMemcpyDtoHAsync(to, source, bytes, BLOCKING);
}
ALSO(cuMemcpyDtoH_v2, cuMemcpyDtoH);

API int cuMemcpyPeerAsync(pointer_t to, context_t to_context, pointer_t source, context_t context,
                          size_t bytes, stream_t stream) {
    (void)to_context, (void)context;
    return cuMemcpyAsync(to, source, bytes, stream);
}

API int cuMemcpyPeer(pointer_t to, context_t to_context, pointer_t source, context_t context,
                     size_t bytes) {
    return cuMemcpyPeerAsync(to, to_context, source, context, bytes, BLOCKING);
}

struct side {
    size_t x_bytes, y;
    int type; // 1 host, 2 device, 3 array, 4 whatever the address says
    const void *host;
    pointer_t device;
    const struct array *array;
    size_t pitch;
};

struct rectangle_copy {
    struct side source, to;
    size_t width_bytes, rows;
};

// Each side is an array or memory.
static bool is_side(int type, const void *host, pointer_t device, const struct array *array) {
    return type == ARRAY ? array_lives(array) : type == ON_HOST ? host != NULL : device != 0;
}

static struct region region_of(const struct side *side) {
    if (side->type == ARRAY) {
        return array_from(side->array, side->x_bytes, side->y, 0, &(size_t){0});
    }
    char *start = side->type == ON_HOST ? (char *)side->host : (char *)(uintptr_t)side->device;
    return (struct region){start + side->y * side->pitch + side->x_bytes, side->pitch};
}

API int cuMemcpy2DAsync(const struct rectangle_copy *copy, stream_t stream) {
    if (!copy || !is_side(copy->to.type, copy->to.host, copy->to.device, copy->to.array) ||
        !is_side(copy->source.type, copy->source.host, copy->source.device, copy->source.array)) {
        return INVALID_VALUE;
    }
    return translate(stream_copy(handle_of(stream), region_of(&copy->to),
                                 region_of(&copy->source), copy->width_bytes, copy->rows));
}
ALSO(cuMemcpy2DAsync_v2, cuMemcpy2DAsync);

API int cuMemcpy2D(const struct rectangle_copy *copy) {
    return cuMemcpy2DAsync(copy, BLOCKING);
}
ALSO(cuMemcpy2D_v2, cuMemcpy2D);
ALSO(cuMemcpy2DUnaligned, cuMemcpy2D);
ALSO(cuMemcpy2DUnaligned_v2, cuMemcpy2D);

// The side's first row; `slice` are the bytes from one slice to the next.
static struct region side_of(const struct box_side *side, size_t *slice) {
    if (side->type == ARRAY) {
        return array_from(side->array, side->x_bytes, side->y, side->z, slice);
    }
    *slice = side->pitch * side->rows;
    size_t y = side->y + side->z * side->rows;
    return region_of(&(struct side){side->x_bytes, y, side->type, side->host, side->device, NULL,
                                    side->pitch});
}

int box_of(struct box *box, const struct box_copy *copy) {
    if (!copy || !is_side(copy->to.type, copy->to.host, copy->to.device, copy->to.array) ||
        !is_side(copy->source.type, copy->source.host, copy->source.device, copy->source.array)) {
        return INVALID_VALUE;
    }
    *box = (struct box){
        .width = copy->width_bytes, .rows = copy->rows, .slices = copy->slices};
    box->to = side_of(&copy->to, &box->to_slice);
    box->source = side_of(&copy->source, &box->source_slice);
    return SUCCESS;
}

API int cuMemcpy3DAsync(const struct box_copy *copy, stream_t stream) {
    struct box box;
    int status = box_of(&box, copy);
    return translate(status ? status : stream_copy_box(handle_of(stream), &box));
}
ALSO(cuMemcpy3DAsync_v2, cuMemcpy3DAsync);

API int cuMemcpy3D(const struct box_copy *copy) {
    return cuMemcpy3DAsync(copy, BLOCKING);
}
ALSO(cuMemcpy3D_v2, cuMemcpy3D);

// Of copies between devices the contexts stand where others have nothing.
ALSO(cuMemcpy3DPeerAsync, cuMemcpy3DAsync);
ALSO(cuMemcpy3DPeer, cuMemcpy3D);

static int copy_all(const pointer_t *to, const pointer_t *source, const size_t *bytes,
                    size_t count, stream_t stream) {
    int status = to && source && bytes && count ? SUCCESS : INVALID_VALUE;
    for (size_t k = 0; k < count && !status; k++) {
        status = cuMemcpyAsync(to[k], source[k], bytes[k], stream);
    }
    return status;
}

API int cuMemcpyBatchAsync_v2(pointer_t *to, pointer_t *source, size_t *bytes, size_t count,
                              void *attributes, size_t *first, size_t kinds, stream_t stream) {
    (void)attributes, (void)first, (void)kinds;
    return copy_all(to, source, bytes, count, stream);
}

API int cuMemcpyBatchAsync(pointer_t *to, pointer_t *source, size_t *bytes, size_t count,
                           void *attributes, size_t *first, size_t kinds, size_t *failed,
                           stream_t stream) {
    (void)attributes, (void)first, (void)kinds;
    int status = copy_all(to, source, bytes, count, stream);
    if (status && failed) {
        *failed = ~(size_t)0; // it is not known which
    }
    return status;
}

static int fill(pointer_t address, size_t pitch, uint64_t value, size_t unit, size_t width,
                size_t rows, stream_t stream) {
    if (address % unit || (rows > 1 && pitch % unit)) {
        return INVALID_VALUE;
    }
    struct region to = {(void *)(uintptr_t)address, pitch};
    return translate(stream_fill(handle_of(stream), to, value, unit, width, rows));
}

#define FILL(bits, type)                                                                           \
    API int cuMemsetD##bits##Async(pointer_t address, type value, size_t count,                    \
                                   stream_t stream) {                                              \
        return fill(address, 0, value, sizeof value, count, 1, stream);                            \
    }                                                                                              \
    API int cuMemsetD##bits(pointer_t address, type value, size_t count) {                         \
        return cuMemsetD##bits##Async(address, value, count, NULL);                                \
    }                                                                                              \
    ALSO(cuMemsetD##bits##_v2, cuMemsetD##bits);                                                   \
    API int cuMemsetD2D##bits##Async(pointer_t address, size_t pitch, type value, size_t width,    \
                                     size_t rows, stream_t stream) {                               \
        return fill(address, pitch, value, sizeof value, width, rows, stream);                     \
    }                                                                                              \
    API int cuMemsetD2D##bits(pointer_t address, size_t pitch, type value, size_t width,           \
                              size_t rows) {                                                       \
        return cuMemsetD2D##bits##Async(address, pitch, value, width, rows, NULL);                 \
    }                                                                                              \
    ALSO(cuMemsetD2D##bits##_v2, cuMemsetD2D##bits);

FILL(8, uint8_t)
FILL(16, uint16_t)
FILL(32, uint32_t)
