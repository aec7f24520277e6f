// What programs ask of the compiler of PTX: all of it is ignored but the logs, which say why a text is
// refused. Their sizes and the compiler's time are values in the places of the options themselves.

#include <string.h>

#include "gpu.h"

enum { // CUjit_option, cudaJitOption
    WALL_TIME = 2,
    INFO_LOG,
    INFO_LOG_BYTES,
    ERROR_LOG,
    ERROR_LOG_BYTES,
};

static void **place_of(const struct jit_options *options, int option) {
    for (unsigned k = 0; options->names && options->values && k < options->count; k++) {
        if (options->names[k] == option) {
            return &options->values[k];
        }
    }
    return NULL;
}

// Bytes of a log are told without the zero byte behind it.
static void write_log(const struct jit_options *options, int log, int size, const char *text) {
    void **buffer = place_of(options, log), **bytes = place_of(options, size);
    size_t room = bytes ? (unsigned)(uintptr_t)*bytes : 0, length = 0;
    if (buffer && *buffer && room) {
        length = strlen(text) < room ? strlen(text) : room - 1;
        memcpy(*buffer, text, length);
        ((char *)*buffer)[length] = 0;
    }
    if (bytes) {
        *bytes = (void *)(uintptr_t)length;
    }
}

void jit_tell(const struct jit_options *options, const char *problem) {
    write_log(options, INFO_LOG, INFO_LOG_BYTES, "");
    write_log(options, ERROR_LOG, ERROR_LOG_BYTES, problem);
    void **time = place_of(options, WALL_TIME);
    if (time) {
        *time = NULL; // as a float, too
    }
}
