// The driver API's linker: texts of PTX come one behind the other, for cuModuleLoadData to link.
// Another input is passed through alone.

#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { INPUT_PTX = 1 }; // CUjitInputType

struct linking {
    char *image;
    size_t bytes;
    unsigned inputs;
    bool is_text;
    struct jit_options options; // valid as long as it is
};

API int cuLinkCreate(unsigned count, int *options, void **values, struct linking **out) {
    if (!out) {
        return INVALID_VALUE;
    }
    *out = calloc(1, sizeof **out);
    (*out)->options = (struct jit_options){count, options, values};
    handle_add(LINKING_HANDLE, *out);
    return SUCCESS;
}
ALSO(cuLinkCreate_v2, cuLinkCreate);

API int cuLinkAddData(struct linking *linking, int kind, const void *data, size_t bytes) {
    if (!handle_get(LINKING_HANDLE, linking)) {
        return INVALID_HANDLE;
    }
    if (!data || !bytes) {
        return INVALID_VALUE;
    }
    bool is_text = kind == INPUT_PTX;
    int status = is_text ? ptx_check(data, bytes, &linking->options) : SUCCESS;
    if (status) {
        return translate(status);
    }
    if (linking->image && !(is_text && linking->is_text)) {
        return gpu_unsupported("linking several inputs that are not all PTX");
    }
    linking->image = realloc(linking->image, linking->bytes + bytes + 64);
    char *end = linking->image + linking->bytes;
    memset(end, 0, bytes + 64);
    memcpy(end, data, bytes);
    if (is_text) {
        bytes = strlen(end);
        end[bytes++] = '\n';
    }
    linking->is_text = is_text;
    linking->bytes += bytes;
    linking->inputs++;
    return SUCCESS;
}
ALSO(cuLinkAddData_v2, cuLinkAddData);

API int cuLinkAddFile(struct linking *linking, int kind, const char *path) {
    if (!path || !handle_get(LINKING_HANDLE, linking)) {
        return path ? INVALID_HANDLE : INVALID_VALUE;
    }
    void *data = image_read(path);
    if (!data) {
        return FILE_NOT_FOUND;
    }
    int status = cuLinkAddData(linking, kind, data, image_bytes(data));
    free(data);
    return status;
}
ALSO(cuLinkAddFile_v2, cuLinkAddFile);

API int cuLinkComplete(struct linking *linking, void **image, size_t *bytes) {
    if (!image || !handle_get(LINKING_HANDLE, linking)) {
        return image ? INVALID_HANDLE : INVALID_VALUE;
    }
    bool are_texts = linking->is_text && linking->inputs > 1;
    int status = are_texts ? ptx_check(linking->image, linking->bytes, &linking->options) : SUCCESS;
    if (status) { // each is right by itself
        return translate(status);
    }
    *image = linking->image;
    if (bytes) {
        *bytes = linking->bytes;
    }
    return linking->image ? SUCCESS : INVALID_VALUE;
}

API int cuLinkDestroy(struct linking *linking) {
    if (!handle_take(LINKING_HANDLE, linking)) {
        return INVALID_HANDLE;
    }
    free(linking->image);
    free(linking);
    return SUCCESS;
}
