// Arrays and textures of the driver API: its descriptions of what array.c and texture.c make.

#include <string.h>

#include "array.h"
#include "driver.h"

enum { HALF = 0x10, FLOAT = 0x20 };          // CUarray_format; others: 1 to 3, 8 to 10
enum { AS_INTEGER = 1, NORMALIZED = 2, SRGB = 0x10 }; // CU_TRSF_...

// CUDA_ARRAY3D_DESCRIPTOR; CUDA_ARRAY_DESCRIPTOR is without depth and flags
struct description {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};
struct flat_description {
    size_t width, height;
    int format;
    unsigned channels;
};

// CUDA_RESOURCE_DESC
struct driver_resource {
    int kind;
    union {
        struct array *array;
        struct mipmapped *mipmapped;
        struct {
            pointer_t address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            pointer_t address;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } rows;
        int room[32];
    } of;
    unsigned flags;
};

// CUDA_TEXTURE_DESC
struct driver_sampling {
    int address[3];
    int filter;
    unsigned flags, anisotropy;
    int level_filter;
    float level_bias, level_least, level_most;
    float border[4];
    int reserved[12];
};

static bool read_format(struct format *out, int format, unsigned channels) {
    int bits = format == HALF ? 16 : format == FLOAT ? 32 : 8 << ((format & 7) - (format < 8));
    int kind = format == HALF || format == FLOAT ? 2 : format < 8;
    *out = (struct format){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                           channels > 3 ? bits : 0, kind};
    bool whole = (format >= 1 && format <= 3) || (format >= 8 && format <= 10);
    return (whole || kind == 2) && (channels == 1 || channels == 2 || channels == 4);
}

static unsigned channels_of(const struct format *format) {
    return 1u + (format->y > 0) + (format->z > 0) + (format->w > 0);
}

static int format_number(const struct format *format) {
    int size = format->x == 8 ? 0 : format->x == 16 ? 1 : 2;
    return format->kind == 2 ? (size == 1 ? HALF : FLOAT) : format->kind == 1 ? 1 + size : 8 + size;
}

API int cuArray3DCreate(struct array **out, const struct description *given) {
    struct format format;
    if (!given || !read_format(&format, given->format, given->channels)) {
        return INVALID_VALUE;
    }
    struct extent extent = {given->width, given->height, given->depth};
    return translate(array_new(out, &format, extent, given->flags));
}
ALSO(cuArray3DCreate_v2, cuArray3DCreate);

API int cuArrayCreate(struct array **out, const struct flat_description *given) {
    if (!given) {
        return INVALID_VALUE;
    }
    return cuArray3DCreate(out, &(struct description){given->width, given->height, 0,
                                                      given->format, given->channels, 0});
}
ALSO(cuArrayCreate_v2, cuArrayCreate);

API int cuArray3DGetDescriptor(struct description *out, const struct array *array) {
    if (!out || !array_lives(array)) {
        return out ? INVALID_HANDLE : INVALID_VALUE;
    }
    *out = (struct description){array->width,
                                array->height,
                                array->depth,
                                format_number(&array->format),
                                channels_of(&array->format),
                                array->flags};
    return SUCCESS;
}
ALSO(cuArray3DGetDescriptor_v2, cuArray3DGetDescriptor);

API int cuArrayGetDescriptor(struct flat_description *out, const struct array *array) {
    struct description whole;
    int status = out ? cuArray3DGetDescriptor(&whole, array) : INVALID_VALUE;
    if (status) {
        return status;
    }
    *out = (struct flat_description){whole.width, whole.height, whole.format, whole.channels};
    return SUCCESS;
}
ALSO(cuArrayGetDescriptor_v2, cuArrayGetDescriptor);

API int cuArrayDestroy(struct array *array) {
    return array_lives(array) ? translate(array_free(array)) : INVALID_HANDLE;
}

API int cuMipmappedArrayCreate(struct mipmapped **out, const struct description *given,
                               unsigned levels) {
    struct format format;
    if (!given || !read_format(&format, given->format, given->channels)) {
        return INVALID_VALUE;
    }
    struct extent extent = {given->width, given->height, given->depth};
    return translate(mipmapped_new(out, &format, extent, levels, given->flags));
}

