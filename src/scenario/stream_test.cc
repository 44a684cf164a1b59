// SPDX-License-Identifier: Apache-2.0
// The invariant of the stream executor: a lowering decides how, never what. Ops are lowered, to
// swaps or round by round, for every rank of a domain, several one after another, and run by the
// kernels' twins in a random interleaving; each must leave, byte for byte, what the host executor
// leaves that runs the same plan's rounds in the simulator, guards around the user's memory
// included.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "algo/table.h"
#include "base/prng.h"
#include "device/cpu/cpu_device.h"
#include "device/cpu/interpreter.h"
#include "device/kernels/packet.h"
#include "device/kernels/staged.h"
#include "engine/stream/lower.h"
#include "engine/stream/rounds.h"
#include "scenario/run.h"
#include "testing/cases.h"

namespace hocket::scenario {
namespace {

using cpu::Interpreter;
using engine::stream::Grid;
using kernels::Capacity;
using kernels::Report;
using world::Lowering;

constexpr std::uint64_t kGuard = 32;  // bytes around what the user gave

std::vector<const Algorithm*> rows_with_a_pattern() {
  std::vector<const Algorithm*> rows;
  for (std::size_t i = 0; i < kCollectives; ++i)
    for (const Algorithm& row : algo::algorithms(static_cast<Collective>(i)))
      if (row.pattern != Pattern::none) rows.push_back(&row);
  return rows;
}

/// All that a node of any size may have; those without a pattern go round by round.
std::vector<const Algorithm*> rows_of_a_node() {
  std::vector<const Algorithm*> rows;
  for (std::size_t i = 0; i < kCollectives; ++i)
    for (const Algorithm& row : algo::algorithms(static_cast<Collective>(i))) {
      bool fits = row.collective != Collective::send_recv;
      for (std::uint32_t world = 1; world <= 16; ++world) fits &= row.fits(Topology(1, world));
      if (fits) rows.push_back(&row);
    }
  return rows;
}

/// What the row's rounds do, by the host executor.
class Host {
 public:
  struct Memory {
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
  };
  void run(const Plan& plan, Memory memory) {
    RunOptions options;
    options.tuning = tuning(*plan.algorithm, *plan.topology);
    options.request = plan.request;
    options.inputs = std::move(memory.inputs);
    options.outputs = std::move(memory.outputs);
    options.sim.bytes = &device_;
    Result<std::unique_ptr<Run>> made = Run::make(options);
    ASSERT_TRUE(made) << made.error().text();
    ASSERT_EQ((*made)->choice().algorithm, plan.algorithm);
    ASSERT_EQ((*made)->choice().pieces, plan.pieces);
    ASSERT_EQ((*made)->run().done, plan.topology->world());
  }

 private:
  using Tuning = std::shared_ptr<const algo::Tuning>;

  Tuning tuning(const Algorithm& row, const Topology& topology) {
    Tuning& made = tunings_[{&row, topology.world()}];
    if (made != nullptr) return made;
    algo::Agreed agreed;
    agreed.topology = std::make_shared<const Topology>(topology);
    agreed.rules.push_back({.collective = row.collective,
                            .algorithm = row.name,
                            .origin = "test",
                            .channels = 1,
                            .pieces = 1});
    made = algo::Tuning::make(std::move(agreed)).value();
    return made;
  }

