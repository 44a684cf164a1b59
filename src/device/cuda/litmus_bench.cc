// SPDX-License-Identifier: Apache-2.0
// device_litmus [ROUNDS]: tests the claims of docs/MEMORY_MODEL.md between two ranks, each on its
// GPU if there are two (CUDA_VISIBLE_DEVICES), else both on one. A round is one lap of one block,
// or one report; what must not be seen is counted. Each test of data also runs in ways that are
// broken on purpose, for a tenth of the rounds: if those show nothing, the test says little on that
// machine.
//
// Back of the envelope: a lap between two GPUs is a trip of a packet, 1.4 us, or staged some 3 us;
// with 8 blocks a rank 10^7 rounds take 2 to 4 s. A report is a release into host memory, 1 to 2
// us, so 10^7 take 20 s.
//
// Exit status 1 if any claim is broken; 0 and a line where there is no driver or no kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "device/cuda/domain_suite.h"
#include "device/cuda/litmus.h"
#include "host/clock.h"

#ifdef HOCKET_LITMUS_IMAGE
asm(".pushsection .rodata\n.balign 64\n.hidden hocket_image_litmus\n.globl hocket_image_litmus\n"
    "hocket_image_litmus:\n.incbin \"" HOCKET_LITMUS_IMAGE "\"\n.popsection");
extern "C" const unsigned char hocket_image_litmus[];
#endif

namespace hocket::cuda {
namespace {

constexpr std::uint32_t kBlocks = 8, kThreads = 128, kStops = 100;
constexpr Duration kStopped = milliseconds(10);
constexpr kernels::Capacity kCapacity = {2, kBlocks* kThreads, 16 * kVectors* kBlocks* kThreads};

struct Test {
  const char* claim;
  const char* kernel;
  Way way = Way::right;
  std::uint32_t blocks = kBlocks;  ///< on each rank
};

constexpr Test kTests[] = {
    {"a packet is whole", "packet", Way::right, 2 * kBlocks},
    {"two stores for one", "packet", Way::two_stores, 2 * kBlocks},
    {"two halves suffice for packets", "packets"},
    {"one half", "packets", Way::one_half},
    {"staged data is behind its flag, in two halves", "staged"},
    {"the flag first", "staged", Way::flag_first},
    {"no release", "staged", Way::relaxed_flag},
    {"one half", "staged", Way::one_half},
};
constexpr Test kReports[] = {
    {"a report is behind its code", "report", Way::right, 1},
    {"the code first", "report", Way::code_first, 1},
};

/// The fat binary of litmus.cu; null without nvcc.
const void* image() {
#ifdef HOCKET_LITMUS_IMAGE
  return hocket_image_litmus;
#else
  return nullptr;
#endif
}

/// The litmus kernels of a GPU: all are loaded before any of them spins.
class Kernels {
 public:
  explicit Kernels(const Gpu& gpu) : gpu_(gpu) {
    gpu.call(gpu->module.load, &module_, image());
    for (const char* name : {"packet", "packets", "staged", "report", "stop"}) {
      const std::string symbol = fmt::format("hocket_litmus_{}", name);
      gpu.call(gpu->module.function, &kernels_[name], module_, symbol.c_str());
    }
  }
  ~Kernels() { gpu_.call(gpu_->module.unload, module_); }
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  Function of(const char* name) const { return kernels_.find(name)->second; }

 private:
  const Gpu& gpu_;
  ModuleHandle module_ = nullptr;
  std::map<std::string, Function> kernels_;
};

class Tests {
 public:
  Tests(const Gpus& gpus, std::uint64_t rounds)
      : rounds_(rounds),
        ranks_(gpus, kCapacity),
        kernels_{Kernels(gpus.of(0)), Kernels(gpus.of(1))},
        tallies_{Memory(gpus.of(0), sizeof(Tally)), Memory(gpus.of(1), sizeof(Tally))} {}

  bool run() {
    fmt::print("{:<48}{:>10}{:>12}{:>10}{:>10}{:>10}{:>8}\n", "claim, and ways to break it",
               "rounds", "seen", "older", "newer", "torn", "ms");
    for (const Test& test : kTests) judge(test, between_ranks(test));
    for (const Test& test : kReports) judge(test, to_host(test));
    stop();
    return is_right_;
  }

 private:
  struct Outcome {
    std::uint32_t laps = 0;
    Tally tally = {};
    double milliseconds = 0;
  };

  std::uint32_t laps(const Test& test, std::uint32_t sharing) const {
    const std::uint64_t rounds = test.way == Way::right ? rounds_ : rounds_ / 10;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(rounds / sharing, 1, 1u << 31));
  }

  void launch(const Test& test, std::uint32_t rank, std::uint32_t laps) {
    auto* const tally = reinterpret_cast<Tally*>(tallies_[rank].data());
    Litmus litmus = {test.way, laps, tally};
    void* parameters[] = {&ranks_.at(rank).domain, &litmus};
    Queue& queue = ranks_.queue(rank);
    queue.start();
    queue.launch(kernels_[rank].of(test.kernel), test.blocks, test.blocks == 1 ? 1 : kThreads,
                 parameters);
    queue.stop();
  }

