// CUDA arrays, textures and surfaces, and the copies that take arrays.
//
// An array here is rows of elements in device memory: a texture is a record that refers to them.

#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { MIPMAPPED = 1, LINEAR = 2, PITCHED = 3 };

size_t element_bytes(const struct format *format) {
    return (size_t)(format->x + format->y + format->z + format->w) / 8;
}

API struct format cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (struct format){x, y, z, w, kind};
}

API int cudaMalloc3DArray(struct array **out, const struct format *format, struct extent extent,
                          unsigned flags) {
    if (flags & CUBEMAP) {
        return report(gpu_unsupported("cudaMalloc3DArray of a cubemap"));
    }
    size_t pitch = extent.width * element_bytes(format);
    size_t rows = (extent.height ? extent.height : 1) * (extent.depth ? extent.depth : 1);
    void *address;
    int status = allocate(&address, pitch * rows, ALLOCATION_DEVICE);
    if (status) {
        return status;
    }
    *out = malloc(sizeof **out);
    **out = (struct array){address,       pitch,   extent.width, extent.height,
                           extent.depth, *format, flags};
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

API int cudaMemcpy2DToArray(struct array *to, size_t x, size_t y, const void *source, size_t pitch,
                            size_t width, size_t rows, int kind) {
    (void)kind;
    return report(
        copy_rectangle(row_of(to, x, y), (struct region){(void *)source, pitch}, width, rows));
}

API int cudaMemcpy2DToArrayAsync(struct array *to, size_t x, size_t y, const void *source,
                                 size_t pitch, size_t width, size_t rows, int kind,
                                 stream_t stream) {
    (void)stream;
    return cudaMemcpy2DToArray(to, x, y, source, pitch, width, rows, kind);
}

API int cudaMemcpy2DFromArray(void *to, size_t pitch, const struct array *source, size_t x,
                              size_t y, size_t width, size_t rows, int kind) {
    (void)kind;
    return report(copy_rectangle((struct region){to, pitch}, row_of(source, x, y), width, rows));
}

API int cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const struct array *source, size_t x,
                                   size_t y, size_t width, size_t rows, int kind,
                                   stream_t stream) {
    (void)stream;
    return cudaMemcpy2DFromArray(to, pitch, source, x, y, width, rows, kind);
}

API int cudaMemcpy2DArrayToArray(struct array *to, size_t to_x, size_t to_y,
                                 const struct array *source, size_t x, size_t y, size_t width,
                                 size_t rows, int kind) {
    (void)kind;
    return report(copy_rectangle(row_of(to, to_x, to_y), row_of(source, x, y), width, rows));
}

// Rows of an array lie one after the other, so a run of bytes may cross them.
API int cudaMemcpyToArray(struct array *to, size_t x, size_t y, const void *source, size_t bytes,
                          int kind) {
    (void)kind;
    return report(copy_bytes(row_of(to, x, y).address, source, bytes));
}

API int cudaMemcpyFromArray(void *to, const struct array *source, size_t x, size_t y, size_t bytes,
                            int kind) {
    (void)kind;
    return report(copy_bytes(to, row_of(source, x, y).address, bytes));
}

API int cudaMemcpyToArrayAsync(struct array *to, size_t x, size_t y, const void *source,
                               size_t bytes, int kind, stream_t stream) {
    (void)stream;
    return cudaMemcpyToArray(to, x, y, source, bytes, kind);
}

API int cudaMemcpyFromArrayAsync(void *to, const struct array *source, size_t x, size_t y,
                                 size_t bytes, int kind, stream_t stream) {
    (void)stream;
    return cudaMemcpyFromArray(to, source, x, y, bytes, kind);
}

// The side's first row of a slice; `unit` are the bytes of an element, of arrays alone.
static struct region slice_of(const struct array *array, const struct pitched *box,
                              const struct position *from, size_t z) {
    if (array) {
        size_t row = from->y + (from->z + z) * (array->height ? array->height : 1);
        return row_of(array, from->x * element_bytes(&array->format), row);
    }
    char *start = (char *)box->address + (from->z + z) * box->pitch * box->height;
    return (struct region){start + from->y * box->pitch + from->x, box->pitch};
}

API int cudaMemcpy3D(const struct box_copy *copy) {
    const struct array *array = copy->source_array ? copy->source_array : copy->to_array;
    size_t width = copy->extent.width * (array ? element_bytes(&array->format) : 1);
    int status = SUCCESS;
    for (size_t z = 0; z < copy->extent.depth && !status; z++) {
        status = copy_rectangle(slice_of(copy->to_array, &copy->to, &copy->to_position, z),
                                slice_of(copy->source_array, &copy->source,
                                         &copy->source_position, z),
                                width, copy->extent.height);
    }
    return report(status);
}