  cpu::CpuDevice device_;
  std::map<std::pair<const Algorithm*, std::uint32_t>, Tuning> tunings_;
};

/// The memory of one rank for one op: guards, input, output, which are one if in place.
struct Memory {
  std::vector<std::byte> bytes;
  std::uint64_t input = 0, output = 0;  // offsets
  bool operator==(const Memory&) const = default;
};

/// Any bits, or floats of about the same size, whose sum depends on the order of adds.
std::uint64_t draw_word(Prng& random, DataType type, bool any_bits) {
  constexpr std::uint64_t kFractions[] = {0x807f'ffff'807f'ffff, 0x800f'ffff'ffff'ffff,
                                          0x807f'807f'807f'807f, 0x83ff'83ff'83ff'83ff};
  constexpr std::uint64_t kOnes[] = {0x3f80'0000'3f80'0000, 0x3ff0'0000'0000'0000,
                                     0x3f80'3f80'3f80'3f80, 0x3c00'3c00'3c00'3c00};
  const std::uint64_t word = random.next();
  if (any_bits || !is_float(type)) return word;
  const auto i = static_cast<std::size_t>(type);
  return (word & kFractions[i]) | kOnes[i];
}

/// One op of all ranks, with the memory for both executors.
class Op {
 public:
  Op(const Topology& topology, const Algorithm& row, const Request& request, Prng& random)
      : plan_(make_plan(row, topology, request)) {
    const bool any_bits = random.below(4) == 0;
    const std::uint64_t shift = random.below(16);
    for (std::uint32_t rank = 0; rank < topology.world(); ++rank)
      on_twins_.push_back(draw(rank, shift, any_bits, random));
    on_host_ = on_twins_;
    manner_.signature = static_cast<std::uint32_t>(random.next());
    manner_.lowering = static_cast<Lowering>(random.below(world::kLowerings));
    manner_.grid = {1 + static_cast<std::uint32_t>(random.below(4)),
                    1 + static_cast<std::uint32_t>(random.below(6))};
    // A staged swap has a thread of each block wait for each peer.
    if (staged()) manner_.grid.threads += topology.world();
  }

  const Plan& plan() const { return plan_; }
  bool staged() const { return manner_.lowering == Lowering::staged; }
  std::uint32_t blocks() const { return manner_.grid.blocks; }
  void set_manner(Lowering lowering, Grid grid) {
    manner_.lowering = lowering;
    manner_.grid = grid;
  }
  std::uint64_t part_bytes() const { return engine::stream::part_bytes(plan_); }
  void cut(std::uint64_t staged) {
    manner_.windows = engine::stream::windows_of(part_bytes(), staged);
  }

  void launch(Interpreter& interpreter, std::uint32_t rank) {
    Memory& memory = on_twins_[rank];
    if (plan_.algorithm->pattern == Pattern::none) return launch_rounds(interpreter, rank, memory);
    Result<engine::stream::Actions> actions = engine::stream::lower(
        plan_, Rank{rank},
        {memory.bytes.data() + memory.input, memory.bytes.data() + memory.output}, manner_);
    ASSERT_TRUE(actions) << actions.error().text();
    for (const world::Action& action : *actions) interpreter.launch(rank, action);
  }
  void run_on(Host& host) {
    Host::Memory all;
    for (Memory& memory : on_host_) {
      all.inputs.push_back(memory.bytes.data() + memory.input);
      all.outputs.push_back(memory.bytes.data() + memory.output);
    }
    host.run(plan_, std::move(all));
  }
  bool agrees() const { return on_twins_ == on_host_; }
  std::string text() const {
    const Request& r = plan_.request;
    return std::string(name_of(r.collective)) + " " + plan_.algorithm->name + ", " +
           plan_.topology->text() + ", " + std::to_string(r.count) + " " + name_of(r.type) + " " +
           name_of(r.op) + (r.in_place ? ", in place" : "") +
           (staged() ? ", staged" : ", packets") + ", grid " + std::to_string(manner_.grid.blocks) +
           " x " + std::to_string(manner_.grid.threads);
  }

 private:
  void launch_rounds(Interpreter& interpreter, std::uint32_t rank, Memory& memory) {
    engine::Work work{.plan = plan_,
                      .input = memory.bytes.data() + memory.input,
                      .output = memory.bytes.data() + memory.output};
    ASSERT_TRUE(work.settle());
    scratch_.emplace_back(work.scratch_bytes());
    work.scratch = scratch_.back().data();
    for (const world::Transfers& group :
         engine::stream::expand(work, Rank{rank}, manner_.signature))
      interpreter.launch(rank, group, manner_.grid.threads);
  }

