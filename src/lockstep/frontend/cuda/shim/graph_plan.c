// The order in which the nodes of a graph are performed, and in which streams: branches of a graph run
// side by side, each in a lane, as streams that wait for each other's events do. The first lane is the
// stream in which the graph is launched, the others are streams of the graph's own. A lane is of one
// device, and has the nodes of that one.
//
// Nodes are performed level by level, as far from the beginning as the longest way to them: where the
// host takes no time, a stream that waits for an event lets all finish that was launched before, which
// must not be a node beside it. So all of a level wait before any kernel of it is launched.

#include <stdlib.h>

#include "graph.h"

enum { MOST_LANES = 32, ROOM = MOST_LANES + MOST_DEVICES }; // each device has one at least

struct step {
    const struct node *node;
    size_t level, place; // in the list of nodes
    int lane;
    bool is_awaited, is_last; // in another lane; of its lane
    uint64_t event;  // that tells its end, if it is
};

struct plan {
    struct step *steps; // in the order in which they are performed
    size_t count;
    int lanes, devices[ROOM]; // of each lane
    bool settled;             // there are these
    uint64_t begin, streams[ROOM];
};

// While lanes are chosen: the last step of each, and who waited for it.
struct lane {
    const struct step *last, *joined;
};

static int is_before(const void *one, const void *two) {
    const struct step *a = one, *b = two;
    bool launches = a->node->work.kind == KERNEL_NODE, others = b->node->work.kind == KERNEL_NODE;
    if (a->level != b->level) {
        return a->level < b->level ? -1 : 1;
    }
    return launches != others ? launches - others : a->place < b->place ? -1 : 1;
}

static struct step *step_of(const struct plan *plan, const struct node *node) {
    return &plan->steps[node->step];
}

static bool waits_for(const struct plan *plan, const struct node *node, const struct step *step) {
    for (size_t k = 0; k < node->count; k++) {
        if (step_of(plan, node->after[k]) == step) {
            return true;
        }
    }
    return false;
}

// The lane at a place or behind it, round about, that is of a device; `lanes` if there is none.
static int lane_from(const struct plan *plan, int place, int device) {
    int k = 0;
    while (k < plan->lanes && plan->devices[(place + k) % plan->lanes] != device) {
        k++;
    }
    return k < plan->lanes ? (place + k) % plan->lanes : plan->lanes;
}

static int new_lane(struct plan *plan, int device) {
    plan->devices[plan->lanes] = device;
    return plan->lanes++;
}

// A lane whose last step comes before: it goes on there; else one that was joined, or a new one.
static int choose_lane(struct plan *plan, const struct lane *lanes, const struct node *node) {
    for (int k = 0; k < plan->lanes; k++) {
        if (plan->devices[k] == node->device && lanes[k].last &&
            waits_for(plan, node, lanes[k].last)) {
            return k;
        }
    }
    for (int k = 0; k < plan->lanes; k++) {
        if (plan->devices[k] == node->device && lanes[k].joined &&
            waits_for(plan, node, lanes[k].joined)) {
            return k;
        }
    }
    if (plan->devices[0] == node->device && !lanes[0].last) { // nothing is in it yet
        return 0;
    }
    int other = lane_from(plan, (int)(node->step % MOST_LANES), node->device);
    bool is_new = plan->lanes < MOST_LANES || other == plan->lanes;
    return is_new ? new_lane(plan, node->device) : other;
}

static void place_step(struct plan *plan, struct lane *lanes, struct step *step) {
    const struct node *node = step->node;
    step->lane = choose_lane(plan, lanes, node);
    for (size_t k = 0; k < node->count; k++) {
        struct step *before = step_of(plan, node->after[k]);
        if (before->lane != step->lane) {
            before->is_awaited = true;
            if (lanes[before->lane].last == before) {
                lanes[before->lane].joined = step;
            }
        }
    }
    lanes[step->lane] = (struct lane){.last = step};
}

// For a launch in a stream of a device. Nodes are in an order in which each comes after those that it
// waits for.
static struct plan *plan_make(const struct graph *graph, int device) {
    struct plan *plan = calloc(1, sizeof *plan);
    new_lane(plan, device);
    for (struct node *node = graph->first; node; node = node->next) {
        node->step = plan->count++;
    }
    plan->steps = calloc(plan->count + 1, sizeof *plan->steps);
    for (struct node *node = graph->first; node; node = node->next) {
        struct step *step = step_of(plan, node);
        *step = (struct step){.node = node, .place = node->step};
        for (size_t k = 0; k < node->count; k++) {
            size_t level = step_of(plan, node->after[k])->level + 1;
            step->level = level > step->level ? level : step->level;
        }
    }
    qsort(plan->steps, plan->count, sizeof *plan->steps, is_before);
    for (size_t k = 0; k < plan->count; k++) {
        ((struct node *)plan->steps[k].node)->step = k;
    }
    struct lane lanes[ROOM] = {0};
    for (size_t k = 0; k < plan->count; k++) {
        place_step(plan, lanes, &plan->steps[k]);
    }
    // The stream of the launch goes on when all is done.
    for (int k = 1; k < plan->lanes; k++) {
        struct step *last = &plan->steps[lanes[k].last - plan->steps];
        last->is_awaited = last->is_last = true;
    }
    return plan;
}

