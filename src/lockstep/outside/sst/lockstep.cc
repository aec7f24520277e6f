// The element library "lockstep" of SST: a GPU whose SMs lockstep simulates, in front of a memory
// that SST has. Compiled against an installed sst-core by `python -m lockstep.outside.sst`.

#include "frames.h"

#include <deque>
#include <memory>
#include <sst/core/component.h>
#include <sst/core/event.h>
#include <sst/core/interfaces/stdMem.h>
#include <sst/core/link.h>
#include <sst/core/output.h>
#include <sst/core/subcomponent.h>
#include <sst/core/timeConverter.h>
#include <unordered_map>

using SST::Interfaces::StandardMem;

namespace lockstep {

// One cycle that the GPU waits for: a window's end, or the arrival of requests at partitions.
class Wake : public SST::Event {
public:
    Wake() = default;
    explicit Wake(bool ends) : ends(ends) {}

    bool ends = false;
    std::vector<Request> requests;

    void serialize_order(SST::Core::Serialization::serializer&) override
    {
        SST::Output::getDefaultObject().fatal(CALL_INFO, 1, "lockstep keeps no checkpoints of SST\n");
    }
    ImplementSerializable(lockstep::Wake);
};

class GPU : public SST::Component {
public:
    SST_ELI_REGISTER_COMPONENT(
        GPU, "lockstep", "GPU", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "The SMs and L1 caches of a GPU, simulated by lockstep", COMPONENT_CATEGORY_PROCESSOR)

    SST_ELI_DOCUMENT_PARAMS(
        {"command", "The program lockstep, with words before it if need be", "lockstep"},
        {"workload", "A trace, as of `lockstep simulate`"},
        {"gpu", "A GPU of the library, or a file", "QV100"},
        {"mem_size", "What addresses are taken modulo, as 16GiB; 0B: as they are in the trace", "0B"},
        {"options", "More options of `lockstep simulate`", "--summary short"})

    SST_ELI_DOCUMENT_SUBCOMPONENT_SLOTS(
        {"memory", "The memory behind each partition; partition p has number p modulo their count",
         "SST::Interfaces::StandardMem"})

    GPU(SST::ComponentId_t id, SST::Params& params) : SST::Component(id)
    {
        try {
            process_ = std::make_unique<Process>(command(params));
        } catch (const std::exception& error) {
            fail(error.what());
        }
        SST::UnitAlgebra size(params.find<std::string>("mem_size", "0B"));
        if (!size.hasUnits("B") || size.getRoundedValue() < 0) {
            fail("mem_size is no number of bytes");
        }
        mem_size_ = size.getRoundedValue();
        const auto& hello = process_->hello;
        auto cycle = SST::UnitAlgebra(std::to_string(hello.clock_hz) + "Hz");
        clock_ = registerTimeBase(cycle.toStringBestSI(), true);
        wakes_ = configureSelfLink("wakes", clock_, new SST::Event::Handler<GPU, &GPU::wake>(this));
        auto* slots = getSubComponentSlotInfo("memory");
        for (int k = 0; slots && slots->isPopulated(k); k++) {
            memories_.push_back(slots->create<StandardMem>(
                k, SST::ComponentInfo::SHARE_NONE, clock_,
                new StandardMem::Handler<GPU, &GPU::came>(this)));
        }
        if (memories_.empty()) fail("slot memory is empty");
        registerAsPrimaryComponent();
        primaryComponentDoNotEndSim();
    }

    void init(unsigned phase) override
    {
        for (auto* memory : memories_) memory->init(phase);
    }

    void setup() override
    {
        for (auto* memory : memories_) memory->setup();
        advance();
    }

    void finish() override
    {
        for (auto* memory : memories_) memory->finish();
    }

private:
    void fail(const std::string& why)
    {
        SST::Output::getDefaultObject().fatal(
            CALL_INFO, 1, "%s: %s\n", getName().c_str(), why.c_str());
    }

    static std::vector<std::string> command(SST::Params& params)
    {
        std::vector<std::string> words;
        add(words, params.find<std::string>("command", "lockstep"));
        words.push_back("simulate");
        words.push_back(params.find<std::string>("workload"));
        words.push_back("--gpu");
        words.push_back(params.find<std::string>("gpu", "QV100"));
        add(words, params.find<std::string>("options", "--summary short"));
        return words;
    }

    static void add(std::vector<std::string>& words, const std::string& text)
    {
        size_t end = 0;
        while (true) {
            size_t start = text.find_first_not_of(' ', end);
            if (start == std::string::npos) return;
            end = std::min(text.find(' ', start), text.size());
            words.push_back(text.substr(start, end - start));
        }
    }

