// What the parts of the replacement libcuda share. Types are those of the CUDA Driver API: a context
// is a marker, a module and a function are the shared ones of gpu.h, streams and events are handles.

#pragma once

#include "gpu.h"

#define API __attribute__((visibility("default")))

// Another name of a function of the same file: the API numbers its versions.
#define ALSO(name, function)                                                                       \
    extern __typeof__(function) name __attribute__((alias(#function), visibility("default")))

typedef uint64_t pointer_t;
typedef void *stream_t;
typedef void *event_t;
typedef void *context_t;

struct box_side {
    size_t x_bytes, y, z, level;
    int type; // 1 host, 2 device, 3 array, 4 whatever the address says
    const void *host;
    pointer_t device;
    void *array, *unused;
    size_t pitch, rows; // rows of a slice
};
// CUDA_MEMCPY3D
struct box_copy {
    struct box_side source, to;
    size_t width_bytes, rows, slices;
};
// The rectangles that it moves (driver_copies.c).
int box_of(struct box *box, const struct box_copy *copy);

// A status as the driver API has it: some of the runtime's numbers mean nothing there.
int translate(int status);

static inline uint64_t handle_of(const void *handle) {
    return (uint64_t)(uintptr_t)handle;
}

// Ends what a handle stands for; no more is left of it than what waits for it.
static inline int destroy(unsigned call, enum handle_kind kind, const void *given) {
    uint64_t handle = handle_of(given);
    if (!handle_get(kind, given)) {
        return INVALID_HANDLE;
    }
    bool later = held_destroy(call, handle);
    handle_take(kind, given);
    if (later) {
        return SUCCESS;
    }
    return translate(gpu_call(call, &handle, sizeof handle, NULL, 0, &(struct reply){0}));
}

int cuMemAlloc(pointer_t *address, size_t bytes);
int cuMemFree(pointer_t address);