  Memory draw(std::uint32_t rank, std::uint64_t shift, bool any_bits, Prng& random) const {
    const Request& r = plan_.request;
    const std::uint64_t one = r.count * size_of(r.type), all = plan_.total_bytes();
    const std::uint64_t in = r.collective == Collective::all_gather ? one : all;
    const std::uint64_t out = r.collective == Collective::reduce_scatter ? one : all;
    Memory memory;
    memory.input = memory.output = kGuard + shift;
    if (!r.in_place) {
      memory.output += in + kGuard;
    } else if (in < out) {
      memory.input += rank * one;
    } else if (out < in) {
      memory.output += rank * one;
    }
    memory.bytes.resize(std::max(memory.input + in, memory.output + out) + kGuard);
    for (std::byte& guard : memory.bytes) guard = static_cast<std::byte>(random.next());
    std::byte* const input = memory.bytes.data() + memory.input;
    for (std::uint64_t at = 0; at < in; at += sizeof(std::uint64_t)) {
      const std::uint64_t word = draw_word(random, r.type, any_bits);
      std::memcpy(input + at, &word, std::min<std::uint64_t>(sizeof word, in - at));
    }
    return memory;
  }

  const Plan plan_;
  engine::stream::Manner manner_;
  std::vector<Memory> on_twins_, on_host_;
  std::deque<std::vector<std::byte>> scratch_;
};

/// What runs share.
struct Both {
  cpu::ThreadPool pool;
  Host host;
};

/// Several ops of one domain, in one interleaving.
class Domain {
 public:
  Domain(std::uint32_t world, std::uint64_t seed) : topology_(1, world), random_(seed) {}

  Op& add(const Algorithm& row, const Request& request) {
    return ops_.emplace_back(topology_, row, request, random_);
  }
  /// What is wrong; empty: nothing.
  std::string run(Both& both, cpu::Kernel* kernel = nullptr) {
    Capacity capacity{.world = topology_.world(), .packets = 1, .staged = 128};
    capacity.stripes = 1 + static_cast<std::uint32_t>(random_.below(3));
    capacity.letters = 8 * capacity.stripes * (random_.below(2) == 0 ? 1 : 8);
    for (const Op& op : ops_) {
      const std::uint64_t bytes = op.part_bytes();
      capacity.packets = std::max(capacity.packets, (bytes + 7) / 8);
      capacity.staged = std::max(capacity.staged, (bytes + 127) / 128 * 128);
    }
    // Now and then staging is shorter than parts are.
    if (random_.below(2) == 0) capacity.staged = 128 * (1 + random_.below(capacity.staged / 128));
    for (Op& op : ops_) op.cut(capacity.staged);
    Interpreter interpreter(both.pool, {.capacity = capacity,
                                        .seed = random_.next(),
                                        .lap = static_cast<std::uint32_t>(random_.below(6) - 4),
                                        .kernel = kernel});
    for (Op& op : ops_)
      for (std::uint32_t rank = 0; rank < topology_.world(); ++rank) {
        if (random_.below(8) == 0) interpreter.run(random_.below(500));
        op.launch(interpreter, rank);
      }
    if (interpreter.run() != Interpreter::End::done) return interpreter.waiting();
    turns_ = interpreter.turns();
    for (std::uint32_t rank = 0; rank < topology_.world(); ++rank)
      if (interpreter.report(rank).code != Report::none)
        return "rank " + std::to_string(rank) + " gave up\n";
    return compare(both.host);
  }
  std::uint64_t turns() const { return turns_; }

 private:
  std::string compare(Host& host) {
    std::string wrong;
    for (Op& op : ops_) {
      op.run_on(host);
      if (!op.agrees()) wrong += op.text() + ": other bytes than the host's\n";
    }
    return wrong;
  }
  const Topology topology_;
  Prng random_;
  std::deque<Op> ops_;
  std::uint64_t turns_ = 0;
};

/// Walks through rows, types, reductions and roots, so that all meet; draws the rest.
class Cases {
 public:
  explicit Cases(std::uint64_t seed) : random_(seed) {}

