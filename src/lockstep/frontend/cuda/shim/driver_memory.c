// The driver API's memory: allocation, copies, fills, and what a pointer is.

#include <string.h>

#include "driver.h"

enum { PITCH = 512 };

static int allocate(pointer_t *address, size_t bytes, unsigned kind) {
    if (!bytes) {
        return INVALID_VALUE;
    }
    struct allocate_request request = {bytes, kind};
    struct allocate_reply fields = {0};
    int status = GPU_CALL(ALLOCATE, &request, &fields);
    *address = fields.address;
    return translate(status);
}

API int cuMemAlloc(pointer_t *address, size_t bytes) {
    return allocate(address, bytes, ALLOCATION_DEVICE);
}
ALSO(cuMemAlloc_v2, cuMemAlloc);

API int cuMemAllocAsync(pointer_t *address, size_t bytes, stream_t stream) {
    (void)stream;
    int status = cuMemAlloc(address, bytes);
    if (!status) {
        pool_took((void *)(uintptr_t)*address, bytes);
    }
    return status;
}

API int cuMemAllocManaged(pointer_t *address, size_t bytes) {
    return allocate(address, bytes, ALLOCATION_MANAGED);
}

API int cuMemAllocPitch(pointer_t *address, size_t *pitch, size_t width, size_t rows) {
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return allocate(address, *pitch * rows, ALLOCATION_DEVICE);
}
ALSO(cuMemAllocPitch_v2, cuMemAllocPitch);

API int cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
    int status = allocate((pointer_t *)address, bytes, ALLOCATION_HOST);
    if (!status) {
        keep_flags(*address, flags);
    }
    return status;
}

API int cuMemAllocHost(void **address, size_t bytes) {
    return cuMemHostAlloc(address, bytes, 0);
}
ALSO(cuMemAllocHost_v2, cuMemAllocHost);

API int cuMemHostGetFlags(unsigned *flags, void *address) {
    *flags = flags_of(address);
    return gpu_is_device(address) ? SUCCESS : INVALID_VALUE;
}

// Memory pools: there is one, which keeps nothing but its attributes.

API int cuMemPoolCreate(void **pool, const void *properties) {
    (void)properties;
    *pool = (void *)1;
    return SUCCESS;
}

API int cuMemPoolDestroy(void *pool) {
    (void)pool;
    return SUCCESS;
}

API int cuMemPoolTrimTo(void *pool, size_t bytes) {
    (void)pool, (void)bytes;
    pool_trim();
    return SUCCESS;
}

API int cuMemPoolGetAccess(int *flags, void *pool, const void *location) {
    (void)pool, (void)location;
    *flags = 3; // read and write
    return SUCCESS;
}

API int cuMemPoolSetAccess(void *pool, const void *accesses, size_t count) {
    (void)pool, (void)accesses, (void)count;
    return SUCCESS;
}

API int cuMemPoolSetAttribute(void *pool, int attribute, const void *value) {
    (void)pool;
    return pool_set(attribute, value);
}

API int cuMemPoolGetAttribute(void *pool, int attribute, void *value) {
    (void)pool;
    return pool_get(attribute, value);
}

API int cuMemAllocFromPoolAsync(pointer_t *address, size_t bytes, void *pool, stream_t stream) {
    (void)pool;
    return cuMemAllocAsync(address, bytes, stream);
}

API int cuMemFree(pointer_t address) {
    int status = address ? with_handle(CALL_FREE, address) : SUCCESS;
    if (!status) {
        pool_gave((void *)(uintptr_t)address);
    }
    return status;
}
ALSO(cuMemFree_v2, cuMemFree);
ALSO(cuMemFreeAsync, cuMemFree);

API int cuMemFreeHost(void *address) {
    return cuMemFree(handle_of(address));
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
    return host_device_address(address, out);
}
ALSO(cuMemHostGetDevicePointer_v2, cuMemHostGetDevicePointer);

API int cuMemGetInfo(size_t *free, size_t *total) {
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
    MEMORY_TYPE = 2,
    DEVICE_POINTER = 3,
    HOST_POINTER = 4,
    BUFFER_ID = 7,
    IS_MANAGED = 8,
    DEVICE_ORDINAL = 9,
    RANGE_START = 11,
    RANGE_BYTES = 12,
    MAPPED = 13,
};
enum { ON_HOST = 1, ON_DEVICE = 2 };

