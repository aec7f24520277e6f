// Streams that wait for a value in memory which is not there yet, or for a function of the program that
// has not returned: what a program enqueues in them is kept until then, as is what waits for that.
// Everything else is done in the order of the calls; after each call that may have written the value it
// is looked at again.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

#define NEWEST UINT64_MAX // after all items

enum item_kind { DO_WORK, AWAIT_VALUE, AWAIT_EVENT, AWAIT_CALL, FREE_MEMORY, END_STREAM };

struct item {
    struct item *next;
    enum item_kind kind;
    uint64_t number; // in the order of the calls
    int device;      // that the thread had set
    struct work work;
    struct memory_operation value;
    struct host_call *call;
    uint64_t handle; // of an event, memory, or the stream that ends
    uint64_t superseded; // the number from which on the event has been recorded again; 0: it has not
    void *copied;    // from pageable memory of the program, which it may have changed by then
};

struct held {
    struct held *next;
    uint64_t stream;
    int device; // that the thread had set which began to wait
    struct item *first, **last;
};

static struct held *all;
static _Atomic unsigned held_count;
static bool busy; // what is kept is done, which makes calls itself
static uint64_t items;
static int first_error;
static _Atomic unsigned advances;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
LOCK_AT_FORK(lock, PTHREAD_MUTEX_RECURSIVE);

// Events that are destroyed while items have them.
struct ending {
    struct ending *next;
    uint64_t event;
};

static struct ending *endings;

static uint64_t named(uint64_t stream) {
    if (!stream || stream == STREAM_BLOCKING) {
        stream = stream_default_of_thread() ? THREAD_STREAM : LEGACY_STREAM;
    }
    return stream == THREAD_STREAM ? stream_of_thread() : stream;
}

// Each device has default streams of its own.
static bool is_stream(const struct held *held, uint64_t stream) {
    bool is_default = stream_handle(held->stream) <= THREAD_STREAM;
    return held->stream == named(stream) && (!is_default || held->device == gpu_current());
}

static struct held *find(uint64_t stream) {
    struct held *held = all;
    while (held && !is_stream(held, stream)) {
        held = held->next;
    }
    return held;
}

// Blocking streams and the legacy one of a device wait for each other.
static bool are_related(uint64_t one, uint64_t two) {
    bool legacy = one == LEGACY_STREAM, other = two == LEGACY_STREAM;
    return legacy != other && stream_blocks((void *)(uintptr_t)stream_handle(legacy ? two : one));
}

static bool is_held(uint64_t stream, uint64_t before) {
    for (const struct held *held = all; held; held = held->next) {
        bool related = held->device == gpu_current() && are_related(held->stream, named(stream));
        if ((related || is_stream(held, stream)) && held->first->number < before) {
            return true;
        }
    }
    return false;
}

bool stream_is_held(uint64_t stream) {
    if (!held_count) {
        return false;
    }
    pthread_mutex_lock(&lock);
    bool found = is_held(stream, NEWEST);
    pthread_mutex_unlock(&lock);
    return found;
}

static bool is_record(const struct item *item, uint64_t event) {
    return item->kind == DO_WORK && item->work.kind == RECORD_NODE && item->work.of.event == event;
}

// Whether a record was the newest one when another item came.
static bool was_newest(const struct item *record, uint64_t number) {
    return record->number < number && (!record->superseded || record->superseded > number);
}

// Whether the record is to come that was the newest one of an event then.
static bool is_pending(uint64_t event, uint64_t number) {
    for (const struct held *held = all; held; held = held->next) {
        for (const struct item *item = held->first; item; item = item->next) {
            if (was_newest(item, number) && is_record(item, event)) {
                return true;
            }
        }
    }
    return false;
}

void event_supersede(uint64_t event) {
    if (!held_count) {
        return;
    }
    pthread_mutex_lock(&lock);
    uint64_t number = ++items;
    for (struct held *held = all; held; held = held->next) {
        for (struct item *item = held->first; item; item = item->next) {
            if (is_record(item, event) && !item->superseded) {
                item->superseded = number;
            }
        }
    }
    pthread_mutex_unlock(&lock);
}

bool event_is_pending(uint64_t event) {
    if (!held_count) {
        return false;
    }
    pthread_mutex_lock(&lock);
    bool found = is_pending(event, NEWEST);
    pthread_mutex_unlock(&lock);
    return found;
}

static void put(uint64_t stream, struct item item) {
    struct item *kept = malloc(sizeof *kept);
    *kept = item;
    kept->number = ++items;
    kept->device = gpu_current();
    struct held *held = find(stream);
    if (!held) {
        held = calloc(1, sizeof *held);
        *held = (struct held){
            .next = all, .stream = named(stream), .device = gpu_current(), .last = &held->first};
        all = held;
        held_count++;
    }
    *held->last = kept;
    held->last = &kept->next;
}

