// Stream capture: what is enqueued in a captured stream becomes a node of a graph. A stream that waits
// for an event of a captured one is captured with it: fork. Each stream knows what its next node
// comes after, and each event what its stream had come to when it was recorded; what a capture may
// not do ends it ("CUDA Programming Guide", stream capture), and then it can only be ended.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum {
    ILLEGAL_STATE = 401,
    UNSUPPORTED_CAPTURE = 900,
    INVALIDATED_CAPTURE,
    MERGED_CAPTURES,
    UNMATCHED_CAPTURE,
    UNJOINED_CAPTURE,
    ISOLATED_CAPTURE,
    IMPLICIT_CAPTURE,
    CAPTURED_EVENT,
    WRONG_THREAD,
};

struct sequence {
    struct sequence *next;
    struct graph *graph;
    uint64_t origin;     // the stream in which it began
    int mode;
    unsigned thread;     // number of the one that began
    bool owned, invalid; // the graph was made for it; it did what no capture can do
    unsigned long long id;
};

// A captured stream, or an event that was recorded in one, and the nodes that it has come to.
struct member {
    struct member *next;
    uint64_t handle;
    bool is_stream;
    struct sequence *of;
    struct node **after;
    size_t count;
};

static struct sequence *sequences;
static struct member *members;
static unsigned long long captures;
static _Thread_local int thread_mode = GLOBAL_MODE;
LOCK(lock);

// The default stream of the thread has two names where it is the default one.
static uint64_t named(uint64_t handle) {
    bool of_thread = handle == THREAD_STREAM || (!handle && stream_default_of_thread());
    return of_thread ? stream_of_thread() : handle;
}

static struct member *find(uint64_t named_handle) {
    uint64_t handle = named(named_handle);
    struct member *member = members;
    while (member && member->handle != handle) {
        member = member->next;
    }
    return handle ? member : NULL;
}

static struct sequence *sequence_of(const struct graph *graph) {
    struct sequence *sequence = sequences;
    while (sequence && sequence->graph != graph) {
        sequence = sequence->next;
    }
    return sequence;
}

static bool comes_after(const struct member *member, const struct node *node) {
    for (size_t k = 0; k < member->count; k++) {
        if (member->after[k] == node) {
            return true;
        }
    }
    return false;
}

static void come_after(struct member *member, struct node *const *nodes, size_t count, bool keep) {
    struct node **list = malloc((member->count + count + 1) * sizeof *list);
    struct node **old = member->after;
    size_t kept = keep ? member->count : 0;
    if (kept) {
        memcpy(list, old, kept * sizeof *list);
    }
    member->after = list;
    member->count = kept;
    for (size_t k = 0; k < count; k++) {
        if (!comes_after(member, nodes[k])) {
            list[member->count++] = nodes[k];
        }
    }
    free(old); // `nodes` may be in it
}

static struct member *enter(uint64_t handle, struct sequence *sequence, bool is_stream) {
    struct member *member = find(handle);
    if (!member) {
        member = calloc(1, sizeof *member);
        member->next = members;
        members = member;
    }
    member->handle = named(handle);
    member->is_stream = is_stream;
    member->of = sequence;
    return member;
}

static void leave(struct member *member) {
    struct member **place = &members;
    while (*place != member) {
        place = &(*place)->next;
    }
    *place = member->next;
    free(member->after);
    free(member);
}

// Calls that have no place in a capture. Each spoils those that it meets.

int capture_spoil(uint64_t handle, int status) {
    pthread_mutex_lock(&lock);
    const struct member *known = find(handle);
    if (known) {
        known->of->invalid = true;
    }
    pthread_mutex_unlock(&lock);
    return known ? status : SUCCESS;
}

static bool forbids(const struct sequence *sequence) {
    return sequence->thread == thread_number()
               ? thread_mode != RELAXED_MODE && sequence->mode != RELAXED_MODE
               : thread_mode == GLOBAL_MODE && sequence->mode == GLOBAL_MODE;
}

