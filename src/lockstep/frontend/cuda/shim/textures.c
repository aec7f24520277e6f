// Texture and surface objects: records that refer to rows of elements in device memory.

#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { MIPMAPPED = 1, LINEAR = 2, PITCHED = 3 };

struct resource {
    int kind;
    union {
        struct array *array;
        struct mipmapped *mipmapped;
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
    unsigned anisotropy;
    int level_filter;
    float level_bias, level_least, level_most;
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
        .cube = (array->flags & CUBEMAP) != 0,
        .levels = 1,
    };
}

static void describe(const struct resource *resource, struct create_texture_request *out) {
    const struct format *format;
    if (resource->kind == LINEAR) {
        format = &resource->of.linear.format;
        size_t bytes = element_bytes(format);
        *out = (struct create_texture_request){
            .address = handle_of(resource->of.linear.address),
            .pitch = resource->of.linear.bytes,
            .width = bytes ? resource->of.linear.bytes / bytes : 0,
            .levels = 1,
        };
    } else if (resource->kind == PITCHED) {
        format = &resource->of.rows.format;
        *out = (struct create_texture_request){
            .address = handle_of(resource->of.rows.address),
            .pitch = resource->of.rows.pitch,
            .width = resource->of.rows.width,
            .height = resource->of.rows.height,
            .levels = 1,
        };
    } else if (resource->kind == MIPMAPPED) {
        const struct mipmapped *mipmapped = resource->of.mipmapped;
        format = &mipmapped->level[0].format;
        *out = of_array(&mipmapped->level[0]);
        out->levels = mipmapped->levels;
    } else {
        format = &resource->of.array->format;
        *out = of_array(resource->of.array);
    }
    out->bits = (uint64_t)format->x;
    out->channels = (uint64_t)(1 + (format->y > 0) + (format->z > 0) + (format->w > 0));
    out->kind = (uint64_t)format->kind;
}

static uint64_t bits_of(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static int create(unsigned long long *out, const struct resource *resource,
                  const struct sampling *sampling) {
    struct create_texture_request request;
    describe(resource, &request);
    request.filter = (uint64_t)sampling->filter;
    request.address_x = (uint64_t)sampling->address[0];
    request.address_y = (uint64_t)sampling->address[1];
    request.address_z = (uint64_t)sampling->address[2];
    request.normalized = (uint64_t)sampling->normalized;
    request.normalized_values = sampling->reading == 1;
    request.level_filter = (uint64_t)sampling->level_filter;
    request.level_bias = bits_of(sampling->level_bias);
    request.level_least = bits_of(sampling->level_least);
    request.level_most = bits_of(sampling->level_most);
    request.border_0 = bits_of(sampling->border[0]);
    request.border_1 = bits_of(sampling->border[1]);
    request.border_2 = bits_of(sampling->border[2]);
    request.border_3 = bits_of(sampling->border[3]);
    struct create_texture_reply fields = {0};
    int status = GPU_CALL(CREATE_TEXTURE, &request, &fields);
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
    if (sampling->srgb) {
        return report(gpu_unsupported("cudaCreateTextureObject with sRGB"));
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
