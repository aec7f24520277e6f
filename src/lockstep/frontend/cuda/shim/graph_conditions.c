// Conditional nodes: graphs that are performed if, while, or as a value says. Kernels set the value by
// cudaGraphSetConditional; its handle is the value's address in device memory, which nothing else
// writes. The program decides, when all that was launched before has been done.

#include <stdlib.h>

#include "graph.h"

enum { IF, WHILE, SWITCH };      // cudaGraphConditionalNodeType
enum { ASSIGN_DEFAULT = 1 };     // cudaGraphConditionalHandleFlags
enum { VALUE_BYTES = 4 };

// As a node owns it. The value lives as long as a graph that has the handle.
struct condition {
    struct condition *next;
    struct value {
        unsigned *place, initial;
        bool assigned;
        unsigned references;
    } *value;
};

static uint64_t address_of(const struct value *value) {
    return (uint64_t)(uintptr_t)value->place;
}

static struct value *value_of(const struct graph *graph, uint64_t handle) {
    for (const struct condition *c = graph->conditions; c; c = c->next) {
        if (address_of(c->value) == handle) {
            return c->value;
        }
    }
    return NULL;
}

static void keep(struct graph *graph, struct value *value) {
    struct condition *condition = malloc(sizeof *condition);
    *condition = (struct condition){graph->conditions, value};
    graph->conditions = condition;
    value->references++;
}

void conditions_share(struct graph *to, const struct graph *from) {
    for (const struct condition *c = from->conditions; c; c = c->next) {
        keep(to, c->value);
    }
}

void conditions_drop(struct graph *graph) {
    for (struct condition *c = graph->conditions, *next; c; c = next) {
        next = c->next;
        if (--c->value->references == 0) {
            struct free_request request = {address_of(c->value)};
            gpu_call(CALL_FREE, &request, sizeof request, NULL, 0, &(struct reply){0});
            free(c->value);
        }
        free(c);
    }
    graph->conditions = NULL;
}

int condition_new(uint64_t *handle, struct graph *graph, unsigned initial, unsigned flags) {
    if (!handle || !graph_lives(graph) || flags & ~ASSIGN_DEFAULT) {
        return INVALID_VALUE;
    }
    struct allocate_request request = {VALUE_BYTES, ALLOCATION_DEVICE};
    struct allocate_reply fields = {0};
    int status = GPU_CALL(ALLOCATE, &request, &fields);
    if (status) {
        return status;
    }
    struct value *value = calloc(1, sizeof *value);
    *value = (struct value){(unsigned *)(uintptr_t)fields.address, initial,
                            flags & ASSIGN_DEFAULT, 0};
    *value->place = initial;
    keep(graph, value);
    *handle = fields.address;
    return SUCCESS;
}

// A graph, or one that it is a body of, has the handle.
static bool has_handle(const struct graph *graph, uint64_t handle) {
    while (graph && !value_of(graph, handle)) {
        graph = graph->around;
    }
    return graph != NULL;
}

int work_condition(struct work *work, struct graph *graph, struct conditional_parameters *given) {
    static const unsigned most[] = {[IF] = 2, [WHILE] = 1, [SWITCH] = 1 << 16};
    if (given->kind > SWITCH || !given->size || given->size > most[given->kind] ||
        !has_handle(graph, given->handle)) {
        return INVALID_VALUE;
    }
    *work = (struct work){.kind = CONDITION_NODE, .of.condition = *given};
    work->of.condition.bodies = calloc(given->size, sizeof(struct graph *));
    for (unsigned k = 0; k < given->size; k++) {
        work->of.condition.bodies[k] = graph_new();
        work->of.condition.bodies[k]->around = graph;
    }
    given->bodies = work->of.condition.bodies;
    return SUCCESS;
}

void conditional_duplicate(struct conditional_parameters *condition) {
    struct graph **bodies = calloc(condition->size, sizeof *bodies);
    for (unsigned k = 0; k < condition->size; k++) {
        bodies[k] = graph_duplicate(condition->bodies[k]);
    }
    condition->bodies = bodies;
}

void conditional_free(struct conditional_parameters *condition) {
    for (unsigned k = 0; k < condition->size; k++) {
        graph_free(condition->bodies[k]);
    }
    free(condition->bodies);
}

static int wait_for_all(void) {
    return synchronize(0, 0);
}

// The values that begin anew with each launch, of the bodies, too.
static void assign(const struct graph *graph) {
    for (const struct condition *c = graph->conditions; c; c = c->next) {
        if (c->value->assigned) {
            *c->value->place = c->value->initial;
        }
    }
    for (const struct node *node = graph->first; node; node = node->next) {
        const struct conditional_parameters *condition = &node->work.of.condition;
        for (unsigned k = 0; node->work.kind == CONDITION_NODE && k < condition->size; k++) {
            assign(condition->bodies[k]);
        }
    }
}

int conditions_begin(const struct graph *graph) {
    int status = graph_has(graph, CONDITION_NODE) ? wait_for_all() : SUCCESS;
    if (!status) {
        assign(graph);
    }
    return status;
}

static int current(const struct conditional_parameters *condition, unsigned *value) {
    int status = wait_for_all();
    *value = status ? 0 : *(volatile unsigned *)(uintptr_t)condition->handle;
    return status;
}

int conditional_perform(const struct conditional_parameters *condition, uint64_t stream) {
    unsigned value;
    int status = current(condition, &value);
    if (condition->kind == WHILE) {
        while (!status && value) {
            status = graph_perform(condition->bodies[0], stream);
            status = status ? status : current(condition, &value);
        }
        return status;
    }
    unsigned chosen = condition->kind == IF ? !value : value;
    return status || chosen >= condition->size ? status
                                               : graph_perform(condition->bodies[chosen], stream);
}

// What a body may hold, as far as a graph can be launched with it.
static bool is_body_work(const struct work *work) {
    switch (work->kind) {
    case KERNEL_NODE:
    case COPY_NODE:
    case FILL_NODE:
    case EMPTY_NODE:
        return true;
    case GRAPH_NODE:
        return graph_is_body(work->of.graph);
    case CONDITION_NODE:
        return conditional_is_right(&work->of.condition);
    default:
        return false;
    }
}

bool graph_is_body(const struct graph *graph) {
    const struct node *node = graph->first;
    while (node && is_body_work(&node->work)) {
        node = node->next;
    }
    return !node;
}

bool conditional_is_right(const struct conditional_parameters *condition) {
    unsigned k = 0;
    while (k < condition->size && graph_is_body(condition->bodies[k])) {
        k++;
    }
    return k == condition->size;
}
