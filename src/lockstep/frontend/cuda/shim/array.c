// CUDA arrays, with levels of detail or without.

#include <stdlib.h>

#include "array.h"

enum { LEVEL_BYTES = 256 }; // where levels begin: runtime/textures.py computes it, too

size_t element_bytes(const struct format *format) {
    return (size_t)(format->x + format->y + format->z + format->w) / 8;
}

static struct array array_of(const struct format *format, struct extent extent, unsigned flags) {
    size_t pitch = extent.width * element_bytes(format);
    return (struct array){NULL,          pitch,   extent.width, extent.height,
                          extent.depth, *format, flags};
}

static size_t array_rows(const struct array *array) {
    return array->height ? array->height : 1;
}

static size_t array_bytes(const struct array *array) {
    return array->pitch * array_rows(array) * (array->depth ? array->depth : 1);
}

static int allocate(void **address, size_t bytes) {
    struct allocate_request request = {bytes, ALLOCATION_DEVICE};
    struct allocate_reply fields = {0};
    int status = GPU_CALL(ALLOCATE, &request, &fields);
    *address = (void *)(uintptr_t)fields.address;
    return status;
}

static int release(void *address) {
    struct free_request request = {(uint64_t)(uintptr_t)address};
    return gpu_call(CALL_FREE, &request, sizeof request, NULL, 0, &(struct reply){0});
}

int array_new(struct array **out, const struct format *format, struct extent extent,
              unsigned flags) {
    struct array array = array_of(format, extent, flags);
    int status = allocate(&array.address, array_bytes(&array));
    if (!status) {
        *out = malloc(sizeof **out);
        **out = array;
    }
    return status;
}

int array_free(struct array *array) {
    int status = release(array->address);
    free(array);
    return status;
}

static size_t halved(size_t extent, unsigned level) {
    return extent && !(extent >> level) ? 1 : extent >> level;
}

int mipmapped_new(struct mipmapped **out, const struct format *format, struct extent extent,
                  unsigned levels, unsigned flags) {
    struct mipmapped made = {0};
    size_t bytes = 0, starts[MOST_LEVELS];
    size_t most = extent.width > extent.height ? extent.width : extent.height;
    bool has_slices = (flags & (LAYERED | CUBEMAP)) != 0;
    most = !has_slices && extent.depth > most ? extent.depth : most;
    while (made.levels < levels && made.levels < MOST_LEVELS && most >> made.levels) {
        unsigned k = made.levels++;
        struct extent own = {halved(extent.width, k), halved(extent.height, k),
                             has_slices ? extent.depth : halved(extent.depth, k)};
        made.level[k] = array_of(format, own, flags);
        starts[k] = bytes;
        bytes += (array_bytes(&made.level[k]) + LEVEL_BYTES - 1) / LEVEL_BYTES * LEVEL_BYTES;
    }
    void *address;
    int status = made.levels ? allocate(&address, bytes) : INVALID_VALUE;
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

int mipmapped_free(struct mipmapped *mipmapped) {
    int status = release(mipmapped->level[0].address);
    free(mipmapped);
    return status;
}

struct array *mipmapped_level(struct mipmapped *mipmapped, unsigned level) {
    return mipmapped && level < mipmapped->levels ? &mipmapped->level[level] : NULL;
}

struct region array_from(const struct array *array, size_t x_bytes, size_t y, size_t z,
                         size_t *slice) {
    *slice = array->pitch * array_rows(array);
    char *row = (char *)array->address + z * *slice + y * array->pitch;
    return (struct region){row + x_bytes, array->pitch};
}
