// Temperatures of a chip: each cell exchanges heat with its neighbours and the air and is heated by
// the power it draws. STEPS steps a launch, on tiles in shared memory that shrink by a cell a step.

#define TILE 16
#define STEPS 2
#define OUTPUT (TILE - 2 * STEPS) // what is left of a tile's edge after the steps

extern "C" __global__ void hotspot(int width, int height, float along, float across, float air,
                                   const float *__restrict__ power, const float *__restrict__ in,
                                   float *__restrict__ out) {
    __shared__ float now[TILE][TILE], next[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = (int)blockIdx.x * OUTPUT + tx - STEPS, y = (int)blockIdx.y * OUTPUT + ty - STEPS;
    bool real = x >= 0 && x < width && y >= 0 && y < height;
    float heating = 0.0f;
    if (real) {
        now[ty][tx] = in[y * width + x];
        heating = power[y * width + x];
    }
    // A cell at the border of the chip has itself as its neighbour there.
    int west = x > 0 ? tx - 1 : tx, east = x < width - 1 ? tx + 1 : tx;
    int north = y > 0 ? ty - 1 : ty, south = y < height - 1 ? ty + 1 : ty;
    for (int step = 1; step <= STEPS; step++) {
        __syncthreads();
        bool valid = tx >= step && tx < TILE - step && ty >= step && ty < TILE - step;
        if (real && valid) {
            float t = now[ty][tx];
            next[ty][tx] = t + heating + along * (now[ty][west] + now[ty][east] - 2.0f * t) +
                           across * (now[north][tx] + now[south][tx] - 2.0f * t) +
                           air * (80.0f - t);
        }
        __syncthreads();
        if (real && valid) {
            now[ty][tx] = next[ty][tx];
        }
    }
    bool kept = tx >= STEPS && tx < TILE - STEPS && ty >= STEPS && ty < TILE - STEPS;
    if (real && kept) {
        out[y * width + x] = now[ty][tx];
    }
}
