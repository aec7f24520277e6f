// Memory: allocation in all forms, copies and fills of rows, rectangles and boxes, symbols.

#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { MAPPED = 2, INVALID_PITCH = 12 };
enum { TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3, GUESS = 4 };

int allocate(void **address, size_t bytes, unsigned kind) {
    int status = address ? capture_forbids() : INVALID_VALUE;
    if (status) {
        return report(status);
    }
    struct allocate_request request = {bytes, kind};
    struct allocate_reply fields = {0};
    status = GPU_CALL(ALLOCATE, &request, &fields);
    *address = (void *)(uintptr_t)fields.address;
    return report(status);
}

static int release(void *address, bool host) {
    if (!address) {
        return SUCCESS;
    }
    int status = capture_forbids();
    status = status ? status : held_resolve(0, 0); // whatever may use it
    return report(status ? status : memory_free_of(handle_of(address), host));
}

API int cudaMalloc(void **address, size_t bytes) {
    return allocate(address, bytes, ALLOCATION_DEVICE);
}

API int cudaMallocManaged(void **address, size_t bytes, unsigned flags) {
    (void)flags;
    int status = bytes ? allocate(address, bytes, ALLOCATION_MANAGED) : report(INVALID_VALUE);
    return status ? status : advise(*address, bytes, FORGOTTEN, 0);
}

API int cudaHostAlloc(void **address, size_t bytes, unsigned flags) {
    int status = allocate(address, bytes, ALLOCATION_HOST);
    if (!status) {
        keep_flags(HOST_MEMORY, *address, flags | MAPPED); // all of it is
    }
    return status;
}

API int cudaMallocHost(void **address, size_t bytes) {
    return cudaHostAlloc(address, bytes, 0);
}

API int cudaMallocAsync(void **address, size_t bytes, stream_t stream) {
    uint64_t got = 0;
    int status = address ? stream_allocate(handle_of(stream), bytes, NULL, &got) : INVALID_VALUE;
    if (address) {
        *address = (void *)(uintptr_t)got;
    }
    return report(status);
}

API int cudaFree(void *address) {
    return release(address, false);
}

API int cudaFreeHost(void *address) {
    return release(address, true);
}

API int cudaFreeAsync(void *address, stream_t stream) {
    return report(stream_free(handle_of(stream), handle_of(address)));
}

API int cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height) {
    size_t bytes;
    int status = pitch ? pitched_bytes(width, height, 1, pitch, &bytes) : INVALID_VALUE;
    if (status) {
        return report(status);
    }
    return allocate(address, bytes, ALLOCATION_DEVICE);
}

API int cudaMalloc3D(struct pitched *out, struct extent extent) {
    if (!out) {
        return report(INVALID_VALUE);
    }
    size_t bytes;
    *out = (struct pitched){NULL, 0, extent.width, extent.height};
    int status = pitched_bytes(extent.width, extent.height, extent.depth, &out->pitch, &bytes);
    if (status) {
        return report(status);
    }
    return allocate(&out->address, bytes, ALLOCATION_DEVICE);
}

API int cudaHostRegister(void *address, size_t bytes, unsigned flags) {
    (void)flags;
    return report(host_register(address, bytes));
}

API int cudaHostUnregister(void *address) {
    return report(host_unregister(address));
}

API int cudaHostGetDevicePointer(void **out, void *address, unsigned flags) {
    (void)flags;
    uint64_t found = 0;
    int status = out ? host_device_address(address, &found) : INVALID_VALUE;
    if (out) {
        *out = (void *)(uintptr_t)found;
    }
    return report(status);
}

API int cudaHostGetFlags(unsigned *flags, void *address) {
    if (!gpu_is_device(address)) {
        return report(INVALID_VALUE);
    }
    return answer_with(GIVE(flags, flags_of(HOST_MEMORY, address)));
}

