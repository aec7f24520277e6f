// Devices: their properties, and the calls that choose and configure one.

#include <stdio.h>
#include <string.h>

#include "runtime.h"

enum { ACCESS_SUPPORTED = 2 }; // cudaDevP2PAttrAccessSupported
enum { READ_AND_WRITE = 3 };   // cudaMemAccessFlagsProtReadWrite

struct properties {
    char name[256];
    char uuid[16];
    char luid[8];
    unsigned luid_mask;
#define FIELD(type, name, attribute) type name;
#include "properties.h"
#undef FIELD
#if RUNTIME == 12
    int reserved[63];
#elif RUNTIME == 13
    int reserved[56];
#endif
};

// What RUNTIME 11.8, 12.9 and 13.0 answer; the driver is as new as the newest.
static const int versions[] = {[11] = 11080, [12] = 12090, [13] = 13000};

API int cudaGetDeviceCount(int *count) {
    if (!count) {
        return report(INVALID_VALUE);
    }
    int status;
    *count = gpu_count(&status);
    return report(status);
}

static int check(int device) {
    return report(gpu_check(device));
}

static void fill(struct properties *out, int number) {
    const struct device *device = gpu_device_of(number);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", device->name);
    memcpy(out->uuid, "lockstep", 8);
    out->uuid[15] = (char)number;
#define FIELD(type, name, attribute) out->name = (type)gpu_attribute_of(number, attribute);
#include "properties.h"
#undef FIELD
    out->memory_bytes = device->capacity;
}

#if RUNTIME == 12
// Before CUDA 12 the structure ended earlier; a program may still ask for that.
API int cudaGetDeviceProperties(struct properties *out, int device) {
    struct properties all;
    int status = out ? check(device) : report(INVALID_VALUE);
    if (!status) {
        fill(&all, device);
        memcpy(out, &all, offsetof(struct properties, host_register));
    }
    return status;
}

API int cudaGetDeviceProperties_v2(struct properties *out, int device) {
#else
API int cudaGetDeviceProperties(struct properties *out, int device) {
#endif
    int status = out ? check(device) : report(INVALID_VALUE);
    if (!status) {
        fill(out, device);
    }
    return status;
}

API int cudaDeviceGetAttribute(int *value, int attribute, int device) {
    return report(gpu_ask_attribute(device, attribute, value));
}

API int cudaChooseDevice(int *device, const void *properties) {
    return answer_with(properties ? GIVE(device, 0) : INVALID_VALUE);
}

API int cudaSetDevice(int device) {
    int status = check(device);
    if (!status) {
        gpu_set_current(device);
    }
    return status;
}

API int cudaInitDevice(int device, unsigned flags, unsigned more) {
    (void)flags, (void)more;
    return check(device);
}

API int cudaGetDevice(int *device) {
    if (!device) {
        return report(INVALID_VALUE);
    }
    *device = gpu_current();
    return check(*device);
}

API int cudaSetValidDevices(int *devices, int count) {
    (void)devices, (void)count;
    return SUCCESS;
}

API int cudaSetDeviceFlags(unsigned flags) {
    (void)flags;
    return SUCCESS;
}

API int cudaGetDeviceFlags(unsigned *flags) {
    return answer_with(GIVE(flags, 0));
}

API int cudaDeviceReset(void) {
    return report(device_reset());
}

API int cudaThreadExit(void) {
    return cudaDeviceReset();
}

API int cudaRuntimeGetVersion(int *version) {
    return answer_with(GIVE(version, versions[RUNTIME]));
}

API int cudaDriverGetVersion(int *version) {
    return answer_with(GIVE(version, versions[13]));
}

API int cudaDeviceGetLimit(size_t *value, int limit) {
    return report(limit_get(value, limit));
}

// Nothing else writes device memory.
API int cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope) {
    enum { TO_OWNER = 100, TO_ALL = 200 };
    return report(target == 0 && (scope == TO_OWNER || scope == TO_ALL) ? SUCCESS : INVALID_VALUE);
}

API int cudaDeviceSetLimit(int limit, size_t value) {
    return report(limit_set(limit, value));
}

API int cudaDeviceSetCacheConfig(int preference) {
    (void)preference;
    return SUCCESS;
}

API int cudaDeviceGetCacheConfig(int *preference) {
    return answer_with(GIVE(preference, 0));
}

API int cudaDeviceSetSharedMemConfig(int preference) {
    (void)preference;
    return SUCCESS;
}

API int cudaDeviceGetSharedMemConfig(int *preference) {
    return answer_with(GIVE(preference, 1));
}

API int cudaDeviceGetPCIBusId(char *text, int length, int device) {
    int status = text && length > 0 ? check(device) : report(INVALID_VALUE);
    if (!status) {
        snprintf(text, (size_t)length, "0000:%02x:00.0", (unsigned)device);
    }
    return status;
}

API int cudaDeviceGetByPCIBusId(int *device, const char *text) {
    unsigned number;
    char end;
    if (!device || !text) {
        return report(INVALID_VALUE);
    }
    if (sscanf(text, "0000:%2x:00.0%c", &number, &end) != 1 || gpu_check((int)number)) {
        return report(INVALID_VALUE);
    }
    *device = (int)number;
    return SUCCESS;
}

// A device is no peer of itself.
API int cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    if (!can) {
        return report(INVALID_VALUE);
    }
    *can = 0;
    return report(gpu_peer_access(device, peer, PEER_CAN, can));
}

// It asks about two devices. There is no order among links, and there are no atomics over them.
API int cudaDeviceGetP2PAttribute(int *value, int attribute, int device, int peer) {
    if (!value || device == peer) {
        return report(value ? INVALID_DEVICE : INVALID_VALUE);
    }
    *value = 0;
    int status = gpu_peer_access(device, peer, PEER_CAN, value);
    *value = attribute == ACCESS_SUPPORTED ? *value : 0;
    return report(status);
}

API int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    int can;
    return report(flags ? INVALID_VALUE : gpu_peer_access(gpu_current(), peer, PEER_ENABLE, &can));
}

API int cudaDeviceDisablePeerAccess(int peer) {
    int can;
    return report(gpu_peer_access(gpu_current(), peer, PEER_DISABLE, &can));
}

API int cudaProfilerStart(void) {
    return SUCCESS;
}

API int cudaProfilerStop(void) {
    return SUCCESS;
}

API int cudaCtxResetPersistingL2Cache(void) {
    return SUCCESS;
}

API int cudaDeviceGetTexture1DLinearMaxWidth(size_t *elements, const void *format, int device) {
    enum { LINEAR_WIDTH = 69 };
    int status = elements && format ? check(device) : report(INVALID_VALUE);
    if (!status) {
        *elements = (size_t)gpu_attribute_of(device, LINEAR_WIDTH);
    }
    return status;
}
