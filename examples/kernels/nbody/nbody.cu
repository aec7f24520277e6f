// One step of n bodies under gravity: all pairs, bodies read through tiles in shared memory.

#define BLOCK 128

__device__ float3 attracted(float3 acceleration, float4 body, float4 other, float softening) {
    float dx = other.x - body.x, dy = other.y - body.y, dz = other.z - body.z;
    float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
    float pull = other.w * inverse * inverse * inverse; // w is the mass
    acceleration.x += dx * pull;
    acceleration.y += dy * pull;
    acceleration.z += dz * pull;
    return acceleration;
}

extern "C" __global__ void nbody(int n, float step, float softening,
                                 const float4 *__restrict__ bodies, float4 *__restrict__ moved,
                                 float4 *__restrict__ velocities) {
    __shared__ float4 tile[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float4 nothing = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 body = i < n ? bodies[i] : nothing;
    float3 acceleration = make_float3(0.0f, 0.0f, 0.0f);
    for (int start = 0; start < n; start += BLOCK) {
        int j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? bodies[j] : nothing; // no mass: no pull
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < BLOCK; k++) {
            acceleration = attracted(acceleration, body, tile[k], softening);
        }
        __syncthreads();
    }
    if (i < n) {
        float4 v = velocities[i];
        v.x += acceleration.x * step;
        v.y += acceleration.y * step;
        v.z += acceleration.z * step;
        velocities[i] = v;
        body.x += v.x * step;
        body.y += v.y * step;
        body.z += v.z * step;
        moved[i] = body;
    }
}