static int attribute_of(void *data, int attribute, pointer_t address,
                        const struct pointer_reply *found) {
    unsigned type = found->kind == ALLOCATION_HOST ? ON_HOST : ON_DEVICE;
    switch (attribute) {
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
        *(int *)data = 0;
        return SUCCESS;
    case MAPPED:
        *(unsigned *)data = 1;
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
    int status = look_up(address, &found);
    for (unsigned k = 0; k < count && !status; k++) {
        status = attribute_of(data[k], attributes[k], address, &found);
    }
    return status;
}

API int cuPointerSetAttribute(const void *value, int attribute, pointer_t address) {
    (void)value, (void)attribute, (void)address;
    return SUCCESS;
}

// Copies; a stream, where there is one, comes last and changes nothing.

API int cuMemcpy(pointer_t to, pointer_t source, size_t bytes) {
    return translate(copy_bytes((void *)(uintptr_t)to, (void *)(uintptr_t)source, bytes));
}
ALSO(cuMemcpyAsync, cuMemcpy);
ALSO(cuMemcpyDtoD, cuMemcpy);
ALSO(cuMemcpyDtoD_v2, cuMemcpy);
ALSO(cuMemcpyDtoDAsync, cuMemcpy);
ALSO(cuMemcpyDtoDAsync_v2, cuMemcpy);

API int cuMemcpyHtoD(pointer_t to, const void *source, size_t bytes) {
    return cuMemcpy(to, handle_of(source), bytes);
}
ALSO(cuMemcpyHtoD_v2, cuMemcpyHtoD);
ALSO(cuMemcpyHtoDAsync, cuMemcpyHtoD);
ALSO(cuMemcpyHtoDAsync_v2, cuMemcpyHtoD);

API int cuMemcpyDtoH(void *to, pointer_t source, size_t bytes) {
    return cuMemcpy(handle_of(to), source, bytes);
}
ALSO(cuMemcpyDtoH_v2, cuMemcpyDtoH);
ALSO(cuMemcpyDtoHAsync, cuMemcpyDtoH);
ALSO(cuMemcpyDtoHAsync_v2, cuMemcpyDtoH);

API int cuMemcpyPeer(pointer_t to, context_t to_context, pointer_t source, context_t context,
                     size_t bytes) {
    (void)to_context, (void)context;
    return cuMemcpy(to, source, bytes);
}
ALSO(cuMemcpyPeerAsync, cuMemcpyPeer);

struct side {
    size_t x_bytes, y;
    int type; // 1 host, 2 device, 3 array, 4 whatever the address says
    const void *host;
    pointer_t device;
    void *array;
    size_t pitch;
};

struct rectangle_copy {
    struct side source, to;
    size_t width_bytes, rows;
};

enum { ARRAY = 3 };

static struct region region_of(const struct side *side) {
    char *start = side->type == ON_HOST ? (char *)side->host : (char *)(uintptr_t)side->device;
    return (struct region){start + side->y * side->pitch + side->x_bytes, side->pitch};
}

API int cuMemcpy2D(const struct rectangle_copy *copy) {
    if (copy->source.type == ARRAY || copy->to.type == ARRAY) {
        return gpu_unsupported("cuMemcpy2D with arrays");
    }
    return translate(copy_rectangle(region_of(&copy->to), region_of(&copy->source),
                                    copy->width_bytes, copy->rows));
}
ALSO(cuMemcpy2D_v2, cuMemcpy2D);
ALSO(cuMemcpy2DAsync, cuMemcpy2D);
ALSO(cuMemcpy2DAsync_v2, cuMemcpy2D);
ALSO(cuMemcpy2DUnaligned, cuMemcpy2D);
ALSO(cuMemcpy2DUnaligned_v2, cuMemcpy2D);

struct box_side {
    size_t x_bytes, y, z, level;
    int type;
    const void *host;
    pointer_t device;
    void *array, *unused;
    size_t pitch, rows; // rows of a slice
};

struct box_copy {
    struct box_side source, to;
    size_t width_bytes, rows, slices;
};

static struct region slice_of(const struct box_side *side, size_t z) {
    size_t y = side->y + (side->z + z) * side->rows;
    return region_of(&(struct side){side->x_bytes, y, side->type, side->host, side->device,
                                    side->array, side->pitch});
}

API int cuMemcpy3D(const struct box_copy *copy) {
    if (copy->source.type == ARRAY || copy->to.type == ARRAY) {
        return gpu_unsupported("cuMemcpy3D with arrays");
    }
    int status = SUCCESS;
    for (size_t z = 0; z < copy->slices && !status; z++) {
        status = copy_rectangle(slice_of(&copy->to, z), slice_of(&copy->source, z),
                                copy->width_bytes, copy->rows);
    }
    return translate(status);
}
ALSO(cuMemcpy3D_v2, cuMemcpy3D);
ALSO(cuMemcpy3DAsync, cuMemcpy3D);
ALSO(cuMemcpy3DAsync_v2, cuMemcpy3D);

static int fill(pointer_t address, size_t pitch, uint64_t value, size_t unit, size_t width,
                size_t rows) {
    struct region to = {(void *)(uintptr_t)address, pitch};
    return translate(fill_rectangle(to, value, unit, width * unit, rows));
}

#define FILL(bits, type)                                                                           \
    API int cuMemsetD##bits(pointer_t address, type value, size_t count) {                         \
        return fill(address, count * sizeof value, value, sizeof value, count, 1);                 \
    }                                                                                              \
    ALSO(cuMemsetD##bits##_v2, cuMemsetD##bits);                                                   \
    ALSO(cuMemsetD##bits##Async, cuMemsetD##bits);                                                 \
    API int cuMemsetD2D##bits(pointer_t address, size_t pitch, type value, size_t width,           \
                              size_t rows) {                                                       \
        return fill(address, pitch, value, sizeof value, width, rows);                             \
    }                                                                                              \
    ALSO(cuMemsetD2D##bits##_v2, cuMemsetD2D##bits);                                               \
    ALSO(cuMemsetD2D##bits##Async, cuMemsetD2D##bits);

FILL(8, uint8_t)
FILL(16, uint16_t)
FILL(32, uint32_t)

API int cuMemAdvise(pointer_t address, size_t bytes) {
    (void)address, (void)bytes;
    return SUCCESS;
}
ALSO(cuMemAdvise_v2, cuMemAdvise);
ALSO(cuMemPrefetchAsync, cuMemAdvise);
ALSO(cuMemPrefetchAsync_v2, cuMemAdvise);
