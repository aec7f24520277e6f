// The driver API's memory: allocation, and what a pointer is.

#include <string.h>

#include "driver.h"

enum { READ_AND_WRITE = 3 }; // CU_MEM_ACCESS_FLAGS_PROT_READWRITE

static int allocate(pointer_t *address, size_t bytes, unsigned kind) {
    int status = address && bytes ? capture_forbids() : INVALID_VALUE;
    if (status) {
        return status;
    }
    struct allocate_request request = {bytes, kind};
    struct allocate_reply fields = {0};
    status = GPU_CALL(ALLOCATE, &request, &fields);
    *address = fields.address;
    return translate(status);
}

API int cuMemAlloc(pointer_t *address, size_t bytes) {
    return allocate(address, bytes, ALLOCATION_DEVICE);
}
ALSO(cuMemAlloc_v2, cuMemAlloc);

API int cuMemAllocAsync(pointer_t *address, size_t bytes, stream_t stream) {
    return translate(address && bytes ? stream_allocate(handle_of(stream), bytes, NULL, address)
                                      : INVALID_VALUE);
}

API int cuMemAllocManaged(pointer_t *address, size_t bytes) {
    int status = allocate(address, bytes, ALLOCATION_MANAGED);
    return status ? status : advise((void *)(uintptr_t)*address, bytes, FORGOTTEN, 0);
}

API int cuMemAllocPitch(pointer_t *address, size_t *pitch, size_t width, size_t rows) {
    size_t bytes;
    int status = pitch ? pitched_bytes(width, rows, 1, pitch, &bytes) : INVALID_VALUE;
    return status ? status : allocate(address, bytes, ALLOCATION_DEVICE);
}
ALSO(cuMemAllocPitch_v2, cuMemAllocPitch);

API int cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
    int status = allocate((pointer_t *)address, bytes, ALLOCATION_HOST);
    if (!status) {
        keep_flags(HOST_MEMORY, *address, flags);
    }
    return status;
}

API int cuMemAllocHost(void **address, size_t bytes) {
    return cuMemHostAlloc(address, bytes, 0);
}
ALSO(cuMemAllocHost_v2, cuMemAllocHost);

API int cuMemHostGetFlags(unsigned *flags, void *address) {
    return gpu_is_device(address) ? GIVE(flags, flags_of(HOST_MEMORY, address)) : INVALID_VALUE;
}

static int release(pointer_t address, bool host) {
    if (!address) {
        return SUCCESS;
    }
    int status = capture_forbids();
    status = status ? status : held_resolve(0, 0); // whatever may use it
    return translate(status ? status : memory_free_of(address, host));
}

API int cuMemFree(pointer_t address) {
    return release(address, false);
}
ALSO(cuMemFree_v2, cuMemFree);

API int cuMemFreeAsync(pointer_t address, stream_t stream) {
    return translate(stream_free(handle_of(stream), address));
}

API int cuMemFreeHost(void *address) {
    return release(handle_of(address), true);
}

API int cuMemHostRegister(void *address, size_t bytes, unsigned flags) {
    (void)flags;
    return host_register(address, bytes);
}
ALSO(cuMemHostRegister_v2, cuMemHostRegister);

API int cuMemHostUnregister(void *address) {
    return host_unregister(address);
}

API int cuMemHostGetDevicePointer(pointer_t *out, void *address, unsigned flags) {
    (void)flags;
    return out ? host_device_address(address, out) : INVALID_VALUE;
}
ALSO(cuMemHostGetDevicePointer_v2, cuMemHostGetDevicePointer);

API int cuMemGetInfo(size_t *free, size_t *total) {
    if (!free || !total) {
        return INVALID_VALUE;
    }
    struct memory_reply fields = {0};
    int status = gpu_call(CALL_MEMORY, NULL, 0, NULL, 0,
                          &(struct reply){&fields, sizeof fields, NULL, 0});
    *free = fields.free;
    *total = fields.total;
    return translate(status);
}
ALSO(cuMemGetInfo_v2, cuMemGetInfo);

static int look_up(pointer_t address, struct pointer_reply *fields) {
    int status;
    if (!gpu_device(&status)) {
        return status;
    }
    if (!gpu_is_device((void *)(uintptr_t)address)) {
        return INVALID_VALUE;
    }
    struct pointer_request request = {address};
    return translate(GPU_CALL(POINTER, &request, fields));
}

