// Operations on words of device memory in streams: waiting for a value, and writing one.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum { WAIT_32 = 1, WRITE_32, FLUSH, WAIT_64, WRITE_64, BARRIER }; // CUstreamBatchMemOpType
enum { AT_LEAST, EQUAL, ANY_BIT, NOT_ALL_BITS, CONDITIONS = 3 };   // CUstreamWaitValue_flags

static bool is_wait(const struct memory_operation *operation) {
    return operation->kind == WAIT_32 || operation->kind == WAIT_64;
}

static bool is_write(const struct memory_operation *operation) {
    return operation->kind == WRITE_32 || operation->kind == WRITE_64;
}

static unsigned bytes_of(const struct memory_operation *operation) {
    return operation->kind == WAIT_64 || operation->kind == WRITE_64 ? 8 : 4;
}

static uint64_t wanted(const struct memory_operation *operation) {
    return bytes_of(operation) == 8 ? operation->value : (uint32_t)operation->value;
}

static bool is_right(const struct memory_operation *operation) {
    bool known = is_wait(operation) || is_write(operation);
    if (!known) {
        return operation->kind == BARRIER || operation->kind == FLUSH;
    }
    return operation->address && operation->address % bytes_of(operation) == 0;
}

static int look(const struct memory_operation *operation, uint64_t *value) {
    struct peek_request request = {operation->address, bytes_of(operation)};
    struct peek_reply fields = {0};
    int status = GPU_CALL(PEEK, &request, &fields);
    *value = fields.value;
    return status;
}

static bool holds(const struct memory_operation *operation, uint64_t value) {
    uint64_t want = wanted(operation), all = bytes_of(operation) == 8 ? ~0ull : ~0u;
    switch (operation->flags & CONDITIONS) {
    case AT_LEAST: // also when it has wrapped around
        return bytes_of(operation) == 8 ? (int64_t)(value - want) >= 0
                                        : (int32_t)(uint32_t)(value - want) >= 0;
    case EQUAL:
        return value == want;
    case ANY_BIT:
        return (value & want) != 0;
    default:
        return (~(value | want) & all) != 0;
    }
}

int memory_operation_test(const struct memory_operation *operation, bool *ready) {
    uint64_t value;
    int status = look(operation, &value);
    *ready = !status && holds(operation, value);
    return status;
}

void memory_operation_describe(const struct memory_operation *operation, char *text, size_t size) {
    static const char *const conditions[] = {"at least %#llx", "%#llx", "a number with a bit of %#llx",
                                             "a number without all bits but those of %#llx"};
    char condition[100];
    uint64_t value = 0;
    look(operation, &value);
    snprintf(condition, sizeof condition, conditions[operation->flags & CONDITIONS],
             (unsigned long long)wanted(operation));
    snprintf(text, size,
             "a stream waits for ever (cuStreamWaitValue%u): the %u bytes at %#llx are %#llx and "
             "shall be %s, and nothing that is left to run writes them",
             8 * bytes_of(operation), bytes_of(operation), (unsigned long long)operation->address,
             (unsigned long long)value, condition);
}

static int write_value(const struct memory_operation *operation, uint64_t stream) {
    struct work work;
    int status = work_operations(&work, operation, 1);
    return status ? status : stream_work(stream, work);
}

// In a graph a wait is for what is there when it is launched, or what others still do.
int memory_operations_perform(const struct memory_operation *list, unsigned count, uint64_t stream) {
    int status = SUCCESS;
    for (unsigned k = 0; k < count && !status; k++) {
        if (is_wait(&list[k])) {
            status = held_poll(&list[k]);
        } else if (is_write(&list[k])) {
            unsigned bytes = bytes_of(&list[k]);
            struct region to = {(void *)(uintptr_t)list[k].address, bytes};
            status = fill_rectangle(to, wanted(&list[k]), bytes, bytes, 1, stream);
        }
    }
    return status;
}

int work_operations(struct work *work, const struct memory_operation *list, unsigned count) {
    *work = (struct work){.kind = OPERATIONS_NODE, .of.operations.count = count};
    for (unsigned k = 0; list && k < count; k++) {
        if (!is_right(&list[k])) {
            return INVALID_VALUE;
        }
    }
    if (!list || !count) {
        return INVALID_VALUE;
    }
    work->of.operations.list = malloc(count * sizeof *list);
    memcpy(work->of.operations.list, list, count * sizeof *list);
    return SUCCESS;
}

int stream_operate(uint64_t stream, const struct memory_operation *list, unsigned count) {
    struct work work;
    int status = stream_may_enqueue(stream);
    status = status ? status : work_operations(&work, list, count);
    if (status || capture_add(stream, work)) {
        return status;
    }
    for (unsigned k = 0; k < count && !status; k++) {
        status = is_wait(&list[k])    ? held_value(stream, &list[k])
                 : is_write(&list[k]) ? write_value(&list[k], stream)
                                      : SUCCESS;
    }
    work_free(&work);
    return status;
}
