// Prices of European options by the formula of Black and Scholes.

__device__ float normal_distribution(float x) {
    return 0.5f * erfcf(-0.70710678f * x);
}

extern "C" __global__ void blackscholes(int n, float rate, float volatility,
                                        const float *__restrict__ spot,
                                        const float *__restrict__ strike,
                                        const float *__restrict__ years, float *__restrict__ call,
                                        float *__restrict__ put) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float s = spot[i], t = years[i];
    float deviation = volatility * sqrtf(t);
    float d1 = (logf(s / strike[i]) + (rate + 0.5f * volatility * volatility) * t) / deviation;
    float d2 = d1 - deviation;
    float discounted = strike[i] * expf(-rate * t);
    float value = s * normal_distribution(d1) - discounted * normal_distribution(d2);
    call[i] = value;
    put[i] = value + discounted - s; // put-call parity
}
