// What kernels print is among what the program prints, wherever that goes, once it has waited.

#include "check.h"

#include <string>

__global__ void say(int number, const char *name) {
    printf("kernel %d %s\n", number, name);
}

int main() {
    const char *path = std::tmpnam(nullptr);
    FILE *kept = stdout;
    OK(stdout = std::fopen(path, "w+"));
    std::printf("first\n");
    say<<<1, 1>>>(1, nullptr);
    std::printf("launched\n");
    CK(cudaDeviceSynchronize());
    std::printf("waited\n");
    say<<<1, 2>>>(2, nullptr);
    say<<<1, 1>>>(3, nullptr);
    int *copied, host;
    CK(cudaMalloc(&copied, 4));
    CK(cudaMemcpy(&host, copied, 4, cudaMemcpyDeviceToHost));
    std::printf("copied\n");
    std::rewind(stdout);
    std::string text(1000, ' ');
    text.resize(std::fread(text.data(), 1, text.size(), stdout));
    std::fclose(stdout);
    stdout = kept;
    std::remove(path);
    OK(text == "first\nlaunched\nkernel 1 (null)\nwaited\nkernel 2 (null)\nkernel 2 (null)\n"
               "kernel 3 (null)\ncopied\n");
    return finish();
}