API int cudaMemGetInfo(size_t *free, size_t *total) {
    if (!free || !total) {
        return report(INVALID_VALUE);
    }
    struct memory_reply fields = {0};
    int status = gpu_call(CALL_MEMORY, NULL, 0, NULL, 0,
                          &(struct reply){&fields, sizeof fields, NULL, 0});
    *free = fields.free;
    *total = fields.total;
    return report(status);
}

struct pointer_attributes {
    int kind, device;
    void *on_device, *on_host;
};

enum { UNREGISTERED, HOST, DEVICE, MANAGED };

API int cudaPointerGetAttributes(struct pointer_attributes *out, const void *address) {
    int status;
    if (!out || !gpu_device(&status)) {
        return report(out ? status : INVALID_VALUE);
    }
    *out = (struct pointer_attributes){UNREGISTERED, -2, NULL, (void *)address};
    if (!gpu_is_device(address)) {
        if (host_is_registered(address)) {
            *out = (struct pointer_attributes){HOST, 0, NULL, (void *)address};
        }
        return SUCCESS;
    }
    struct pointer_request request = {handle_of(address)};
    struct pointer_reply fields = {0};
    status = GPU_CALL(POINTER, &request, &fields);
    static const int kinds[] = {DEVICE, MANAGED, HOST};
    if (!status) {
        int kind = kinds[fields.kind];
        void *host = kind == DEVICE ? NULL : (void *)address;
        *out = (struct pointer_attributes){kind, (int)fields.device, (void *)address, host};
    }
    return report(status);
}

// The direction must fit the addresses, as far as they tell.
static int check_kind(const void *to, const void *source, int kind) {
    int status;
    if (!gpu_device(&status)) {
        return status;
    }
    if (kind < 0 || kind > GUESS) {
        return INVALID_COPY_DIRECTION;
    }
    if (!to || !source) {
        return INVALID_VALUE;
    }
    bool to_device = kind == TO_DEVICE || kind == ON_DEVICE;
    bool from_device = kind == TO_HOST || kind == ON_DEVICE;
    if (kind != GUESS && ((to_device && !gpu_is_device(to)) ||
                          (from_device && !gpu_is_device(source)))) {
        return INVALID_VALUE;
    }
    return SUCCESS;
}

API int cudaMemcpyAsync(void *to, const void *source, size_t bytes, int kind, stream_t stream) {
    struct region target = {to, bytes}, from = {(void *)source, bytes};
    int status = bytes ? check_kind(to, source, kind) : SUCCESS;
    return report(status ? status : stream_copy(handle_of(stream), target, from, bytes, 1));
}

API int cudaMemcpy(void *to, const void *source, size_t bytes, int kind) {
    return cudaMemcpyAsync(to, source, bytes, kind, BLOCKING);
}

API int cudaMemcpyPeerAsync(void *to, int to_device, const void *source, int device, size_t bytes,
                            stream_t stream) {
    int status = gpu_check(to_device);
    status = status ? status : gpu_check(device);
    return status ? report(status) : cudaMemcpyAsync(to, source, bytes, GUESS, stream);
}

API int cudaMemcpyPeer(void *to, int to_device, const void *source, int device, size_t bytes) {
    return cudaMemcpyPeerAsync(to, to_device, source, device, bytes, BLOCKING);
}

API int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *source, size_t pitch,
                          size_t width, size_t rows, int kind, stream_t stream) {
    if (width > to_pitch || width > pitch) {
        return report(INVALID_PITCH);
    }
    struct region target = {to, to_pitch}, from = {(void *)source, pitch};
    int status = width && rows ? check_kind(to, source, kind) : SUCCESS;
    return report(status ? status : stream_copy(handle_of(stream), target, from, width, rows));
}

API int cudaMemcpy2D(void *to, size_t to_pitch, const void *source, size_t pitch, size_t width,
                     size_t rows, int kind) {
    return cudaMemcpy2DAsync(to, to_pitch, source, pitch, width, rows, kind, BLOCKING);
}

