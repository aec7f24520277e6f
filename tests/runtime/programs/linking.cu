// The driver's linker: texts of PTX that need each other, from memory and from a file.

#include <cstdio>
#include <cstring>
#include <cuda.h>
#include "check.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
static const char *kernel = HEAD
    ".extern .func (.param .b32 r) twice (.param .b32 x);\n"
    ".global .u32 own = 5;\n"
    ".visible .entry k (.param .u64 out)\n"
    "{ .reg .b64 %p<2>; .reg .b32 %x<4>;\n"
    "  ld.param.u64 %p1, [out]; ld.global.u32 %x1, [own]; cvta.to.global.u64 %p1, %p1;\n"
    "  { .param .b32 a; .param .b32 b; st.param.b32 [a], %x1;\n"
    "    call.uni (b), twice, (a); ld.param.b32 %x2, [b]; }\n"
    "  st.global.u32 [%p1], %x2; ret; }";
static const char *function = HEAD
    ".global .u32 own = 2;\n"
    ".visible .func (.param .b32 r) twice (.param .b32 x)\n"
    "{ .reg .b32 %x<4>; ld.param.b32 %x1, [x]; ld.global.u32 %x2, [own];\n"
    "  mul.lo.u32 %x3, %x1, %x2; st.param.b32 [r], %x3; ret; }";

static void run(CUlinkState link) {
    void *image;
    size_t bytes;
    OK(!cuLinkComplete(link, &image, &bytes));
    CUmodule module;
    OK(!cuModuleLoadData(&module, image));
    OK(!cuLinkDestroy(link));
    CUfunction k;
    OK(!cuModuleGetFunction(&k, module, "k"));
    CUdeviceptr out;
    OK(!cuMemAlloc(&out, 4));
    void *arguments[] = {&out};
    OK(!cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0));
    int found = 0;
    OK(!cuMemcpyDtoH(&found, out, 4));
    OK(found == 10);
}

static CUresult add(CUlinkState link, CUjitInputType kind, const char *text) {
    return cuLinkAddData(link, kind, (void *)text, strlen(text) + 1, "text", 0, 0, 0);
}

int main(int, char **arguments) {
    CK(cudaFree(0));
    CUlinkState link;
    OK(!cuLinkCreate(0, 0, 0, &link));
    OK(!add(link, CU_JIT_INPUT_PTX, kernel));
    OK(!add(link, CU_JIT_INPUT_PTX, function));
    run(link);

    char path[4096];
    snprintf(path, sizeof path, "%s.ptx", arguments[0]);
    FILE *file = fopen(path, "w");
    fputs(function, file);
    fclose(file);
    OK(!cuLinkCreate(0, 0, 0, &link));
    OK(!add(link, CU_JIT_INPUT_PTX, kernel));
    OK(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/no/such/file.ptx", 0, 0, 0) == CUDA_ERROR_FILE_NOT_FOUND);
    OK(!cuLinkAddFile(link, CU_JIT_INPUT_PTX, path, 0, 0, 0));
    OK(add(link, CU_JIT_INPUT_CUBIN, "no text") == CUDA_ERROR_NOT_SUPPORTED);
    run(link);

    // What is defined twice is not linked, and what is no PTX does not load.
    CUmodule module;
    OK(cuModuleLoadData(&module, HEAD "nonsense\n") == CUDA_ERROR_INVALID_PTX);
    OK(!cuLinkCreate(0, 0, 0, &link));
    OK(!add(link, CU_JIT_INPUT_PTX, function));
    OK(!add(link, CU_JIT_INPUT_PTX, function));
    void *image;
    OK(cuLinkComplete(link, &image, 0) == CUDA_ERROR_INVALID_PTX);
    OK(!cuLinkDestroy(link));
    return finish();
}
