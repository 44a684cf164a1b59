// SPDX-License-Identifier: Apache-2.0
#include "tools/hocket/bench.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <new>
#include <thread>

#include "algo/table.h"
#include "tools/hocket/child.h"
#include "tools/hocket/cluster.h"
#include "tools/hocket/report.h"

namespace hocket::tools {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 36;  // of a case

struct Options {
  std::string collective = "all", type = "float32", op = "sum", algorithm = "auto";
  std::string min_bytes = "8", max_bytes = "64M", slice, memory = "host";
  std::uint32_t factor = 4, root = 0;
  BenchRun run;
};

/// The enumerators whose name is `wanted`, or all of them.
template <class Enum>
std::vector<Enum> named(const std::string& wanted, std::size_t count, const char* what) {
  std::vector<Enum> found;
  std::string names = "all";
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<Enum>(i);
    names += std::string(", ") + name_of(value);
    if (wanted == "all" || wanted == name_of(value)) found.push_back(value);
  }
  if (found.empty())
    throw CLI::ValidationError(what, fmt::format("'{}' is none of {}", wanted, names));
  return found;
}

/// nccl-tests' names for types.
std::string type_name(const std::string& name) {
  const std::pair<const char*, const char*> aliases[] = {
      {"float", "float32"}, {"double", "float64"}, {"half", "float16"},
      {"fp16", "float16"},  {"bf16", "bfloat16"},  {"int", "int32"},
      {"fp32", "float32"},  {"fp64", "float64"},   {"int64_t", "int64"}};
  for (const auto& [alias, real] : aliases)
    if (name == alias) return real;
  return name;
}

bool reduces(Collective c) {
  return c == Collective::all_reduce || c == Collective::reduce || c == Collective::reduce_scatter;
}

BenchCase make_case(Collective collective, DataType type, std::uint64_t bytes,
                    std::uint32_t ranks) {
  BenchCase made;
  made.collective = collective;
  made.type = type;
  if (collective == Collective::barrier) return made;
  const bool per_rank = collective == Collective::all_gather ||
                        collective == Collective::reduce_scatter ||
                        collective == Collective::alltoall;
  const std::uint64_t unit = std::uint64_t{size_of(type)} * (per_rank ? ranks : 1);
  made.count = bytes == 0 ? 0 : std::max<std::uint64_t>(bytes / unit, 1);
  made.bytes = made.count * unit;
  return made;
}

std::vector<BenchCase> make_cases(const Options& options) {
  std::vector<BenchCase> cases;
  const std::uint64_t least = parse_bytes(options.min_bytes, {"-b", 0, kMostBytes});
  const std::uint64_t most = parse_bytes(options.max_bytes, {"-e", 0, kMostBytes});
  if (options.factor < 2) throw CLI::ValidationError("-f", "must be at least 2");
  if (least > most)
    throw CLI::ValidationError(
        "-e", fmt::format("{} is less than -b, {}", options.max_bytes, options.min_bytes));
  const auto next = [&](std::uint64_t bytes) { return bytes == 0 ? 8 : bytes * options.factor; };
  const auto types = named<DataType>(type_name(options.type), kDataTypes, "-d");
  const auto ops = named<ReduceOp>(options.op, kReduceOps, "-o");
  for (const Collective c : named<Collective>(options.collective, kCollectives, "collective"))
    for (const DataType type : types)
      for (const ReduceOp op : reduces(c) ? ops : std::vector{ReduceOp::sum})
        for (std::uint64_t bytes = least; bytes <= most; bytes = next(bytes)) {
          BenchCase made = make_case(c, type, bytes, options.run.ranks);
          made.op = op;
          made.root = options.root;
          const bool again = !cases.empty() && cases.back().collective == c &&
                             cases.back().type == type && cases.back().op == op &&
                             cases.back().bytes == made.bytes;
          if (!again) cases.push_back(made);
        }
  return cases;
}

std::vector<Algorithm> all_rows() {
  std::vector<Algorithm> rows;
  for (std::size_t i = 0; i < kCollectives; ++i)
    for (const Algorithm& row : algo::algorithms(static_cast<Collective>(i))) rows.push_back(row);
  return rows;
}

