// What programs enqueue in streams: in one that is captured it becomes a node of a graph, in another one
// it is done at once, as everything of one program is done in order.

#include <stdlib.h>

#include "graph.h"

enum { UNSUPPORTED_CAPTURE = 900, INVALIDATED_CAPTURE, CAPTURED_EVENT = 907, ILLEGAL_STATE = 401 };
enum { EXTERNAL = 1 }; // cudaEventRecordExternal, cudaEventWaitExternal

static bool sticky_per_thread;

void stream_default_is_per_thread(void) {
    sticky_per_thread = true;
}

bool stream_default_of_thread(void) {
    return sticky_per_thread;
}

unsigned thread_number(void) {
    static _Atomic unsigned threads;
    static _Thread_local unsigned number; // no thread that ended has had it
    number = number ? number : ++threads;
    return number;
}

static uint64_t default_stream(void) {
    return sticky_per_thread ? THREAD_STREAM : LEGACY_STREAM;
}

static int check(uint64_t stream) {
    return stream_check((void *)(uintptr_t)stream);
}

static bool is_captured(uint64_t stream) {
    return capture_of(stream).graph != NULL;
}

static bool is_invalid(uint64_t stream) {
    return capture_of(stream).invalid;
}

// Why nothing can be enqueued, or SUCCESS.
int stream_may_enqueue(uint64_t stream) {
    if (check(stream)) {
        return INVALID_HANDLE;
    }
    int status = capture_forbids_legacy(stream);
    if (!status && stream == STREAM_BLOCKING && stream_is_legacy(stream)) {
        status = capture_forbids();
    } else if (!status && stream == STREAM_BLOCKING) {
        status = capture_spoil(THREAD_STREAM, UNSUPPORTED_CAPTURE);
    }
    return status ? status : is_invalid(stream) ? INVALIDATED_CAPTURE : SUCCESS;
}

// What was done may be what another stream waits for.
static int done(int status) {
    held_progress();
    return status;
}

static bool is_pageable(const void *address) {
    return !gpu_is_device(address) && !host_is_registered(address);
}

// In a stream that waits; a copy that the program waits for is done here, when it can be.
static int keep(uint64_t stream, struct work work) {
    bool waits = stream == STREAM_BLOCKING ||
                 (work.kind == COPY_NODE && is_pageable(work.of.copy.box.to.address));
    if (!waits) {
        return held_add(stream, work);
    }
    int status = held_resolve(stream == STREAM_BLOCKING ? default_stream() : stream, 0);
    return status ? status : done(work_perform(&work, stream));
}

static int enqueue(uint64_t stream, struct work work) {
    int status = stream_may_enqueue(stream);
    if (status) {
        return status;
    }
    if (capture_add(stream, work)) {
        return SUCCESS;
    }
    if (stream_is_held(stream)) {
        return keep(stream, work);
    }
    return done(work_perform(&work, stream));
}

int stream_work(uint64_t stream, struct work work) {
    if (stream_is_held(stream)) {
        return held_add(stream, work);
    }
    int status = work_perform(&work, stream);
    work_free(&work);
    return done(status);
}

int stream_launch(struct kernel *kernel, const struct shape *shape, void **arguments,
                  const void *block, size_t bytes) {
    int status = stream_may_enqueue(shape->stream);
    if (status) {
        return status;
    }
    bool captured = is_captured(shape->stream);
    if (!captured && !stream_is_held(shape->stream)) {
        return done(kernel_launch(kernel, shape, arguments, block, bytes));
    }
    void *extra[] = {(void *)BUFFER_POINTER, (void *)block, NULL};
    struct kernel_parameters given = {.arguments = arguments, .extra = block ? extra : NULL};
    struct work work;
    status = work_launch(&work, kernel, &given);
    if (!status) {
        work.of.launch.shape = *shape;
        captured ? (void)capture_add(shape->stream, work) : (void)held_add(shape->stream, work);
    }
    return status;
}

int stream_copy(uint64_t stream, struct region to, struct region source, size_t width,
                size_t rows) {
    return enqueue(stream, work_copy(to, source, width, rows));
}

int stream_copy_box(uint64_t stream, const struct box *box) {
    return enqueue(stream, (struct work){.kind = COPY_NODE, .of.copy.box = *box});
}

int stream_fill(uint64_t stream, struct region to, uint64_t value, size_t unit, size_t width,
                size_t rows) {
    struct fill_parameters fill = {to.address, to.pitch, (unsigned)value, (unsigned)unit, width,
                                   rows};
    return enqueue(stream, (struct work){.kind = FILL_NODE, .of.fill = fill});
}

static void call(uint64_t stream, void (*function)(void *), void *data) {
    struct host_call *begun = host_call_start(&(struct call_parameters){function, data});
    host_call_wait(begun) ? host_call_drop(begun) : held_call(stream, begun);
}

int stream_call(uint64_t stream, void (*function)(void *), void *data) {
    struct work work = {.kind = CALL_NODE, .of.call = {function, data}};
    int status = stream_may_enqueue(stream);
    if (status || capture_add(stream, work)) {
        return status;
    }
    if (stream_is_held(stream)) {
        return held_add(stream, work);
    }
    status = synchronize(stream, 0);
    if (!status) {
        call(stream, function, data);
    }
    return done(status);
}

struct callback {
    void (*function)(void *, int, void *);
    void *stream, *data;
};

static void call_back(void *data) {
    struct callback callback = *(struct callback *)data;
    free(data);
    callback.function(callback.stream, SUCCESS, callback.data);
}

