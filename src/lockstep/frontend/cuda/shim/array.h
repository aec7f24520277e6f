// Arrays and textures, which both APIs have: a cudaArray_t is a CUarray. Structures that programs
// pass are those of the CUDA Runtime API's documentation ("Data types").

#pragma once

#include "gpu.h"

struct format {
    int x, y, z, w; // bits of each channel
    int kind;       // 0 signed, 1 unsigned, 2 float
};
struct extent {
    size_t width, height, depth;
};

// Rows of elements in device memory.
struct array {
    void *address;
    size_t pitch, width, height, depth;
    struct format format;
    unsigned flags;
};
enum { LAYERED = 1, CUBEMAP = 4 };

// All levels of detail of one array, the largest first.
enum { MOST_LEVELS = 32 };
struct mipmapped {
    unsigned levels;
    struct array level[MOST_LEVELS];
};

// Arrays (array.c)

size_t element_bytes(const struct format *format); // 0: there are no such elements
// Also one that is a level of a mipmapped array, which goes with that.
static inline bool array_lives(const struct array *array) {
    return handle_get(ARRAY_HANDLE, array) != NULL;
}
static inline bool mipmapped_lives(const struct mipmapped *mipmapped) {
    return handle_get(MIPMAPPED_HANDLE, mipmapped) != NULL;
}
int array_new(struct array **out, const struct format *format, struct extent extent,
              unsigned flags);
int array_free(struct array *array);
int mipmapped_new(struct mipmapped **out, const struct format *format, struct extent extent,
                  unsigned levels, unsigned flags);
int mipmapped_free(struct mipmapped *mipmapped);
struct array *mipmapped_level(struct mipmapped *mipmapped, unsigned level); // NULL: there is none
// From an element of a row on. `slice`: how far apart slices are.
struct region array_from(const struct array *array, size_t x_bytes, size_t y, size_t z,
                         size_t *slice);

// Texture and surface objects (texture.c)

enum { OF_ARRAY = 0, OF_MIPMAPPED = 1, OF_LINEAR = 2, OF_ROWS = 3 };
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
    int filter, reading, srgb; // reading: 1 = whole numbers as floats from 0 or -1 to 1
    float border[4];
    int normalized;
    unsigned anisotropy;
    int level_filter;
    float level_bias, level_least, level_most;
};

// What an object is made from; a surface is sampled by nothing.
struct texture {
    struct resource resource;
    struct sampling sampling;
};
bool resource_lives(const struct resource *resource); // what it names, as far as that is known here
int texture_new(unsigned long long *out, const struct texture *texture);
int texture_free(unsigned long long object);
const struct texture *texture_of(unsigned long long object); // NULL: there is none
