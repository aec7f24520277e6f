// Runs a plan of microbenchmarks on a GPU: driver PLAN CUBINS RAW.
//
// PLAN is the text that `lockstep microbench --export` wrote; CUBINS the folder of the compiled
// kernels; RAW the file of results, a line for each repeat. The plan's format is that of
// lockstep's src/lockstep/microbench/plan.py. Each case runs in a process that a failed one takes
// with it: the next case then gets a new one. Only the CUDA driver is used.
#include <cuda.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using std::string;
typedef uint64_t u64;
typedef std::vector<string> Words;

static const unsigned SECONDS = 120;          // that a case may take
static const size_t FLUSH = size_t(1) << 29;  // bytes that are written to empty the caches

static void check(CUresult code) {
  if (code == CUDA_SUCCESS) return;
  const char *text = "unknown error";
  cuGetErrorString(code, &text);
  throw std::runtime_error(text);
}

struct Case {
  string key;
  Words options;
  std::vector<Words> buffers, warm, steps;
};

struct Plan {
  string target;
  std::vector<Case> cases;
};

static Words split(const string &line) {
  std::istringstream stream(line);
  Words words;
  for (string word; stream >> word;) words.push_back(word);
  return words;
}

static Plan read(const char *path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(string(path) + ": cannot read");
  Plan plan;
  for (string line; std::getline(file, line);) {
    Words words = split(line);
    if (words.empty()) continue;
    const string &kind = words[0];
    if (kind == "target") plan.target = line.substr(7);
    if (kind == "case") plan.cases.push_back(Case{line.substr(5), {}, {}, {}, {}});
    if (kind == "options") plan.cases.back().options = words;
    if (kind == "buffer") plan.cases.back().buffers.push_back(words);
    if (kind == "warm") plan.cases.back().warm.push_back(words);
    if (kind == "launch" || kind == "copy") plan.cases.back().steps.push_back(words);
  }
  return plan;
}

struct Memory {
  CUdeviceptr address = 0;
  size_t bytes = 0;
  u64 texture = 0;  // its handle, if it is read as one
  bool owned = true;
};

// The device, its modules, and the buffers of the case that runs.
struct Bench {
  string folder;
  std::map<string, CUmodule> modules;
  std::map<string, Memory> buffers;

  CUmodule module(const string &file) {
    if (!modules.count(file))
      check(cuModuleLoad(&modules[file], (folder + "/" + file + ".cubin").c_str()));
    return modules[file];
  }

  void make(const Words &w);
  void fill(const Memory &memory, const Words &w);
  void link(const Memory &memory, u64 stride, const std::vector<u64> &order);
  void launch(const Words &w);
  void free_all();
};

static u64 hashed(u64 i) {
  u64 h = i * 0x9e3779b97f4a7c15ull;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9ull;
  return h ^ h >> 32;
}

static CUtexObject texture_of(const Memory &memory) {
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear.devPtr = memory.address;
  resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
  resource.res.linear.numChannels = 1;
  resource.res.linear.sizeInBytes = memory.bytes;
  CUDA_TEXTURE_DESC description = {};
  description.flags = CU_TRSF_READ_AS_INTEGER;
  CUtexObject object;
  check(cuTexObjectCreate(&object, &resource, &description, nullptr));
  return object;
}

// buffer NAME BYTES FILL STRIDE COUNT SYMBOL TEXTURE [WORD...]
void Bench::make(const Words &w) {
  Memory &memory = buffers[w[1]];
  memory.bytes = std::stoull(w[2]);
  if (w[6] == "-") {
    check(cuMemAlloc(&memory.address, memory.bytes));
  } else {
    size_t dot = w[6].find('.');
    memory.owned = false;
    check(cuModuleGetGlobal(&memory.address, &memory.bytes, module(w[6].substr(0, dot)),
                            w[6].substr(dot + 1).c_str()));
  }
  fill(memory, w);
  if (w[7] == "1") memory.texture = texture_of(memory);
}

