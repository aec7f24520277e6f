// Arrays of the runtime API, with levels of detail or without, and the copies that take arrays.

#include "runtime.h"

API struct format cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (struct format){x, y, z, w, kind};
}

API int cudaMalloc3DArray(struct array **out, const struct format *format, struct extent extent,
                          unsigned flags) {
    return report(array_new(out, format, extent, flags));
}

API int cudaMallocArray(struct array **out, const struct format *format, size_t width,
                        size_t height, unsigned flags) {
    return cudaMalloc3DArray(out, format, (struct extent){width, height, 0}, flags);
}

API int cudaFreeArray(struct array *array) {
    return array ? report(array_free(array)) : SUCCESS;
}

API int cudaMallocMipmappedArray(struct mipmapped **out, const struct format *format,
                                 struct extent extent, unsigned levels, unsigned flags) {
    return report(mipmapped_new(out, format, extent, levels, flags));
}

API int cudaGetMipmappedArrayLevel(struct array **out, struct mipmapped *mipmapped,
                                   unsigned level) {
    struct array *found = out ? mipmapped_level(mipmapped, level) : NULL;
    if (!found) {
        return report(INVALID_VALUE);
    }
    *out = found;
    return SUCCESS;
}

API int cudaFreeMipmappedArray(struct mipmapped *mipmapped) {
    return mipmapped ? report(mipmapped_free(mipmapped)) : SUCCESS;
}

API int cudaArrayGetInfo(struct format *format, struct extent *extent, unsigned *flags,
                         const struct array *array) {
    if (!array_lives(array)) {
        return report(INVALID_VALUE);
    }
    if (format) {
        *format = array->format;
    }
    if (extent) {
        *extent = (struct extent){array->width, array->height, array->depth};
    }
    if (flags) {
        *flags = array->flags;
    }
    return SUCCESS;
}

API int cudaGetChannelDesc(struct format *format, const struct array *array) {
    return format ? cudaArrayGetInfo(format, NULL, NULL, array) : report(INVALID_VALUE);
}

// Copies

static struct region row_of(const struct array *array, size_t x_bytes, size_t y) {
    return array_from(array, x_bytes, y, 0, &(size_t){0});
}

API int cudaMemcpy2DToArrayAsync(struct array *to, size_t x, size_t y, const void *source,
                                 size_t pitch, size_t width, size_t rows, int kind,
                                 stream_t stream) {
    (void)kind;
    if (!array_lives(to)) {
        return report(INVALID_VALUE);
    }
    struct region from = {(void *)source, pitch};
    return report(stream_copy(handle_of(stream), row_of(to, x, y), from, width, rows));
}

API int cudaMemcpy2DToArray(struct array *to, size_t x, size_t y, const void *source, size_t pitch,
                            size_t width, size_t rows, int kind) {
    return cudaMemcpy2DToArrayAsync(to, x, y, source, pitch, width, rows, kind, BLOCKING);
}

API int cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const struct array *source, size_t x,
                                   size_t y, size_t width, size_t rows, int kind,
                                   stream_t stream) {
    (void)kind;
    if (!array_lives(source)) {
        return report(INVALID_VALUE);
    }
    struct region target = {to, pitch};
    return report(stream_copy(handle_of(stream), target, row_of(source, x, y), width, rows));
}

API int cudaMemcpy2DFromArray(void *to, size_t pitch, const struct array *source, size_t x,
                              size_t y, size_t width, size_t rows, int kind) {
    return cudaMemcpy2DFromArrayAsync(to, pitch, source, x, y, width, rows, kind, BLOCKING);
}

API int cudaMemcpy2DArrayToArray(struct array *to, size_t to_x, size_t to_y,
                                 const struct array *source, size_t x, size_t y, size_t width,
                                 size_t rows, int kind) {
    (void)kind;
    if (!array_lives(to) || !array_lives(source)) {
        return report(INVALID_VALUE);
    }
    return report(stream_copy(STREAM_BLOCKING, row_of(to, to_x, to_y), row_of(source, x, y), width,
                              rows));
}

// Rows of an array lie one after the other, so a run of bytes may cross them: it is one long row.
API int cudaMemcpyArrayToArray(struct array *to, size_t to_x, size_t to_y,
                               const struct array *source, size_t x, size_t y, size_t bytes,
                               int kind) {
    return cudaMemcpy2DArrayToArray(to, to_x, to_y, source, x, y, bytes, 1, kind);
}

API int cudaMemcpyToArrayAsync(struct array *to, size_t x, size_t y, const void *source,
                               size_t bytes, int kind, stream_t stream) {
    return cudaMemcpy2DToArrayAsync(to, x, y, source, bytes, bytes, 1, kind, stream);
}

API int cudaMemcpyToArray(struct array *to, size_t x, size_t y, const void *source, size_t bytes,
                          int kind) {
    return cudaMemcpyToArrayAsync(to, x, y, source, bytes, kind, BLOCKING);
}

API int cudaMemcpyFromArrayAsync(void *to, const struct array *source, size_t x, size_t y,
                                 size_t bytes, int kind, stream_t stream) {
    return cudaMemcpy2DFromArrayAsync(to, bytes, source, x, y, bytes, 1, kind, stream);
}

API int cudaMemcpyFromArray(void *to, const struct array *source, size_t x, size_t y, size_t bytes,
                            int kind) {
    return cudaMemcpyFromArrayAsync(to, source, x, y, bytes, kind, BLOCKING);
}

// The side's first row, and how far apart slices are.
static struct region side_of(const struct array *array, const struct pitched *box,
                             const struct position *from, size_t *slice) {
    if (array) {
        size_t x_bytes = from->x * element_bytes(&array->format);
        return array_from(array, x_bytes, from->y, from->z, slice);
    }
    *slice = box->pitch * box->height;
    char *start = (char *)box->address + from->z * *slice;
    return (struct region){start + from->y * box->pitch + from->x, box->pitch};
}

// Each side is an array or memory.
static bool is_side(const struct array *array, const struct pitched *box) {
    return array ? array_lives(array) : box->address != NULL;
}

int box_of(struct box *box, const struct box_copy *copy) {
    if (!copy || !is_side(copy->source_array, &copy->source) ||
        !is_side(copy->to_array, &copy->to)) {
        return INVALID_VALUE;
    }
    const struct array *array = copy->source_array ? copy->source_array : copy->to_array;
    *box = (struct box){
        .width = copy->extent.width * (array ? element_bytes(&array->format) : 1),
        .rows = copy->extent.height,
        .slices = copy->extent.depth,
    };
    box->to = side_of(copy->to_array, &copy->to, &copy->to_position, &box->to_slice);
    box->source = side_of(copy->source_array, &copy->source, &copy->source_position,
                          &box->source_slice);
    return SUCCESS;
}

API int cudaMemcpy3DAsync(const struct box_copy *copy, stream_t stream) {
    struct box box;
    int status = box_of(&box, copy);
    return report(status ? status : stream_copy_box(handle_of(stream), &box));
}

API int cudaMemcpy3D(const struct box_copy *copy) {
    return cudaMemcpy3DAsync(copy, BLOCKING);
}
