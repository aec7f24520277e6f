// CUDA arrays, with levels of detail or without, and the copies that take arrays.
//
// An array here is rows of elements in device memory.

#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { LEVEL_BYTES = 256 }; // where levels begin: runtime/textures.py computes it, too

size_t element_bytes(const struct format *format) {
    return (size_t)(format->x + format->y + format->z + format->w) / 8;
}

API struct format cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (struct format){x, y, z, w, kind};
}

static struct array array_of(const struct format *format, struct extent extent, unsigned flags) {
    size_t pitch = extent.width * element_bytes(format);
    return (struct array){NULL,          pitch,   extent.width, extent.height,
                          extent.depth, *format, flags};
}

static size_t array_bytes(const struct array *array) {
    return array->pitch * (array->height ? array->height : 1) * (array->depth ? array->depth : 1);
}

API int cudaMalloc3DArray(struct array **out, const struct format *format, struct extent extent,
                          unsigned flags) {
    struct array array = array_of(format, extent, flags);
    int status = allocate(&array.address, array_bytes(&array), ALLOCATION_DEVICE);
    if (status) {
        return status;
    }
    *out = malloc(sizeof **out);
    **out = array;
    return SUCCESS;
}

API int cudaMallocArray(struct array **out, const struct format *format, size_t width,
                        size_t height, unsigned flags) {
    return cudaMalloc3DArray(out, format, (struct extent){width, height, 0}, flags);
}

API int cudaFreeArray(struct array *array) {
    if (!array) {
        return SUCCESS;
    }
    struct free_request request = {handle_of(array->address)};
    int status = gpu_call(CALL_FREE, &request, sizeof request, NULL, 0, &(struct reply){0});
    free(array);
    return report(status);
}

static size_t halved(size_t extent, unsigned level) {
    return extent && !(extent >> level) ? 1 : extent >> level;
}

API int cudaMallocMipmappedArray(struct mipmapped **out, const struct format *format,
                                 struct extent extent, unsigned levels, unsigned flags) {
    struct mipmapped made = {0};
    size_t bytes = 0, starts[32];
    size_t most = extent.width > extent.height ? extent.width : extent.height;
    int has_slices = (flags & (LAYERED | CUBEMAP)) != 0;
    most = !has_slices && extent.depth > most ? extent.depth : most;
    while (made.levels < levels && made.levels < 32 && most >> made.levels) {
        unsigned k = made.levels++;
        struct extent own = {halved(extent.width, k), halved(extent.height, k),
                             has_slices ? extent.depth : halved(extent.depth, k)};
        made.level[k] = array_of(format, own, flags);
        starts[k] = bytes;
        bytes += (array_bytes(&made.level[k]) + LEVEL_BYTES - 1) / LEVEL_BYTES * LEVEL_BYTES;
    }
    if (!made.levels) {
        return report(INVALID_VALUE);
    }
    void *address;
    int status = allocate(&address, bytes, ALLOCATION_DEVICE);
    if (status) {
        return status;
    }
    for (unsigned k = 0; k < made.levels; k++) {
        made.level[k].address = (char *)address + starts[k];
    }
    *out = malloc(sizeof **out);
    **out = made;
    return SUCCESS;
}

API int cudaGetMipmappedArrayLevel(struct array **out, struct mipmapped *mipmapped,
                                   unsigned level) {
    if (!mipmapped || level >= mipmapped->levels) {
        return report(INVALID_VALUE);
    }
    *out = &mipmapped->level[level];
    return SUCCESS;
}

API int cudaFreeMipmappedArray(struct mipmapped *mipmapped) {
    if (!mipmapped) {
        return SUCCESS;
    }
    struct free_request request = {handle_of(mipmapped->level[0].address)};
    int status = gpu_call(CALL_FREE, &request, sizeof request, NULL, 0, &(struct reply){0});
    free(mipmapped);
    return report(status);
}

API int cudaArrayGetInfo(struct format *format, struct extent *extent, unsigned *flags,
                         const struct array *array) {
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
    return cudaArrayGetInfo(format, NULL, NULL, array);
}

// Copies

static struct region row_of(const struct array *array, size_t x_bytes, size_t y) {
    return (struct region){(char *)array->address + y * array->pitch + x_bytes, array->pitch};
}

API int cudaMemcpy2DToArrayAsync(struct array *to, size_t x, size_t y, const void *source,
                                 size_t pitch, size_t width, size_t rows, int kind,
                                 stream_t stream) {
    (void)kind;
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
    return report(copy_rectangle(row_of(to, to_x, to_y), row_of(source, x, y), width, rows,
                                 STREAM_BLOCKING));
}

// Rows of an array lie one after the other, so a run of bytes may cross them: it is one long row.
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
        size_t rows = array->height ? array->height : 1;
        *slice = array->pitch * rows;
        return row_of(array, from->x * element_bytes(&array->format), from->y + from->z * rows);
    }
    *slice = box->pitch * box->height;
    char *start = (char *)box->address + from->z * *slice;
    return (struct region){start + from->y * box->pitch + from->x, box->pitch};
}

int box_of(struct box *box, const struct box_copy *copy) {
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
