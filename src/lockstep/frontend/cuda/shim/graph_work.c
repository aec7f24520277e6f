// What the nodes of graphs do.

#include <stdlib.h>
#include <string.h>

#include "graph.h"

int work_launch(struct work *work, struct kernel *kernel, const struct kernel_parameters *given) {
    int status = kernel ? kernel_find(kernel) : INVALID_FUNCTION;
    if (!status && kernel->facts.parameters && !given->arguments && !given->extra) {
        status = INVALID_VALUE;
    }
    if (status) {
        return status;
    }
    *work = (struct work){.kind = KERNEL_NODE};
    work->of.launch.kernel = kernel;
    work->of.launch.shape.dynamic_shared = given->shared;
    memcpy(work->of.launch.shape.grid, given->grid, sizeof given->grid);
    memcpy(work->of.launch.shape.block, given->block, sizeof given->block);
    if (given->arguments || !kernel->facts.parameters) {
        work->of.launch.block = kernel_block(kernel, given->arguments);
        return work->of.launch.block ? SUCCESS : INVALID_VALUE;
    }
    work->of.launch.block = calloc(1, kernel->facts.parameter_bytes + 1);
    for (void **extra = given->extra; extra && *extra; extra += 2) {
        if (*extra == (void *)BUFFER_POINTER && extra[1]) {
            memcpy(work->of.launch.block, extra[1], kernel->facts.parameter_bytes);
        }
    }
    return SUCCESS;
}

struct work work_copy(struct region to, struct region source, size_t width, size_t rows) {
    struct work work = {.kind = COPY_NODE};
    work.of.copy.box = (struct box){
        .to = to, .source = source, .width = width, .rows = rows, .slices = 1};
    return work;
}

int work_allocation(struct work *work, struct allocation_parameters *given) {
    *work = (struct work){.kind = ALLOCATE_NODE};
    int status = graph_memory_new(given->bytes, &work->of.allocation.memory);
    if (!status) {
        given->address = work->of.allocation.memory->address;
        work->of.allocation.parameters = *given;
    }
    return status;
}

// Memory is freed once in a graph.
int work_release(struct work *work, const struct graph *graph, const void *address) {
    for (const struct node *node = graph->first; node; node = node->next) {
        if (node->work.kind == FREE_NODE && node->work.of.freed->address == address) {
            return INVALID_VALUE;
        }
    }
    *work = (struct work){.kind = FREE_NODE, .of.freed = graph_memory_at(address)};
    return work->of.freed ? SUCCESS : INVALID_VALUE;
}

struct work work_duplicate(const struct work *work) {
    struct work copy = *work;
    if (work->kind == KERNEL_NODE) {
        size_t bytes = work->of.launch.kernel->facts.parameter_bytes;
        copy.of.launch.block = malloc(bytes + 1);
        memcpy(copy.of.launch.block, work->of.launch.block, bytes);
    } else if (work->kind == GRAPH_NODE) {
        copy.of.graph = graph_duplicate(work->of.graph);
    } else if (work->kind == ALLOCATE_NODE) {
        graph_memory_share(work->of.allocation.memory);
    } else if (work->kind == FREE_NODE) {
        graph_memory_share(work->of.freed);
    } else if (work->kind == CONDITION_NODE) {
        conditional_duplicate(&copy.of.condition);
    } else if (work->kind == OPERATIONS_NODE) {
        work_operations(&copy, work->of.operations.list, work->of.operations.count);
    }
    return copy;
}

void work_free(struct work *work) {
    if (work->kind == KERNEL_NODE) {
        free(work->of.launch.block);
    } else if (work->kind == GRAPH_NODE) {
        graph_free(work->of.graph);
    } else if (work->kind == ALLOCATE_NODE) {
        graph_memory_drop(work->of.allocation.memory);
    } else if (work->kind == FREE_NODE) {
        graph_memory_drop(work->of.freed);
    } else if (work->kind == CONDITION_NODE) {
        conditional_free(&work->of.condition);
    } else if (work->kind == OPERATIONS_NODE) {
        free(work->of.operations.list);
    }
}

static int perform_fill(const struct fill_parameters *fill, uint64_t stream) {
    size_t width;
    if (!product(&width, fill->width, fill->unit, 1)) {
        return INVALID_VALUE;
    }
    struct region to = {fill->address, fill->rows > 1 ? fill->pitch : width};
    return fill_rectangle(to, fill->value, fill->unit, width, fill->rows, stream);
}

static int perform_call(const struct call_parameters *call, uint64_t stream) {
    int status = synchronize(stream, 0);
    if (!status) {
        call->function(call->data);
    }
    return status;
}

static int perform_event(unsigned call, uint64_t event, uint64_t stream) {
    struct record_event_request request = {event, stream}; // as that of waiting for one
    return gpu_call(call, &request, sizeof request, NULL, 0, &(struct reply){0});
}

int work_perform(const struct work *work, uint64_t stream) {
    switch (work->kind) {
    case KERNEL_NODE: {
        struct shape shape = work->of.launch.shape;
        shape.stream = stream;
        return kernel_launch(work->of.launch.kernel, &shape, NULL, work->of.launch.block,
                             work->of.launch.kernel->facts.parameter_bytes);
    }
    case COPY_NODE:
        return copy_box(&work->of.copy.box, stream);
    case FILL_NODE:
        return perform_fill(&work->of.fill, stream);
    case CALL_NODE:
        return perform_call(&work->of.call, stream);
    case GRAPH_NODE:
        return graph_perform(work->of.graph, stream);
    case RECORD_NODE:
        return perform_event(CALL_RECORD_EVENT, work->of.event, stream);
    case WAIT_NODE:
        return perform_event(CALL_WAIT_EVENT, work->of.event, stream);
    case ALLOCATE_NODE:
        return graph_memory_begin(work->of.allocation.memory);
    case FREE_NODE:
        return graph_memory_end(work->of.freed);
    case CONDITION_NODE:
        return conditional_perform(&work->of.condition, stream);
    case OPERATIONS_NODE:
        return memory_operations_perform(work->of.operations.list, work->of.operations.count,
                                         stream);
    default:
        return SUCCESS;
    }
}
