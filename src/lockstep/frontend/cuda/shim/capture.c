// Stream capture: what a program enqueues in a stream that is captured becomes a node of a graph. A
// stream that waits for an event of a captured stream is captured with it. The nodes of a graph keep
// the order of their calls, each after the one before.

#include <pthread.h>
#include <stdlib.h>

#include "graph.h"

enum { CAPTURING = 1, MOST = 256, ILLEGAL_STATE = 401, UNSUPPORTED_CAPTURE = 900 };

// Streams that are captured, and events that were recorded in them, with their graph.
static struct captured {
    uint64_t handle;
    struct graph *graph;
    struct node *newest; // of the graph, in the entry of the stream where capturing began
    bool began;
} captured[MOST];
static size_t count;
static unsigned long long captures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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

static bool enter(uint64_t handle, struct graph *graph, bool began) {
    struct captured *known = find(handle);
    if (!known && count == MOST) {
        return false;
    }
    known = known ? known : &captured[count++];
    *known = (struct captured){handle, graph, NULL, began};
    return true;
}

bool capture_active(uint64_t stream) {
    pthread_mutex_lock(&lock);
    bool active = find(stream) != NULL;
    pthread_mutex_unlock(&lock);
    return active;
}

static int add(uint64_t stream, struct work work) {
    pthread_mutex_lock(&lock);
    struct captured *first = beginning(find(stream)->graph);
    first->newest = graph_add(first->graph, work, &first->newest, first->newest != NULL);
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

int capture_launch(struct kernel *kernel, const struct shape *shape, void **arguments) {
    int status = kernel_find(kernel);
    if (status) {
        return status;
    }
    struct work work = {.kind = KERNEL_NODE};
    work.of.launch.function = kernel;
    work.of.launch.kernel = kernel;
    work.of.launch.shape = *shape;
    work.of.launch.block = kernel_block(kernel, arguments);
    return add(shape->stream, work);
}

int capture_copy(stream_t stream, struct region to, struct region source, size_t width,
                 size_t rows) {
    struct work work = {.kind = COPY_NODE};
    work.of.copy.to = to;
    work.of.copy.source = source;
    work.of.copy.width = width;
    work.of.copy.rows = rows;
    return add(handle_of(stream), work);
}

int capture_box(stream_t stream, const struct box_copy *copy) {
    struct work work = {.kind = COPY_NODE, .of.box = *copy, .boxed = true};
    return add(handle_of(stream), work);
}

int capture_fill(stream_t stream, struct region to, uint64_t value, size_t width, size_t rows) {
    struct fill_parameters fill = {to.address, to.pitch, (unsigned)value, 1, width, rows};
    return add(handle_of(stream), (struct work){.kind = FILL_NODE, .of.fill = fill});
}

int capture_call(stream_t stream, void (*function)(void *), void *data) {
    struct call_parameters call = {function, data};
    return add(handle_of(stream), (struct work){.kind = CALL_NODE, .of.call = call});
}

bool capture_event(stream_t stream, event_t event) {
    pthread_mutex_lock(&lock);
    const struct captured *from = find(handle_of(stream));
    bool done = from && enter(handle_of(event), from->graph, false);
    pthread_mutex_unlock(&lock);
    return done;
}

bool capture_wait(stream_t stream, event_t event) {
    pthread_mutex_lock(&lock);
    const struct captured *from = find(handle_of(event));
    bool done = from && (find(handle_of(stream)) || enter(handle_of(stream), from->graph, false));
    pthread_mutex_unlock(&lock);
    return done;
}

// The mode says which other calls are illegal meanwhile: none is here.
API int cudaStreamBeginCapture(stream_t stream, int mode) {
    (void)mode;
    if (!stream) {
        return report(UNSUPPORTED_CAPTURE);
    }
    pthread_mutex_lock(&lock);
    bool fresh = !find(handle_of(stream)) && enter(handle_of(stream), graph_new(), true);
    captures += fresh;
    pthread_mutex_unlock(&lock);
    return fresh ? SUCCESS : report(ILLEGAL_STATE);
}

API int cudaStreamEndCapture(stream_t stream, struct graph **graph) {
    pthread_mutex_lock(&lock);
    const struct captured *first = find(handle_of(stream));
    *graph = first && first->began ? first->graph : NULL;
    size_t kept = 0;
    for (size_t k = 0; k < count; k++) {
        if (!*graph || captured[k].graph != *graph) {
            captured[kept++] = captured[k];
        }
    }
    count = kept;
    pthread_mutex_unlock(&lock);
    return *graph ? SUCCESS : report(ILLEGAL_STATE);
}

API int cudaStreamIsCapturing(stream_t stream, int *capturing) {
    *capturing = capture_active(handle_of(stream)) ? CAPTURING : 0;
    return SUCCESS;
}

// Programs of CUDA 11 and 12 ask for less; later parameters are not touched for them.
API int cudaStreamGetCaptureInfo(stream_t stream, int *capturing, unsigned long long *id) {
    int status = cudaStreamIsCapturing(stream, capturing);
    if (id) {
        *id = captures;
    }
    return status;
}

API int cudaThreadExchangeStreamCaptureMode(int *mode) {
    *mode = 0;
    return SUCCESS;
}