static void put_locked(uint64_t stream, struct item item) {
    pthread_mutex_lock(&lock);
    put(stream, item);
    pthread_mutex_unlock(&lock);
    held_progress(); // it may be there by now, and no other call may follow
}

static bool is_pageable(const void *address) {
    return !gpu_is_device(address) && !host_is_registered(address);
}

// The bytes that a copy reads, where the program may change them.
static void *take_source(struct box *box) {
    char *bytes = malloc(box->width * box->rows * box->slices + 1), *to = bytes;
    for (size_t z = 0; z < box->slices; z++) {
        for (size_t row = 0; row < box->rows; row++, to += box->width) {
            memcpy(to, (char *)box->source.address + z * box->source_slice + row * box->source.pitch,
                   box->width);
        }
    }
    box->source = (struct region){bytes, box->width};
    box->source_slice = box->width * box->rows;
    return bytes;
}

int held_add(uint64_t stream, struct work work) {
    struct item item = {.kind = DO_WORK, .work = work};
    if (work.kind == COPY_NODE && is_pageable(work.of.copy.box.source.address)) {
        item.copied = take_source(&item.work.of.copy.box);
    }
    put_locked(stream, item);
    return SUCCESS;
}

void held_await(uint64_t stream, uint64_t event) {
    put_locked(stream, (struct item){.kind = AWAIT_EVENT, .handle = event});
}

void held_free(uint64_t stream, uint64_t address) {
    put_locked(stream, (struct item){.kind = FREE_MEMORY, .handle = address});
}

void held_call(uint64_t stream, struct host_call *call) {
    put_locked(stream, (struct item){.kind = AWAIT_CALL, .call = call});
}

static bool has_event(const struct item *item, uint64_t event) {
    bool waits = item->kind == DO_WORK && item->work.kind == WAIT_NODE;
    return is_record(item, event) || (waits && item->work.of.event == event) ||
           (item->kind == AWAIT_EVENT && item->handle == event);
}

static bool is_event_used(uint64_t event) {
    for (const struct held *held = all; held; held = held->next) {
        for (const struct item *item = held->first; item; item = item->next) {
            if (has_event(item, event)) {
                return true;
            }
        }
    }
    return false;
}

static void end_later(uint64_t event) {
    struct ending *ending = malloc(sizeof *ending);
    *ending = (struct ending){endings, event};
    endings = ending;
}