std::vector<std::string> algorithm_names(const Options& options) {
  if (options.algorithm != "all") return {options.algorithm};
  std::vector<std::string> names;
  for (const Algorithm& algorithm : all_rows()) {
    const bool wanted =
        options.collective == "all" || options.collective == name_of(algorithm.collective);
    const bool known = std::find(names.begin(), names.end(), algorithm.name) != names.end();
    if (wanted && !known) names.push_back(algorithm.name);
  }
  return names;
}

/// Waits for all ranks; the status of the first that failed. The others learn of it by themselves.
int join_ranks(const std::vector<pid_t>& ranks) {
  int first = 0;
  for (std::size_t left = ranks.size(); left > 0; --left) {
    int status = 0;
    const pid_t ended = wait(&status);
    if (ended < 0) return 1;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code == 0) continue;
    const auto rank = std::find(ranks.begin(), ranks.end(), ended) - ranks.begin();
    fmt::print(stderr, "hocket bench: rank {} ended with {}\n", rank, code);
    if (first == 0) first = code;
  }
  return first;
}

int run_processes(const BenchRun& run, BenchShared& shared) {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  std::vector<pid_t> ranks;
  for (std::uint32_t rank = 0; rank < run.ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      end_with(parent);
      const int status = run_bench_rank(run, rank, shared);
      std::fflush(nullptr);
      _exit(status);
    }
    if (child < 0) throw std::runtime_error("cannot start rank " + std::to_string(rank));
    ranks.push_back(child);
  }
  return join_ranks(ranks);
}

int run_threads(const BenchRun& run, BenchShared& shared) {
  std::vector<int> statuses(run.ranks);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < run.ranks; ++rank)
    threads.emplace_back([&, rank] { statuses[rank] = run_bench_rank(run, rank, shared); });
  for (std::thread& thread : threads) thread.join();
  return *std::max_element(statuses.begin(), statuses.end());
}

void refuse_on_host(const BenchCuda& cuda) {
  const char* const given = cuda.gpus > 0        ? "-g"
                            : cuda.captured > 0  ? "--captured"
                            : !cuda.peer.empty() ? "--peer"
                                                 : nullptr;
  if (given != nullptr) throw CLI::ValidationError(given, "is for --memory cuda");
}

/// An algorithm that no case has would be measured nowhere, in silence.
void refuse_what_nobody_has(const Options& options) {
  const BenchRun& run = options.run;
  if (options.algorithm == "auto" || options.algorithm == "all") return;
  const std::uint32_t per_node =
      run.ranks_per_node > 0 ? static_cast<std::uint32_t>(run.ranks_per_node) : run.ranks;
  ClusterOptions cluster;
  cluster.ranks = run.ranks;
  cluster.ranks_per_node = per_node;
  const std::shared_ptr<const Topology> topology = topology_of(cluster);
  std::string candidates;
  for (const Algorithm& row : all_rows()) {
    const auto has_it = [&](const BenchCase& c) { return c.collective == row.collective; };
    if (!row.fits(*topology) || std::none_of(run.cases.begin(), run.cases.end(), has_it)) continue;
    if (row.name == options.algorithm) return;
    candidates += (candidates.empty() ? "" : ", ") + std::string(row.name);
  }
  throw CLI::ValidationError("--algo",
                             fmt::format("{} has no '{}' on {}; candidates: {}", options.collective,
                                         options.algorithm, topology->text(), candidates));
}

int run(Options& options) {
  BenchRun& run = options.run;
  if (run.ranks == 0 || run.ranks > 1024)
    throw CLI::ValidationError("-n", "must be 1 to 1024 ranks on one machine");
  if (options.root >= run.ranks)
    throw CLI::ValidationError("-r",
                               fmt::format("root {} in a world of {}", options.root, run.ranks));
  if (!options.slice.empty()) run.slice_bytes = static_cast<int>(parse_slice(options.slice));
  run.cases = make_cases(options);
  refuse_what_nobody_has(options);
  if (!run.json.empty()) check_writable(run.json);
  run.algorithms = algorithm_names(options);
  run.ids.resize(run.algorithms.size());
  for (hocket_id& id : run.ids)
    if (hocket_get_id(&id) != HOCKET_SUCCESS) throw std::runtime_error(hocket_last_error());
  run.cuda.is_used = options.memory == "cuda";
  if (!run.cuda.is_used) refuse_on_host(run.cuda);
  BenchShared shared(run.ranks);
  return run.threads ? run_threads(run, shared) : run_processes(run, shared);
}

}  // namespace