  /// `large`: up to 4,097 elements, in a world that is small enough.
  void add_to(Domain& domain, std::uint32_t world, bool large) {
    const Algorithm& row = *rows_[next_ % rows_.size()];
    const std::size_t mix = next_++ / rows_.size() % (kDataTypes * kReduceOps);
    Request request{.collective = row.collective};
    request.type = static_cast<DataType>(mix % kDataTypes);
    request.op = static_cast<ReduceOp>(mix / kDataTypes);
    request.in_place = row.in_place && random_.below(2) == 0;
    request.count = count(request, large ? 1 : world);
    if (row.collective == Collective::barrier) request.count = 0;
    request.root = Rank{rows_seen_[{&row, world}]++ % world};
    domain.add(row, request);
    types_seen_.insert({&row, request.type, request.op});
  }
  std::size_t rows_seen() const { return rows_seen_.size(); }
  std::size_t types_seen() const { return types_seen_.size(); }
  /// By each row in each world.
  bool all_roots_seen() const {
    return std::all_of(rows_seen_.begin(), rows_seen_.end(),
                       [](const auto& row) { return row.second >= row.first.second; });
  }
  std::size_t rows() const { return rows_.size(); }

 private:
  std::uint64_t count(const Request& request, std::uint32_t world) {
    constexpr std::uint64_t kFew[] = {0, 1, 2, 3, 7};
    if (random_.below(2) == 0) return kFew[random_.below(std::size(kFew))];
    // An interleaving takes some 4 turns a word and pair of ranks.
    const std::uint64_t most = 20'000 / (size_of(request.type) * world * world);
    return std::min<std::uint64_t>(2 * random_.below(most / 2 + 1) + 1, 4'097);
  }

  Prng random_;
  const std::vector<const Algorithm*> rows_ = rows_of_a_node();
  std::size_t next_ = 0;
  std::map<std::pair<const Algorithm*, std::uint32_t>, std::uint32_t> rows_seen_;  // how often
  std::set<std::tuple<const Algorithm*, DataType, ReduceOp>> types_seen_;
};

TEST(Stream, RowsWithAPattern) {
  std::string names;
  for (const Algorithm* row : rows_with_a_pattern())
    names += std::string(name_of(row->collective)) + " " + row->name + "\n";
  EXPECT_EQ(names,
            "all_reduce direct\nall_reduce one_shot\nall_gather direct\nreduce_scatter direct\n"
            "broadcast direct\nreduce direct\nalltoall direct\nbarrier direct\n");
}

TEST(Stream, RowsThatGoRoundByRound) {
  std::string names;
  for (const Algorithm* row : rows_of_a_node())
    if (row->pattern == Pattern::none)
      names += std::string(name_of(row->collective)) + " " + row->name + "\n";
  EXPECT_EQ(names,
            "all_reduce ring\nall_reduce halving_doubling\nall_gather ring\n"
            "all_gather halving_doubling\nreduce_scatter ring\nreduce_scatter halving_doubling\n"
            "broadcast chain\nbroadcast binomial\nreduce chain\nreduce binomial\n"
            "barrier halving_doubling\n");
}

TEST(Stream, TwinsLeaveTheBytesOfTheRounds) {
  constexpr int kInterleavings = 5'000;
  Both both;
  Cases cases(1);
  Prng random(2);
  std::uint64_t turns = 0;
  const int runs = testing::cases(kInterleavings);
  for (int i = 0; i < runs; ++i) {
    const bool large = i % 50 == 49;
    const std::uint32_t world = 1 + static_cast<std::uint32_t>(large ? 1 + i / 50 % 3 : i % 16);
    const std::uint64_t seed = random.next();
    Domain domain(world, seed);
    for (std::uint64_t ops = 1 + random.below(4); ops > 0; --ops)
      cases.add_to(domain, world, large);
    ASSERT_EQ(domain.run(both), "") << "interleaving " << i << ", seed " << seed;
    turns += domain.turns();
  }
  RecordProperty("turns", std::to_string(turns));
  if (runs < kInterleavings) return;
  EXPECT_EQ(cases.rows_seen(), cases.rows() * 16);
  EXPECT_EQ(cases.types_seen(), cases.rows() * kDataTypes * kReduceOps);
  EXPECT_TRUE(cases.all_roots_seen());
}

/// The grid that a GPU would run.
TEST(Stream, TwinsRunTheChosenGrid) {
  Both both;
  for (const Algorithm* row : rows_with_a_pattern()) {
    Domain domain(2, 3);
    Request request{.collective = row->collective, .type = DataType::float32};
    request.count = 1'029;
    Op& packets = domain.add(*row, request);
    packets.set_manner(Lowering::packet,
                       engine::stream::choose_grid(Lowering::packet, packets.part_bytes(), {}));
    Op& staged = domain.add(*row, request);
    staged.set_manner(Lowering::staged, {2, 512});
    EXPECT_EQ(domain.run(both), "");
  }
}

// Whoever has nothing to give, or to get, waits for all nevertheless.
TEST(Stream, AnOpOfNothingEndsWhenAllHaveCome) {
  constexpr std::uint32_t kWorld = 3;
  const Topology topology(1, kWorld);
  cpu::ThreadPool pool;
  Prng random(4);
  for (const Algorithm* row : rows_with_a_pattern())
    for (const Lowering lowering : {Lowering::packet, Lowering::staged})
      for (std::uint32_t late = 0; late < kWorld; ++late) {
        Op op(topology, *row, {.collective = row->collective}, random);
        op.set_manner(lowering, {2, 4});
        Interpreter interpreter(pool, {.capacity = {.world = kWorld, .packets = 1, .staged = 128},
                                       .seed = random.next()});
        for (std::uint32_t rank = 0; rank < kWorld; ++rank)
          if (rank != late) op.launch(interpreter, rank);
        EXPECT_EQ(interpreter.run(), Interpreter::End::stuck) << op.text();
        for (std::uint32_t rank = 0; rank < kWorld; ++rank)
          EXPECT_EQ(interpreter.ended(rank), 0u) << op.text();
        op.launch(interpreter, late);
        EXPECT_EQ(interpreter.run(), Interpreter::End::done) << interpreter.waiting();
      }
}

// Kernels with a planted fault, to show that the tests above would find it.
enum class Fault { none, one_half, lap_not_ended, no_signal, no_sync };

/// A Thread that hands all through, but for the fault.
template <Fault fault>
class Faulty {
 public:
  Faulty(cpu::Thread& thread, const kernels::Domain& domain) : thread_(thread), domain_(domain) {}

