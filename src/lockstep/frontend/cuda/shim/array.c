// CUDA arrays, with levels of detail or without.

#include <stdlib.h>

#include "array.h"

enum { MOST_BITS = 32 };    // of a channel
enum { LEVEL_BYTES = 256 }; // where levels begin: runtime/textures.py computes it, too

size_t element_bytes(const struct format *format) {
    const int bits[] = {format->x, format->y, format->z, format->w};
    size_t sum = 0;
    for (int k = 0; k < 4; k++) {
        if (bits[k] < 0 || bits[k] > MOST_BITS) {
            return 0;
        }
        sum += (size_t)bits[k];
    }
    return sum / 8;
}

static struct array array_of(const struct format *format, struct extent extent, unsigned flags) {
    size_t pitch = extent.width * element_bytes(format);
    return (struct array){NULL,          pitch,   extent.width, extent.height,
                          extent.depth, *format, flags};
}

#define MOST_BYTES ((size_t)1 << 48) // of a level: more than addresses are there for

static size_t array_rows(const struct array *array) {
    return array->height ? array->height : 1;
}

static bool array_bytes(const struct array *array, size_t *bytes) {
    size_t pitch; // which may have been too large for its field
    return product(&pitch, array->width, element_bytes(&array->format), 1) &&
           product(bytes, pitch, array_rows(array), array->depth ? array->depth : 1);
}

static int check(const void *out, const struct format *format, struct extent extent) {
    bool right = out && format && extent.width && element_bytes(format);
    return right ? capture_forbids() : INVALID_VALUE;
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
    int status = check(out, format, extent);
    if (status) {
        return status;
    }
    struct array array = array_of(format, extent, flags);
    size_t bytes;
    status = array_bytes(&array, &bytes) ? allocate(&array.address, bytes) : OUT_OF_MEMORY;
    if (!status) {
        *out = malloc(sizeof **out);
        **out = array;
        handle_add(ARRAY_HANDLE, *out);
    }
    return status;
}

int array_free(struct array *array) {
    if (!array || handle_get(ARRAY_HANDLE, array) != array) { // or it is a level
        return INVALID_VALUE;
    }
    int status = capture_forbids();
    if (status) {
        return status;
    }
    handle_take(ARRAY_HANDLE, array);
    status = release(array->address);
    free(array);
    return status;
}

static size_t halved(size_t extent, unsigned level) {
    return extent && !(extent >> level) ? 1 : extent >> level;
}

int mipmapped_new(struct mipmapped **out, const struct format *format, struct extent extent,
                  unsigned levels, unsigned flags) {
    int status = check(out, format, extent);
    if (status) {
        return status;
    }
    struct mipmapped made = {0};
    size_t own_bytes, bytes = 0, starts[MOST_LEVELS];
    size_t most = extent.width > extent.height ? extent.width : extent.height;
    bool has_slices = (flags & (LAYERED | CUBEMAP)) != 0;
    most = !has_slices && extent.depth > most ? extent.depth : most;
    while (made.levels < levels && made.levels < MOST_LEVELS && most >> made.levels) {
        unsigned k = made.levels++;
        struct extent own = {halved(extent.width, k), halved(extent.height, k),
                             has_slices ? extent.depth : halved(extent.depth, k)};
        made.level[k] = array_of(format, own, flags);
        starts[k] = bytes;
        if (!array_bytes(&made.level[k], &own_bytes) || own_bytes > MOST_BYTES) {
            return OUT_OF_MEMORY;
        }
        bytes += (own_bytes + LEVEL_BYTES - 1) / LEVEL_BYTES * LEVEL_BYTES;
    }
    void *address;
    status = made.levels ? allocate(&address, bytes) : INVALID_VALUE;
    if (status) {
        return status;
    }
    for (unsigned k = 0; k < made.levels; k++) {
        made.level[k].address = (char *)address + starts[k];
    }
    *out = malloc(sizeof **out);
    **out = made;
    handle_add(MIPMAPPED_HANDLE, *out);
    for (unsigned k = 0; k < made.levels; k++) {
        handle_put(ARRAY_HANDLE, &(*out)->level[k], *out);
    }
    return SUCCESS;
}

int mipmapped_free(struct mipmapped *mipmapped) {
    if (!mipmapped_lives(mipmapped)) {
        return INVALID_VALUE;
    }
    int status = capture_forbids();
    if (status) {
        return status;
    }
    handle_take(MIPMAPPED_HANDLE, mipmapped);
    for (unsigned k = 0; k < mipmapped->levels; k++) {
        handle_take(ARRAY_HANDLE, &mipmapped->level[k]);
    }
    status = release(mipmapped->level[0].address);
    free(mipmapped);
    return status;
}

struct array *mipmapped_level(struct mipmapped *mipmapped, unsigned level) {
    bool has_it = mipmapped_lives(mipmapped) && level < mipmapped->levels;
    return has_it ? &mipmapped->level[level] : NULL;
}

struct region array_from(const struct array *array, size_t x_bytes, size_t y, size_t z,
                         size_t *slice) {
    *slice = array->pitch * array_rows(array);
    char *row = (char *)array->address + z * *slice + y * array->pitch;
    return (struct region){row + x_bytes, array->pitch};
}