// Node order[k] gets the address of node order[k + 1]: 8 bytes, each `stride` bytes.
void Bench::link(const Memory &memory, u64 stride, const std::vector<u64> &order) {
  std::vector<u64> next(order.size());
  for (size_t k = 0; k < order.size(); k++)
    next[order[k]] = memory.address + order[(k + 1) % order.size()] * stride;
  const size_t most = size_t(1) << 31;  // a pitch that copies take
  if (stride == 8 || stride >= most) throw std::runtime_error("a chain of another stride");
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = next.data();
  copy.srcPitch = 8;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory.address;
  copy.dstPitch = stride;
  copy.WidthInBytes = 8;
  copy.Height = next.size();
  check(cuMemcpy2DUnaligned(&copy));
}

void Bench::fill(const Memory &memory, const Words &w) {
  const string &kind = w[3];
  u64 stride = std::stoull(w[4]), count = std::stoull(w[5]);
  check(cuMemsetD8(memory.address, 0, memory.bytes));
  if (kind == "chain" || kind == "cycle") {
    std::vector<u64> order(count);
    for (u64 i = 0; i < count; i++) order[i] = i;
    if (kind == "cycle")
      std::sort(order.begin(), order.end(), [](u64 a, u64 b) { return hashed(a) < hashed(b); });
    link(memory, stride, order);
  }
  std::vector<uint32_t> words(memory.bytes / 4 < (1 << 24) ? memory.bytes / 4 : 0);
  if (kind == "indices")
    for (u64 i = 0; i < count; i++) words[i * stride / 4] = (i + 1) % count * stride / 4;
  if (kind == "own")
    for (size_t i = 0; i < words.size(); i++) words[i] = i * 4 / stride * stride;
  if (kind == "words")
    for (size_t i = 8; i < w.size(); i++) {
      u64 word = std::stoull(w[i]);
      memcpy(&words[(i - 8) * 2], &word, 8);
    }
  if (kind == "indices" || kind == "own" || kind == "words")
    check(cuMemcpyHtoD(memory.address, words.data(), words.size() * 4));
}

// launch KERNEL GRID BLOCK SHARED CLUSTER COOPERATIVE EARLY ARGUMENT...
void Bench::launch(const Words &w) {
  size_t dot = w[1].find('.');
  CUfunction function;
  check(cuModuleGetFunction(&function, module(w[1].substr(0, dot)), w[1].substr(dot + 1).c_str()));
  unsigned shared = std::stoul(w[4]), cluster = std::stoul(w[5]);
  if (shared > 48 << 10)
    check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared));
  std::vector<std::vector<char>> values;
  auto add = [&](const auto *value, size_t count) {
    const char *first = (const char *)value;
    values.emplace_back(first, first + sizeof(*value) * count);
  };
  for (size_t i = 8; i < w.size(); i++) {
    size_t colon = w[i].find(':');
    string kind = w[i].substr(0, colon), text = w[i].substr(colon + 1);
    if (kind == "buffer") {
      size_t plus = text.find('+');
      Memory &memory = buffers.at(text.substr(0, plus));
      u64 value = memory.texture ? memory.texture : memory.address + std::stoull(text.substr(plus + 1));
      add(&value, 1);
    } else if (kind == "i32") {
      int32_t value = (int32_t)std::stoll(text);
      add(&value, 1);
    } else if (kind == "i64") {
      int64_t value = std::stoll(text);
      add(&value, 1);
    } else if (kind == "f32") {
      float value = std::stof(text);
      add(&value, 1);
    } else if (kind == "f64") {
      double value = std::stod(text);
      add(&value, 1);
    } else {
      int n[3];
      if (sscanf(text.c_str(), "%d,%d,%d", n, n + 1, n + 2) != 3) throw std::runtime_error(w[i]);
      add(n, 3);
    }
  }
  std::vector<void *> pointers;
  for (auto &value : values) pointers.push_back(value.data());
  CUlaunchAttribute attributes[3];
  CUlaunchConfig config = {};
  config.gridDimX = std::stoul(w[2]);
  config.blockDimX = std::stoul(w[3]);
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shared;
  config.attrs = attributes;
  if (cluster) {
    attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[config.numAttrs].value.clusterDim.x = cluster;
    attributes[config.numAttrs].value.clusterDim.y = 1;
    attributes[config.numAttrs++].value.clusterDim.z = 1;
  }
  if (w[6] == "1") {
    attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[config.numAttrs++].value.cooperative = 1;
  }
  if (w[7] == "1") {
    attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[config.numAttrs++].value.programmaticStreamSerializationAllowed = 1;
  }
  check(cuLaunchKernelEx(&config, function, pointers.data(), nullptr));
}

