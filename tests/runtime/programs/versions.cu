// For which architectures a kernel was compiled, as libraries choose among theirs.

#include "check.h"

__global__ void nothing() {
}

int main() {
    cudaFuncAttributes found;
    CK(cudaFuncGetAttributes(&found, nothing));
    printf("%d %d\n", found.ptxVersion, found.binaryVersion);
    return finish();
}
