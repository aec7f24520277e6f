// The driver API's streams and events; times are the model's.

#include "driver.h"

enum { NO_TIMING = 2, INTERPROCESS = 4, EVENT_FLAGS = 7 };

API int cuStreamCreate(stream_t *stream, unsigned flags) {
    if (!stream || flags > NON_BLOCKING) {
        return INVALID_VALUE;
    }
    struct create_stream_request request = {flags};
    struct create_stream_reply fields = {0};
    int status = GPU_CALL(CREATE_STREAM, &request, &fields);
    *stream = (void *)(uintptr_t)fields.stream;
    if (!status) {
        keep_priority(*stream, flags, 0);
    }
    return translate(status);
}

API int cuStreamCreateWithPriority(stream_t *stream, unsigned flags, int priority) {
    int status = cuStreamCreate(stream, flags);
    if (!status) {
        keep_priority(*stream, flags, priority);
    }
    return status;
}

API int cuStreamDestroy(stream_t stream) {
    return destroy(CALL_DESTROY_STREAM, STREAM_HANDLE, stream);
}
ALSO(cuStreamDestroy_v2, cuStreamDestroy);

API int cuStreamSynchronize(stream_t stream) {
    return translate(stream_synchronize(handle_of(stream)));
}

API int cuStreamQuery(stream_t stream) {
    return translate(stream_query(handle_of(stream)));
}

API int cuStreamWaitEvent(stream_t stream, event_t event, unsigned flags) {
    return translate(stream_wait(handle_of(stream), handle_of(event), flags));
}

API int cuStreamGetPriority(stream_t stream, int *priority) {
    int status = stream_check(stream);
    return status ? status : GIVE(priority, priority_of(stream));
}

API int cuStreamGetFlags(stream_t stream, unsigned *flags) {
    int status = stream_check(stream);
    unsigned known = flags_of(STREAM_HANDLE, stream) & ((1u << PRIORITY_SHIFT) - 1);
    return status ? status : GIVE(flags, known);
}

API int cuStreamGetAttribute(stream_t stream, int attribute, void *value) {
    return (stream_attribute(value, stream, attribute));
}

API int cuStreamSetAttribute(stream_t stream, int attribute, const void *value) {
    return translate(stream_set_attribute(stream, attribute, value));
}

API int cuStreamCopyAttributes(stream_t to, stream_t stream) {
    return translate(stream_copy_attributes(to, stream));
}

API int cuStreamGetId(stream_t stream, unsigned long long *id) {
    int status = stream_check(stream);
    return status ? status : GIVE(id, handle_of(stream));
}

API int cuStreamGetCtx(stream_t stream, context_t *context) {
    extern int cuDevicePrimaryCtxRetain(context_t *context, int device);
    int status = stream_check(stream);
    return status ? status : cuDevicePrimaryCtxRetain(context, device_of(stream));
}

API int cuStreamAddCallback(stream_t stream, void (*function)(stream_t, int, void *), void *data,
                            unsigned flags) {
    (void)flags;
    return translate(stream_call_back(handle_of(stream), function, data));
}

API int cuLaunchHostFunc(stream_t stream, void (*function)(void *), void *data) {
    return translate(!function ? INVALID_VALUE : stream_call(handle_of(stream), function, data));
}

API int cuEventCreate(event_t *event, unsigned flags) {
    bool shares_times = flags & INTERPROCESS && !(flags & NO_TIMING); // which none can
    if (!event || flags > EVENT_FLAGS || shares_times) {
        return INVALID_VALUE;
    }
    uint64_t made;
    int status = event_new(&made);
    *event = (void *)(uintptr_t)made;
    if (!status) {
        keep_flags(EVENT_HANDLE, *event, flags);
    }
    return translate(status);
}

API int cuEventDestroy(event_t event) {
    return destroy(CALL_DESTROY_EVENT, EVENT_HANDLE, event);
}
ALSO(cuEventDestroy_v2, cuEventDestroy);

API int cuEventRecordWithFlags(event_t event, stream_t stream, unsigned flags) {
    return translate(stream_record(handle_of(stream), handle_of(event), flags));
}

API int cuEventRecord(event_t event, stream_t stream) {
    return cuEventRecordWithFlags(event, stream, 0);
}

API int cuEventSynchronize(event_t event) {
    return translate(event_synchronize(handle_of(event)));
}

API int cuEventQuery(event_t event) {
    return translate(event_query(handle_of(event)));
}

API int cuEventElapsedTime(float *milliseconds, event_t start, event_t end) {
    if (!milliseconds) {
        return INVALID_VALUE;
    }
    if ((flags_of(EVENT_HANDLE, start) | flags_of(EVENT_HANDLE, end)) & NO_TIMING) {
        return INVALID_HANDLE;
    }
    if (event_is_pending(handle_of(start)) || event_is_pending(handle_of(end))) {
        return NOT_READY;
    }
    struct elapsed_request request = {handle_of(start), handle_of(end)};
    struct elapsed_reply fields = {0};
    int status = GPU_CALL(ELAPSED, &request, &fields);
    *milliseconds = (float)((double)(int64_t)fields.nanoseconds * 1e-6);
    return translate(status);
}
ALSO(cuEventElapsedTime_v2, cuEventElapsedTime);

API int cuStreamAttachMemAsync(stream_t stream, pointer_t address, size_t bytes, unsigned flags) {
    (void)address, (void)bytes, (void)flags;
    return translate(stream_check(stream));
}