void Bench::free_all() {
  for (auto &[name, memory] : buffers) {
    if (memory.texture) check(cuTexObjectDestroy(memory.texture));
    if (memory.owned) check(cuMemFree(memory.address));
  }
  buffers.clear();
}

// Host and device memory of a copy: copy KIND BYTES PINNED.
struct Copier {
  string kind;
  size_t bytes;
  bool pinned;
  void *host = nullptr;
  CUdeviceptr device = 0, other = 0;

  explicit Copier(const Words &w) : kind(w[1]), bytes(std::stoull(w[2])), pinned(w[3] == "1") {
    if (pinned) check(cuMemAllocHost(&host, bytes));
    else host = malloc(bytes);
    memset(host, 1, bytes);
    check(cuMemAlloc(&device, bytes));
    check(cuMemAlloc(&other, bytes));
  }
  ~Copier() {
    if (pinned) cuMemFreeHost(host);
    else free(host);
    cuMemFree(device);
    cuMemFree(other);
  }
  void run() {
    if (kind == "h2d") check(pinned ? cuMemcpyHtoDAsync(device, host, bytes, nullptr) : cuMemcpyHtoD(device, host, bytes));
    if (kind == "d2h") check(pinned ? cuMemcpyDtoHAsync(host, device, bytes, nullptr) : cuMemcpyDtoH(host, device, bytes));
    if (kind == "d2d") check(cuMemcpyDtoDAsync(other, device, bytes, nullptr));
    if (kind == "memset") check(cuMemsetD8Async(device, 0, bytes, nullptr));
  }
};

static void flush() {
  CUdeviceptr scratch;
  check(cuMemAlloc(&scratch, FLUSH));
  check(cuMemsetD8(scratch, 0, FLUSH));
  check(cuCtxSynchronize());
  check(cuMemFree(scratch));
}

// Nanoseconds between two events around `times` repetitions.
static u64 timed(Bench &bench, const Case &c, std::vector<Copier *> &copiers, int times) {
  CUevent first, last;
  check(cuEventCreate(&first, CU_EVENT_DEFAULT));
  check(cuEventCreate(&last, CU_EVENT_DEFAULT));
  check(cuEventRecord(first, nullptr));
  for (int i = 0; i < times; i++) {
    size_t copy = 0;
    for (const Words &step : c.steps) {
      if (step[0] == "copy") copiers[copy++]->run();
      else bench.launch(step);
    }
  }
  check(cuEventRecord(last, nullptr));
  check(cuEventSynchronize(last));
  float ms;
  check(cuEventElapsedTime(&ms, first, last));
  cuEventDestroy(first);
  cuEventDestroy(last);
  return (u64)(ms * 1e6 + 0.5);
}

