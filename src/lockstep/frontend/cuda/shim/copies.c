// Copies and fills. Device memory is mapped here, so the program moves what it copies itself; the
// simulator checks the range, waits for what is running, and learns what was written.

#include <string.h>

#include "gpu.h"

enum { PITCH = 512 };

static void move(struct region to, struct region source, size_t width, size_t rows) {
    if (rows == 1 || (to.pitch == width && source.pitch == width)) {
        memmove(to.address, source.address, width * rows);
        return;
    }
    for (size_t row = 0; row < rows; row++) {
        memmove((char *)to.address + row * to.pitch, (char *)source.address + row * source.pitch,
                width);
    }
}

static int copy_on_device(struct region to, struct region source, size_t width, size_t rows,
                          uint64_t stream) {
    struct copy_request request = {
        .to = (uint64_t)(uintptr_t)to.address,
        .to_pitch = to.pitch,
        .source = (uint64_t)(uintptr_t)source.address,
        .source_pitch = source.pitch,
        .width = width,
        .rows = rows,
        .stream = stream,
    };
    return gpu_call(CALL_COPY, &request, sizeof request, NULL, 0, &(struct reply){0});
}

int copy_rectangle(struct region to, struct region source, size_t width, size_t rows,
                   uint64_t stream) {
    int status;
    if (!gpu_device(&status)) {
        return status;
    }
    if (width == 0 || rows == 0) {
        return SUCCESS;
    }
    if (!to.address || !source.address) {
        return INVALID_VALUE;
    }
    bool writes = gpu_is_device(to.address), reads = gpu_is_device(source.address);
    if (writes && reads) {
        return copy_on_device(to, source, width, rows, stream);
    }
    struct region device = writes ? to : source;
    struct read_request request = {(uint64_t)(uintptr_t)device.address, device.pitch, width, rows,
                                   stream};
    if (writes) {
        struct write_request bounds = {request.address, request.pitch, width, rows};
        status = gpu_call(CALL_WRITE, &bounds, sizeof bounds, NULL, 0, &(struct reply){0});
    } else if (reads) {
        status = gpu_call(CALL_READ, &request, sizeof request, NULL, 0, &(struct reply){0});
    }
    if (!status) {
        move(to, source, width, rows);
        status = writes ? GPU_TELL(WRITTEN, &request) : SUCCESS;
    }
    return status;
}

int copy_box(const struct box *box, uint64_t stream) {
    int status = SUCCESS;
    size_t slices = box->width && box->rows ? box->slices : 0;
    for (size_t z = 0; z < slices && !status; z++) {
        struct region to = {(char *)box->to.address + z * box->to_slice, box->to.pitch};
        struct region source = {(char *)box->source.address + z * box->source_slice,
                                box->source.pitch};
        status = copy_rectangle(to, source, box->width, box->rows, stream);
    }
    return status;
}

bool product(size_t *out, size_t a, size_t b, size_t c) {
    return !__builtin_mul_overflow(a, b, out) && !__builtin_mul_overflow(*out, c, out);
}

int pitched_bytes(size_t width, size_t rows, size_t slices, size_t *pitch, size_t *bytes) {
    size_t padded;
    if (__builtin_add_overflow(width, PITCH - 1, &padded)) {
        return OUT_OF_MEMORY;
    }
    *pitch = padded / PITCH * PITCH;
    return product(bytes, *pitch, rows, slices) ? SUCCESS : OUT_OF_MEMORY;
}

int fill_rectangle(struct region to, uint64_t value, size_t unit, size_t width, size_t rows,
                   uint64_t stream) {
    int status;
    if (!gpu_device(&status)) {
        return status;
    }
    if (width == 0 || rows == 0) {
        return SUCCESS;
    }
    struct fill_request request = {
        .address = (uint64_t)(uintptr_t)to.address,
        .pitch = to.pitch,
        .width = width,
        .rows = rows,
        .value = value,
        .unit = unit,
        .stream = stream,
    };
    return gpu_call(CALL_FILL, &request, sizeof request, NULL, 0, &(struct reply){0});
}
