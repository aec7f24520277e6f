// The driver API's devices, contexts and errors.

#include <stdio.h>
#include <string.h>

#include "driver.h"

enum { VERSION = 13000, DEPTH = 32, MAJOR = 75, MINOR = 76 };
enum { ACCESS_SUPPORTED = 2, INVALID_CONTEXT = 201 };

int translate(int status) {
    switch (status) {
    case INVALID_CONFIGURATION:
        return INVALID_VALUE;
    case INVALID_SYMBOL:
        return NOT_FOUND;
    case INVALID_FUNCTION:
        return INVALID_HANDLE;
    default:
        return status;
    }
}

API int cuGetErrorString(int status, const char **text) {
    if (!text) {
        return INVALID_VALUE;
    }
    const struct error *error = error_find(status);
    *text = error ? error->text : NULL;
    return error ? SUCCESS : INVALID_VALUE;
}

API int cuGetErrorName(int status, const char **name) {
    if (!name) {
        return INVALID_VALUE;
    }
    const struct error *error = error_find(status);
    *name = error ? error->driver_name : NULL;
    return error ? SUCCESS : INVALID_VALUE;
}

API int cuInit(unsigned flags) {
    (void)flags;
    int status;
    gpu_device(&status);
    return status;
}

API int cuDriverGetVersion(int *version) {
    return GIVE(version, VERSION);
}

static int check(int device) {
    return gpu_check(device);
}

API int cuDeviceGetCount(int *count) {
    int status, known = gpu_count(&status);
    return GIVE(count, known);
}

API int cuDeviceGet(int *device, int ordinal) {
    int status = GIVE(device, ordinal);
    return status ? status : check(ordinal);
}

API int cuDeviceGetName(char *name, int length, int device) {
    int status = name && length > 0 ? check(device) : INVALID_VALUE;
    if (!status) {
        snprintf(name, (size_t)length, "%s", gpu_device_of(device)->name);
    }
    return status;
}

API int cuDeviceGetUuid(char *uuid, int device) {
    if (!uuid) {
        return INVALID_VALUE;
    }
    memset(uuid, 0, 16);
    memcpy(uuid, "lockstep", 8);
    uuid[15] = (char)device;
    return check(device);
}
ALSO(cuDeviceGetUuid_v2, cuDeviceGetUuid);

API int cuDeviceTotalMem(size_t *bytes, int device) {
    if (!bytes) {
        return INVALID_VALUE;
    }
    int status = check(device);
    *bytes = status ? 0 : gpu_device_of(device)->capacity;
    return status;
}
ALSO(cuDeviceTotalMem_v2, cuDeviceTotalMem);

API int cuDeviceGetAttribute(int *value, int attribute, int device) {
    return gpu_ask_attribute(device, attribute, value);
}

API int cuDeviceComputeCapability(int *major, int *minor, int device) {
    if (!major || !minor) {
        return INVALID_VALUE;
    }
    *major = gpu_attribute_of(device, MAJOR);
    *minor = gpu_attribute_of(device, MINOR);
    return check(device);
}

API int cuDeviceGetPCIBusId(char *text, int length, int device) {
    int status = text && length > 0 ? check(device) : INVALID_VALUE;
    if (!status) {
        snprintf(text, (size_t)length, "0000:%02x:00.0", (unsigned)device);
    }
    return status;
}

API int cuDeviceCanAccessPeer(int *can, int device, int peer) {
    if (!can) {
        return INVALID_VALUE;
    }
    *can = 0;
    return gpu_peer_access(device, peer, PEER_CAN, can);
}

// It asks about two devices.
API int cuDeviceGetP2PAttribute(int *value, int attribute, int device, int peer) {
    if (!value || device == peer) {
        return value ? INVALID_DEVICE : INVALID_VALUE;
    }
    *value = 0;
    int status = gpu_peer_access(device, peer, PEER_CAN, value);
    *value = attribute == ACCESS_SUPPORTED ? *value : 0;
    return status;
}

// Contexts: the primary one of each device, in the first row, and others that are created, which are
// its device's as well but come and go by themselves.

enum { MOST_CONTEXTS = 256 };
static bool contexts[MOST_CONTEXTS][MOST_DEVICES]; // whether one that was created is there
static bool *const primary = contexts[0];
static _Thread_local context_t stack[DEPTH];
static _Thread_local int depth;

static bool is_created(context_t context) {
    size_t place = (uintptr_t)context - (uintptr_t)contexts;
    return place >= MOST_DEVICES && place < sizeof contexts && *(bool *)context;
}

static bool is_context(context_t context) {
    return (uintptr_t)context - (uintptr_t)primary < MOST_DEVICES || is_created(context);
}

static int context_device(context_t context) {
    return (int)(((uintptr_t)context - (uintptr_t)contexts) % MOST_DEVICES);
}

// The device of the context on top is that of the thread.
static void follow(void) {
    if (depth && is_context(stack[depth - 1])) {
        gpu_set_current(context_device(stack[depth - 1]));
    }
}

// The runtime API makes the context of its device current, where the program has pushed none.
static context_t top(void) {
    if (depth) {
        return stack[depth - 1];
    }
    return gpu_has_context() ? &primary[gpu_current()] : NULL;
}

API int cuDevicePrimaryCtxRetain(context_t *context, int device) {
    int status = context ? check(device) : INVALID_VALUE;
    if (context) {
        *context = status ? NULL : &primary[device];
    }
    return status;
}

