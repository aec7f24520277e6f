// The argument is a number of vertices, or a file: vertices as "first edges", the source, then the
// edges as "target cost", each list after its length (the format of Rodinia's graphs).

#include "../program.cuh"
#include "bfs.cu"

#include <fstream>

const int BLOCK = 512;

struct Graph {
    std::vector<Vertex> vertices;
    std::vector<int> targets;
    int source = 0;
};

Graph random_graph(int n) {
    Random random;
    Graph graph;
    for (int v = 0; v < n; v++) {
        graph.vertices.push_back({(int)graph.targets.size(), random.integer(0, 9)});
        for (int edge = 0; edge < graph.vertices[v].edges; edge++) {
            graph.targets.push_back(random.integer(0, n));
        }
    }
    return graph;
}

Graph read_graph(std::ifstream &file) {
    Graph graph;
    int count = 0, cost;
    file >> count;
    graph.vertices.resize(count);
    for (Vertex &vertex : graph.vertices) {
        file >> vertex.first >> vertex.edges;
    }
    file >> graph.source >> count;
    graph.targets.resize(count);
    for (int &target : graph.targets) {
        file >> target >> cost;
    }
    if (!file) {
        std::printf("FAIL: the file is no graph\n");
        std::exit(1);
    }
    return graph;
}

std::vector<int> depths(const Graph &graph) {
    std::vector<int> depth(graph.vertices.size(), -1), queue{graph.source};
    depth[graph.source] = 0;
    for (size_t i = 0; i < queue.size(); i++) {
        Vertex vertex = graph.vertices[queue[i]];
        for (int edge = vertex.first; edge < vertex.first + vertex.edges; edge++) {
            int w = graph.targets[edge];
            if (depth[w] < 0) {
                depth[w] = depth[queue[i]] + 1;
                queue.push_back(w);
            }
        }
    }
    return depth;
}

int main(int argc, char **argv) {
    std::ifstream file(argc > 1 ? argv[1] : "");
    Graph graph = file ? read_graph(file) : random_graph(size_argument(argc, argv, 5000));
    int n = (int)graph.vertices.size(), grid = blocks(n, BLOCK);
    std::vector<unsigned char> nothing(n, 0), start(n, 0);
    std::vector<int> depth(n, -1), targets = graph.targets;
    start[graph.source] = 1;
    depth[graph.source] = 0;
    targets.push_back(0); // an array of the device is not empty
    DeviceArray<Vertex> device_vertices(graph.vertices);
    DeviceArray<int> device_targets(targets), device_depth(depth), found(1);
    DeviceArray<unsigned char> frontier(start), visited(start), next(nothing);
    do {
        found.upload({0});
        bfs<<<grid, BLOCK>>>(device_vertices, device_targets, frontier, next, visited, device_depth,
                             n);
        bfs_advance<<<grid, BLOCK>>>(frontier, next, visited, found, n);
    } while (found.download()[0]);
    expect("depth", device_depth.download(), depths(graph));
    return finish();
}
