#include "../program.cuh"
#include "nbody.cu"

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 300);
    const float step = 0.01f, softening = 0.05f;
    Random random;
    std::vector<float4> bodies(n), velocities(n);
    for (int i = 0; i < n; i++) {
        auto number = [&] { return random.real(-1.0f, 1.0f); };
        bodies[i] = make_float4(number(), number(), number(), random.real(0.0f, 1.0f));
        velocities[i] = make_float4(number(), number(), number(), 0.0f);
    }
    DeviceArray<float4> device_bodies(bodies), moved(n), turned(velocities);
    nbody<<<blocks(n, BLOCK), BLOCK>>>(n, step, softening, device_bodies, moved, turned);
    std::vector<float> actual;
    std::vector<double> expected;
    std::vector<float4> after = moved.download();
    for (int i = 0; i < n; i++) {
        double pull[3] = {};
        for (const float4 &other : bodies) {
            double d[3] = {(double)other.x - bodies[i].x, (double)other.y - bodies[i].y,
                           (double)other.z - bodies[i].z};
            double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening;
            for (int axis = 0; axis < 3; axis++) {
                pull[axis] += d[axis] * other.w / (square * std::sqrt(square));
            }
        }
        actual.insert(actual.end(), {after[i].x, after[i].y, after[i].z});
        expected.push_back(bodies[i].x + step * (velocities[i].x + step * pull[0]));
        expected.push_back(bodies[i].y + step * (velocities[i].y + step * pull[1]));
        expected.push_back(bodies[i].z + step * (velocities[i].z + step * pull[2]));
    }
    expect("bodies", actual, expected, 1e-4, 1e-4);
    return finish();
}
