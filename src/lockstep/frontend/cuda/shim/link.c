// The link to the simulator: a Unix socket for calls, and device memory mapped at its own address.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "gpu.h"

struct header {
    uint32_t call;
    int32_t status;
    uint64_t bytes;
};

enum state { CLOSED, OPEN, BROKEN };

LOCK(lock);
static _Atomic enum state state = CLOSED; // changed under the lock
static int broken_status = UNKNOWN;
static int connection = -1;
static struct device devices[MOST_DEVICES];
static int device_count;
static uint64_t all_bytes;           // of the memory of all devices
static int told;                     // the device that the simulator takes calls for
static _Thread_local int current;    // that the thread has set
static _Thread_local bool has_context;

static int give_up(int status, const char *reason) {
    fprintf(stderr, "lockstep: %s\n", reason);
    state = BROKEN;
    broken_status = status;
    if (connection >= 0) {
        close(connection);
        connection = -1;
    }
    return status;
}

static bool send_all(const void *data, size_t bytes) {
    const char *at = data;
    while (bytes) {
        ssize_t sent = send(connection, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

static bool receive_all(void *data, size_t bytes) {
    char *at = data;
    while (bytes) {
        ssize_t got = recv(connection, at, bytes, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

// Small messages go out in one piece.
static bool send_request(unsigned call, const void *fields, size_t size, const void *data,
                         size_t bytes) {
    char buffer[1024];
    struct header header = {.call = call, .bytes = size + bytes};
    if (sizeof header + size + bytes <= sizeof buffer) {
        memcpy(buffer, &header, sizeof header);
        if (size) {
            memcpy(buffer + sizeof header, fields, size);
        }
        if (bytes) {
            memcpy(buffer + sizeof header + size, data, bytes);
        }
        return send_all(buffer, sizeof header + size + bytes);
    }
    return send_all(&header, sizeof header) && send_all(fields, size) && send_all(data, bytes);
}

// The header of an answer. What kernels have printed comes before it, and goes where the program
// prints: a program may have put another file in the place of its standard output.
static bool receive_header(struct header *header) {
    bool arrived = receive_all(header, sizeof *header);
    while (arrived && header->call == PRINTED) {
        char *text = malloc(header->bytes);
        arrived = text && receive_all(text, header->bytes);
        if (arrived) {
            fwrite(text, 1, header->bytes, stdout);
        }
        free(text);
        arrived = arrived && receive_all(header, sizeof *header);
    }
    return arrived;
}

static bool receive_reply(unsigned call, struct reply *reply, int *status) {
    struct header header;
    if (!receive_header(&header) || header.call != call) {
        return false;
    }
    *status = header.status;
    if (header.bytes == 0) {
        return true;
    }
    if (header.bytes < reply->size || !receive_all(reply->fields, reply->size)) {
        return false;
    }
    reply->bytes = header.bytes - reply->size;
    reply->data = reply->bytes ? malloc(reply->bytes) : NULL;
    return !reply->bytes || (reply->data && receive_all(reply->data, reply->bytes));
}

static int exchange(unsigned call, const void *fields, size_t size, const void *data, size_t bytes,
                    struct reply *reply) {
    int status = SUCCESS;
    if (!send_request(call, fields, size, data, bytes) ||
        (reply && !receive_reply(call, reply, &status))) {
        return give_up(UNKNOWN, "the simulator has ended; CUDA calls fail from now on");
    }
    return status;
}

static int dial(void) {
    const char *name = getenv("LOCKSTEP_SOCKET");
    if (!name) {
        return give_up(100, "no simulator: start the program with `lockstep run`");
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length + 1 >= sizeof address.sun_path) {
        return give_up(100, "LOCKSTEP_SOCKET is too long");
    }
    memcpy(address.sun_path + 1, name, length); // after a zero byte: no file, nothing to clean up
    connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
    int failed;
    do {
        failed = connect(connection, (struct sockaddr *)&address, size);
    } while (failed && errno == EINTR);
    if (failed) {
        return give_up(100, "cannot reach the simulator: has `lockstep run` ended?");
    }
    return SUCCESS;
}

// One byte with the file descriptor of device memory.
static int receive_descriptor(void) {
    char byte, space[CMSG_SPACE(sizeof(int))];
    struct iovec piece = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    ssize_t got;
    do {
        got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    if (got != 1) {
        return -1;
    }
    struct cmsghdr *control = CMSG_FIRSTHDR(&message);
    int descriptor = -1;
    if (control && control->cmsg_type == SCM_RIGHTS) {
        memcpy(&descriptor, CMSG_DATA(control), sizeof descriptor);
    }
    return descriptor;
}

static int map_memory(int descriptor) {
    void *wanted = (void *)(uintptr_t)devices[0].base;
    void *got = mmap(wanted, all_bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, descriptor, 0);
    return got == wanted ? SUCCESS
                         : give_up(OUT_OF_MEMORY, "the program already uses the addresses of "
                                                  "device memory");
}

static int greet(void) {
    struct hello_request request = {.pid = (uint64_t)getpid(), .key = CALLS_KEY};
    struct hello_reply fields = {0};
    struct reply reply = {.fields = &fields, .size = sizeof fields};
    int status = exchange(CALL_HELLO, &request, sizeof request, NULL, 0, &reply);
    if (status) {
        return give_up(status, "the simulator does not accept the program");
    }
    int descriptor = receive_descriptor();
    size_t each = sizeof(uint64_t) + sizeof(int32_t) * fields.attributes;
    if (descriptor < 0 || fields.devices > MOST_DEVICES || reply.bytes < each * fields.devices) {
        return give_up(UNKNOWN, "the simulator gave no device memory");
    }
    char *data = realloc(reply.data, reply.bytes + 1);
    data[reply.bytes] = 0;
    const char *name = data + each * fields.devices;
    all_bytes = fields.capacity;
    device_count = (int)fields.devices;
    for (int k = 0; k < device_count; k++) {
        char *facts = data + each * (size_t)k;
        struct device *device = &devices[k];
        device->base = fields.base;
        memcpy(&device->capacity, facts, sizeof device->capacity);
        device->attributes = (const int32_t *)(const void *)(facts + sizeof(uint64_t));
        device->count = (int)fields.attributes;
        device->name = name;
        device->file = descriptor;
        name += strlen(name) < (size_t)(data + reply.bytes - name) ? strlen(name) + 1 : 0;
    }
    return map_memory(descriptor);
}

enum { MOST_LOCKS = 32 };

static struct {
    pthread_mutex_t *lock;
    int kind;
} locks[MOST_LOCKS];
static size_t lock_count;

// Called before the program begins.
void lock_made_anew_at_fork(pthread_mutex_t *made, int kind) {
    if (lock_count == MOST_LOCKS) {
        abort(); // there are as many as the sources have
    }
    locks[lock_count].lock = made;
    locks[lock_count++].kind = kind;
}

// A child of fork has its parent's socket, and may not speak on it.
static void forked(void) {
    for (size_t k = 0; k < lock_count; k++) {
        pthread_mutexattr_t kind;
        pthread_mutexattr_init(&kind);
        pthread_mutexattr_settype(&kind, locks[k].kind);
        pthread_mutex_init(locks[k].lock, &kind);
    }
    if (state == OPEN) {
        close(connection);
        connection = -1;
        state = BROKEN;
        broken_status = NOT_INITIALIZED;
    }
}

static int ensure_open(void) {
    if (state == OPEN) {
        return SUCCESS;
    }
    if (state == BROKEN) {
        return broken_status;
    }
    pthread_atfork(NULL, NULL, forked);
    int status = dial();
    if (!status) {
        status = greet();
    }
    if (!status) {
        state = OPEN;
    }
    return status;
}

int gpu_call(unsigned call, const void *fields, size_t size, const void *data, size_t bytes,
             struct reply *reply) {
    int cancelled; // a thread that ended here would keep the lock
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
    pthread_mutex_lock(&lock);
    int status = ensure_open();
    if (!status && told != current) {
        struct set_device_request device = {(uint64_t)current};
        status = exchange(CALL_SET_DEVICE, &device, sizeof device, NULL, 0, NULL);
        told = current;
    }
    if (!status) {
        status = exchange(call, fields, size, data, bytes, reply);
    }
    pthread_mutex_unlock(&lock);
    pthread_setcancelstate(cancelled, NULL);
    return status;
}

// What devices are needs no word with the simulator, with which another thread may be speaking: it
// may wait for a kernel that this thread is to let go on.
const struct device *gpu_device(int *status) {
    *status = SUCCESS;
    if (state != OPEN) {
        pthread_mutex_lock(&lock);
        *status = ensure_open();
        pthread_mutex_unlock(&lock);
    }
    return *status ? NULL : &devices[current];
}

const struct device *gpu_device_of(int number) {
    return &devices[number];
}

int gpu_count(int *status) {
    return gpu_device(status) ? device_count : 0;
}

int gpu_check(int number) {
    int status, count = gpu_count(&status);
    return status ? status : number >= 0 && number < count ? SUCCESS : INVALID_DEVICE;
}

int gpu_current(void) {
    return current;
}

void gpu_set_current(int number) {
    current = number;
}

bool gpu_has_context(void) {
    return has_context;
}

void gpu_keep_context(bool has) {
    has_context = has;
}

int gpu_attribute(int attribute) {
    return gpu_attribute_of(current, attribute);
}

int gpu_attribute_of(int number, int attribute) {
    const struct device *d = gpu_check(number) ? NULL : &devices[number];
    return d && attribute >= 0 && attribute < d->count ? d->attributes[attribute] : 0;
}

int gpu_ask_attribute(int number, int attribute, int *value) {
    int status = gpu_check(number);
    if (status || !value || attribute < 1 || attribute >= devices[number].count) {
        return status ? status : INVALID_VALUE;
    }
    *value = devices[number].attributes[attribute];
    return SUCCESS;
}

int gpu_peer_access(int number, int peer, int action, int *can) {
    int status = gpu_check(number);
    status = status ? status : gpu_check(peer);
    if (status) {
        return status;
    }
    struct peer_access_request request = {(uint64_t)number, (uint64_t)peer, (uint64_t)action};
    struct peer_access_reply fields = {0};
    status = GPU_CALL(PEER_ACCESS, &request, &fields);
    *can = (int)fields.can;
    return status;
}

bool gpu_is_device(const void *address) {
    return (uint64_t)(uintptr_t)address - devices[0].base < all_bytes;
}

int gpu_unsupported(const char *name) {
    gpu_call(CALL_UNSUPPORTED, NULL, 0, name, strlen(name), NULL);
    return NOT_SUPPORTED;
}
