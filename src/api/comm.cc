// SPDX-License-Identifier: Apache-2.0
#include "api/comm.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/prng.h"

using hocket::Code;
using hocket::Error;
using hocket::Result;

namespace hocket::api {
namespace {

constexpr int kMostChannels = 64, kMostSlice = 1 << 30, kLeastSlice = 64;
// Bytes: of the first version, whose last member was the algorithm; later ones have more of them.
constexpr std::size_t kFirstOptions = offsetof(hocket_options, cuda), kMostOptions = 4096;
// Both stay in a core's second-level cache (docs/decisions/0004): a stage, and what a rank has
// added up, until it is sent.
constexpr std::uint32_t kDefaultSlice = 256 << 10, kCachedPiece = 512 << 10;

struct Settings {  ///< the options of a communicator over those of the environment
  Duration init_timeout, op_timeout;
  std::uint32_t ranks_per_node = 0, slice_bytes = 0;
  std::uint16_t channels = 0;
  bool cuda = false;
  std::string algorithm, origin;  ///< and who named it
};

Error refuse(const std::string& what) {
  return Error(Code::invalid_argument, "hocket_comm_create: " + what);
}

Result<hocket_options> read_options(const hocket_options* given) {
  hocket_options options = HOCKET_OPTIONS_INIT;
  if (given == nullptr) return options;
  if (given->size < kFirstOptions || given->size > kMostOptions)
    return refuse("options.size is " + std::to_string(given->size) +
                  "; start from HOCKET_OPTIONS_INIT");
  const auto* const bytes = reinterpret_cast<const char*>(given);
  const std::size_t known = std::min(given->size, sizeof options);
  if (std::any_of(bytes + known, bytes + given->size, [](char byte) { return byte != 0; }))
    return refuse("options has " + std::to_string(given->size) + " bytes; this library knows " +
                  std::to_string(sizeof options) + ", and the others are not zero");
  std::memcpy(static_cast<void*>(&options), given, known);
  const struct {
    const char* name;
    int value, most;
  } numbers[] = {{"init_timeout_ms", options.init_timeout_ms, INT32_MAX},
                 {"op_timeout_ms", options.op_timeout_ms, INT32_MAX},
                 {"ranks_per_node", options.ranks_per_node, INT32_MAX},
                 {"channels", options.channels, kMostChannels},
                 {"slice_bytes", options.slice_bytes, kMostSlice},
                 {"cuda", options.cuda, 1}};
  for (const auto& [name, value, most] : numbers)
    if (value < 0 || value > most)
      return refuse(std::string("options.") + name + " is " + std::to_string(value) +
                    ", not 0 to " + std::to_string(most));
  if (options.slice_bytes > 0 && options.slice_bytes < kLeastSlice)
    return refuse("options.slice_bytes is " + std::to_string(options.slice_bytes) +
                  ", not 0 or at least " + std::to_string(kLeastSlice));
  return options;
}

/// The options over what the environment says.
Result<Settings> settle(const CommArguments& arguments, const host::Config& config) {
  TRY(const hocket_options options, read_options(arguments.options));
  Settings settings{config.init_timeout,
                    config.op_timeout,
                    config.ranks_per_node,
                    static_cast<std::uint32_t>(config.slice_bytes),
                    static_cast<std::uint16_t>(config.channels),
                    options.cuda != 0,
                    config.algorithm,
                    "HOCKET_ALGO"};
  if (options.init_timeout_ms) settings.init_timeout = milliseconds(options.init_timeout_ms);
  if (options.op_timeout_ms) settings.op_timeout = milliseconds(options.op_timeout_ms);
  if (options.ranks_per_node)
    settings.ranks_per_node = static_cast<std::uint32_t>(options.ranks_per_node);
  if (options.slice_bytes) settings.slice_bytes = static_cast<std::uint32_t>(options.slice_bytes);
  if (options.channels) settings.channels = static_cast<std::uint16_t>(options.channels);
  if (settings.slice_bytes == 0) settings.slice_bytes = kDefaultSlice;
  if (options.algorithm == nullptr || *options.algorithm == 0) return settings;
  settings.algorithm = options.algorithm;
  settings.origin = "hocket_options.algorithm";
  return settings;
}

Result<std::shared_ptr<const engine::Config>> configure(Runtime& runtime, const Settings& settings,
                                                        std::shared_ptr<const Topology> topology) {
  algo::Agreed agreed;
  agreed.topology = topology;
  agreed.costs = shared_memory_costs();
  agreed.channels = settings.channels;
  agreed.slice_bytes = settings.slice_bytes;
  agreed.piece_bytes = kCachedPiece;
  if (!settings.algorithm.empty())
    agreed.rules.push_back({.algorithm = settings.algorithm, .origin = settings.origin});
  engine::Config config;
  TRY(config.tuning, runtime.tuning(std::move(agreed)));
  config.topology = std::move(topology);
  config.op_timeout = settings.op_timeout;
  config.channels = settings.channels;
  return std::make_shared<const engine::Config>(std::move(config));
}

/// What all ranks must agree on beside what the meeting compares by itself.
std::uint64_t agreement(const Settings& settings) {
  Hash hash;
  hash.add_all(settings.algorithm);
  if (settings.cuda) hash.add(1);
  return hash.value();
}

Result<world::Join> make_join(const CommArguments& arguments, const Settings& settings,
                              Instant now) {
  if (arguments.id == nullptr) return refuse("id is null");
  if (arguments.world < 1)
    return refuse("world is " + std::to_string(arguments.world) + ", not 1 or more");
  if (arguments.rank < 0 || arguments.rank >= arguments.world)
    return refuse("rank " + std::to_string(arguments.rank) + " in a world of " +
                  std::to_string(arguments.world));
  world::Join join;
  static_assert(sizeof(join.id) == sizeof(hocket_id));
  std::memcpy(join.id.data(), arguments.id->bytes, sizeof(hocket_id));
  join.rank = Rank{static_cast<std::uint32_t>(arguments.rank)};
  join.world = static_cast<std::uint32_t>(arguments.world);
  join.ranks_per_node = settings.ranks_per_node;
  join.slice_bytes = settings.slice_bytes;
  join.channels = settings.channels + 1u;  // send / recv has one of its own
  join.agreement = agreement(settings);
  join.deadline = now + settings.init_timeout;
  return join;
}

}  // namespace
}  // namespace hocket::api

