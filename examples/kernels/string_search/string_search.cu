// Where a pattern occurs in a text: one thread a position. Matches are counted by ballots of warps,
// the first one found by an atomic minimum.

#define LONGEST 32

__constant__ char string_search_pattern[LONGEST];

extern "C" __global__ void string_search(int length, int pattern_length,
                                         const char *__restrict__ text, int *count, int *first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool match = i <= length - pattern_length;
    for (int k = 0; match && k < pattern_length; k++) {
        match = text[i + k] == string_search_pattern[k];
    }
    unsigned votes = __ballot_sync(0xffffffffu, match);
    if (threadIdx.x % warpSize == 0 && votes != 0) {
        atomicAdd(count, __popc(votes));
        atomicMin(first, i + __ffs(votes) - 1);
    }
}
