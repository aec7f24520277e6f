// What programs enqueue in streams, and stream capture: in a stream that is captured it becomes a node
// of a graph, in another one it is done at once, as everything of one program is done in order. A
// stream that waits for an event of a captured stream is captured with it. The nodes of a graph keep
// the order of their calls, each after the one before, unless the program says what comes next.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum { MOST = 256, ILLEGAL_STATE = 401 };
enum { UNSUPPORTED_CAPTURE = 900, INVALIDATED_CAPTURE, CAPTURED_EVENT = 907 };

// Streams that are captured, and events that were recorded in them, with their graph.
static struct captured {
    uint64_t handle;
    struct graph *graph;
    bool began;           // capturing began in this stream; its entry has the following
    bool owned, invalid;  // the graph was made for it; it was asked what no graph can do
    int mode;
    pthread_t thread;     // that began
    struct node **after;  // which the next node waits for
    size_t after_count;
    unsigned long long id;
} captured[MOST];
static size_t count;
static unsigned long long captures;
static _Thread_local int thread_mode = GLOBAL_MODE;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int check(uint64_t stream) {
    return stream_check((void *)(uintptr_t)stream);
}

static struct captured *find(uint64_t handle) {
    for (size_t k = 0; handle && k < count; k++) {
        if (captured[k].handle == handle) {
            return &captured[k];
        }
    }
    return NULL;
}

static struct captured *beginning(const struct graph *graph) {
    for (size_t k = 0; k < count; k++) {
        if (captured[k].graph == graph && captured[k].began) {
            return &captured[k];
        }
    }
    return NULL;
}

// What is asked of a captured stream or event as if it ran spoils the whole capture.
static bool spoil(uint64_t handle) {
    pthread_mutex_lock(&lock);
    const struct captured *known = find(handle);
    if (known) {
        beginning(known->graph)->invalid = true;
    }
    pthread_mutex_unlock(&lock);
    return known != NULL;
}

// Of a call that may wait: that is what cudaThreadExchangeStreamCaptureMode says of modes.
static bool forbids(const struct captured *capture) {
    return pthread_equal(capture->thread, pthread_self())
               ? thread_mode != RELAXED_MODE && capture->mode != RELAXED_MODE
               : thread_mode == GLOBAL_MODE && capture->mode == GLOBAL_MODE;
}