API int cuMemGetAddressRange(pointer_t *start, size_t *bytes, pointer_t address) {
    struct pointer_reply fields = {0};
    int status = look_up(address, &fields);
    if (start) {
        *start = fields.start;
    }
    if (bytes) {
        *bytes = fields.size;
    }
    return status == INVALID_VALUE ? NOT_FOUND : status;
}
ALSO(cuMemGetAddressRange_v2, cuMemGetAddressRange);

// CUpointer_attribute
enum {
    CONTEXT = 1,
    MEMORY_TYPE,
    DEVICE_POINTER = 3,
    HOST_POINTER = 4,
    SYNCHRONOUS = 6,
    BUFFER_ID,
    IS_MANAGED = 8,
    DEVICE_ORDINAL = 9,
    CAN_BE_SHARED,
    RANGE_START,
    RANGE_BYTES = 12,
    MAPPED,
    HANDLE_TYPES,
    DIRECT_ACCESS, // by other hardware
    ACCESS,
};
enum { ON_HOST = 1, ON_DEVICE = 2 };

// Memory is its device's: of all contexts.
static int context_of(int device, context_t *context) {
    extern int cuCtxGetCurrent(context_t *context);
    extern int cuDevicePrimaryCtxRetain(context_t *context, int device);
    int status = device == gpu_current() ? cuCtxGetCurrent(context) : SUCCESS;
    bool known = !status && device == gpu_current() && *context;
    return known ? SUCCESS : cuDevicePrimaryCtxRetain(context, device);
}

static int attribute_of(void *data, int attribute, pointer_t address,
                        const struct pointer_reply *found) {
    if (!data) {
        return INVALID_VALUE;
    }
    unsigned type = found->kind == ALLOCATION_HOST ? ON_HOST : ON_DEVICE;
    switch (attribute) {
    case CONTEXT:
        return context_of((int)found->device, data);
    case MEMORY_TYPE:
        *(unsigned *)data = type;
        return SUCCESS;
    case DEVICE_POINTER:
    case HOST_POINTER:
        *(pointer_t *)data = address;
        return SUCCESS;
    case BUFFER_ID:
    case RANGE_START:
        *(uint64_t *)data = found->start;
        return SUCCESS;
    case RANGE_BYTES:
        *(size_t *)data = found->size;
        return SUCCESS;
    case IS_MANAGED:
        *(unsigned *)data = found->kind == ALLOCATION_MANAGED;
        return SUCCESS;
    case DEVICE_ORDINAL:
        *(int *)data = (int)found->device;
        return SUCCESS;
    case MAPPED:
        *(unsigned *)data = 1;
        return SUCCESS;
    case CAN_BE_SHARED:
        *(unsigned *)data = found->kind == ALLOCATION_DEVICE;
        return SUCCESS;
    case SYNCHRONOUS:
    case DIRECT_ACCESS:
        *(unsigned *)data = 0;
        return SUCCESS;
    case HANDLE_TYPES:
        *(uint64_t *)data = 0;
        return SUCCESS;
    case ACCESS:
        *(unsigned *)data = READ_AND_WRITE;
        return SUCCESS;
    default:
        return gpu_unsupported("cuPointerGetAttribute of a rare attribute");
    }
}

API int cuPointerGetAttribute(void *data, int attribute, pointer_t address) {
    struct pointer_reply found = {0};
    int status = look_up(address, &found);
    return status ? status : attribute_of(data, attribute, address, &found);
}

API int cuPointerGetAttributes(unsigned count, const int *attributes, void **data,
                               pointer_t address) {
    struct pointer_reply found = {0};
    int status = attributes && data && count ? look_up(address, &found) : INVALID_VALUE;
    for (unsigned k = 0; k < count && !status; k++) {
        status = attribute_of(data[k], attributes[k], address, &found);
    }
    return status;
}

API int cuPointerSetAttribute(const void *value, int attribute, pointer_t address) {
    (void)attribute;
    return value && gpu_is_device((void *)(uintptr_t)address) ? SUCCESS : INVALID_VALUE;
}