// A stream or an event that something is kept of ends when that is done.
bool held_destroy(unsigned call, uint64_t handle) {
    bool found = false;
    pthread_mutex_lock(&lock);
    if (call == CALL_DESTROY_EVENT && is_event_used(handle)) {
        end_later(handle);
        found = true;
    }
    for (struct held *held = all; held && call == CALL_DESTROY_STREAM; held = held->next) {
        if (held->stream == handle) {
            put(handle, (struct item){.kind = END_STREAM, .handle = handle});
            found = true;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

// Events that nothing has any more.
static void destroy_events(void) {
    for (struct ending **place = &endings; *place;) {
        struct ending *ending = *place;
        if (is_event_used(ending->event)) {
            place = &ending->next;
            continue;
        }
        *place = ending->next;
        gpu_call(CALL_DESTROY_EVENT, &ending->event, sizeof ending->event, NULL, 0,
                 &(struct reply){0});
        free(ending);
    }
}

static void end(struct item *item) {
    if (item->kind == DO_WORK) {
        work_free(&item->work);
    }
    host_call_drop(item->call);
    free(item->copied);
    free(item);
}

// The event has been recorded again: who waited for this record gets an event of its own.
static int record_for_waiting(const struct item *record, uint64_t stream) {
    uint64_t event = record->work.of.event, own = 0;
    for (struct held *held = all; held; held = held->next) {
        for (struct item *item = held->first; item; item = item->next) {
            bool waits = item->kind == AWAIT_EVENT && item->handle == event;
            if (!waits || !was_newest(record, item->number)) {
                continue;
            }
            int status = own ? SUCCESS : event_new(&own);
            if (status) {
                return status;
            }
            item->handle = own;
        }
    }
    if (!own) {
        return SUCCESS;
    }
    end_later(own);
    struct work work = {.kind = RECORD_NODE, .of.event = own};
    return work_perform(&work, stream);
}

static int perform(const struct item *item, uint64_t stream) {
    if (item->kind == DO_WORK) {
        return item->superseded ? record_for_waiting(item, stream)
                                : work_perform(&item->work, stream);
    }
    if (item->kind == FREE_MEMORY) {
        return memory_free(item->handle);
    }
    uint64_t handle = item->handle;
    return gpu_call(CALL_DESTROY_STREAM, &handle, sizeof handle, NULL, 0, &(struct reply){0});
}

// Whether an item need not wait any longer; an error ends the wait.
static bool is_ready(const struct item *item, int *status) {
    if (item->kind == AWAIT_EVENT) {
        return !is_pending(item->handle, item->number);
    }
    if (item->kind == AWAIT_CALL) {
        return host_call_leave(item->call);
    }
    bool ready = true;
    if (item->kind == AWAIT_VALUE) {
        *status = memory_operation_test(&item->value, &ready);
    }
    return ready || *status;
}

static bool is_wait(const struct item *item) {
    return item->kind == AWAIT_VALUE || item->kind == AWAIT_EVENT || item->kind == AWAIT_CALL;
}

// Starts a function when what is before it has been done; whether it has returned, as most do soon.
static bool begin_call(struct item *item, uint64_t stream, int *status) {
    *status = synchronize(stream, 0);
    if (*status) {
        return true;
    }
    item->call = host_call_start(&item->work.of.call);
    item->kind = AWAIT_CALL;
    return host_call_wait(item->call);
}

// Does what can be done at the head of a stream; true: something was.
static bool advance(struct held *held) {
    struct item *item = held->first;
    int device = gpu_current(), status = SUCCESS;
    gpu_set_current(item->device);
    bool ready = !is_held(held->stream, item->number) // by one that it is related to
                 && is_ready(item, &status);
    uint64_t stream = stream_handle(held->stream);
    if (ready && !status && item->kind == DO_WORK && item->work.kind == CALL_NODE) {
        ready = begin_call(item, stream, &status);
    } else if (ready && !status && item->kind == AWAIT_EVENT) {
        struct work wait = {.kind = WAIT_NODE, .of.event = item->handle};
        status = work_perform(&wait, stream);
    } else if (ready && !status && !is_wait(item)) {
        status = perform(item, stream);
    }
    gpu_set_current(device);
    first_error = first_error ? first_error : status;
    if (ready) {
        held->first = item->next;
        end(item);
    }
    return ready;
}

static void drop(struct held *held) {
    struct held **place = &all;
    while (*place != held) {
        place = &(*place)->next;
    }
    *place = held->next;
    while (held->first) {
        struct item *item = held->first;
        held->first = item->next;
        end(item);
    }
    free(held);
    held_count--;
}

void held_progress(void) {
    if (!held_count) {
        return;
    }
    pthread_mutex_lock(&lock);
    bool again = !busy;
    while (again) {
        again = false;
        busy = true;
        for (struct held *held = all, *next; held; held = next) {
            while (held->first && advance(held)) {
                again = true;
                advances++;
            }
            next = held->next;
            if (!held->first) {
                drop(held);
            }
        }
        destroy_events();
        busy = false;
    }
    pthread_mutex_unlock(&lock);
}

void held_drop(void) {
    pthread_mutex_lock(&lock);
    while (all) {
        drop(all);
    }
    destroy_events();
    first_error = SUCCESS;
    pthread_mutex_unlock(&lock);
}

// What who gives up is told of the first word that something waits for.
void held_describe(char *text, size_t size) {
    pthread_mutex_lock(&lock);
    const struct held *held = all;
    while (held && !(held->first && held->first->kind == AWAIT_VALUE)) {
        held = held->next;
    }
    if (held) {
        memory_operation_describe(&held->first->value, text, size);
    }
    pthread_mutex_unlock(&lock);
}

void held_abandon(void) {
    pthread_mutex_lock(&lock);
    if (!busy) {
        held_drop();
    }
    pthread_mutex_unlock(&lock);
}

bool held_is_any(void) {
    pthread_mutex_lock(&lock);
    const struct held *held = all;
    while (held && held->device != gpu_current()) {
        held = held->next;
    }
    pthread_mutex_unlock(&lock);
    return held != NULL;
}

bool held_is_calling(void) {
    pthread_mutex_lock(&lock);
    const struct held *held = all;
    while (held && !(held->first && held->first->kind == AWAIT_CALL)) {
        held = held->next;
    }
    pthread_mutex_unlock(&lock);
    return held != NULL;
}

unsigned held_advances(void) {
    return advances;
}

int held_take_error(void) {
    pthread_mutex_lock(&lock);
    int status = first_error;
    first_error = SUCCESS;
    pthread_mutex_unlock(&lock);
    return status;
}

// A value that is not there yet holds the stream.
int held_value(uint64_t stream, const struct memory_operation *value) {
    bool ready;
    int status = memory_operation_test(value, &ready); // also whether it can be looked at
    if (!status && (!ready || stream_is_held(stream))) {
        put_locked(stream, (struct item){.kind = AWAIT_VALUE, .value = *value});
    }
    return status;
}