  Outcome between_ranks(const Test& test) {
    Outcome all = {.laps = laps(test, kBlocks)};
    ranks_.reset();
    for (Memory& tally : tallies_) tally.clear();
    for (std::uint32_t rank = 0; rank < 2; ++rank) launch(test, rank, all.laps);
    ranks_.wait();
    if (!ranks_.is_well()) fail(test.claim);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      Tally tally;
      tallies_[rank].read(&tally, sizeof tally);
      add(all, tally, rank);
    }
    return all;
  }

  /// The host looks while the ranks report, one after the other.
  Outcome to_host(const Test& test) {
    Outcome all = {.laps = laps(test, 2)};
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      ranks_.reset();
      launch(test, rank, all.laps);
      const Tally tally = watch(rank);
      ranks_.wait();
      const kernels::Report& last = ranks_.report(rank);
      if (std::min({last.peer, last.lap, last.seen, last.code}) != all.laps) fail(test.claim);
      add(all, tally, rank);
    }
    return all;
  }

  Tally watch(std::uint32_t rank) {
    kernels::Report& report = *ranks_.at(rank).report.host();
    const auto field = [](std::uint32_t& word) {
      return std::atomic_ref(word).load(std::memory_order_relaxed);
    };
    Tally tally;
    std::uint32_t last = 0;
    for (std::uint64_t looks = 1; looks % 65'536 != 0 || !ranks_.queue(rank).is_idle(); ++looks) {
      const std::uint32_t code = std::atomic_ref(report.code).load(std::memory_order_acquire);
      const std::uint32_t oldest =
          std::min({field(report.peer), field(report.lap), field(report.seen)});
      tally.seen += code != last;
      tally.older += oldest < code;
      last = code;
    }
    return tally;
  }

  void add(Outcome& all, const Tally& tally, std::uint32_t rank) {
    all.tally.seen += tally.seen;
    all.tally.older += tally.older;
    all.tally.newer += tally.newer;
    all.tally.torn += tally.torn;
    all.milliseconds = std::max(all.milliseconds, ranks_.queue(rank).microseconds() / 1e3);
  }

  void judge(const Test& test, const Outcome& outcome) {
    const Tally& tally = outcome.tally;
    const bool is_broken = tally.older + tally.newer + tally.torn != 0;
    const bool is_claim = test.way == Way::right;
    const std::uint64_t sharing = test.blocks == 1 ? 2 : kBlocks;
    const char* verdict = is_claim    ? (is_broken ? "VIOLATED" : "")
                          : is_broken ? "provoked"
                                      : "not provoked on this machine";
    fmt::print("{:<48}{:>10}{:>12}{:>10}{:>10}{:>10}{:>8.0f}  {}\n",
               fmt::format("{}{}", is_claim ? "" : "  broken: ", test.claim),
               outcome.laps * sharing, tally.seen, tally.older, tally.newer, tally.torn,
               outcome.milliseconds, verdict);
    std::fflush(stdout);
    is_right_ &= !is_claim || !is_broken;
  }

  /// A kernel that waits sees the stop word, and the host its report, soon.
  void stop() {
    Duration longest;
    for (std::uint32_t i = 0; i < kStops; ++i) longest = std::max(longest, stop_once(i % 2));
    const bool is_late = longest > kStopped;
    fmt::print("{:<48}{:>10}  {:.0f} us at most, of {:.0f}{}\n", "a stop word is seen", kStops,
               static_cast<double>(longest.ns) / 1e3, static_cast<double>(kStopped.ns) / 1e3,
               is_late ? "  VIOLATED" : "");
    is_right_ &= !is_late;
  }

  Duration stop_once(std::uint32_t rank) {
    ranks_.reset();
    launch({"a stop word is seen", "stop", Way::right, 1}, rank, 1);
    for (int i = 0; i < 1'000; ++i) {
      if (ranks_.queue(rank).is_idle()) fail("a kernel did not wait");
    }
    const Instant from = clock_.now();
    ranks_.stop();
    std::atomic_ref code(ranks_.at(rank).report.host()->code);
    while (code.load(std::memory_order_acquire) == kernels::Report::none) {
      if (clock_.now() - from > seconds(5)) fail("a kernel did not stop");
    }
    const Duration took = clock_.now() - from;
    ranks_.wait();
    const kernels::Report& report = ranks_.report(rank);
    const bool is_stopped = report.code == kernels::Report::aborted && report.peer == 1 - rank;
    if (!is_stopped || report.lap != 1) fail("a stopped kernel reports something else");
    return took;
  }

  const std::uint64_t rounds_;
  host::Clock clock_;
  Ranks ranks_;
  const std::array<Kernels, 2> kernels_;
  std::array<Memory, 2> tallies_;
  bool is_right_ = true;
};

int run(std::uint64_t rounds) {
  const Result<Driver> driver = Driver::open();
  if (!driver) {
    fmt::print("device_litmus: nothing to do, {}\n", driver.error().message());
    return driver.error().code() == Code::unsupported ? 0 : 1;
  }
  if (image() == nullptr || images().empty()) {
    fmt::print("device_litmus: nothing to do, this build has no kernels\n");
    return 0;
  }
  const Gpus gpus(*driver);
  fmt::print("device_litmus: two ranks on {} x {}, rounds={}\n",
             std::min<std::size_t>(gpus.size(), 2), gpus.of(0).name(), rounds);
  return Tests(gpus, rounds).run() ? 0 : 1;
}

}  // namespace
}  // namespace hocket::cuda

int main(int argc, char** argv) {
  return hocket::cuda::run(argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1'000'000);
}