int stream_call_back(uint64_t stream, void (*function)(void *, int, void *), void *data) {
    void *handle = (void *)(uintptr_t)stream;
    if (!function || stream_check(handle)) {
        return function ? INVALID_HANDLE : INVALID_VALUE;
    }
    if (is_captured(stream)) { // no node can call such a function
        return stream_synchronize(stream);
    }
    int status = stream_is_held(stream) ? SUCCESS : stream_synchronize(stream);
    if (status) {
        function(handle, status, data);
        return status;
    }
    struct callback *callback = malloc(sizeof *callback);
    *callback = (struct callback){function, handle, data};
    return stream_call(stream, call_back, callback);
}

static bool is_event(uint64_t event) {
    return handle_get(EVENT_HANDLE, (void *)(uintptr_t)event) != NULL;
}

int event_new(uint64_t *event) {
    struct create_event_reply fields = {0};
    int status = gpu_call(CALL_CREATE_EVENT, NULL, 0, NULL, 0,
                          &(struct reply){&fields, sizeof fields, NULL, 0});
    *event = fields.event;
    return status;
}

// External: the event of the program's, not a place in the capture.
int stream_record(uint64_t stream, uint64_t event, unsigned flags) {
    if (check(stream) || !is_event(event)) {
        return INVALID_HANDLE;
    }
    struct work record = {.kind = RECORD_NODE, .of.event = event};
    int status = stream_may_enqueue(stream);
    if (status || flags & EXTERNAL) {
        return status ? status : capture_add(stream, record) ? SUCCESS : INVALID_VALUE;
    }
    if (capture_record(stream, event, &status)) {
        return status;
    }
    event_supersede(event);
    return stream_is_held(stream) ? held_add(stream, record) : work_perform(&record, stream);
}

int stream_wait(uint64_t stream, uint64_t event, unsigned flags) {
    if (check(stream) || !is_event(event)) {
        return INVALID_HANDLE;
    }
    struct work wait = {.kind = WAIT_NODE, .of.event = event};
    int status = stream_may_enqueue(stream);
    if (status || flags & EXTERNAL) {
        return status ? status : capture_add(stream, wait) ? SUCCESS : INVALID_VALUE;
    }
    if (capture_wait(stream, event, &status)) {
        return status;
    }
    if (event_is_pending(event) || stream_is_held(stream)) {
        held_await(stream, event);
        return SUCCESS;
    }
    return work_perform(&wait, stream);
}

int synchronize(uint64_t stream, uint64_t event) {
    struct synchronize_request request = {stream, event};
    return gpu_call(CALL_SYNCHRONIZE, &request, sizeof request, NULL, 0, &(struct reply){0});
}

// While a stream is captured there is nothing to wait for, nor at its events.
int stream_synchronize(uint64_t stream) {
    if (check(stream)) {
        return INVALID_HANDLE;
    }
    int status = capture_forbids_legacy(stream);
    status = status ? status : capture_spoil(stream, UNSUPPORTED_CAPTURE);
    status = status ? status : held_resolve(stream ? stream : default_stream(), 0);
    return status ? status : done(synchronize(stream, 0));
}

// A program that polls must not poll for ever: what it asks about is done first.
int stream_query(uint64_t stream) {
    int status = stream_is_held(stream) ? held_query(stream ? stream : default_stream(), 0) : SUCCESS;
    return status ? status : stream_synchronize(stream);
}

int device_synchronize(void) {
    int status = capture_forbids_waiting();
    status = status ? status : held_resolve(0, 0);
    return status ? status : synchronize(0, 0);
}

int event_synchronize(uint64_t event) {
    if (!is_event(event)) {
        return INVALID_HANDLE;
    }
    int status = capture_spoil(event, CAPTURED_EVENT);
    status = status ? status : held_resolve(0, event);
    return status ? status : done(synchronize(0, event));
}

int event_query(uint64_t event) {
    int status = event_is_pending(event) ? held_query(0, event) : SUCCESS;
    return status ? status : event_synchronize(event);
}

int stream_allocate(uint64_t stream, size_t bytes, struct pool *pool, uint64_t *address) {
    int status = stream_may_enqueue(stream);
    if (status) {
        return status;
    }
    if (is_captured(stream)) {
        struct allocation_parameters given = {.bytes = bytes};
        struct work work;
        status = work_allocation(&work, &given);
        *address = (uint64_t)(uintptr_t)given.address;
        return status || capture_add(stream, work) ? status : ILLEGAL_STATE;
    }
    pool = pool ? pool : pool_current(device_of((void *)(uintptr_t)stream));
    if (!pool_has_room(pool, bytes)) {
        return OUT_OF_MEMORY;
    }
    struct allocate_request request = {bytes, ALLOCATION_DEVICE};
    struct allocate_reply fields = {0};
    status = GPU_CALL(ALLOCATE, &request, &fields);
    *address = fields.address;
    if (!status && *address) {
        pool_took(pool, (void *)(uintptr_t)*address, bytes);
    }
    return status;
}

int stream_free(uint64_t stream, uint64_t address) {
    int status = stream_may_enqueue(stream);
    if (status) {
        return status;
    }
    struct capture capture = capture_of(stream);
    if (!capture.graph) {
        if (address && stream_is_held(stream)) {
            held_free(stream, address);
            return SUCCESS;
        }
        return address ? memory_free_of(address, false) : SUCCESS;
    }
    struct work work;
    status = work_release(&work, capture.graph, (void *)(uintptr_t)address);
    return status || capture_add(stream, work) ? status : ILLEGAL_STATE;
}
