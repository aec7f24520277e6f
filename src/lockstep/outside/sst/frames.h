// What crosses between lockstep and a memory outside of it, as lockstep.outside.sockets says.
// Needs nothing but POSIX: other simulators can use it as SST does.

#ifndef LOCKSTEP_FRAMES_H
#define LOCKSTEP_FRAMES_H

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace lockstep {

constexpr uint32_t MAGIC = 0x4B434F4C;
constexpr uint32_t VERSION = 1;
constexpr int64_t OVER = -1;
constexpr int64_t LONGEST_NAME = 4096;       // bytes of a GPU's name
constexpr int64_t MOST_IN_FLIGHT = 1 << 22;  // requests: as many credits as a GPU can have

struct Hello {
    uint32_t magic, version;
    int32_t sms, partitions, line_bytes, sector_bytes;
    int64_t latency, in_flight;
    double clock_hz;
    int64_t name;
};

struct Welcome {
    uint32_t magic, version;
};

struct Frame {
    int64_t cycle, count;
};

enum Kind : uint8_t { READ = 0, WRITE = 1, ATOMIC = 2, REDUCTION = 3 };

struct Request {
    int64_t id, address, cycle;
    int32_t sm, partition, bytes;
    uint16_t full;
    uint8_t kind, sectors;
};

struct Answer {
    int64_t id, cycle;
};

static_assert(sizeof(Hello) == 56 && sizeof(Frame) == 16, "no padding");
static_assert(sizeof(Request) == 40 && sizeof(Answer) == 16, "no padding");

// A lockstep process that simulates the SMs of a GPU.
class Process {
public:
    // Starts a command to which "--outside fd:N" is added, and hears of which GPU it is.
    explicit Process(std::vector<std::string> command)
    {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("socketpair");
        command.push_back("--outside");
        command.push_back("fd:" + std::to_string(ends[1]));
        std::vector<char*> words;
        for (auto& word : command) words.push_back(word.data());
        words.push_back(nullptr);
        child_ = fork();
        if (child_ < 0) fail("fork");
        if (child_ == 0) {
            close(ends[0]);
            execvp(words[0], words.data());
            perror(words[0]);
            _exit(127);
        }
        close(ends[1]);
        stream_ = ends[0];
        fcntl(stream_, F_SETFD, FD_CLOEXEC);
        greet();
    }

    // One that has been started, behind an open stream, which is closed with this.
    explicit Process(int stream) : stream_(stream) { greet(); }

    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    ~Process() { end(); }

    // The next window: false when the run is over; else its end, and what was sent in it.
    bool next(int64_t& end, std::vector<Request>& requests)
    {
        Frame frame;
        receive(&frame, sizeof frame);
        if (frame.count == OVER) return false;
        if (frame.count < 0 || frame.count > hello.in_flight) {
            throw std::runtime_error("lockstep sends a frame of " + std::to_string(frame.count) +
                                     " requests");
        }
        end = frame.cycle;
        requests.resize(frame.count);
        receive(requests.data(), requests.size() * sizeof(Request));
        return true;
    }

    // What has left the memory before the end of the window.
    void answer(int64_t end, const std::vector<Answer>& answers)
    {
        Frame frame{end, static_cast<int64_t>(answers.size())};
        send(&frame, sizeof frame);
        send(answers.data(), answers.size() * sizeof(Answer));
    }

    // The exit code of lockstep, which has ended the run.
    int wait()
    {
        int status = 0;
        if (child_ > 0) waitpid(child_, &status, 0);
        child_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

    Hello hello;
    std::string gpu;

private:
    void end()
    {
        close(stream_);
        if (child_ > 0) waitpid(child_, nullptr, 0);
    }

    // Hears of which GPU it is. What throws in a constructor has no destructor.
    void greet()
    {
        try {
            hear();
        } catch (...) {
            end();
            throw;
        }
    }

    void hear()
    {
        receive(&hello, sizeof hello);
        if (hello.magic != MAGIC || hello.version != VERSION) {
            throw std::runtime_error("lockstep speaks another version of the protocol");
        }
        if (hello.name < 0 || hello.name > LONGEST_NAME || hello.in_flight < 0 ||
            hello.in_flight > MOST_IN_FLIGHT) {
            throw std::runtime_error("lockstep tells of a GPU that makes no sense");
        }
        gpu.resize(hello.name);
        receive(gpu.data(), gpu.size());
        Welcome welcome{MAGIC, VERSION};
        send(&welcome, sizeof welcome);
    }

    [[noreturn]] static void fail(const char* what)
    {
        throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
    }

    void receive(void* into, size_t size)
    {
        auto* at = static_cast<char*>(into);
        while (size > 0) {
            ssize_t got = ::recv(stream_, at, size, 0);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) fail("recv");
            if (got == 0) throw std::runtime_error("lockstep has ended: see what it printed");
            at += got;
            size -= got;
        }
    }

    void send(const void* from, size_t size)
    {
        auto* at = static_cast<const char*>(from);
        while (size > 0) {
            ssize_t gone = ::send(stream_, at, size, MSG_NOSIGNAL);
            if (gone < 0 && errno == EINTR) continue;
            if (gone < 0) fail("send");
            at += gone;
            size -= gone;
        }
    }

    int stream_ = -1;
    pid_t child_ = 0;
};

} // namespace lockstep

#endif