API int cudaMemcpy3DAsync(const struct box_copy *copy, stream_t stream) {
    return capture_active(handle_of(stream)) ? capture_box(stream, copy) : cudaMemcpy3D(copy);
}

// Textures and surfaces

struct resource {
    int kind;
    union {
        struct array *array;
        struct {
            void *address;
            struct format format;
            size_t bytes;
        } linear;
        struct {
            void *address;
            struct format format;
            size_t width, height, pitch;
        } rows;
        char room[56];
    } of;
};

struct sampling {
    int address[3];
    int filter, reading, srgb;
    float border[4];
    int normalized;
};

// What a handle was made from, for the queries.
struct object {
    struct resource resource;
    struct sampling sampling;
};

static struct create_texture_request of_array(const struct array *array) {
    return (struct create_texture_request){
        .address = handle_of(array->address),
        .pitch = array->pitch,
        .width = array->width,
        .height = array->height,
        .depth = array->depth,
        .layered = array->flags & LAYERED,
    };
}

static int describe(const struct resource *resource, struct create_texture_request *out) {
    const struct format *format;
    if (resource->kind == LINEAR) {
        format = &resource->of.linear.format;
        size_t bytes = element_bytes(format);
        *out = (struct create_texture_request){
            .address = handle_of(resource->of.linear.address),
            .pitch = resource->of.linear.bytes,
            .width = bytes ? resource->of.linear.bytes / bytes : 0,
        };
    } else if (resource->kind == PITCHED) {
        format = &resource->of.rows.format;
        *out = (struct create_texture_request){
            .address = handle_of(resource->of.rows.address),
            .pitch = resource->of.rows.pitch,
            .width = resource->of.rows.width,
            .height = resource->of.rows.height,
        };
    } else if (resource->kind == MIPMAPPED) {
        return gpu_unsupported("textures of mipmapped arrays");
    } else {
        format = &resource->of.array->format;
        *out = of_array(resource->of.array);
    }
    out->bits = (uint64_t)format->x;
    out->channels = (uint64_t)(1 + (format->y > 0) + (format->z > 0) + (format->w > 0));
    out->kind = (uint64_t)format->kind;
    return SUCCESS;
}

static int create(unsigned long long *out, const struct resource *resource,
                  const struct sampling *sampling) {
    struct create_texture_request request;
    int status = describe(resource, &request);
    if (status) {
        return report(status);
    }
    request.filter = (uint64_t)sampling->filter;
    request.address_x = (uint64_t)sampling->address[0];
    request.address_y = (uint64_t)sampling->address[1];
    request.address_z = (uint64_t)sampling->address[2];
    request.normalized = (uint64_t)sampling->normalized;
    request.normalized_values = sampling->reading == 1;
    struct create_texture_reply fields = {0};
    status = GPU_CALL(CREATE_TEXTURE, &request, &fields);
    *out = fields.texture;
    if (!status) {
        struct object *object = malloc(sizeof *object);
        *object = (struct object){*resource, *sampling};
        table_put((void *)(uintptr_t)fields.texture, object);
    }
    return report(status);
}

API int cudaCreateTextureObject(unsigned long long *out, const struct resource *resource,
                                const struct sampling *sampling, const void *view) {
    if (view) {
        return report(gpu_unsupported("cudaCreateTextureObject with a resource view"));
    }
    return create(out, resource, sampling);
}

API int cudaCreateTextureObject_v2(unsigned long long *out, const struct resource *resource,
                                   const struct sampling *sampling, const void *view) {
    return cudaCreateTextureObject(out, resource, sampling, view);
}

API int cudaCreateSurfaceObject(unsigned long long *out, const struct resource *resource) {
    static const struct sampling none = {.address = {1, 1, 1}};
    return create(out, resource, &none);
}

API int cudaDestroyTextureObject(unsigned long long texture) {
    struct destroy_texture_request request = {texture};
    return report(
        gpu_call(CALL_DESTROY_TEXTURE, &request, sizeof request, NULL, 0, &(struct reply){0}));
}

API int cudaDestroySurfaceObject(unsigned long long surface) {
    return cudaDestroyTextureObject(surface);
}

API int cudaGetTextureObjectResourceDesc(struct resource *out, unsigned long long texture) {
    const struct object *object = table_get((void *)(uintptr_t)texture);
    if (!object) {
        return report(INVALID_VALUE);
    }
    *out = object->resource;
    return SUCCESS;
}

API int cudaGetSurfaceObjectResourceDesc(struct resource *out, unsigned long long surface) {
    return cudaGetTextureObjectResourceDesc(out, surface);
}

API int cudaGetTextureObjectTextureDesc(struct sampling *out, unsigned long long texture) {
    const struct object *object = table_get((void *)(uintptr_t)texture);
    if (!object) {
        return report(INVALID_VALUE);
    }
    *out = object->sampling;
    return SUCCESS;
}
