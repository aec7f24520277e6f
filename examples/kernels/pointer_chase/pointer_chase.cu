// One thread follows a chain of indices: each load waits for the one before.

extern "C" __global__ void pointer_chase(int steps, const int *__restrict__ next, int *end) {
    int at = 0;
    for (int step = 0; step < steps; step++) {
        at = next[at];
    }
    *end = at;
}
