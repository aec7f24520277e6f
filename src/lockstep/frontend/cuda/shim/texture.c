// Texture and surface objects: records that refer to rows of elements in device memory.

#include <stdlib.h>
#include <string.h>

#include "array.h"

static uint64_t handle(const void *address) {
    return (uint64_t)(uintptr_t)address;
}

static struct create_texture_request of_array(const struct array *array) {
    return (struct create_texture_request){
        .address = handle(array->address),
        .pitch = array->pitch,
        .width = array->width,
        .height = array->height,
        .depth = array->depth,
        .layered = array->flags & LAYERED,
        .cube = (array->flags & CUBEMAP) != 0,
        .levels = 1,
    };
}

bool resource_lives(const struct resource *resource) {
    switch (resource->kind) {
    case OF_ARRAY:
        return array_lives(resource->of.array);
    case OF_MIPMAPPED:
        return mipmapped_lives(resource->of.mipmapped);
    case OF_LINEAR:
        return resource->of.linear.address && element_bytes(&resource->of.linear.format);
    case OF_ROWS:
        return resource->of.rows.address && element_bytes(&resource->of.rows.format);
    default:
        return false;
    }
}

static struct create_texture_request described(const struct resource *resource) {
    struct create_texture_request out;
    const struct format *format;
    if (resource->kind == OF_LINEAR) {
        format = &resource->of.linear.format;
        size_t bytes = element_bytes(format);
        out = (struct create_texture_request){
            .address = handle(resource->of.linear.address),
            .pitch = resource->of.linear.bytes,
            .width = bytes ? resource->of.linear.bytes / bytes : 0,
            .levels = 1,
        };
    } else if (resource->kind == OF_ROWS) {
        format = &resource->of.rows.format;
        out = (struct create_texture_request){
            .address = handle(resource->of.rows.address),
            .pitch = resource->of.rows.pitch,
            .width = resource->of.rows.width,
            .height = resource->of.rows.height,
            .levels = 1,
        };
    } else if (resource->kind == OF_MIPMAPPED) {
        const struct mipmapped *mipmapped = resource->of.mipmapped;
        format = &mipmapped->level[0].format;
        out = of_array(&mipmapped->level[0]);
        out.levels = mipmapped->levels;
    } else {
        format = &resource->of.array->format;
        out = of_array(resource->of.array);
    }
    out.bits = (uint64_t)format->x;
    out.channels = (uint64_t)(1 + (format->y > 0) + (format->z > 0) + (format->w > 0));
    out.kind = (uint64_t)format->kind;
    return out;
}

static uint64_t bits_of(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

enum { PITCH_ALIGNMENT = 51 }; // cudaDevAttrTexturePitchAlignment

static bool is_right(const struct resource *resource) {
    size_t pitch = resource->of.rows.pitch;
    return resource->kind != OF_ROWS ||
           (pitch % (size_t)gpu_attribute(PITCH_ALIGNMENT) == 0 &&
            pitch >= resource->of.rows.width * element_bytes(&resource->of.rows.format));
}

int texture_new(unsigned long long *out, const struct texture *texture) {
    if (!out || !resource_lives(&texture->resource)) {
        return INVALID_VALUE;
    }
    const struct sampling *sampling = &texture->sampling;
    int status;
    if (!gpu_device(&status) || !is_right(&texture->resource)) {
        return status ? status : INVALID_VALUE;
    }
    struct create_texture_request request = described(&texture->resource);
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
    status = GPU_CALL(CREATE_TEXTURE, &request, &fields);
    *out = fields.texture;
    if (!status) {
        struct texture *kept = malloc(sizeof *kept);
        *kept = *texture;
        handle_put(TEXTURE_HANDLE, (void *)(uintptr_t)fields.texture, kept);
    }
    return status;
}

int texture_free(unsigned long long object) {
    struct destroy_texture_request request = {object};
    void *kept = handle_get(TEXTURE_HANDLE, (void *)(uintptr_t)object);
    if (handle_take(TEXTURE_HANDLE, (void *)(uintptr_t)object)) {
        free(kept);
    }
    return gpu_call(CALL_DESTROY_TEXTURE, &request, sizeof request, NULL, 0, &(struct reply){0});
}

const struct texture *texture_of(unsigned long long object) {
    return handle_get(TEXTURE_HANDLE, (void *)(uintptr_t)object);
}