  std::uint32_t block() const { return thread_.block(); }
  std::uint32_t blocks() const { return thread_.blocks(); }
  std::uint32_t thread() const { return thread_.thread(); }
  std::uint32_t threads() const { return thread_.threads(); }
  void sync() {
    if (fault != Fault::no_sync) thread_.sync();
  }
  bool sync(bool good) { return thread_.sync(good); }
  std::uint64_t load_word(const std::byte* from) {
    empty_ = false;
    return thread_.load_word(from);
  }
  void store_word(std::byte* to, std::uint64_t word) { thread_.store_word(to, word); }
  kernels::Vector load_vector(const std::byte* from) { return thread_.load_vector(place(from)); }
  void store_vector(std::byte* to, const kernels::Vector& vector) {
    thread_.store_vector(place(to), vector);
  }
  std::uint64_t load(const std::byte* from, std::uint32_t bytes) {
    empty_ = bytes == 0;
    return thread_.load(from, bytes);
  }
  void store(std::byte* to, std::uint64_t word, std::uint32_t bytes) {
    thread_.store(to, word, bytes);
  }
  kernels::Packet load_packet(const kernels::Packet* from) {
    return thread_.load_packet(place(from));
  }
  void store_packet(kernels::Packet* to, const kernels::Packet& packet) {
    if (fault == Fault::no_signal && empty_) return;
    thread_.store_packet(place(to), packet);
  }
  kernels::Flag load_flag(const kernels::Flag* from) { return thread_.load_flag(place(from)); }
  void store_flag(kernels::Flag* to, const kernels::Flag& flag) {
    thread_.store_flag(place(to), flag);
  }
  std::uint32_t load_lap(const std::uint32_t* from) { return thread_.load_lap(from); }
  void store_lap(std::uint32_t* to, std::uint32_t lap) {
    const bool ran = to < domain_.laps + blocks();
    if (fault != Fault::lap_not_ended || ran) thread_.store_lap(to, lap);
  }
  bool patient(std::uint32_t spins, const kernels::Domain& domain, std::uint32_t from,
               std::uint32_t lap) {
    return thread_.patient(spins, domain, from, lap);
  }
  void report(const kernels::Domain& domain, const kernels::Report& report) {
    thread_.report(domain, report);
  }

