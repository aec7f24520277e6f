// One radix-2 step of Stockham's FFT: sorts itself, so input and output are two arrays. After the
// steps for spans 1, 2, 4, ... n/2 the output is the transform.

extern "C" __global__ void fft(int n, int span, const float2 *__restrict__ in,
                               float2 *__restrict__ out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n / 2) {
        return;
    }
    int k = t & (span - 1);
    float2 a = in[t], b = in[t + n / 2];
    float sine, cosine;
    sincospif(-(float)k / (float)span, &sine, &cosine);
    float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    int place = 2 * t - k;
    out[place] = make_float2(a.x + turned.x, a.y + turned.y);
    out[place + span] = make_float2(a.x - turned.x, a.y - turned.y);
}
