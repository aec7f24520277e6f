// Memory and events of other processes, of both APIs. All processes of a run have the devices' memory
// at the same addresses, and what a process has launched is done before another one is heard.

#include <string.h>

#ifdef RUNTIME
#include "runtime.h"
#define FUNCTION(name) cudaIpc##name
#define TELL(status) report(status)
#define NEW_EVENT cudaEventCreateWithFlags
#else
#include "driver.h"
#define FUNCTION(name) cuIpc##name
#define TELL(status) translate(status)
#define NEW_EVENT cuEventCreate
#endif

int NEW_EVENT(event_t *event, unsigned flags);

enum { MEMORY = 0x6d656d, EVENT = 0x657674 };

// cudaIpcMemHandle_t, cudaIpcEventHandle_t: 64 bytes that programs send to each other
struct shared {
    uint64_t kind, address;
    char room[48];
};

enum { INTERPROCESS = 4 }; // cudaEventInterprocess, CU_EVENT_INTERPROCESS

API int FUNCTION(GetMemHandle)(struct shared *out, const void *address) {
    struct pointer_request request = {handle_of(address)};
    struct pointer_reply found = {0};
    int status = out && gpu_is_device(address) ? GPU_CALL(POINTER, &request, &found) : INVALID_VALUE;
    if (status || found.kind != ALLOCATION_DEVICE) {
        return TELL(status ? status : INVALID_VALUE);
    }
    held_expect_processes();
    *out = (struct shared){MEMORY, request.address, {0}};
    return SUCCESS;
}

API int FUNCTION(OpenMemHandle)(void **address, struct shared memory, unsigned flags) {
    (void)flags;
    int status; // of the link, by which the memory comes to this process
    if (!address || !gpu_device(&status) || memory.kind != MEMORY) {
        return TELL(!address ? INVALID_VALUE : status ? status : INVALID_HANDLE);
    }
    held_expect_processes();
    *address = (void *)(uintptr_t)memory.address;
    return SUCCESS;
}

API int FUNCTION(CloseMemHandle)(void *address) {
    return gpu_is_device(address) ? SUCCESS : TELL(INVALID_VALUE);
}

API int FUNCTION(GetEventHandle)(struct shared *out, event_t event) {
    if (!out || !(flags_of(EVENT_HANDLE, event) & INTERPROCESS)) {
        return TELL(out ? INVALID_HANDLE : INVALID_VALUE);
    }
    *out = (struct shared){EVENT, handle_of(event), {0}};
    return SUCCESS;
}

// What the event waits for is done already: it is one that nothing was recorded in.
API int FUNCTION(OpenEventHandle)(event_t *event, struct shared shared) {
    return shared.kind == EVENT ? NEW_EVENT(event, 2) : TELL(INVALID_HANDLE);
}
#ifndef RUNTIME
ALSO(cuIpcOpenMemHandle_v2, cuIpcOpenMemHandle);
#endif
