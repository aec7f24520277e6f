// Waiting for streams that wait themselves (held.c): as long as somebody may write the word, or a function
// of the program runs. Who waits while nobody is left to write is told so.

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "graph.h"

enum { PATIENCE = 10, MILLISECOND = 1000000 }; // seconds in which other threads may write
enum { LAUNCH_TIMEOUT = 702 };

static bool others_share; // memory, in other processes

void held_expect_processes(void) {
    others_share = true;
}

// Whether the program has a handler for signals, which may write, too; but for those of threads.
static bool may_be_interrupted(void) {
    char line[200];
    unsigned long long caught = 0;
    FILE *about = fopen("/proc/self/status", "re");
    while (about && fgets(line, sizeof line, about)) {
        sscanf(line, "SigCgt: %llx", &caught);
    }
    if (about) {
        fclose(about);
    }
    return caught & ~(3ull << 31);
}

// Whether no other thread, and no other process, may still write.
static bool is_alone(void) {
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;
    for (const struct dirent *task; tasks && (task = readdir(tasks));) {
        count += task->d_name[0] != '.';
    }
    if (tasks) {
        closedir(tasks);
    }
    return count == 1 && !others_share && !may_be_interrupted();
}

// Nothing can go on: the run says so, and ends as with a kernel that never does.
static int give_up(const struct memory_operation *value) {
    char text[300] = "a stream waits for another one for ever";
    value ? memory_operation_describe(value, text, sizeof text) : held_describe(text, sizeof text);
    held_abandon();
    gpu_call(CALL_STUCK, NULL, 0, text, strlen(text), &(struct reply){0});
    return LAUNCH_TIMEOUT;
}

// How long somebody has waited, in milliseconds, and whether nobody is left who may write.
static bool is_hopeless(int waited, bool alone) {
    return (alone || waited >= PATIENCE * 1000) && !held_is_calling();
}

static bool awaited(uint64_t stream, uint64_t event) {
    return event ? event_is_pending(event) : stream ? stream_is_held(stream) : held_is_any();
}

// Waits until a stream, or an event, or everything can go on.
int held_resolve(uint64_t stream, uint64_t event) {
    bool alone = held_is_any() && is_alone(); // before it looks: who writes may end right after
    held_progress();
    for (int k = 0; awaited(stream, event); k++) {
        if (is_hopeless(k, alone)) {
            return give_up(NULL);
        }
        nanosleep(&(struct timespec){.tv_nsec = MILLISECOND}, NULL);
        alone = is_alone();
        held_progress();
    }
    return held_take_error();
}

// The same of a program that asks again and again, and does something else meanwhile.
int held_query(uint64_t stream, uint64_t event) {
    static _Atomic time_t asked; // first, since something went on
    static _Atomic unsigned before;
    held_progress();
    if (!awaited(stream, event)) {
        asked = 0;
        return SUCCESS;
    }
    time_t now = time(NULL);
    asked = asked && before == held_advances() ? asked : now;
    before = held_advances();
    return is_hopeless((int)(now - asked) * 1000, false) ? give_up(NULL) : NOT_READY;
}

// Waits at once, as within a graph.
int held_poll(const struct memory_operation *value) {
    bool ready = false, alone = is_alone();
    int status = memory_operation_test(value, &ready);
    for (int k = 0; !status && !ready; k++) {
        if (is_hopeless(k, alone)) {
            return give_up(value);
        }
        nanosleep(&(struct timespec){.tv_nsec = MILLISECOND}, NULL);
        alone = is_alone();
        held_progress();
        status = memory_operation_test(value, &ready);
    }
    return status;
}
