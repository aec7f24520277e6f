// A decoder of tokens, one token at a time: layers of attention over the keys and values of all
// tokens so far, and of a network of two products, each with a norm before and a sum behind.

#define LANES 32

__device__ float warp_sum(float value) {
    for (int away = LANES / 2; away; away /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, away);
    }
    return value;
}

__device__ float warp_max(float value) {
    for (int away = LANES / 2; away; away /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, away));
    }
    return value;
}

// A thread an element of x: the token's row of its table, and the place's of its own.
extern "C" __global__ void embed(int hidden, int token, int place, const float *tokens,
                                 const float *places, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < hidden) {
        x[i] = tokens[token * hidden + i] + places[place * hidden + i];
    }
}

// One warp: y is x with mean 0 and variance 1.
extern "C" __global__ void layer_norm(int hidden, const float *x, float *y) {
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < hidden; i += LANES) {
        sum += x[i];
    }
    float mean = warp_sum(sum) / hidden;
    for (int i = threadIdx.x; i < hidden; i += LANES) {
        squares += (x[i] - mean) * (x[i] - mean);
    }
    float scale = rsqrtf(warp_sum(squares) / hidden + 1e-5f);
    for (int i = threadIdx.x; i < hidden; i += LANES) {
        y[i] = (x[i] - mean) * scale;
    }
}

__device__ float product(int inputs, int row, const float *weights, const float *x) {
    float sum = 0.0f;
    for (int i = threadIdx.x % LANES; i < inputs; i += LANES) {
        sum += weights[row * inputs + i] * x[i];
    }
    return warp_sum(sum);
}

// A warp an output: y = W x.
extern "C" __global__ void project(int inputs, int outputs, const float *weights, const float *x,
                                   float *y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    if (row < outputs) {
        float value = product(inputs, row, weights, x);
        if (threadIdx.x % LANES == 0) {
            y[row] = value;
        }
    }
}

// y += W x.
extern "C" __global__ void project_add(int inputs, int outputs, const float *weights,
                                       const float *x, float *y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    if (row < outputs) {
        float value = product(inputs, row, weights, x);
        if (threadIdx.x % LANES == 0) {
            y[row] += value;
        }
    }
}

// y = max(W x, 0).
extern "C" __global__ void project_relu(int inputs, int outputs, const float *weights,
                                        const float *x, float *y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    if (row < outputs) {
        float value = product(inputs, row, weights, x);
        if (threadIdx.x % LANES == 0) {
            y[row] = fmaxf(value, 0.0f);
        }
    }
}

// A thread an element of the key, and one of the value, into their cache; qkv is query, key, value.
extern "C" __global__ void keep(int hidden, int place, const float *qkv, float *keys,
                                float *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < hidden) {
        keys[place * hidden + i] = qkv[hidden + i];
        values[place * hidden + i] = qkv[2 * hidden + i];
    }
}

// A warp a place and head (blockIdx.y): the query times the key of the place.
extern "C" __global__ void score(int hidden, int head, int places, const float *qkv,
                                 const float *keys, float *scores) {
    int place = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, first = blockIdx.y * head;
    if (place < places) {
        float sum = 0.0f;
        for (int i = threadIdx.x % LANES; i < head; i += LANES) {
            sum += qkv[first + i] * keys[place * hidden + first + i];
        }
        sum = warp_sum(sum);
        if (threadIdx.x % LANES == 0) {
            scores[blockIdx.y * places + place] = sum * rsqrtf((float)head);
        }
    }
}

// One warp a head.
extern "C" __global__ void softmax(int places, float *scores) {
    float *mine = scores + blockIdx.x * places, most = mine[0], sum = 0.0f;
    for (int i = threadIdx.x; i < places; i += LANES) {
        most = fmaxf(most, mine[i]);
    }
    most = warp_max(most);
    for (int i = threadIdx.x; i < places; i += LANES) {
        sum += mine[i] = expf(mine[i] - most);
    }
    sum = warp_sum(sum);
    for (int i = threadIdx.x; i < places; i += LANES) {
        mine[i] /= sum;
    }
}

// A block a head, a thread an element: the values of all places, by their scores.
extern "C" __global__ void attend(int hidden, int head, int places, const float *scores,
                                  const float *values, float *y) {
    int i = blockIdx.x * head + threadIdx.x;
    float sum = 0.0f;
    for (int place = 0; place < places; place++) {
        sum += scores[blockIdx.x * places + place] * values[place * hidden + i];
    }
    y[i] = sum;
}
