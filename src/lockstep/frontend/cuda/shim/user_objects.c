// What a program's graphs own of it: objects with a number of references and a function for the end.

#include <pthread.h>
#include <stdlib.h>

#include "graph.h"

struct user_object {
    void *data;
    void (*end)(void *);
    unsigned references;
};

struct owned {
    struct owned *next;
    struct user_object *object;
    unsigned references;
};

LOCK(lock);

struct user_object *user_object_new(void *data, void (*end)(void *), unsigned references) {
    struct user_object *object = malloc(sizeof *object);
    *object = (struct user_object){data, end, references};
    handle_add(USER_OBJECT_HANDLE, object);
    return object;
}

void user_object_retain(struct user_object *object, unsigned count) {
    pthread_mutex_lock(&lock);
    object->references += count;
    pthread_mutex_unlock(&lock);
}

int user_object_release(struct user_object *object, unsigned count) {
    pthread_mutex_lock(&lock);
    bool right = count <= object->references;
    object->references -= right ? count : 0;
    bool ends = right && !object->references;
    pthread_mutex_unlock(&lock);
    if (ends) {
        handle_take(USER_OBJECT_HANDLE, object);
        object->end(object->data);
        free(object);
    }
    return right ? SUCCESS : INVALID_VALUE;
}

static struct owned **find(struct graph *graph, const struct user_object *object) {
    struct owned **place = &graph->owned;
    while (*place && (*place)->object != object) {
        place = &(*place)->next;
    }
    return place;
}

void graph_own(struct graph *graph, struct user_object *object, unsigned count) {
    struct owned **place = find(graph, object);
    if (!*place) {
        *place = calloc(1, sizeof **place);
        (*place)->object = object;
    }
    (*place)->references += count;
}

int graph_disown(struct graph *graph, struct user_object *object, unsigned count) {
    struct owned **place = find(graph, object), *found = *place;
    if (!found || count > found->references) {
        return INVALID_VALUE;
    }
    found->references -= count;
    if (!found->references) {
        *place = found->next;
        free(found);
    }
    return user_object_release(object, count);
}

void graph_share_owned(struct graph *to, const struct graph *from) {
    for (const struct owned *owned = from->owned; owned; owned = owned->next) {
        user_object_retain(owned->object, owned->references);
        graph_own(to, owned->object, owned->references);
    }
}

void graph_drop_owned(struct graph *graph) {
    while (graph->owned) {
        graph_disown(graph, graph->owned->object, graph->owned->references);
    }
}
