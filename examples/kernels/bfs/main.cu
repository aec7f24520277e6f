#include "../program.cuh"
#include "bfs.cu"

struct Graph {
    std::vector<int> first{0}, targets;
};

Graph random_graph(Random &random, int n) {
    Graph graph;
    for (int v = 0; v < n; v++) {
        for (int edges = random.integer(0, 9); edges > 0; edges--) {
            graph.targets.push_back(random.integer(0, n));
        }
        graph.first.push_back((int)graph.targets.size());
    }
    graph.targets.push_back(0); // an array of the device is not empty
    return graph;
}

std::vector<int> depths(const Graph &graph, int n) {
    std::vector<int> depth(n, -1), queue{0};
    depth[0] = 0;
    for (size_t i = 0; i < queue.size(); i++) {
        int v = queue[i];
        for (int edge = graph.first[v]; edge < graph.first[v + 1]; edge++) {
            int w = graph.targets[edge];
            if (depth[w] < 0) {
                depth[w] = depth[v] + 1;
                queue.push_back(w);
            }
        }
    }
    return depth;
}

int main(int argc, char **argv) {
    int n = size_argument(argc, argv, 5000), grid = blocks(n, 256);
    Random random;
    Graph graph = random_graph(random, n);
    std::vector<unsigned char> nothing(n, 0), start(n, 0);
    std::vector<int> depth(n, -1);
    start[0] = 1;
    depth[0] = 0;
    DeviceArray<int> first(graph.first), targets(graph.targets), found(1), device_depth(depth);
    DeviceArray<unsigned char> frontier(start), visited(start), next(nothing);
    do {
        found.upload({0});
        bfs<<<grid, 256>>>(n, first, targets, frontier, next, visited, device_depth);
        bfs_advance<<<grid, 256>>>(n, frontier, next, visited, found);
    } while (found.download()[0]);
    expect("depth", device_depth.download(), depths(graph, n));
    return finish();
}
