// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <string>

namespace hocket::transport::shm {
namespace {

#ifndef MFD_NOEXEC_SEAL
constexpr unsigned MFD_NOEXEC_SEAL = 8;
#endif
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// Offsets are kept in units of 64 bytes in 32 bits. It is address space, not memory.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 38;

// Header::meeting.
constexpr std::uint32_t kMet = 1, kGaveUp = 2;

constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t to) {
  return (n + to - 1) / to * to;
}

}  // namespace

Segment::Segment(std::byte* base, const Shape& shape)
    : base_(base), shape_(shape), bytes_(bytes(shape)) {}

std::uint64_t Segment::directory_begin(const Shape& shape) {
  return kRows + shape.world * sizeof(Row);
}

std::uint64_t Segment::heap_begin(const Shape& shape) {
  const std::uint64_t links = std::uint64_t{shape.world} * shape.world * shape.channels;
  return round_up(directory_begin(shape) + links * sizeof(std::uint32_t), alignof(Box));
}

std::uint64_t Segment::box_bytes() const {
  return round_up(sizeof(Box) + shape_.credits * sizeof(Slot), alignof(Box));
}

// A link needs its box and, if all goes through the segment, a cell and a stage a credit.
std::uint64_t Segment::bytes(const Shape& shape) {
  const std::uint64_t links = std::uint64_t{shape.world} * shape.world * shape.channels;
  const std::uint64_t stage = round_up(shape.slice_bytes, alignof(Box));
  const std::uint64_t link = 256 + shape.credits * (sizeof(Slot) + kCellBytes + stage);
  const std::uint64_t spares = shape.world * std::uint64_t{8192};
  const std::uint64_t most = kMostBytes - heap_begin(shape);
  const std::uint64_t heap = links > most / link ? most : std::min(most, links * link + spares);
  return round_up(heap_begin(shape) + heap, 4096);
}

Result<File> Segment::create(const Shape& shape) {
  File file(::memfd_create("hocket", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL));
  if (!file) file = File(::memfd_create("hocket", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return system_error("memfd_create");
  rlimit limit{};  // beyond it the kernel would kill the process
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes(shape))
    return Error(Code::system, "a shared segment of " + std::to_string(bytes(shape)) +
                                   " bytes: this process may make files of " +
                                   std::to_string(limit.rlim_cur) +
                                   " at most (RLIMIT_FSIZE, ulimit -f)");
  if (::ftruncate(file.get(), static_cast<off_t>(bytes(shape))) != 0)
    return system_error("ftruncate of a shared segment to " + std::to_string(bytes(shape)));
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) return system_error("sealing a segment");
  const std::uint64_t heap_end = heap_begin(shape);
  if (::pwrite(file.get(), &heap_end, sizeof heap_end, 0) != sizeof heap_end)
    return system_error("writing a segment's header");
  return file;
}

Result<void> Segment::check(const File& file, const Shape& shape) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return system_error("fstat of a shared segment");
  if (static_cast<std::uint64_t>(status.st_size) != bytes(shape))
    return Error(Code::mismatch, "rank 0's segment has " + std::to_string(status.st_size) +
                                     " bytes where " + std::to_string(bytes(shape)) +
                                     " were expected");
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    return Error(Code::mismatch, "rank 0's segment could be cut short");
  return kOk;
}

std::optional<Rank> Segment::conclude() { return end_meeting(kMet); }
std::optional<Rank> Segment::give_up(Rank me) { return end_meeting(kGaveUp + me.value); }

std::optional<Rank> Segment::end_meeting(std::uint32_t how) {
  std::uint32_t before = 0;
  if (!header().meeting.compare_exchange_strong(before, how, std::memory_order_acq_rel))
    how = before;
  if (how == kMet) return std::nullopt;
  return how - kGaveUp < shape_.world ? Rank{how - kGaveUp} : kNobody;
}

Result<std::uint64_t> Segment::allocate(std::uint64_t size) {
  size = round_up(size, alignof(Box));
  std::atomic<std::uint64_t>& end = header().heap_end;
  const std::uint64_t begin = end.fetch_add(size, std::memory_order_relaxed);
  if (begin % alignof(Box) == 0 && at(begin, size) != nullptr) return begin;
  end.fetch_sub(size, std::memory_order_relaxed);
  return Error(Code::out_of_memory, "the shared segment of " + std::to_string(bytes_) +
                                        " bytes has no " + std::to_string(size) + " left");
}

std::byte* Segment::at(std::uint64_t offset, std::uint64_t size) {
  const bool is_inside =
      offset >= heap_begin(shape_) && offset <= bytes_ && size <= bytes_ - offset;
  return is_inside ? base_ + offset : nullptr;
}

Result<Box*> Segment::box(Rank from, Rank to, ChannelId channel) {
  CHECK(from.value < shape_.world && to.value < shape_.world, "a link to a rank out of the world");
  CHECK(channel.value < shape_.channels, "a channel beyond Join::channels");
  const std::uint64_t index =
      (std::uint64_t{to.value} * shape_.world + from.value) * shape_.channels + channel.value;
  auto& word =
      reinterpret_cast<std::atomic<std::uint32_t>*>(base_ + directory_begin(shape_))[index];
  std::uint32_t unit = word.load(std::memory_order_acquire);
  if (unit == 0) {
    if (spare_box_ == 0) {
      TRY(spare_box_, allocate(box_bytes()));
    }
    const auto mine = static_cast<std::uint32_t>(spare_box_ / 64);
    if (word.compare_exchange_strong(unit, mine, std::memory_order_acq_rel)) {
      unit = mine;
      spare_box_ = 0;
    }
  }
  const std::uint64_t offset = std::uint64_t{unit} * 64;
  std::byte* const memory = at(offset, box_bytes());
  if (memory == nullptr || offset % alignof(Box) != 0)
    return Error(Code::peer_lost, "a link's mailbox is said to be at offset " +
                                      std::to_string(offset) +
                                      ", which cannot be: a peer wrote "
                                      "nonsense into the shared segment");
  return reinterpret_cast<Box*>(memory);
}

}  // namespace hocket::transport::shm
