// Anisotropic diffusion of an image against speckle: a coefficient of each cell from its four
// neighbours, then the new image from the coefficients of the cell and of two neighbours. Rows and
// columns of neighbours at the edges come from tables.

extern "C" __global__ void diffusion_coefficient(int rows, int columns, float q0, const int *north,
                                                 const int *south, const int *west,
                                                 const int *east, const float *image, float *slope,
                                                 float *coefficient) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, cells = rows * columns;
    if (at >= cells) {
        return;
    }
    int i = at / columns, j = at - i * columns;
    float here = image[at];
    float n = image[north[i] * columns + j] - here, s = image[south[i] * columns + j] - here;
    float w = image[i * columns + west[j]] - here, e = image[i * columns + east[j]] - here;
    float gradient = (n * n + s * s + w * w + e * e) / (here * here);
    float laplace = (n + s + w + e) / here;
    float top = 0.5f * gradient - 0.0625f * laplace * laplace, below = 1.0f + 0.25f * laplace;
    float q = (top / (below * below) - q0) / (q0 * (1.0f + q0));
    slope[at] = n;
    slope[cells + at] = s;
    slope[2 * cells + at] = w;
    slope[3 * cells + at] = e;
    coefficient[at] = fminf(fmaxf(1.0f / (1.0f + q), 0.0f), 1.0f);
}

extern "C" __global__ void diffusion_update(int rows, int columns, float rate, const int *south,
                                            const int *east, const float *slope,
                                            const float *coefficient, float *image) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, cells = rows * columns;
    if (at >= cells) {
        return;
    }
    int i = at / columns, j = at - i * columns;
    float here = coefficient[at];
    float s = coefficient[south[i] * columns + j], e = coefficient[i * columns + east[j]];
    float flow = here * slope[at] + s * slope[cells + at] + here * slope[2 * cells + at] +
                 e * slope[3 * cells + at];
    image[at] += 0.25f * rate * flow;
}
