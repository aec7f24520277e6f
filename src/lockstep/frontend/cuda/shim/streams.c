// Streams and events; times are the model's.

#include "runtime.h"

enum { NO_TIMING = 2, INTERPROCESS = 4, EVENT_FLAGS = 7 };

static int destroy(unsigned call, enum handle_kind kind, const void *handle) {
    uint64_t request = handle_of(handle);
    if (!handle_get(kind, handle)) {
        return report(INVALID_HANDLE);
    }
    bool later = held_destroy(call, request);
    handle_take(kind, handle);
    if (later) {
        return SUCCESS;
    }
    return report(gpu_call(call, &request, sizeof request, NULL, 0, &(struct reply){0}));
}

API int cudaDeviceSynchronize(void) {
    return report(device_synchronize());
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
    if (!status) {
        keep_priority(*stream, flags, 0);
    }
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
    return destroy(CALL_DESTROY_STREAM, STREAM_HANDLE, stream);
}

API int cudaStreamSynchronize(stream_t stream) {
    return report(stream_synchronize(handle_of(stream)));
}

API int cudaStreamQuery(stream_t stream) {
    return report(stream_query(handle_of(stream)));
}

API int cudaStreamWaitEvent(stream_t stream, event_t event, unsigned flags) {
    return report(stream_wait(handle_of(stream), handle_of(event), flags));
}

API int cudaStreamGetPriority(stream_t stream, int *priority) {
    int status = stream_check(stream);
    return answer_with(status ? status : GIVE(priority, priority_of(stream)));
}

API int cudaStreamGetFlags(stream_t stream, unsigned *flags) {
    int status = stream_check(stream);
    unsigned known = flags_of(STREAM_HANDLE, stream) & ((1u << PRIORITY_SHIFT) - 1);
    return answer_with(status ? status : GIVE(flags, known));
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
    int status = stream_check(stream);
    return answer_with(status ? status : GIVE(id, handle_of(stream)));
}

API int cudaStreamGetDevice(stream_t stream, int *device) {
    int status = stream_check(stream);
    return answer_with(status ? status : GIVE(device, device_of(stream)));
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
    return report(stream_call_back(handle_of(stream), function, data));
}

API int cudaEventCreateWithFlags(event_t *event, unsigned flags) {
    bool shares_times = flags & INTERPROCESS && !(flags & NO_TIMING); // which none can
    if (!event || flags > EVENT_FLAGS || shares_times) {
        return report(INVALID_VALUE);
    }
    uint64_t made;
    int status = event_new(&made);
    *event = (void *)(uintptr_t)made;
    if (!status) {
        keep_flags(EVENT_HANDLE, *event, flags);
    }
    return report(status);
}

API int cudaEventCreate(event_t *event) {
    return cudaEventCreateWithFlags(event, 0);
}

API int cudaEventDestroy(event_t event) {
    return destroy(CALL_DESTROY_EVENT, EVENT_HANDLE, event);
}

API int cudaEventRecordWithFlags(event_t event, stream_t stream, unsigned flags) {
    return report(stream_record(handle_of(stream), handle_of(event), flags));
}

API int cudaEventRecord(event_t event, stream_t stream) {
    return cudaEventRecordWithFlags(event, stream, 0);
}

API int cudaEventSynchronize(event_t event) {
    return report(event_synchronize(handle_of(event)));
}

API int cudaEventQuery(event_t event) {
    return report(event_query(handle_of(event)));
}

API int cudaEventElapsedTime(float *milliseconds, event_t start, event_t end) {
    if (!milliseconds) {
        return report(INVALID_VALUE);
    }
    if ((flags_of(EVENT_HANDLE, start) | flags_of(EVENT_HANDLE, end)) & NO_TIMING) {
        return report(INVALID_HANDLE);
    }
    if (event_is_pending(handle_of(start)) || event_is_pending(handle_of(end))) {
        return report(NOT_READY);
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
