// An image enlarged by reading a texture between its texels: the hardware interpolates.

extern "C" __global__ void texture(int width, int height, float scale, cudaTextureObject_t image,
                                   float *__restrict__ out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        out[y * width + x] = tex2D<float>(image, (x + 0.5f) * scale, (y + 0.5f) * scale);
    }
}
