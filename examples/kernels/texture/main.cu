#include "../program.cuh"
#include "texture.cu"

#include <algorithm>

const int FACTOR = 4; // fractions of texels are multiples of 1/8, which is exact

// A texture over an image: values between texels are interpolated, the border is repeated.
class Texture {
  public:
    Texture(int width, int height, const std::vector<float> &image) {
        cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        CUDA_CHECK(cudaMallocArray(&array_, &format, width, height));
        size_t pitch = width * sizeof(float);
        CUDA_CHECK(cudaMemcpy2DToArray(array_, 0, 0, image.data(), pitch, pitch, height,
                                       cudaMemcpyHostToDevice));
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array_;
        cudaTextureDesc description = {};
        description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
        description.filterMode = cudaFilterModeLinear;
        description.readMode = cudaReadModeElementType;
        CUDA_CHECK(cudaCreateTextureObject(&object_, &resource, &description, nullptr));
    }

    Texture(const Texture &) = delete;
    Texture &operator=(const Texture &) = delete;

    ~Texture() {
        cudaDestroyTextureObject(object_);
        cudaFreeArray(array_);
    }

    operator cudaTextureObject_t() const {
        return object_;
    }

  private:
    cudaArray_t array_;
    cudaTextureObject_t object_;
};

int main(int argc, char **argv) {
    int width = size_argument(argc, argv, 200), height = width * 3 / 4 + 1;
    int columns = blocks(width, FACTOR), rows = blocks(height, FACTOR);
    Random random;
    std::vector<float> image = random.reals(columns * rows);
    Texture source(columns, rows, image);
    DeviceArray<float> out(width * height);
    dim3 block(32, 8), grid(blocks(width, 32), blocks(height, 8));
    texture<<<grid, block>>>(width, height, 1.0f / FACTOR, source, out);
    std::vector<double> expected(width * height);
    auto texel = [&](int x, int y) {
        return image[std::clamp(y, 0, rows - 1) * columns + std::clamp(x, 0, columns - 1)];
    };
    for (int i = 0; i < width * height; i++) {
        double x = (i % width + 0.5) / FACTOR - 0.5, y = (i / width + 0.5) / FACTOR - 0.5;
        int left = (int)std::floor(x), top = (int)std::floor(y);
        double u = x - left, v = y - top;
        double above = (1 - u) * texel(left, top) + u * texel(left + 1, top);
        double below = (1 - u) * texel(left, top + 1) + u * texel(left + 1, top + 1);
        expected[i] = (1 - v) * above + v * below;
    }
    expect("out", out.download(), expected, 1e-5, 1e-6);
    return finish();
}
