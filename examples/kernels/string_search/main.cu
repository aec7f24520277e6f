#include "../program.cuh"
#include "string_search.cu"

#include <string>

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 50000);
    const std::string letters = "ACGT", pattern = "GATAC";
    Random random;
    std::string text(n, ' ');
    for (char &letter : text) {
        letter = letters[random.integer(0, 4)];
    }
    CUDA_CHECK(cudaMemcpyToSymbol(string_search_pattern, pattern.data(), pattern.size()));
    DeviceArray<char> device_text(std::vector<char>(text.begin(), text.end()));
    DeviceArray<int> count(std::vector<int>{0}), first(std::vector<int>{n});
    string_search<<<blocks(n, 256), 256>>>(n, (int)pattern.size(), device_text, count, first);
    int matches = 0;
    for (size_t at = text.find(pattern); at != std::string::npos; at = text.find(pattern, at + 1)) {
        matches++;
    }
    size_t begin = text.find(pattern);
    expect("count", count.download(), std::vector<int>{matches});
    expect("first", first.download(), std::vector<int>{matches ? (int)begin : n});
    return finish();
}