int capture_forbids(void) {
    int status = SUCCESS;
    pthread_mutex_lock(&lock);
    for (struct sequence *sequence = sequences; sequence; sequence = sequence->next) {
        if (forbids(sequence)) {
            sequence->invalid = true;
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
    for (struct sequence *sequence = sequences; sequence; sequence = sequence->next) {
        if (device_of((void *)(uintptr_t)stream_handle(sequence->origin)) == gpu_current()) {
            sequence->invalid = true;
            status = UNSUPPORTED_CAPTURE;
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}

// In all modes: the legacy stream and blocking streams wait for each other.
int capture_forbids_legacy(uint64_t stream) {
    int status = SUCCESS;
    pthread_mutex_lock(&lock);
    for (struct member *member = stream_is_legacy(stream) ? members : NULL; member;
         member = member->next) {
        void *handle = (void *)(uintptr_t)stream_handle(member->handle);
        if (member->is_stream && stream_blocks(handle) && device_of(handle) == gpu_current()) {
            member->of->invalid = true;
            status = IMPLICIT_CAPTURE;
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

// Nodes and events of captured streams

bool capture_add(uint64_t stream, struct work work) {
    pthread_mutex_lock(&lock);
    struct member *known = find(stream);
    if (known) {
        int device = device_of((void *)(uintptr_t)stream_handle(stream));
        struct node *node = graph_add(known->of->graph, device, work, known->after, known->count);
        come_after(known, &node, 1, false);
    }
    pthread_mutex_unlock(&lock);
    return known != NULL;
}

// False: the stream is not captured. Else `status` is what became of it, as below.
bool capture_record(uint64_t stream, uint64_t event, int *status) {
    pthread_mutex_lock(&lock);
    const struct member *from = find(stream);
    struct member *before = find(event);
    *status = from && from->of->invalid ? INVALIDATED_CAPTURE : SUCCESS;
    if (from && !*status) {
        come_after(enter(event, from->of, false), from->after, from->count, false);
    } else if (before && !from) { // in a captured stream, before this time
        leave(before);
    }
    pthread_mutex_unlock(&lock);
    return from != NULL;
}

// False: neither is captured.
bool capture_wait(uint64_t stream, uint64_t event, int *status) {
    pthread_mutex_lock(&lock);
    const struct member *from = find(event);
    struct member *to = find(stream);
    *status = SUCCESS;
    if (from && (from->of->invalid || (to && to->of->invalid))) {
        *status = INVALIDATED_CAPTURE;
    } else if (from && to && from->of != to->of) {
        from->of->invalid = to->of->invalid = true;
        *status = MERGED_CAPTURES;
    } else if (to && !from) {
        to->of->invalid = true;
        *status = ISOLATED_CAPTURE;
    } else if (from) {
        come_after(to ? to : enter(stream, from->of, true), from->after, from->count, true);
    }
    pthread_mutex_unlock(&lock);
    return from || to;
}

// Beginning and ending

int capture_begin(uint64_t stream, int mode, struct graph *graph, struct node *const *after,
                  size_t n) {
    if (stream_check((void *)(uintptr_t)stream)) {
        return INVALID_HANDLE;
    }
    if (stream_is_legacy(stream)) {
        return UNSUPPORTED_CAPTURE;
    }
    if (mode < GLOBAL_MODE || mode > RELAXED_MODE || !graph_has_nodes(graph, after, n)) {
        return INVALID_VALUE;
    }
    pthread_mutex_lock(&lock);
    bool fresh = !find(stream) && (!graph || !sequence_of(graph)), owned = !graph;
    if (fresh) {
        struct sequence *sequence = calloc(1, sizeof *sequence);
        *sequence = (struct sequence){.next = sequences,
                                      .graph = owned ? graph_new() : graph,
                                      .origin = named(stream),
                                      .mode = mode,
                                      .thread = thread_number(),
                                      .owned = owned,
                                      .id = ++captures};
        sequences = sequence;
        come_after(enter(stream, sequence, true), after, n, false);
    }
    pthread_mutex_unlock(&lock);
    return fresh ? SUCCESS : ILLEGAL_STATE;
}

static size_t mark(struct node **marked, size_t end, struct node *const *nodes, size_t count) {
    for (size_t k = 0; k < count; k++) {
        if (!nodes[k]->placed) {
            nodes[k]->placed = true;
            marked[end++] = nodes[k];
        }
    }
    return end;
}

// Marks what a member has come to, and all that is before.
static void mark_before(const struct graph *graph, const struct member *member) {
    size_t nodes = 0, end;
    for (struct node *node = graph->first; node; node = node->next, nodes++) {
        node->placed = false;
    }
    struct node **marked = malloc((nodes + 1) * sizeof *marked);
    end = mark(marked, 0, member->after, member->count);
    for (size_t k = 0; k < end; k++) {
        end = mark(marked, end, marked[k]->after, marked[k]->count);
    }
    free(marked);
}

// Whether what all streams have come to is before the end of the one in which capturing began.
static bool is_joined(const struct sequence *sequence) {
    mark_before(sequence->graph, find(sequence->origin));
    for (const struct member *member = members; member; member = member->next) {
        for (size_t k = 0; member->of == sequence && member->is_stream && k < member->count; k++) {
            if (!member->after[k]->placed) {
                return false;
            }
        }
    }
    return true;
}

static void forget(struct sequence *sequence) {
    for (struct member *member = members, *next; member; member = next) {
        next = member->next;
        if (member->of == sequence) {
            leave(member);
        }
    }
    struct sequence **place = &sequences;
    while (*place != sequence) {
        place = &(*place)->next;
    }
    *place = sequence->next;
    free(sequence);
}

// Without a place for it, a graph of the program's own is filled, and one made for this is let go.
int capture_end(uint64_t stream, struct graph **place) {
    stream = named(stream);
    pthread_mutex_lock(&lock);
    const struct member *known = find(stream);
    struct sequence *sequence = known ? known->of : NULL;
    int status = !sequence                      ? ILLEGAL_STATE
                 : sequence->origin != stream   ? UNMATCHED_CAPTURE
                 : sequence->mode != RELAXED_MODE && sequence->thread != thread_number()
                     ? WRONG_THREAD
                     : SUCCESS;
    struct graph *graph = NULL, *lost = NULL;
    if (!status) {
        status = sequence->invalid ? INVALIDATED_CAPTURE
                 : is_joined(sequence) ? SUCCESS : UNJOINED_CAPTURE;
        graph = status ? NULL : sequence->graph;
        lost = sequence->owned && (status || !place) ? sequence->graph : NULL;
        forget(sequence);
    }
    pthread_mutex_unlock(&lock);
    graph_free(lost);
    if (place) {
        *place = graph;
    }
    return status;
}

// What programs ask

bool graph_is_captured(const struct graph *graph) {
    pthread_mutex_lock(&lock);
    bool found = sequence_of(graph) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

struct capture capture_of(uint64_t stream) {
    struct capture found = {0};
    pthread_mutex_lock(&lock);
    const struct member *known = find(stream);
    if (known) {
        found = (struct capture){known->of->id, known->of->graph, known->after, known->count,
                                 known->of->invalid};
    }
    pthread_mutex_unlock(&lock);
    return found;
}

int capture_set_after(uint64_t stream, struct node *const *after, size_t n, bool keep) {
    const struct graph *graph = capture_of(stream).graph;
    if (stream_check((void *)(uintptr_t)stream)) {
        return INVALID_HANDLE;
    }
    if (!graph || !graph_has_nodes(graph, after, n)) {
        return graph ? INVALID_VALUE : ILLEGAL_STATE;
    }
    pthread_mutex_lock(&lock);
    struct member *known = find(stream);
    if (known) {
        come_after(known, after, n, keep);
    }
    pthread_mutex_unlock(&lock);
    return known ? SUCCESS : ILLEGAL_STATE;
}
