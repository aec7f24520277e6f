// What the parts of the replacement libcudart share: its types, as programs pass them, and errors.
// Layouts are those of the CUDA Runtime API's documentation ("Data types").

#pragma once

#include "array.h"
#include "gpu.h"

#define API __attribute__((visibility("default")))

struct dim3 {
    unsigned x, y, z;
};
struct pitched {
    void *address;
    size_t pitch, width, height;
};
struct position {
    size_t x, y, z;
};
typedef void *stream_t;
typedef void *event_t;

struct box_copy {
    struct array *source_array;
    struct position source_position;
    struct pitched source;
    struct array *to_array;
    struct position to_position;
    struct pitched to;
    struct extent extent;
    int kind;
};

// Remembers a failure for cudaGetLastError; returns it.
int report(int status);

// For what needs no context: only a failure is remembered.
static inline int answer_with(int status) {
    return status ? report(status) : SUCCESS;
}

struct kernel *kernel_of(const void *function);    // of a stub or a handle; NULL if none
void kernel_announce(struct kernel *kernel);       // from now on it is a handle
struct variable *variable_of(const void *shadow);  // of a host shadow; NULL if none
int allocate(void **address, size_t bytes, unsigned kind);

// The rectangles that a copy of boxes moves (arrays.c).
int box_of(struct box *box, const struct box_copy *copy);

// Where some bytes of a symbol are (memory.c); INVALID_VALUE if it has fewer.
int inside_symbol(void **address, const void *shadow, size_t offset, size_t bytes);

static inline uint64_t handle_of(const void *stream) {
    return (uint64_t)(uintptr_t)stream;
}
