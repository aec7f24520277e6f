// What programs enqueue in streams: in one that is captured it becomes a node of a graph, in another one
// it is done at once, as everything of one program is done in order.

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
static int enqueue_status(uint64_t stream) {
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

static int enqueue(uint64_t stream, struct work work) {
    int status = enqueue_status(stream);
    if (status) {
        return status;
    }
    return capture_add(stream, work) ? SUCCESS : work_perform(&work, stream);
}

int stream_launch(struct kernel *kernel, const struct shape *shape, void **arguments,
                  const void *block, size_t bytes) {
    int status = enqueue_status(shape->stream);
    if (status) {
        return status;
    }
    if (!is_captured(shape->stream)) {
        return kernel_launch(kernel, shape, arguments, block, bytes);
    }
    void *extra[] = {(void *)BUFFER_POINTER, (void *)block, NULL};
    struct kernel_parameters given = {.arguments = arguments, .extra = block ? extra : NULL};
    struct work work;
    status = work_launch(&work, kernel, &given);
    if (!status) {
        work.of.launch.shape = *shape;
        capture_add(shape->stream, work);
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

int stream_call(uint64_t stream, void (*function)(void *), void *data) {
    return enqueue(stream, (struct work){.kind = CALL_NODE, .of.call = {function, data}});
}

static bool is_event(uint64_t event) {
    return handle_get(EVENT_HANDLE, (void *)(uintptr_t)event) != NULL;
}

// External: the event of the program's, not a place in the capture.
int stream_record(uint64_t stream, uint64_t event, unsigned flags) {
    if (check(stream) || !is_event(event)) {
        return INVALID_HANDLE;
    }
    struct work record = {.kind = RECORD_NODE, .of.event = event};
    int status = enqueue_status(stream);
    if (status || flags & EXTERNAL) {
        return status ? status : capture_add(stream, record) ? SUCCESS : INVALID_VALUE;
    }
    return capture_record(stream, event, &status) ? status : work_perform(&record, stream);
}

int stream_wait(uint64_t stream, uint64_t event, unsigned flags) {
    if (check(stream) || !is_event(event)) {
        return INVALID_HANDLE;
    }
    struct work wait = {.kind = WAIT_NODE, .of.event = event};
    int status = enqueue_status(stream);
    if (status || flags & EXTERNAL) {
        return status ? status : capture_add(stream, wait) ? SUCCESS : INVALID_VALUE;
    }
    return capture_wait(stream, event, &status) ? status : work_perform(&wait, stream);
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
    return status ? status : synchronize(stream, 0);
}

int event_synchronize(uint64_t event) {
    if (!is_event(event)) {
        return INVALID_HANDLE;
    }
    int status = capture_spoil(event, CAPTURED_EVENT);
    return status ? status : synchronize(0, event);
}

int stream_allocate(uint64_t stream, size_t bytes, uint64_t *address) {
    int status = enqueue_status(stream);
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
    struct allocate_request request = {bytes, ALLOCATION_DEVICE};
    struct allocate_reply fields = {0};
    status = GPU_CALL(ALLOCATE, &request, &fields);
    *address = fields.address;
    if (!status && *address) {
        pool_took((void *)(uintptr_t)*address, bytes);
    }
    return status;
}

int stream_free(uint64_t stream, uint64_t address) {
    int status = enqueue_status(stream);
    if (status) {
        return status;
    }
    struct capture capture = capture_of(stream);
    if (!capture.graph) {
        return address ? memory_free_of(address, false) : SUCCESS;
    }
    struct work work;
    status = work_release(&work, capture.graph, (void *)(uintptr_t)address);
    return status || capture_add(stream, work) ? status : ILLEGAL_STATE;
}
