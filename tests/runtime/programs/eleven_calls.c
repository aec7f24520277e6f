// The eleven calls of CUDA that the SST-GPU report lists (its Table 1), three of which CUDA 10 took
// away: no compiler makes them any more, so they are called by hand. Linked with nothing: the
// runtime is opened by its name.

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct dim3 {
    unsigned x, y, z;
};

static const char code[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 offset = 5;\n"
    ".visible .entry scale(.param .u64 x, .param .u32 n, .param .f32 a)\n"
    "{\n"
    " .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .f32 %f<4>;\n"
    " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    " mad.lo.u32 %r1, %r1, %r2, %r3; ld.param.u32 %r4, [n]; setp.ge.u32 %p, %r1, %r4;\n"
    " @%p bra DONE;\n"
    " ld.param.u64 %rd1, [x]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
    " ld.global.f32 %f1, [%rd1]; ld.param.f32 %f2, [a]; ld.global.u32 %r5, [offset];\n"
    " cvt.rn.f32.u32 %f3, %r5; fma.rn.f32 %f1, %f1, %f2, %f3; st.global.f32 [%rd1], %f1;\n"
    "DONE:\n ret;\n}\n";

static struct {
    int magic, version;
    const void *data;
    void *unused;
} wrapper = {0x466243B1, 1, code, NULL};

enum { N = 300, TO_DEVICE = 1, TO_HOST = 2, NO_CONFIGURATION = 52 };

static void *runtime;

static void *call(const char *name) {
    void *found = dlsym(runtime, name);
    if (!found) {
        printf("%s is missing\n", name);
        exit(2);
    }
    return found;
}

static void check(const char *name, int status, int expected) {
    if (status != expected) {
        printf("%s: %d, expected %d\n", name, status, expected);
        exit(1);
    }
}

int main(int count, char **arguments) {
    runtime = dlopen(count > 1 ? arguments[1] : "libcudart.so.11.0", RTLD_NOW);
    if (!runtime) {
        printf("%s\n", dlerror());
        return 2;
    }
    void **(*register_fat_binary)(void *) = call("__cudaRegisterFatBinary");
    void (*register_function)(void **, const char *, char *, const char *, int, void *, void *,
                              void *, void *, int *) = call("__cudaRegisterFunction");
    void (*register_variable)(void **, char *, char *, const char *, int, size_t, int, int) =
        call("__cudaRegisterVar");
    int (*allocate)(void **, size_t) = call("cudaMalloc");
    int (*copy)(void *, const void *, size_t, int) = call("cudaMemcpy");
    int (*configure)(struct dim3, struct dim3, size_t, void *) = call("cudaConfigureCall");
    int (*set_up)(const void *, size_t, size_t) = call("cudaSetupArgument");
    int (*launch)(const void *) = call("cudaLaunch");
    int (*release)(void *) = call("cudaFree");
    int (*last_error)(void) = call("cudaGetLastError");
    int (*occupancy)(int *, const void *, int, size_t, unsigned) =
        call("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags");

    static char stub, shadow;
    void **module = register_fat_binary(&wrapper);
    register_function(module, &stub, NULL, "scale", -1, NULL, NULL, NULL, NULL, NULL);
    register_variable(module, &shadow, NULL, "offset", 0, 4, 0, 0);

    static float values[N];
    for (int k = 0; k < N; k++) {
        values[k] = (float)k;
    }
    void *x = NULL;
    int blocks = 0;
    unsigned n = N;
    float a = 2;
    check("cudaOccupancy...WithFlags", occupancy(&blocks, &stub, 128, 0, 0), 0);
    check("cudaMalloc", allocate(&x, sizeof values), 0);
    check("cudaMemcpy", copy(x, values, sizeof values, TO_DEVICE), 0);

    // What is refused: a launch or an argument without a configuration, and arguments that lack.
    check("cudaLaunch", launch(&stub), NO_CONFIGURATION);
    check("cudaGetLastError", last_error(), NO_CONFIGURATION);
    check("cudaGetLastError", last_error(), 0);
    check("cudaSetupArgument", set_up(&x, 8, 0), NO_CONFIGURATION);
    struct dim3 grid = {(N + 127) / 128, 1, 1}, block = {128, 1, 1};
    check("cudaConfigureCall", configure(grid, block, 0, NULL), 0);
    check("cudaSetupArgument", set_up(&x, 8, 0), 0);
    check("cudaSetupArgument", set_up(&x, 8, 4092), 1);
    check("cudaLaunch", launch(&stub), 1);
    last_error();

    // In any order, as the offsets say.
    check("cudaConfigureCall", configure(grid, block, 0, NULL), 0);
    check("cudaSetupArgument", set_up(&a, sizeof a, 12), 0);
    check("cudaSetupArgument", set_up(&n, sizeof n, 8), 0);
    check("cudaSetupArgument", set_up(&x, sizeof x, 0), 0);
    check("cudaLaunch", launch(&stub), 0);
    check("cudaMemcpy", copy(values, x, sizeof values, TO_HOST), 0);
    check("cudaFree", release(x), 0);
    check("cudaGetLastError", last_error(), 0);
    int wrong = 0;
    for (int k = 0; k < N; k++) {
        wrong += values[k] != 2 * (float)k + 5;
    }
    printf("%d wrong, %d CTAs on an SM\n", wrong, blocks);
    return wrong != 0;
}