// options WORDS REPEATS COLD TIMED TIMES
static void run(Bench &bench, const Case &c, FILE *raw) {
  size_t count = std::stoul(c.options[1]);
  int repeats = std::stoi(c.options[2]), times = std::stoi(c.options[5]);
  bool cold = c.options[3] == "1", events = c.options[4] == "1";
  std::vector<Copier *> copiers;
  for (const Words &b : c.buffers) bench.make(b);
  for (const Words &step : c.steps)
    if (step[0] == "copy") copiers.push_back(new Copier(step));
  for (const Words &launch : c.warm) bench.launch(launch);
  if (events) timed(bench, c, copiers, times);
  for (int r = 0; r < repeats; r++) {
    std::vector<u64> words(count);
    if (cold) flush();
    if (events) {
      words[0] = timed(bench, c, copiers, times);
    } else {
      for (const Words &launch : c.steps) bench.launch(launch);
      check(cuCtxSynchronize());
      check(cuMemcpyDtoH(words.data(), bench.buffers.at("out").address, count * 8));
    }
    fprintf(raw, "%s\t", c.key.c_str());
    for (size_t i = 0; i < count; i++) fprintf(raw, "%s%llu", i ? " " : "", (unsigned long long)words[i]);
    fprintf(raw, "\n");
  }
  for (Copier *copier : copiers) delete copier;
  bench.free_all();
  fflush(raw);
}

static int attribute(CUdevice_attribute which) {
  int value = 0;
  check(cuDeviceGetAttribute(&value, which, 0));
  return value;
}

// Cases from `done` on, until one fails; the number of those that ended well is in `done`.
static int work(const Plan &plan, const char *folder, FILE *raw, volatile size_t *done) {
  try {
    CUcontext context;
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&context, 0));
    check(cuCtxSetCurrent(context));
    Bench bench;
    bench.folder = folder;
    for (; *done < plan.cases.size(); *done = *done + 1) {
      alarm(SECONDS);
      fprintf(stderr, "\r%zu of %zu: %-60.60s", *done + 1, plan.cases.size(), plan.cases[*done].key.c_str());
      run(bench, plan.cases[*done], raw);
    }
    return 0;
  } catch (const std::exception &error) {
    const char *key = *done < plan.cases.size() ? plan.cases[*done].key.c_str() : "";
    fprintf(raw, "failed\t%s\t%s\n", key, error.what());
    fflush(raw);
    fprintf(stderr, "\n%s: %s\n", key, error.what());
    return 1;
  }
}

static int describe(FILE *raw, const string &target) {
  try {
    check(cuInit(0));
    char name[256];
    check(cuDeviceGetName(name, sizeof name, 0));
    int sms = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    fprintf(raw, "target\t%s\n", target.c_str());
    fprintf(raw, "device\t%s\t%d\tL2 %d, clock %d kHz, memory %d kHz, smem/SM %d, regs/SM %d, bus %d, compute capability %d.%d\n", name, sms,
            attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE), attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
            attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
            attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
            attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
            attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    fflush(raw);
    if (sms != atoi(target.c_str()))
      fprintf(stderr, "this GPU has %d SMs, the plan is for %s: export it with --set sm.count=%d\n", sms, target.c_str(), sms);
    return 0;
  } catch (const std::exception &error) {
    fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

// CUDA does not outlive a fork: this process never touches it.
template <class F>
static int apart(F function) {
  pid_t child = fork();
  if (child == 0) _exit(function());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int count, char **arguments) {
  if (count != 4) return fprintf(stderr, "driver PLAN CUBINS RAW\n"), 2;
  Plan plan;
  try {
    plan = read(arguments[1]);
  } catch (const std::exception &error) {
    return fprintf(stderr, "%s\n", error.what()), 2;
  }
  FILE *raw = fopen(arguments[3], "w");
  if (!raw) return fprintf(stderr, "%s: cannot write\n", arguments[3]), 2;
  if (apart([&] { return describe(raw, plan.target); })) return 1;
  auto *done = (volatile size_t *)mmap(nullptr, sizeof(size_t), PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  size_t failed = 0;
  for (*done = 0; *done < plan.cases.size(); *done = *done + 1) {
    int code = apart([&] { return work(plan, arguments[2], raw, done); });
    if (code == 0) break;
    failed++;
    if (code > 1) {
      fprintf(raw, "failed\t%s\tended by signal %d\n", plan.cases[*done].key.c_str(), code - 128);
      fflush(raw);
    }
  }
  fprintf(stderr, "\n%zu cases, %zu failed\n", plan.cases.size(), failed);
  return 0;
}