API int cuDevicePrimaryCtxRelease(int device) {
    return check(device);
}
ALSO(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease);

API int cuDevicePrimaryCtxSetFlags(int device, unsigned flags) {
    (void)flags;
    return check(device);
}
ALSO(cuDevicePrimaryCtxSetFlags_v2, cuDevicePrimaryCtxSetFlags);

API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    if (!flags || !active) {
        return INVALID_VALUE;
    }
    *flags = 0;
    *active = 1;
    return check(device);
}

API int cuDevicePrimaryCtxReset(int device) {
    int status = check(device);
    return status ? status : device_reset();
}
ALSO(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset);

API int cuCtxSetCurrent(context_t context) {
    if (context && !is_context(context)) {
        return INVALID_CONTEXT;
    }
    if (depth == 0) {
        depth = context != NULL;
    }
    if (depth) {
        stack[depth - 1] = context;
        depth -= context == NULL;
    }
    gpu_keep_context(false);
    follow();
    return SUCCESS;
}

API int cuCtxGetCurrent(context_t *context) {
    return GIVE(context, top());
}

API int cuCtxPushCurrent(context_t context) {
    if (depth == DEPTH || !is_context(context)) {
        return is_context(context) ? INVALID_VALUE : INVALID_CONTEXT;
    }
    stack[depth++] = context;
    follow();
    return SUCCESS;
}
ALSO(cuCtxPushCurrent_v2, cuCtxPushCurrent);

API int cuCtxPopCurrent(context_t *context) {
    context_t popped = top();
    if (!popped) {
        return INVALID_CONTEXT;
    }
    if (context) {
        *context = popped;
    }
    if (depth) {
        depth--;
    } else {
        gpu_keep_context(false);
    }
    follow();
    return SUCCESS;
}
ALSO(cuCtxPopCurrent_v2, cuCtxPopCurrent);

static int create(context_t *context, int device) {
    if (!context) {
        return INVALID_VALUE;
    }
    *context = NULL;
    int status = check(device);
    for (int k = 1; k < MOST_CONTEXTS && !status && !*context; k++) {
        if (!__atomic_exchange_n(&contexts[k][device], true, __ATOMIC_RELAXED)) {
            *context = &contexts[k][device];
        }
    }
    status = status || *context ? status : OUT_OF_MEMORY;
    return status ? status : cuCtxPushCurrent(*context);
}

API int cuCtxCreate(context_t *context, unsigned flags, int device) {
    (void)flags;
    return create(context, device);
}
ALSO(cuCtxCreate_v2, cuCtxCreate);

// Later versions put parameters before the flags; none of them matters here.
API int cuCtxCreate_v3(context_t *context, void *parameters, int count, unsigned flags,
                       int device) {
    (void)parameters, (void)count, (void)flags;
    return create(context, device);
}

API int cuCtxCreate_v4(context_t *context, void *parameters, unsigned flags, int device) {
    (void)parameters, (void)flags;
    return create(context, device);
}

static int peer_access(context_t peer, int action) {
    int can;
    return is_context(peer) ? gpu_peer_access(gpu_current(), context_device(peer), action, &can)
                            : INVALID_CONTEXT;
}

API int cuCtxEnablePeerAccess(context_t peer, unsigned flags) {
    return flags ? INVALID_VALUE : peer_access(peer, PEER_ENABLE);
}

API int cuCtxDisablePeerAccess(context_t peer) {
    return peer_access(peer, PEER_DISABLE);
}

API int cuCtxDestroy(context_t context) {
    if (!is_context(context)) {
        return INVALID_CONTEXT;
    }
    int status = depth && stack[depth - 1] == context ? cuCtxPopCurrent(NULL) : SUCCESS;
    if (is_created(context)) {
        *(bool *)context = false;
    }
    return status;
}
ALSO(cuCtxDestroy_v2, cuCtxDestroy);

API int cuCtxGetDevice(int *device) {
    int status = GIVE(device, gpu_current());
    return status || top() ? status : INVALID_CONTEXT;
}

API int cuCtxGetApiVersion(context_t context, unsigned *version) {
    return context && !is_context(context) ? INVALID_CONTEXT : GIVE(version, VERSION);
}

API int cuCtxGetFlags(unsigned *flags) {
    return GIVE(flags, 0);
}

API int cuCtxSynchronize(void) {
    return translate(device_synchronize());
}

API int cuCtxSetCacheConfig(int preference) {
    (void)preference;
    return SUCCESS;
}
ALSO(cuCtxSetSharedMemConfig, cuCtxSetCacheConfig);

API int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    if (least) {
        *least = 0;
    }
    if (greatest) {
        *greatest = MOST_PRIORITY;
    }
    return SUCCESS;
}

API int cuCtxGetLimit(size_t *value, int limit) {
    return limit_get(value, limit);
}

API int cuCtxSetLimit(int limit, size_t value) {
    return limit_set(limit, value);
}

API int cuProfilerStart(void) {
    return SUCCESS;
}

API int cuProfilerStop(void) {
    return SUCCESS;
}

// Nothing else writes device memory.
API int cuFlushGPUDirectRDMAWrites(int target, int scope) {
    enum { TO_OWNER = 100, TO_ALL = 200 };
    return target == 0 && (scope == TO_OWNER || scope == TO_ALL) ? SUCCESS : INVALID_VALUE;
}
