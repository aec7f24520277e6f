// What the parts of the replacement libcudart share: its types, as programs pass them, and errors.
// Layouts are those of the CUDA Runtime API's documentation ("Data types").

#pragma once

#include "gpu.h"

#define API __attribute__((visibility("default")))

struct dim3 {
    unsigned x, y, z;
};
struct extent {
    size_t width, height, depth;
};
struct pitched {
    void *address;
    size_t pitch, width, height;
};
struct position {
    size_t x, y, z;
};
struct format {
    int x, y, z, w; // bits of each channel
    int kind;       // 0 signed, 1 unsigned, 2 float
};
typedef void *stream_t;
typedef void *event_t;

// A CUDA array: rows of elements in device memory.
struct array {
    void *address;
    size_t pitch, width, height, depth;
    struct format format;
    unsigned flags;
};

// All levels of detail of one array, the largest first.
struct mipmapped {
    unsigned levels;
    struct array level[32];
};

enum { LAYERED = 1, CUBEMAP = 4 };

// Remembers a failure for cudaGetLastError; returns it.
int report(int status);

size_t element_bytes(const struct format *format);
struct kernel *kernel_of(const void *function);    // of a stub or a handle; NULL if none
struct variable *variable_of(const void *shadow);  // of a host shadow; NULL if none
int allocate(void **address, size_t bytes, unsigned kind);

// While a stream is captured, what is enqueued is kept for the graph (graphs.c).
bool capture_active(uint64_t stream);
int capture_launch(struct kernel *kernel, const struct shape *shape, void **arguments);
int capture_copy(struct region to, struct region source, size_t width, size_t rows);
int capture_fill(struct region to, uint64_t value, size_t width, size_t rows);

static inline uint64_t handle_of(const void *stream) {
    return (uint64_t)(uintptr_t)stream;
}
