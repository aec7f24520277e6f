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

enum { LAYERED = 1, CUBEMAP = 4 };

// Remembers a failure for cudaGetLastError; returns it.
int report(int status);

size_t element_bytes(const struct format *format);
struct kernel *kernel_of(const void *function);    // of a stub or a handle; NULL if none
struct variable *variable_of(const void *shadow);  // of a host shadow; NULL if none
int allocate(void **address, size_t bytes, unsigned kind);

// While a stream is captured, what is enqueued is kept for the graph (capture.c).
bool capture_active(uint64_t stream);
int capture_launch(struct kernel *kernel, const struct shape *shape, void **arguments);
int capture_copy(stream_t stream, struct region to, struct region source, size_t width,
                 size_t rows);
int capture_box(stream_t stream, const struct box_copy *copy);
int capture_fill(stream_t stream, struct region to, uint64_t value, size_t width, size_t rows);
int capture_call(stream_t stream, void (*function)(void *), void *data);

// Events order captured streams; whether a call was about capturing and nothing else is to be done.
bool capture_event(stream_t stream, event_t event);
bool capture_wait(stream_t stream, event_t event);

int capture_allocate(stream_t stream, size_t bytes, void **address);
int capture_free(stream_t stream, void *address);

// Frees memory that a graph's node allocated; false if it is none.
bool graph_memory_free(const void *address, int *status);
void graph_memory_reset(void);

// Used by graphs.
int cudaMemcpy3D(const struct box_copy *copy);
int cudaLaunchHostFunc(stream_t stream, void (*function)(void *), void *data);
int cudaEventRecord(event_t event, stream_t stream);
int cudaGetSymbolAddress(void **address, const void *shadow);

static inline uint64_t handle_of(const void *stream) {
    return (uint64_t)(uintptr_t)stream;
}