API int cudaMemset2DAsync(void *address, size_t pitch, int value, size_t width, size_t rows,
                          stream_t stream) {
    struct region to = {address, pitch};
    return report(stream_fill(handle_of(stream), to, (uint8_t)value, 1, width, rows));
}

API int cudaMemset2D(void *address, size_t pitch, int value, size_t width, size_t rows) {
    return cudaMemset2DAsync(address, pitch, value, width, rows, NULL);
}

API int cudaMemsetAsync(void *address, int value, size_t bytes, stream_t stream) {
    return cudaMemset2DAsync(address, bytes, value, bytes, 1, stream);
}

API int cudaMemset(void *address, int value, size_t bytes) {
    return cudaMemsetAsync(address, value, bytes, NULL);
}

API int cudaMemset3DAsync(struct pitched box, int value, struct extent extent, stream_t stream) {
    int status = stream_check(stream) ? report(INVALID_HANDLE) : SUCCESS;
    size_t slices = extent.width && extent.height ? extent.depth : 0;
    for (size_t z = 0; z < slices && !status; z++) {
        char *slice = (char *)box.address + z * box.pitch * box.height;
        status = cudaMemset2DAsync(slice, box.pitch, value, extent.width, extent.height, stream);
    }
    return status;
}

API int cudaMemset3D(struct pitched box, int value, struct extent extent) {
    return cudaMemset3DAsync(box, value, extent, NULL);
}

API int cudaGetSymbolAddress(void **address, const void *shadow) {
    if (!address) {
        return report(INVALID_VALUE);
    }
    struct variable *variable = variable_of(shadow);
    int status = variable ? variable_find(variable) : INVALID_SYMBOL;
    *address = status ? NULL : (void *)(uintptr_t)variable_address(variable);
    return report(status);
}

API int cudaGetSymbolSize(size_t *bytes, const void *shadow) {
    if (!bytes) {
        return report(INVALID_VALUE);
    }
    struct variable *variable = variable_of(shadow);
    int status = variable ? variable_find(variable) : INVALID_SYMBOL;
    *bytes = status ? 0 : variable->size;
    return report(status);
}

int inside_symbol(void **address, const void *shadow, size_t offset, size_t bytes) {
    char *start;
    int status = cudaGetSymbolAddress((void **)&start, shadow);
    if (status) {
        return status;
    }
    size_t size = variable_of(shadow)->size;
    *address = start + offset;
    return offset > size || bytes > size - offset ? report(INVALID_VALUE) : SUCCESS;
}

API int cudaMemcpyToSymbolAsync(const void *shadow, const void *source, size_t bytes,
                                size_t offset, int kind, stream_t stream) {
    void *address;
    int status = inside_symbol(&address, shadow, offset, bytes);
    return status ? status : cudaMemcpyAsync(address, source, bytes, kind, stream);
}

API int cudaMemcpyToSymbol(const void *shadow, const void *source, size_t bytes, size_t offset,
                           int kind) {
    return cudaMemcpyToSymbolAsync(shadow, source, bytes, offset, kind, BLOCKING);
}

API int cudaMemcpyFromSymbolAsync(void *to, const void *shadow, size_t bytes, size_t offset,
                                  int kind, stream_t stream) {
    void *address;
    int status = inside_symbol(&address, shadow, offset, bytes);
    return status ? status : cudaMemcpyAsync(to, address, bytes, kind, stream);
}

API int cudaMemcpyFromSymbol(void *to, const void *shadow, size_t bytes, size_t offset, int kind) {
    return cudaMemcpyFromSymbolAsync(to, shadow, bytes, offset, kind, BLOCKING);
}

API int cudaStreamAttachMemAsync(stream_t stream, void *address, size_t bytes, unsigned flags) {
    (void)address, (void)bytes, (void)flags;
    return report(stream_check(stream));
}
