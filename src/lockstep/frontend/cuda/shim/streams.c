// Streams and events; times are the model's.

#include "runtime.h"

enum { NON_BLOCKING = 1, NO_TIMING = 2, EVENT_FLAGS = 7 };

static int with_handle(unsigned call, const void *handle) {
    uint64_t request = handle_of(handle);
    return report(gpu_call(call, &request, sizeof request, NULL, 0, &(struct reply){0}));
}

API int cudaDeviceSynchronize(void) {
    return report(synchronize(0, 0));
}

API int cudaThreadSynchronize(void) {
    return cudaDeviceSynchronize();
}

API int cudaStreamCreateWithFlags(stream_t *stream, unsigned flags) {
    if (!stream || flags > NON_BLOCKING) {
        return report(INVALID_VALUE);
    }
    struct create_stream_request request = {flags};
    struct create_stream_reply fields = {0};
    int status = GPU_CALL(CREATE_STREAM, &request, &fields);
    *stream = (void *)(uintptr_t)fields.stream;
    keep_priority(*stream, flags, 0);
    return report(status);
}

API int cudaStreamCreate(stream_t *stream) {
    return cudaStreamCreateWithFlags(stream, 0);
}

API int cudaStreamCreateWithPriority(stream_t *stream, unsigned flags, int priority) {
    int status = cudaStreamCreateWithFlags(stream, flags);
    if (!status) {
        keep_priority(*stream, flags, priority);
    }
    return status;
}

API int cudaStreamDestroy(stream_t stream) {
    return with_handle(CALL_DESTROY_STREAM, stream);
}

API int cudaStreamSynchronize(stream_t stream) {
    return report(stream_synchronize(handle_of(stream)));
}

// A program that polls must not poll for ever: what it asks about is done first.
API int cudaStreamQuery(stream_t stream) {
    return cudaStreamSynchronize(stream);
}

API int cudaStreamWaitEvent(stream_t stream, event_t event, unsigned flags) {
    (void)flags;
    return report(stream_wait(handle_of(stream), handle_of(event)));
}

API int cudaStreamGetPriority(stream_t stream, int *priority) {
    *priority = priority_of(stream);
    return SUCCESS;
}

API int cudaStreamGetFlags(stream_t stream, unsigned *flags) {
    *flags = flags_of(stream) & ((1u << PRIORITY_SHIFT) - 1);
    return SUCCESS;
}

API int cudaStreamGetAttribute(stream_t stream, int attribute, void *value) {
    return report(stream_attribute(value, stream, attribute));
}

API int cudaStreamSetAttribute(stream_t stream, int attribute, const void *value) {
    return report(stream_set_attribute(stream, attribute, value));
}

API int cudaStreamCopyAttributes(stream_t to, stream_t stream) {
    return report(stream_copy_attributes(to, stream));
}

API int cudaStreamGetId(stream_t stream, unsigned long long *id) {
    *id = handle_of(stream);
    return SUCCESS;
}

API int cudaStreamGetDevice(stream_t stream, int *device) {
    *device = device_of(stream);
    return SUCCESS;
}

API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least) {
        *least = 0;
    }
    if (greatest) {
        *greatest = MOST_PRIORITY;
    }
    return SUCCESS;
}

API int cudaLaunchHostFunc(stream_t stream, void (*function)(void *), void *data) {
    return report(!function ? INVALID_VALUE : stream_call(handle_of(stream), function, data));
}

API int cudaStreamAddCallback(stream_t stream, void (*function)(stream_t, int, void *), void *data,
                              unsigned flags) {
    (void)flags;
    int status = cudaStreamSynchronize(stream);
    function(stream, status, data);
    return status;
}

API int cudaEventCreateWithFlags(event_t *event, unsigned flags) {
    if (!event || flags > EVENT_FLAGS) {
        return report(INVALID_VALUE);
    }
    struct create_event_reply fields = {0};
    int status = gpu_call(CALL_CREATE_EVENT, NULL, 0, NULL, 0,
                          &(struct reply){&fields, sizeof fields, NULL, 0});
    *event = (void *)(uintptr_t)fields.event;
    keep_flags(*event, flags);
    return report(status);
}

API int cudaEventCreate(event_t *event) {
    return cudaEventCreateWithFlags(event, 0);
}

API int cudaEventDestroy(event_t event) {
    return with_handle(CALL_DESTROY_EVENT, event);
}

API int cudaEventRecord(event_t event, stream_t stream) {
    return report(stream_record(handle_of(stream), handle_of(event)));
}

API int cudaEventRecordWithFlags(event_t event, stream_t stream, unsigned flags) {
    (void)flags;
    return cudaEventRecord(event, stream);
}

API int cudaEventSynchronize(event_t event) {
    return report(event_synchronize(handle_of(event)));
}

API int cudaEventQuery(event_t event) {
    return cudaEventSynchronize(event);
}

API int cudaEventElapsedTime(float *milliseconds, event_t start, event_t end) {
    if (!milliseconds) {
        return report(INVALID_VALUE);
    }
    if ((flags_of(start) | flags_of(end)) & NO_TIMING) {
        return report(INVALID_HANDLE);
    }
    struct elapsed_request request = {handle_of(start), handle_of(end)};
    struct elapsed_reply fields = {0};
    int status = GPU_CALL(ELAPSED, &request, &fields);
    *milliseconds = (float)((double)(int64_t)fields.nanoseconds * 1e-6);
    return report(status);
}

API int cudaEventElapsedTime_v2(float *milliseconds, event_t start, event_t end) {
    return cudaEventElapsedTime(milliseconds, start, end);
}
