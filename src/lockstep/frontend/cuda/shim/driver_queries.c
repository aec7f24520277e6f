// What the driver API has to tell of devices and contexts beside their attributes, also by older names.

#include <stdio.h>

#include "driver.h"

int cuCtxGetCurrent(context_t *context);
int cuCtxGetApiVersion(context_t context, unsigned *version);
int cuCtxGetDevice(int *device);
int cuCtxPopCurrent(context_t *context);
int cuCtxPushCurrent(context_t context);

enum { INVALID_CONTEXT = 201 };

// CUdevprop
struct properties {
    int most_threads, block[3], grid[3], shared, constant, warp, pitch, registers, clock, alignment;
};

API int cuDeviceGetProperties(struct properties *out, int device) {
    static const int attributes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    _Static_assert(sizeof attributes == sizeof *out, "an attribute each");
    int status = out ? gpu_check(device) : INVALID_VALUE;
    for (size_t k = 0; !status && k < sizeof attributes / sizeof *attributes; k++) {
        ((int *)out)[k] = gpu_attribute_of(device, attributes[k]);
    }
    return status;
}

API int cuDeviceGetByPCIBusId(int *device, const char *text) {
    unsigned number;
    char end;
    if (!device || !text || sscanf(text, "0000:%2x:00.0%c", &number, &end) != 1 ||
        gpu_check((int)number)) {
        return INVALID_VALUE;
    }
    *device = (int)number;
    return SUCCESS;
}

API int cuStreamGetDevice(stream_t stream, int *device) {
    int status = stream_check(stream);
    return status ? status : GIVE(device, device_of(stream));
}

// Of a context, or of the current one.
static int check(context_t *context) {
    unsigned version;
    if (*context) {
        return cuCtxGetApiVersion(*context, &version);
    }
    int status = cuCtxGetCurrent(context);
    return status || *context ? status : INVALID_CONTEXT;
}

API int cuCtxGetId(context_t context, uint64_t *id) {
    int status = check(&context);
    return status ? status : GIVE(id, handle_of(context));
}

API int cuCtxGetDevice_v2(int *device, context_t context) {
    int status = check(&context);
    status = status ? status : cuCtxPushCurrent(context);
    if (status) {
        return status;
    }
    status = cuCtxGetDevice(device);
    cuCtxPopCurrent(NULL);
    return status;
}

API int cuCtxSynchronize_v2(context_t context) {
    int status = check(&context);
    return status ? status : translate(device_synchronize());
}

// What programs prefer of caches and of banks changes nothing.
API int cuCtxGetCacheConfig(int *preference) {
    return GIVE(preference, 0);
}
ALSO(cuCtxGetSharedMemConfig, cuCtxGetCacheConfig);

API int cuCtxResetPersistingL2Cache(void) {
    return SUCCESS;
}

API int cuCtxSetFlags(unsigned flags) {
    (void)flags;
    return SUCCESS;
}