int capture_forbids(void) {
    int status = SUCCESS;
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < count; k++) {
        if (captured[k].began && forbids(&captured[k])) {
            captured[k].invalid = true;
            status = UNSUPPORTED_CAPTURE;
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}

// In all modes: the device can never be done with what does not run.
int capture_forbids_waiting(void) {
    int status = SUCCESS;
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < count; k++) {
        if (captured[k].began &&
            device_of((void *)(uintptr_t)captured[k].handle) == gpu_current()) {
            captured[k].invalid = true;
            status = UNSUPPORTED_CAPTURE;
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}

int capture_exchange_mode(int *mode) {
    if (!mode || *mode < GLOBAL_MODE || *mode > RELAXED_MODE) {
        return INVALID_VALUE;
    }
    int before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return SUCCESS;
}

static bool enter(uint64_t handle, struct graph *graph, bool began) {
    struct captured *known = find(handle);
    if (!known && count == MOST) {
        return false;
    }
    known = known ? known : &captured[count++];
    *known = (struct captured){.handle = handle, .graph = graph, .began = began};
    return true;
}

bool graph_is_captured(const struct graph *graph) {
    pthread_mutex_lock(&lock);
    bool found = beginning(graph) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

static void set_after(struct captured *first, struct node *const *after, size_t count, bool keep) {
    size_t old = keep ? first->after_count : 0;
    first->after = realloc(first->after, (old + count + 1) * sizeof *first->after);
    if (count) {
        memcpy(first->after + old, after, count * sizeof *after);
    }
    first->after_count = old + count;
}

bool capture_add(uint64_t stream, struct work work) {
    pthread_mutex_lock(&lock);
    const struct captured *known = find(stream);
    if (known) {
        struct captured *first = beginning(known->graph);
        struct node *node = graph_add(first->graph, work, first->after, first->after_count);
        set_after(first, &node, 1, false);
    }
    pthread_mutex_unlock(&lock);
    return known != NULL;
}

int capture_begin(uint64_t stream, int mode, struct graph *graph, struct node *const *after,
                  size_t n) {
    if (!stream || check(stream)) {
        return stream ? INVALID_HANDLE : UNSUPPORTED_CAPTURE;
    }
    if (mode < GLOBAL_MODE || mode > RELAXED_MODE || !graph_has_nodes(graph, after, n)) {
        return INVALID_VALUE;
    }
    pthread_mutex_lock(&lock);
    bool fresh = !find(stream) && (!graph || !beginning(graph)), owned = fresh && !graph;
    graph = owned ? graph_new() : graph;
    fresh = fresh && enter(stream, graph, true);
    if (fresh) {
        struct captured *first = find(stream);
        set_after(first, after, n, false);
        first->id = ++captures;
        first->owned = owned;
        first->mode = mode;
        first->thread = pthread_self();
    }
    pthread_mutex_unlock(&lock);
    return fresh ? SUCCESS : ILLEGAL_STATE;
}

// Without a place for it, a graph of the program's own is filled, and one made for this is let go.
int capture_end(uint64_t stream, struct graph **place) {
    pthread_mutex_lock(&lock);
    const struct captured *first = find(stream);
    struct graph *graph = first && first->began ? first->graph : NULL;
    bool invalid = graph && first->invalid, owned = graph && first->owned;
    size_t kept = 0;
    for (size_t k = 0; k < count; k++) {
        if (!graph || captured[k].graph != graph) {
            captured[kept++] = captured[k];
        } else {
            free(captured[k].after);
        }
    }
    count = kept;
    pthread_mutex_unlock(&lock);
    if (owned && (invalid || !place)) {
        graph_free(graph);
    }
    if (place) {
        *place = invalid ? NULL : graph;
    }
    return invalid ? INVALIDATED_CAPTURE : graph ? SUCCESS : ILLEGAL_STATE;
}

struct capture capture_of(uint64_t stream) {
    struct capture found = {0};
    pthread_mutex_lock(&lock);
    const struct captured *known = find(stream);
    if (known) {
        const struct captured *first = beginning(known->graph);
        found = (struct capture){first->id, first->graph, first->after, first->after_count,
                                 first->invalid};
    }
    pthread_mutex_unlock(&lock);
    return found;
}

int capture_set_after(uint64_t stream, struct node *const *after, size_t n, bool keep) {
    const struct graph *graph = capture_of(stream).graph;
    if (check(stream) || !graph) {
        return check(stream) ? INVALID_HANDLE : ILLEGAL_STATE;
    }
    if (!graph_has_nodes(graph, after, n)) {
        return INVALID_VALUE;
    }
    pthread_mutex_lock(&lock);
    const struct captured *known = find(stream);
    if (known) {
        set_after(beginning(known->graph), after, n, keep);
    }
    pthread_mutex_unlock(&lock);
    return known ? SUCCESS : ILLEGAL_STATE;
}

// What is enqueued

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
    if (stream == STREAM_BLOCKING) {
        return capture_forbids();
    }
    return is_invalid(stream) ? INVALIDATED_CAPTURE : SUCCESS;
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

int stream_record(uint64_t stream, uint64_t event) {
    if (check(stream) || !is_event(event)) {
        return INVALID_HANDLE;
    }
    pthread_mutex_lock(&lock);
    const struct captured *from = find(stream);
    bool done = from && enter(event, from->graph, false);
    struct captured *before = done ? NULL : find(event);
    if (before) { // in a captured stream, before this time
        *before = captured[--count];
    }
    pthread_mutex_unlock(&lock);
    struct work record = {.kind = RECORD_NODE, .of.event = event};
    return done ? SUCCESS : work_perform(&record, stream);
}

// Events order captured streams; what others run waits for them in the model's time.
int stream_wait(uint64_t stream, uint64_t event) {
    if (check(stream) || !is_event(event)) {
        return INVALID_HANDLE;
    }
    pthread_mutex_lock(&lock);
    const struct captured *from = find(event);
    bool captures = from || find(stream);
    if (from && !find(stream)) {
        enter(stream, from->graph, false);
    }
    pthread_mutex_unlock(&lock);
    struct wait_event_request request = {event, stream};
    return captures ? SUCCESS
                    : gpu_call(CALL_WAIT_EVENT, &request, sizeof request, NULL, 0,
                               &(struct reply){0});
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
    return spoil(stream) ? UNSUPPORTED_CAPTURE : synchronize(stream, 0);
}

int event_synchronize(uint64_t event) {
    if (!is_event(event)) {
        return INVALID_HANDLE;
    }
    return spoil(event) ? CAPTURED_EVENT : synchronize(0, event);
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
