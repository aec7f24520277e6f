// Functions of the program that streams call: each in a thread of its own, so that one that needs what
// its caller does next, or a lock that it holds, ends some time. What comes behind it in its stream waits
// (held.c); the thread does that when the function has returned, since no other call may follow.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "graph.h"

enum { SOON = 20000000 }; // ns in which nearly all return

struct host_call {
    struct call_parameters what;
    pthread_mutex_t lock;
    pthread_cond_t returned;
    bool done, left; // left: nobody waits here any more
    unsigned users;  // its thread, and who started it
};

static void drop(struct host_call *call) {
    pthread_mutex_lock(&call->lock);
    bool last = !--call->users;
    pthread_mutex_unlock(&call->lock);
    if (last) {
        pthread_cond_destroy(&call->returned);
        pthread_mutex_destroy(&call->lock);
        free(call);
    }
}

static void *run(void *given) {
    struct host_call *call = given;
    call->what.function(call->what.data);
    pthread_mutex_lock(&call->lock);
    call->done = true;
    bool left = call->left;
    pthread_cond_broadcast(&call->returned);
    pthread_mutex_unlock(&call->lock);
    drop(call);
    if (left) {
        held_progress();
    }
    return NULL;
}

// Signals are for the threads of the program.
static int start(struct host_call *call) {
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    pthread_t thread;
    int problem = pthread_create(&thread, NULL, run, call);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem ? problem : pthread_detach(thread);
}

struct host_call *host_call_start(const struct call_parameters *what) {
    struct host_call *call = malloc(sizeof *call);
    *call = (struct host_call){.what = *what, .users = 2};
    pthread_mutex_init(&call->lock, NULL);
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&call->returned, &steady);
    pthread_condattr_destroy(&steady);
    if (start(call)) { // no thread is to be had
        run(call);
    }
    return call;
}

// Whether it returns soon. If not, its thread goes on with what waits for it.
bool host_call_wait(struct host_call *call) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += SOON;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&call->lock);
    while (!call->done && pthread_cond_timedwait(&call->returned, &call->lock, &end) != ETIMEDOUT) {
    }
    call->left = true;
    bool done = call->done;
    pthread_mutex_unlock(&call->lock);
    return done;
}

bool host_call_leave(struct host_call *call) {
    pthread_mutex_lock(&call->lock);
    call->left = true;
    bool done = call->done;
    pthread_mutex_unlock(&call->lock);
    return done;
}

void host_call_drop(struct host_call *call) {
    if (call) {
        drop(call);
    }
}