BenchShared::BenchShared(std::uint32_t ranks)
    : bytes_(64 + ranks * (64 + kMostIterations * sizeof(double))),
      memory_(static_cast<std::byte*>(
          mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
}

BenchShared::~BenchShared() { munmap(memory_, bytes_); }

std::uint32_t& BenchShared::iterations() { return *reinterpret_cast<std::uint32_t*>(memory_); }

std::uint64_t& BenchShared::wrong(std::uint32_t rank) {
  const std::size_t each = 64 + kMostIterations * sizeof(double);
  return *reinterpret_cast<std::uint64_t*>(memory_ + 64 + rank * each);
}

double& BenchShared::time_us(std::uint32_t rank, std::uint32_t iteration) {
  auto* const times = reinterpret_cast<double*>(reinterpret_cast<std::byte*>(&wrong(rank)) + 64);
  return times[iteration];
}

void add_bench(CLI::App& app) {
  auto* const command = app.add_subcommand(
      "bench", "run collectives on ranks of this machine: times, bandwidths, wrong elements");
  const auto options = std::make_shared<Options>();
  BenchRun& run_options = options->run;
  command->add_option("collective", options->collective, "all_reduce, ... or all")
      ->capture_default_str();
  command->add_option("-n,--ranks", run_options.ranks, "ranks, each a process unless --threads")
      ->capture_default_str();
  command->add_flag("--threads,!--processes", run_options.threads,
                    "ranks are threads of this process");
  command->add_option("--memory", options->memory, "host, or cuda for ops on streams")
      ->check(CLI::IsMember({"host", "cuda"}))
      ->capture_default_str();
  command
      ->add_option("-g,--gpus", run_options.cuda.gpus,
                   "of this machine, which ranks are shared out to; default: all")
      ->check(CLI::Range(1u, 1024u));
  command
      ->add_option("--captured", run_options.cuda.captured,
                   "time a graph of so many ops; default: none is captured")
      ->check(CLI::Range(1u, 1000u));
  command
      ->add_option("--peer", run_options.cuda.peer,
                   "time the calls of this libnccl.so.2 in turn with Hocket's, on the same memory")
      ->check(CLI::ExistingFile);
  command
      ->add_option("--ranks-per-node", run_options.ranks_per_node,
                   "plan as if nodes ended every so many ranks")
      ->envname("HOCKET_RANKS_PER_NODE")  // as the library has it
      ->check(CLI::Range(1u, 1024u));
  command->add_option("-b,--min-bytes", options->min_bytes)->capture_default_str();
  command->add_option("-e,--max-bytes", options->max_bytes)->capture_default_str();
  command->add_option("-f,--factor", options->factor, "between sizes")->capture_default_str();
  command->add_option("-d,--type", options->type, "element type, or all")->capture_default_str();
  command->add_option("-o,--op", options->op, "reduction, or all")->capture_default_str();
  command->add_option("-r,--root", options->root)->capture_default_str();
  command->add_option("--algo", options->algorithm, "a name, auto or all")->capture_default_str();
  command->add_option("--channels", run_options.channels, "most channels of a plan")
      ->check(CLI::Range(1, 64));
  command->add_option("--slice", options->slice, "largest message; default 256K");
  command
      ->add_option("-i,--iterations", run_options.iterations,
                   "per size; default: a tenth of a second's worth")
      ->check(CLI::Range(1u, BenchShared::kMostIterations));
  command->add_option("--timeout-ms", run_options.op_timeout_ms, "of an op")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command->add_flag("--pin", run_options.pin, "bind rank r to core r modulo cores");
  command->add_flag("!--no-check", run_options.check, "do not check results");
  command->add_option("--json", run_options.json, "write the rows to this file");
  command->callback([options] {
    if (const int status = run(*options); status != 0) throw CLI::RuntimeError(status);
  });
}

}  // namespace hocket::tools