API int cuMipmappedArrayGetLevel(struct array **out, struct mipmapped *mipmapped, unsigned level) {
    if (!out || !mipmapped_lives(mipmapped)) {
        return out ? INVALID_HANDLE : INVALID_VALUE;
    }
    *out = mipmapped_level(mipmapped, level);
    return *out ? SUCCESS : INVALID_VALUE;
}

API int cuMipmappedArrayDestroy(struct mipmapped *mipmapped) {
    return mipmapped_lives(mipmapped) ? translate(mipmapped_free(mipmapped)) : INVALID_HANDLE;
}

// Rows of an array lie one after the other: bytes from a place on are one long row.
static struct region bytes_of(const struct array *array, size_t offset, size_t bytes) {
    return (struct region){(char *)array->address + offset, bytes};
}

static int copy(struct region to, struct region source, size_t bytes, stream_t stream) {
    return translate(stream_copy(handle_of(stream), to, source, bytes, 1));
}

API int cuMemcpyHtoAAsync(struct array *to, size_t offset, const void *source, size_t bytes,
                          stream_t stream) {
    if (!array_lives(to) || !source) {
        return INVALID_VALUE;
    }
    return copy(bytes_of(to, offset, bytes), (struct region){(void *)source, bytes}, bytes, stream);
}
ALSO(cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync);

API int cuMemcpyHtoA(struct array *to, size_t offset, const void *source, size_t bytes) {
    return cuMemcpyHtoAAsync(to, offset, source, bytes, BLOCKING);
}
ALSO(cuMemcpyHtoA_v2, cuMemcpyHtoA);

API int cuMemcpyAtoHAsync(void *to, const struct array *source, size_t offset, size_t bytes,
                          stream_t stream) {
    if (!to || !array_lives(source)) {
        return INVALID_VALUE;
    }
    return copy((struct region){to, bytes}, bytes_of(source, offset, bytes), bytes, stream);
}
ALSO(cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync);

API int cuMemcpyAtoH(void *to, const struct array *source, size_t offset, size_t bytes) {
    return cuMemcpyAtoHAsync(to, source, offset, bytes, BLOCKING);
}
ALSO(cuMemcpyAtoH_v2, cuMemcpyAtoH);

API int cuMemcpyDtoA(struct array *to, size_t offset, pointer_t source, size_t bytes) {
    return cuMemcpyHtoA(to, offset, (const void *)(uintptr_t)source, bytes);
}
ALSO(cuMemcpyDtoA_v2, cuMemcpyDtoA);

API int cuMemcpyAtoD(pointer_t to, const struct array *source, size_t offset, size_t bytes) {
    return cuMemcpyAtoH((void *)(uintptr_t)to, source, offset, bytes);
}
ALSO(cuMemcpyAtoD_v2, cuMemcpyAtoD);

API int cuMemcpyAtoA(struct array *to, size_t to_offset, const struct array *source, size_t offset,
                     size_t bytes) {
    if (!array_lives(to) || !array_lives(source)) {
        return INVALID_VALUE;
    }
    return copy(bytes_of(to, to_offset, bytes), bytes_of(source, offset, bytes), bytes, BLOCKING);
}
ALSO(cuMemcpyAtoA_v2, cuMemcpyAtoA);

static bool read_resource(struct resource *out, const struct driver_resource *given) {
    *out = (struct resource){.kind = given->kind};
    if (given->kind == OF_LINEAR) {
        out->of.linear.address = (void *)(uintptr_t)given->of.linear.address;
        out->of.linear.bytes = given->of.linear.bytes;
        return read_format(&out->of.linear.format, given->of.linear.format,
                           given->of.linear.channels);
    }
    if (given->kind == OF_ROWS) {
        out->of.rows.address = (void *)(uintptr_t)given->of.rows.address;
        out->of.rows.width = given->of.rows.width;
        out->of.rows.height = given->of.rows.height;
        out->of.rows.pitch = given->of.rows.pitch;
        return read_format(&out->of.rows.format, given->of.rows.format, given->of.rows.channels);
    }
    out->of.array = given->of.array;
    return (given->kind == OF_ARRAY || given->kind == OF_MIPMAPPED) && given->of.array;
}