static void destroy(unsigned call, uint64_t handle) {
    if (handle) {
        gpu_call(call, &handle, sizeof handle, NULL, 0, &(struct reply){0});
    }
}

static void unsettle(struct plan *plan) {
    for (int k = 1; k < plan->lanes; k++) {
        destroy(CALL_DESTROY_STREAM, plan->streams[k]);
        plan->streams[k] = 0;
    }
    for (size_t k = 0; k < plan->count; k++) {
        destroy(CALL_DESTROY_EVENT, plan->steps[k].event);
        plan->steps[k].event = 0;
    }
    destroy(CALL_DESTROY_EVENT, plan->begin);
    plan->begin = 0;
    plan->settled = false;
}

void plan_free(struct plan *plan) {
    if (plan) {
        unsettle(plan);
        free(plan->steps);
        free(plan);
    }
}

// What follows is done on the device of a lane.
static void go_to(const struct plan *plan, int lane) {
    gpu_set_current(plan->devices[lane]);
}

static int new_stream(uint64_t *stream) {
    struct create_stream_request request = {NON_BLOCKING};
    struct create_stream_reply fields = {0};
    int status = GPU_CALL(CREATE_STREAM, &request, &fields);
    *stream = fields.stream;
    return status;
}

// Streams and events are those of the lanes' devices.
static int settle(struct plan *plan) {
    if (plan->lanes < 2 || plan->settled) {
        return SUCCESS;
    }
    unsettle(plan); // what another try has left
    int status = event_new(&plan->begin);
    for (int k = 1; k < plan->lanes && !status; k++) {
        go_to(plan, k);
        status = new_stream(&plan->streams[k]);
    }
    for (size_t k = 0; k < plan->count && !status; k++) {
        go_to(plan, plan->steps[k].lane);
        status = plan->steps[k].is_awaited ? event_new(&plan->steps[k].event) : SUCCESS;
    }
    go_to(plan, 0);
    plan->settled = !status;
    return status;
}

static int event_call(unsigned call, uint64_t event, uint64_t stream) {
    struct wait_event_request request = {event, stream}; // as that of a record
    return gpu_call(call, &request, sizeof request, NULL, 0, &(struct reply){0});
}

static int wait_before(const struct plan *plan, const struct step *step) {
    uint64_t stream = plan->streams[step->lane];
    const struct node *node = step->node;
    int status = SUCCESS;
    if (!node->count && step->lane) {
        status = event_call(CALL_WAIT_EVENT, plan->begin, stream);
    }
    for (size_t k = 0; k < node->count && !status; k++) {
        const struct step *before = step_of(plan, node->after[k]);
        if (before->lane != step->lane) {
            status = event_call(CALL_WAIT_EVENT, before->event, stream);
        }
    }
    return status;
}

static int perform(const struct plan *plan, const struct step *step) {
    uint64_t stream = plan->streams[step->lane];
    go_to(plan, step->lane);
    int status = step->node->disabled ? SUCCESS : work_perform(&step->node->work, stream);
    bool tells = !status && step->event;
    status = tells ? event_call(CALL_RECORD_EVENT, step->event, stream) : status;
    go_to(plan, 0);
    return status;
}

static int perform_levels(const struct plan *plan) {
    int status = plan->lanes > 1 ? event_call(CALL_RECORD_EVENT, plan->begin, plan->streams[0])
                                 : SUCCESS;
    for (size_t k = 0, end; k < plan->count && !status; k = end) {
        end = k;
        while (end < plan->count && plan->steps[end].level == plan->steps[k].level && !status) {
            status = wait_before(plan, &plan->steps[end++]);
        }
        for (size_t next = k; next < end && !status; next++) {
            status = perform(plan, &plan->steps[next]);
        }
    }
    return status;
}

int graph_perform(struct graph *graph, uint64_t stream) {
    if (graph->plan && graph->plan->devices[0] != gpu_current()) {
        plan_free(graph->plan);
        graph->plan = NULL;
    }
    graph->plan = graph->plan ? graph->plan : plan_make(graph, gpu_current());
    struct plan *plan = graph->plan;
    plan->streams[0] = stream;
    int status = settle(plan);
    status = status ? status : perform_levels(plan);
    // The last step of each lane; what is before it in the lane is done as well.
    for (size_t k = 0; k < plan->count && !status; k++) {
        const struct step *step = &plan->steps[k];
        if (step->lane && step->is_last) {
            status = event_call(CALL_WAIT_EVENT, step->event, stream);
        }
    }
    return status;
}