using hocket::api::Runtime;

Result<std::unique_ptr<hocket_comm>> hocket_comm::create(
    Runtime& runtime, const hocket::api::CommArguments& arguments) {
  using namespace hocket::api;  // NOLINT: a C name, with everything else of it there
  TRY(const Settings settings, settle(arguments, runtime.config()));
  TRY(const hocket::world::Join join, make_join(arguments, settings, runtime.clock().now()));
  TRY(std::unique_ptr<hocket::world::Endpoint> endpoint, runtime.network().join(join));
  TRY(std::shared_ptr<const hocket::engine::Config> config,
      configure(runtime, settings, endpoint->topology()));
  auto comm = std::unique_ptr<hocket_comm>(std::make_unique<hocket_comm>(
      Private{}, runtime, std::move(endpoint), std::move(config), join.rank));
  if (!settings.cuda) return comm;
  TRY(comm->domain_, Domain::join(*comm, join));
  runtime.process().watch(comm->communicator(), comm->domain_->device());
  return comm;
}

hocket_comm::hocket_comm(Private, Runtime& runtime,
                         std::unique_ptr<hocket::world::Endpoint> endpoint,
                         std::shared_ptr<const hocket::engine::Config> config, hocket::Rank me)
    : runtime_(runtime), recorder_(runtime.config(), me), endpoint_(std::move(endpoint)) {
  using hocket::engine::Communicator;
  communicator_ = std::make_unique<Communicator>(
      Communicator::Parts{runtime.world_of(*endpoint_, recorder_), runtime.process().loop(),
                          runtime.process(), std::move(config), me});
  runtime.process().attach(*communicator_);
}

Result<hocket::engine::stream::Prepared> hocket_comm::prepare(
    const hocket::engine::Call& call) const {
  if (std::optional<Error> failure = communicator_->failure()) return *std::move(failure);
  return domain_->executor().prepare(call);
}

Result<hocket::engine::stream::Prepared> hocket_comm::prepare(
    std::span<const hocket::engine::Call> messages) const {
  if (std::optional<Error> failure = communicator_->failure()) return *std::move(failure);
  return domain_->executor().prepare(messages);
}

// What runs on streams is waited for first, while a failure can still end it.
hocket_comm::~hocket_comm() {
  if (domain_ != nullptr) (void)domain_->device().drain();
  runtime_.process().detach(*communicator_);
}