// 32-bit whole numbers are read as they are, whatever a program says.
static bool is_narrow(const struct resource *resource) {
    const struct format *format = resource->kind == OF_LINEAR ? &resource->of.linear.format
                                : resource->kind == OF_ROWS   ? &resource->of.rows.format
                                : resource->kind == OF_ARRAY  ? &resource->of.array->format
                                                              : &resource->of.mipmapped->level->format;
    return format->kind != 2 && format->x < 32;
}

static int create(unsigned long long *out, const struct driver_resource *given,
                  const struct driver_sampling *how) {
    struct texture texture;
    if (!given || !read_resource(&texture.resource, given) || !resource_lives(&texture.resource)) {
        return INVALID_VALUE;
    }
    bool as_integer = (how->flags & AS_INTEGER) || !is_narrow(&texture.resource);
    texture.sampling = (struct sampling){
        .filter = how->filter,
        .reading = !as_integer,
        .normalized = (how->flags & NORMALIZED) != 0,
        .anisotropy = how->anisotropy,
        .level_filter = how->level_filter,
        .level_bias = how->level_bias,
        .level_least = how->level_least,
        .level_most = how->level_most,
    };
    memcpy(texture.sampling.address, how->address, sizeof how->address);
    memcpy(texture.sampling.border, how->border, sizeof how->border);
    return translate(texture_new(out, &texture));
}

API int cuTexObjectCreate(unsigned long long *out, const struct driver_resource *resource,
                          const struct driver_sampling *how, const void *view) {
    if (!resource || !how) {
        return INVALID_VALUE;
    }
    if (view) {
        return gpu_unsupported("cuTexObjectCreate with a resource view");
    }
    if (how->flags & SRGB) {
        return gpu_unsupported("cuTexObjectCreate with sRGB");
    }
    return create(out, resource, how);
}

API int cuSurfObjectCreate(unsigned long long *out, const struct driver_resource *resource) {
    static const struct driver_sampling none = {.address = {1, 1, 1}, .flags = AS_INTEGER};
    return create(out, resource, &none);
}

API int cuTexObjectDestroy(unsigned long long object) {
    return translate(texture_free(object));
}
ALSO(cuSurfObjectDestroy, cuTexObjectDestroy);

API int cuTexObjectGetResourceDesc(struct driver_resource *out, unsigned long long object) {
    const struct texture *texture = texture_of(object);
    if (!out || !texture) {
        return INVALID_VALUE;
    }
    const struct resource *from = &texture->resource;
    *out = (struct driver_resource){.kind = from->kind};
    if (from->kind == OF_LINEAR) {
        out->of.linear.address = handle_of(from->of.linear.address);
        out->of.linear.format = format_number(&from->of.linear.format);
        out->of.linear.channels = channels_of(&from->of.linear.format);
        out->of.linear.bytes = from->of.linear.bytes;
    } else if (from->kind == OF_ROWS) {
        out->of.rows.address = handle_of(from->of.rows.address);
        out->of.rows.format = format_number(&from->of.rows.format);
        out->of.rows.channels = channels_of(&from->of.rows.format);
        out->of.rows.width = from->of.rows.width;
        out->of.rows.height = from->of.rows.height;
        out->of.rows.pitch = from->of.rows.pitch;
    } else {
        out->of.array = from->of.array;
    }
    return SUCCESS;
}
ALSO(cuSurfObjectGetResourceDesc, cuTexObjectGetResourceDesc);

API int cuTexObjectGetTextureDesc(struct driver_sampling *out, unsigned long long object) {
    const struct texture *texture = texture_of(object);
    if (!out || !texture) {
        return INVALID_VALUE;
    }
    const struct sampling *from = &texture->sampling;
    unsigned flags = (from->reading ? 0 : AS_INTEGER) | (from->normalized ? NORMALIZED : 0);
    *out = (struct driver_sampling){
        .filter = from->filter,
        .flags = flags,
        .anisotropy = from->anisotropy,
        .level_filter = from->level_filter,
        .level_bias = from->level_bias,
        .level_least = from->level_least,
        .level_most = from->level_most,
    };
    memcpy(out->address, from->address, sizeof out->address);
    memcpy(out->border, from->border, sizeof out->border);
    return SUCCESS;
}
