// Functions of the driver API that a program asks for by name, and tables of them.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

// A plain name means the newest function of a CUDA version. Where versions of a function differ here,
// those that came later, newest first; cudaTypedefs.h says when.
static const struct {
    const char *name;
    int since;
    const char *function;
} later[] = {
    {"cuCtxGetDevice", 13000, "cuCtxGetDevice_v2"},
    {"cuCtxSynchronize", 13000, "cuCtxSynchronize_v2"},
    {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
    {"cuGraphAddDependencies", 12030, "cuGraphAddDependencies_v2"},
    {"cuGraphAddKernelNode", 12000, "cuGraphAddKernelNode_v2"},
    {"cuGraphAddNode", 12030, "cuGraphAddNode_v2"},
    {"cuGraphExecKernelNodeSetParams", 12000, "cuGraphExecKernelNodeSetParams_v2"},
    {"cuGraphExecUpdate", 12000, "cuGraphExecUpdate_v2"},
    {"cuGraphGetEdges", 12030, "cuGraphGetEdges_v2"},
    {"cuGraphKernelNodeGetParams", 12000, "cuGraphKernelNodeGetParams_v2"},
    {"cuGraphKernelNodeSetParams", 12000, "cuGraphKernelNodeSetParams_v2"},
    {"cuGraphNodeGetDependencies", 12030, "cuGraphNodeGetDependencies_v2"},
    {"cuGraphNodeGetDependentNodes", 12030, "cuGraphNodeGetDependentNodes_v2"},
    {"cuGraphRemoveDependencies", 12030, "cuGraphRemoveDependencies_v2"},
    {"cuStreamBatchMemOp", 11070, "cuStreamBatchMemOp_v2"},
    {"cuStreamBeginCapture", 10010, "cuStreamBeginCapture_v2"},
    {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3"},
    {"cuStreamGetCaptureInfo", 11030, "cuStreamGetCaptureInfo_v2"},
    {"cuStreamUpdateCaptureDependencies", 12030, "cuStreamUpdateCaptureDependencies_v2"},
};

static const char *meant(const char *name, int version) {
    for (size_t k = 0; k < sizeof later / sizeof *later; k++) {
        if (!strcmp(later[k].name, name) && version >= later[k].since) {
            return later[k].function;
        }
    }
    return name;
}

enum { PER_THREAD = 2 }; // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

// For a default stream of each thread functions have another name, where that makes a difference.
static void *found(void *library, const char *name, bool per_thread) {
    static const char *const endings[] = {"_ptsz", "_ptds"};
    char whole[100];
    for (size_t k = 0; per_thread && k < sizeof endings / sizeof *endings; k++) {
        snprintf(whole, sizeof whole, "%s%s", name, endings[k]);
        void *function = dlsym(library, whole);
        if (function) {
            return function;
        }
    }
    return dlsym(library, name);
}

API int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                            int *how) {
    if (!name || !function) {
        return INVALID_VALUE;
    }
    Dl_info self;
    dladdr((void *)cuGetProcAddress_v2, &self);
    void *library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    *function = found(library, meant(name, version), flags & PER_THREAD);
    dlclose(library);
    if (how) {
        *how = *function ? 0 : 1;
    }
    return *function ? SUCCESS : NOT_FOUND;
}

API int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

// A runtime that could not be replaced (static_runtime.c) asks for tables that nothing documents. So
// does NVRTC, which can do without.
API int cuGetExportTable(const void **table, const void *id) {
    if (!table || !id) {
        return INVALID_VALUE;
    }
    *table = NULL;
    Dl_info caller = {0};
    dladdr(__builtin_return_address(0), &caller);
    const char *file = caller.dli_fname ? caller.dli_fname : "the program";
    if (strstr(file, "libnvrtc")) {
        return NOT_SUPPORTED;
    }
    fprintf(stderr,
            "lockstep: %s: a CUDA runtime is linked into it and its symbols are stripped: keep the "
            "symbols, or link it with `nvcc -cudart shared`\n",
            file);
    return gpu_unsupported("cuGetExportTable");
}
