// Points that are followed from one image to the next: a block a point compares the template of its
// point with every place of a window around where the point was, and finds the best one.

#define TEMPLATE 16
#define REACH 8
#define PLACES (2 * REACH + 1)
#define THREADS 256

extern "C" __global__ void tracking(int columns, const float *image, const int *row,
                                    const int *column, const float *templates, float *score,
                                    int *best) {
    __shared__ float wanted[TEMPLATE * TEMPLATE];
    __shared__ float least[THREADS];
    __shared__ int where[THREADS];
    int point = blockIdx.x, t = threadIdx.x;
    wanted[t] = templates[point * TEMPLATE * TEMPLATE + t];
    __syncthreads();
    float mine = 1e30f;
    int found = 0;
    for (int place = t; place < PLACES * PLACES; place += THREADS) {
        int y = row[point] + place / PLACES - REACH, x = column[point] + place % PLACES - REACH;
        float sum = 0.0f;
        for (int i = 0; i < TEMPLATE; i++) {
            for (int j = 0; j < TEMPLATE; j++) {
                float off = image[(y + i) * columns + x + j] - wanted[i * TEMPLATE + j];
                sum += off * off;
            }
        }
        score[point * PLACES * PLACES + place] = sum;
        if (sum < mine) {
            mine = sum;
            found = place;
        }
    }
    least[t] = mine;
    where[t] = found;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half && (least[t + half] < least[t] ||
                         (least[t + half] == least[t] && where[t + half] < where[t]))) {
            least[t] = least[t + half];
            where[t] = where[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        best[point] = where[0];
    }
}
