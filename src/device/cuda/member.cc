// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/member.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "base/check.h"
#include "device/kernels/cut.h"

namespace hocket::cuda {
namespace {

constexpr std::size_t kWords = kernels::kMostBlocks + 1 + kernels::kChunkWords;
const Stream kPerThread = reinterpret_cast<Stream>(2);  // each thread has its own under this name

std::uint64_t whole_stripes(std::uint64_t packets, std::uint32_t stripes) {
  return packets / (8 * stripes) * (8 * stripes);
}

/// Ranks of other processes take turns on a device; those of one run beside one another.
std::uint32_t most_on_a_device(std::span<const Card> cards) {
  std::uint32_t most = 1;
  for (const Card& card : cards) {
    const auto is_beside = [&](const Card& other) {
      return other.process == card.process && other.device == card.device;
    };
    const auto count = std::count_if(cards.begin(), cards.end(), is_beside);
    most = std::max(most, static_cast<std::uint32_t>(count));
  }
  return most;
}

std::string name_of(Rank rank) { return "rank " + std::to_string(rank.value); }

}  // namespace

kernels::Capacity capacity_of(const MailboxSize& size, std::uint32_t world) {
  const std::uint64_t slots = 2 * std::uint64_t{world};
  kernels::Capacity capacity{.world = world};
  capacity.stripes = kernels::stripes_of(world, kernels::kMostBlocks);
  if (world == 1) {
    capacity.packets = size.packets / sizeof(kernels::Packet);
    capacity.staged = std::uint64_t{1} << 35;
    return capacity;
  }
  capacity.packets = size.packets / slots / sizeof(kernels::Packet) / 8 * 8;
  capacity.staged = size.staging / slots / 128 * 128;
  capacity.letters =
      whole_stripes(size.letters / slots / sizeof(kernels::Packet), capacity.stripes);
  return capacity;
}

Member::Member(Private, Contexts& contexts, Use<LoadedContext> context,
               const MemberOptions& options)
    : contexts_(contexts),
      context_(std::move(context)),
      options_(options),
      is_large_(context_->take_large(options.communicator)) {}

Result<std::unique_ptr<Member>> Member::make(Contexts& contexts, const MemberOptions& options) {
  CHECK(options.world >= 1 && options.world <= world::kMostInDomain, "ranks of a domain");
  TRY(Use<LoadedContext> context, contexts.current());
  auto made = std::make_unique<Member>(Private{}, contexts, std::move(context), options);
  TRY_VOID(made->allocate());
  TRY_VOID(made->clear());
  return made;
}

Result<void> Member::allocate() {
  const Within within(*context_);
  const Driver& driver = this->driver();
  const kernels::Capacity capacity =
      capacity_of(is_large_ ? options_.large : options_.small, options_.world);
  mailbox_bytes_ = options_.world > 1 ? kernels::Mailbox::bytes(capacity) : sizeof(kernels::Flag);
  TRY(mailbox_, contexts_.allocate(*context_, mailbox_bytes_));
  TRY_VOID(driver.call(driver->memory.allocate, &words_, kWords * sizeof(std::uint32_t)));
  for (Order* const order : {&launches_.eager, &launches_.captured}) {
    TRY_VOID(driver.call(driver->event.create, &order->event, kEventDisableTiming));
  }
  void* board = nullptr;
  TRY_VOID(driver.call(driver->memory.allocate_host, &board, sizeof(Board),
                       kHostPortable | kHostMapped));
  board_ = ::new (board) Board;
  Address mapped = 0;
  TRY_VOID(driver.call(driver->memory.device_address, &mapped, board, 0));
  Board* const on_device = reinterpret_cast<Board*>(mapped);
  domain_.me = options_.me.value;
  domain_.capacity = capacity;
  domain_.laps = reinterpret_cast<std::uint32_t*>(words_);
  domain_.given_up = domain_.laps + kernels::kMostBlocks;
  domain_.chunks = domain_.given_up + 1;
  domain_.report = &on_device->report;
  domain_.stop = &on_device->stop;
  if (options_.patience != kForever)
    domain_.patience_ns = static_cast<std::uint64_t>(options_.patience.ns);
  return kOk;
}

Result<void> Member::clear() {
  const Within within(*context_);
  const Driver& driver = this->driver();
  Stream stream = nullptr;
  TRY_VOID(driver.call(driver->stream.create, &stream, kStreamNonBlocking));
  const auto mailbox = reinterpret_cast<Address>(mailbox_->data());
  Result<void> done = driver.call(driver->memory.set, mailbox, 0, mailbox_bytes_, stream);
  if (done)
    done = driver.call(driver->memory.set, words_, 0, kWords * sizeof(std::uint32_t), stream);
  if (done) done = driver.call(driver->stream.synchronize, stream);
  driver->stream.destroy(stream);
  return done;
}

Member::~Member() {
  const Within within(*context_);
  for (const Order& order : {launches_.eager, launches_.captured})
    if (order.event != nullptr) driver()->event.destroy(order.event);
  for (const Address mapped : mapped_) driver()->memory.close_shared(mapped);
  for (const Address address : scratch_.all) driver()->memory.free(address);
  if (board_ != nullptr) driver()->memory.free_host(board_);
  if (words_ != 0) driver()->memory.free(words_);
  if (is_large_) context_->give_large_back();
}

Card Member::card() const {
  const Within within(*context_);
  Card card{.process = options_.process,
            .context = context_->handle(),
            .mailbox = mailbox_->data(),
            .packets = domain_.capacity.packets,
            .staged = domain_.capacity.staged,
            .letters = domain_.capacity.letters,
            .device = context_->device()};
  // A device without interprocess handles still serves the ranks of one process.
  driver()->memory.share(&card.handle, reinterpret_cast<Address>(mailbox_->data()));
  return card;
}

Result<void> Member::connect(std::span<const Card> cards) {
  CHECK(cards.size() == options_.world, "a card for each rank");
  const Within within(*context_);
  for (const Card& card : cards) {
    domain_.capacity.packets = std::min(domain_.capacity.packets, card.packets);
    domain_.capacity.staged = std::min(domain_.capacity.staged, card.staged);
    domain_.capacity.letters = std::min(domain_.capacity.letters, card.letters);
  }
  most_blocks_ = kernels::kMostBlocks / most_on_a_device(cards);
  domain_.capacity.stripes = kernels::stripes_of(options_.world, most_blocks_);
  domain_.capacity.letters = whole_stripes(domain_.capacity.letters, domain_.capacity.stripes);
  domain_.mailboxes[domain_.me] = mailbox_->data();
  for (std::uint32_t hop = 1; hop < options_.world; ++hop) {
    const Rank peer{(options_.me.value + hop) % options_.world};
    Result<std::byte*> reached = reach(peer, cards[peer.value]);
    if (!reached) return std::move(reached).error().about_peer(peer);
    domain_.mailboxes[peer.value] = *reached;
  }
  return kOk;
}

/// The peer's mailbox, as this device sees it.
Result<std::byte*> Member::reach(Rank peer, const Card& card) {
  const Driver& driver = this->driver();
  if (card.process != options_.process) {
    Address mapped = 0;
    TRY_VOID(driver.call(driver->memory.open_shared, &mapped, card.handle, kIpcLazyPeerAccess));
    mapped_.push_back(mapped);
    return reinterpret_cast<std::byte*>(mapped);
  }
  Use<DeviceMemory> mailbox = contexts_.find(card.mailbox);
  if (mailbox.get() == nullptr)
    return Error(Code::peer_lost, name_of(peer) + " of this process has gone meanwhile");
  neighbours_.push_back(std::move(mailbox));
  if (card.context == context_->handle()) return card.mailbox;
  int reaches = 0;
  TRY_VOID(driver.call(driver->device.reaches, &reaches, context_->device(), card.device));
  if (reaches == 0 && card.device != context_->device())
    return Error(Code::unsupported, context_->name() + " does not reach device " +
                                        std::to_string(card.device) + " of " + name_of(peer));
  const Status status = driver->context.enable_peer(card.context, 0);
  if (status != Status::success && status != Status::peer_access_already_enabled)
    return driver.error(&driver->context.enable_peer, status);
  return card.mailbox;
}

std::uint64_t Member::holds(world::Lowering lowering) const {
  switch (lowering) {
    case world::Lowering::packet:
      return domain_.capacity.packets * sizeof(std::uint64_t);
    case world::Lowering::staged:
      return domain_.capacity.staged;
  }
  return 0;
}

world::Lowering Member::lowering_of(std::uint64_t message) const {
  const kernels::Cut cut(message, domain_.capacity);
  return cut.is_packed ? world::Lowering::packet : world::Lowering::staged;
}

Result<void> Member::enqueue(world::Stream stream, std::span<const world::Action> actions) {
  return enqueue_all(stream, actions);
}

Result<void> Member::enqueue(world::Stream stream, std::span<const world::Transfers> groups) {
  return enqueue_all(stream, groups);
}

/// Launches that are one op; what is enqueued in part only is a failure from then on.
template <class Item>
Result<void> Member::enqueue_all(world::Stream stream, std::span<const Item> items) {
  const Held lock(launches_.lock, ::sched_yield);
  if (std::optional<Error> before = refusal()) return *std::move(before);
  if (items.empty()) return kOk;
  const Entered entered(*context_);
  std::size_t count = 0;
  Result<void> enqueued = enqueue_in_order(static_cast<Stream>(stream.handle), items, count);
  if (enqueued || count == 0) return enqueued;
  const Held refusing(refusal_.lock, ::sched_yield);
  refusal_.error = enqueued.error().clone();
  return enqueued;
}

/// `count` becomes how many are enqueued.
template <class Item>
Result<void> Member::enqueue_in_order(Stream stream, std::span<const Item> items,
                                      std::size_t& count) {
  const Driver& driver = this->driver();
  CaptureStatus status = CaptureStatus::none;
  std::uint64_t graph = 0, id = reinterpret_cast<std::uintptr_t>(stream);
  TRY_VOID(driver.call(driver->stream.capture_info, stream, &status, &graph));
  const bool is_eager = status == CaptureStatus::none;
  if (is_eager) {  // a stream that is captured stays, and tells no id
    TRY_VOID(driver.call(driver->stream.id, stream, &id));
  }
  Order& order = is_eager ? launches_.eager : launches_.captured;
  const bool is_same = order.stream == id && stream != kPerThread;
  if (order.used && order.graph == graph && !is_same) {
    TRY_VOID(driver.call(driver->stream.wait_event, stream, order.event, 0));
  }
  for (const Item& item : items) {
    TRY_VOID(context_->module().launch(stream, domain_, item));
    ++count;
  }
  TRY_VOID(driver.call(driver->event.record, order.event, stream));
  order.stream = id;
  order.graph = graph;
  order.used = true;
  return kOk;
}

Result<std::byte*> Member::scratch(std::uint64_t bytes) {
  const Held lock(scratch_.lock, ::sched_yield);
  if (bytes > scratch_.bytes) {
    const Within within(*context_);
    bytes = std::max(bytes, 2 * scratch_.bytes);
    Address address = 0;
    TRY_VOID(driver().call(driver()->memory.allocate, &address, bytes));
    scratch_.all.push_back(address);
    scratch_.bytes = bytes;
  }
  return reinterpret_cast<std::byte*>(scratch_.all.back());
}

std::optional<Error> Member::refusal() {
  const Held lock(refusal_.lock, ::sched_yield);
  if (!refusal_.error) return std::nullopt;
  return refusal_.error->clone();
}

std::optional<Error> Member::failure() {
  const auto code = std::atomic_ref(board_->report.code).load(std::memory_order_acquire);
  return code != kernels::Report::none ? read_report() : refusal();
}

Error Member::read_report() const {
  const kernels::Report& report = board_->report;
  const Rank peer{report.peer};
  const std::string op = report.lap == 0 ? std::string("a message on streams: ")
                                         : "op " + std::to_string(report.lap) + " on streams: ";
  switch (report.code) {
    case kernels::Report::mismatch:
      return Error(Code::mismatch, op + name_of(peer) + " called something else (signature " +
                                       std::to_string(report.seen) + ")")
          .about_peer(peer);
    case kernels::Report::late:
      return Error(Code::timeout, op + name_of(peer) + " awaited for " +
                                      std::to_string(options_.patience.ns / 1'000'000) + " ms")
          .about_peer(peer);
    default:
      return Error(Code::aborted, op + "stopped while it waited for " + name_of(peer));
  }
}

void Member::stop() { std::atomic_ref(board_->stop).store(1, std::memory_order_relaxed); }

Result<void> Member::drain() {
  const Within within(*context_);
  return driver().call(driver()->context.synchronize);
}

}  // namespace hocket::cuda
