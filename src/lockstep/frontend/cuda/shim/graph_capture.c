// Stream capture as programs of either API see it.

#include "graph_api.h"

enum { ADD_DEPENDENCIES = 0 }; // cudaStreamUpdateCaptureDependenciesFlags
enum { CAPTURING = 1, INVALID = 2 }; // cudaStreamCaptureStatus

#ifdef RUNTIME
API int cudaStreamBeginCapture(stream_t stream, int mode) {
    return report(capture_begin(handle_of(stream), mode, NULL, NULL, 0));
}
#else
API int cuStreamBeginCapture_v2(stream_t stream, int mode) {
    return translate(capture_begin(handle_of(stream), mode, NULL, NULL, 0));
}

// The first one had no mode.
API int cuStreamBeginCapture(stream_t stream) {
    return cuStreamBeginCapture_v2(stream, GLOBAL_MODE);
}
#endif

API int NAME(StreamBeginCaptureToGraph)(stream_t stream, struct graph *graph,
                                        struct node *const *after, const void *edges, size_t nodes,
                                        int mode) {
    (void)edges;
    return answer(graph_lives(graph) ? capture_begin(handle_of(stream), mode, graph, after, nodes)
                                     : INVALID_VALUE);
}

API int NAME(StreamEndCapture)(stream_t stream, struct graph **graph) {
    return answer(stream_check(stream) ? INVALID_HANDLE : capture_end(handle_of(stream), graph));
}

static int status_of(struct capture capture) {
    return capture.invalid ? INVALID : capture.graph ? CAPTURING : 0;
}

API int NAME(StreamIsCapturing)(stream_t stream, int *capturing) {
    int status = stream_check(stream);
    int known = status_of(capture_of(handle_of(stream)));
    status = status ? status : GIVE(capturing, known);
    return status ? answer(status) : SUCCESS;
}

// What is known of a stream: each place may be NULL, and where nothing is captured only the first is
// filled in.
struct information {
    int *capturing;
    unsigned long long *id;
    struct graph **graph;
    struct node ***after;
    const void **edges;
    size_t *count;
};

static int inform(stream_t stream, struct information to) {
    if (!to.capturing || stream_check(stream)) {
        return answer(to.capturing ? INVALID_HANDLE : INVALID_VALUE);
    }
    struct capture known = capture_of(handle_of(stream));
    *to.capturing = status_of(known);
    if (known.graph && to.id) {
        *to.id = known.id;
    }
    if (known.graph && to.graph) {
        *to.graph = known.graph;
    }
    if (known.graph && to.after) {
        *to.after = known.after;
    }
    if (to.edges) {
        *to.edges = NULL; // all edges are plain ones
    }
    if (known.graph && to.count) {
        *to.count = known.count;
    }
    return SUCCESS;
}

API int NAME(StreamGetCaptureInfo_v3)(stream_t stream, int *capturing, unsigned long long *id,
                                      struct graph **graph, struct node ***after,
                                      const void **edges, size_t *nodes) {
    return inform(stream, (struct information){capturing, id, graph, after, edges, nodes});
}

#if RUNTIME < 13
API int NAME(StreamGetCaptureInfo)(stream_t stream, int *capturing, unsigned long long *id) {
    return inform(stream, (struct information){.capturing = capturing, .id = id});
}
#else
API int NAME(StreamGetCaptureInfo)(stream_t stream, int *capturing, unsigned long long *id,
                                   struct graph **graph, struct node ***after, const void **edges,
                                   size_t *nodes) {
    return inform(stream, (struct information){capturing, id, graph, after, edges, nodes});
}
#endif

API int NAME(StreamGetCaptureInfo_v2)(stream_t stream, int *capturing, unsigned long long *id,
                                      struct graph **graph, struct node ***after, size_t *nodes) {
    return inform(stream, (struct information){capturing, id, graph, after, NULL, nodes});
}

static int update(stream_t stream, struct node **after, size_t n, unsigned flags) {
    bool keep = flags == ADD_DEPENDENCIES;
    return answer(capture_set_after(handle_of(stream), after, n, keep));
}

API int NAME(StreamUpdateCaptureDependencies_v2)(stream_t stream, struct node **after,
                                                 const void *edges, size_t n, unsigned flags) {
    (void)edges;
    return update(stream, after, n, flags);
}

#if RUNTIME < 13
API int NAME(StreamUpdateCaptureDependencies)(stream_t stream, struct node **after, size_t n,
                                              unsigned flags) {
    return update(stream, after, n, flags);
}
#else
API int NAME(StreamUpdateCaptureDependencies)(stream_t stream, struct node **after,
                                              const void *edges, size_t n, unsigned flags) {
    (void)edges;
    return update(stream, after, n, flags);
}
#endif

API int NAME(ThreadExchangeStreamCaptureMode)(int *mode) {
    int status = capture_exchange_mode(mode);
    return status ? answer(status) : SUCCESS;
}
