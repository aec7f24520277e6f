// Texture and surface objects of the runtime API.

#include "runtime.h"

API int cudaCreateTextureObject(unsigned long long *out, const struct resource *resource,
                                const struct sampling *sampling, const void *view) {
    if (!resource || !sampling) {
        return report(INVALID_VALUE);
    }
    if (view) {
        return report(gpu_unsupported("cudaCreateTextureObject with a resource view"));
    }
    if (sampling->srgb) {
        return report(gpu_unsupported("cudaCreateTextureObject with sRGB"));
    }
    return report(texture_new(out, &(struct texture){*resource, *sampling}));
}

API int cudaCreateTextureObject_v2(unsigned long long *out, const struct resource *resource,
                                   const struct sampling *sampling, const void *view) {
    return cudaCreateTextureObject(out, resource, sampling, view);
}

API int cudaCreateSurfaceObject(unsigned long long *out, const struct resource *resource) {
    if (!resource) {
        return report(INVALID_VALUE);
    }
    static const struct sampling none = {.address = {1, 1, 1}};
    return report(texture_new(out, &(struct texture){*resource, none}));
}

API int cudaDestroyTextureObject(unsigned long long texture) {
    return report(texture_free(texture));
}

API int cudaDestroySurfaceObject(unsigned long long surface) {
    return cudaDestroyTextureObject(surface);
}

API int cudaGetTextureObjectResourceDesc(struct resource *out, unsigned long long texture) {
    const struct texture *object = texture_of(texture);
    if (!out || !object) {
        return report(INVALID_VALUE);
    }
    *out = object->resource;
    return SUCCESS;
}

API int cudaGetSurfaceObjectResourceDesc(struct resource *out, unsigned long long surface) {
    return cudaGetTextureObjectResourceDesc(out, surface);
}

API int cudaGetTextureObjectTextureDesc(struct sampling *out, unsigned long long texture) {
    const struct texture *object = texture_of(texture);
    if (!out || !object) {
        return report(INVALID_VALUE);
    }
    *out = object->sampling;
    return SUCCESS;
}