 private:
  /// The same place in the first half of its mailbox.
  template <class Access>
  Access* place(Access* access) const {
    if (fault != Fault::one_half) return access;
    const auto address = [](const auto* at) { return reinterpret_cast<std::uintptr_t>(at); };
    const auto at = address(access);
    for (std::uint32_t rank = 0; rank < domain_.capacity.world; ++rank) {
      const kernels::Mailbox box = kernels::mailbox(domain_, rank);
      for (const auto& [first, second] :
           {std::pair{address(box.packets(0, 0)), address(box.packets(1, 0))},
            std::pair{address(box.flags(0, 0)), address(box.flags(1, 0))},
            std::pair{address(box.staging(0, 0)), address(box.staging(1, 0))}}) {
        const std::uintptr_t half = second - first;
        if (at >= second && at < second + half) return reinterpret_cast<Access*>(at - half);
      }
    }
    return access;
  }

  cpu::Thread& thread_;
  const kernels::Domain& domain_;
  bool empty_ = false;
};

template <Fault fault>
void faulty_kernel(cpu::Thread& thread, const kernels::Domain& domain,
                   const world::Action& action) {
  using Sum = kernels::Element<DataType::int32, ReduceOp::sum>;
  Faulty<fault> faulty(thread, domain);
  const bool stores = action.swap.combine == world::Combine::store;
  if (action.lowering == Lowering::packet) {
    if (stores)
      return kernels::PacketSwap<kernels::Verbatim, Faulty<fault>>(faulty, domain, action).run();
    return kernels::PacketSwap<Sum, Faulty<fault>>(faulty, domain, action).run();
  }
  if (stores)
    return kernels::StagedSwap<kernels::Verbatim, Faulty<fault>>(faulty, domain, action).run();
  kernels::StagedSwap<Sum, Faulty<fault>>(faulty, domain, action).run();
}

/// In how many of 40 interleavings of all rows, of fewer elements than ranks and of more words than
/// threads.
template <Fault fault>
int caught(Lowering lowering) {
  Both both;
  int caught = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Domain domain(3, seed);
    for (std::uint32_t i = 0; i < 4; ++i)
      for (const Algorithm* row : rows_with_a_pattern()) {
        Request request{.collective = row->collective, .type = DataType::int32};
        request.count = i % 2 == 0 ? 101 : 2;
        Op& op = domain.add(*row, request);
        op.set_manner(lowering, {op.blocks(), 2 + i});
      }
    caught += domain.run(both, &faulty_kernel<fault>) == "" ? 0 : 1;
  }
  return caught;
}

TEST(Stream, FaultsOfPacketsAreCaught) {
  EXPECT_EQ(caught<Fault::none>(Lowering::packet), 0);
  EXPECT_EQ(caught<Fault::one_half>(Lowering::packet), 40);
  EXPECT_EQ(caught<Fault::lap_not_ended>(Lowering::packet), 40);
  EXPECT_EQ(caught<Fault::no_signal>(Lowering::packet), 40);
}

TEST(Stream, FaultsOfStagingAreCaught) {
  EXPECT_EQ(caught<Fault::none>(Lowering::staged), 0);
  EXPECT_EQ(caught<Fault::one_half>(Lowering::staged), 40);
  // Flags are by block: it shows where two ops share the staging of a unit between blocks.
  EXPECT_GE(caught<Fault::lap_not_ended>(Lowering::staged), 20);
  EXPECT_EQ(caught<Fault::no_sync>(Lowering::staged), 40);
}

}  // namespace
}  // namespace hocket::scenario