    int64_t now() { return static_cast<int64_t>(getCurrentSimTime(clock_)); }

    // Ask lockstep for the next window; it and its requests are on their way, or all is over.
    void advance()
    {
        std::vector<Request> requests;
        try {
            if (!process_->next(end_, requests)) {
                int code = process_->wait();
                if (code != 0) throw std::runtime_error("lockstep ended with " + std::to_string(code));
                primaryComponentOKToEndSim();
                return;
            }
        } catch (const std::exception& error) {
            fail(error.what());
        }
        std::unordered_map<int64_t, Wake*> at;
        std::vector<int64_t> order;
        for (const auto& request : requests) {
            auto& wake = at[request.cycle];
            if (!wake) {
                wake = new Wake(false);
                order.push_back(request.cycle);
            }
            wake->requests.push_back(request);
        }
        wakes_->send(end_ - now(), new Wake(true));
        for (int64_t cycle : order) wakes_->send(cycle - now(), at[cycle]);
    }

    void wake(SST::Event* event)
    {
        std::unique_ptr<Wake> wake(static_cast<Wake*>(event));
        for (const auto& request : wake->requests) issue(request);
        if (!wake->ends) return;
        std::vector<Answer> answers;
        while (!done_.empty() && done_.front().cycle < end_) {
            answers.push_back(done_.front());
            done_.pop_front();
        }
        try {
            process_->answer(end_, answers);
        } catch (const std::exception& error) {
            fail(error.what());
        }
        advance();
    }

    // A request for each run of sectors that follow each other.
    void issue(const Request& request)
    {
        const uint64_t sector = process_->hello.sector_bytes;
        auto* memory = memories_[request.partition % memories_.size()];
        for (int first = 0; first < 8;) {
            int last = first;
            while (last < 8 && request.sectors >> last & 1) last++;
            if (last > first) {
                uint64_t address = request.address + first * sector, size = (last - first) * sector;
                if (mem_size_ > 0) address %= mem_size_;
                StandardMem::Request* made;
                if (request.kind == READ) {
                    made = new StandardMem::Read(address, size);
                } else {
                    made = new StandardMem::Write(address, size, std::vector<uint8_t>(size, 0));
                }
                parts_[made->getID()] = request.id;
                missing_[request.id]++;
                memory->send(made);
            }
            first = last + 1;
        }
    }

    void came(StandardMem::Request* response)
    {
        auto part = parts_.find(response->getID());
        if (part != parts_.end()) {
            if (--missing_[part->second] == 0) {
                missing_.erase(part->second);
                done_.push_back({part->second, now()});
            }
            parts_.erase(part);
        }
        delete response;
    }

    std::unique_ptr<Process> process_;
    SST::TimeConverter clock_;
    uint64_t mem_size_ = 0;
    SST::Link* wakes_ = nullptr;
    std::vector<StandardMem*> memories_;
    std::unordered_map<uint64_t, int64_t> parts_;   // requests of lockstep's, by SST's
    std::unordered_map<int64_t, int> missing_;      // parts of each that have not come back
    std::deque<Answer> done_;                       // in order of time
    int64_t end_ = 0;                               // of the window that lockstep has gone through
};

// A memory that answers everything after the same number of cycles.
class FixedLatency : public StandardMem {
public:
    SST_ELI_REGISTER_SUBCOMPONENT(
        FixedLatency, "lockstep", "FixedLatency", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "A memory that answers after a fixed time", SST::Interfaces::StandardMem)

    SST_ELI_DOCUMENT_PARAMS({"cycles", "Cycles of the GPU from a request to its answer", "100"})

    FixedLatency(
        SST::ComponentId_t id, SST::Params& params, SST::TimeConverter clock, HandlerBase* handler)
        : StandardMem(id, params, clock, handler), handler_(handler),
          cycles_(params.find<uint64_t>("cycles", 100))
    {
        link_ = configureSelfLink(
            "answers", clock, new SST::Event::Handler<FixedLatency, &FixedLatency::back>(this));
    }

    void send(Request* request) override
    {
        waiting_.push_back(request->makeResponse());
        delete request;
        link_->send(cycles_, new Wake());
    }

    void sendUntimedData(Request* request) override { delete request; }
    Request* recvUntimedData() override { return nullptr; }
    Request* poll() override { return nullptr; }
    Addr getLineSize() override { return 0; }
    void setMemoryMappedAddressRegion(Addr, Addr) override {}

private:
    void back(SST::Event* event)
    {
        delete event;
        auto* response = waiting_.front();
        waiting_.pop_front();
        (*handler_)(response);
    }

    HandlerBase* handler_;
    uint64_t cycles_;
    SST::Link* link_;
    std::deque<Request*> waiting_;
};

} // namespace lockstep
