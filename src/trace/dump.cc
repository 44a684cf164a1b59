// SPDX-License-Identifier: Apache-2.0
#include "trace/dump.h"

#include <array>
#include <cstring>
#include <string>
#include <utility>

namespace hocket::trace {
namespace {

constexpr std::array<char, 8> kMagic = {'h', 'k', 't', 'd', 'u', 'm', 'p', '\n'};
constexpr std::uint32_t kByteOrder = 0x01020304, kOtherOrder = 0x04030201;
constexpr std::uint32_t kVersion = 1, kMark = 0x474e4952;

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t byte_order = kByteOrder, version = kVersion;
  std::uint32_t event_bytes = sizeof(Event), recordings = 0;
};
struct RecordingHeader {
  std::uint32_t mark = kMark, rank = 0;
  std::uint64_t lost = 0, count = 0;
};
static_assert(sizeof(Header) == 24 && sizeof(RecordingHeader) == 24);

std::uint64_t checksum(const std::byte* data, std::uint64_t size) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::uint64_t i = 0; i < size; ++i)
    hash = (hash ^ std::to_integer<std::uint64_t>(data[i])) * 0x100000001b3;
  return hash;
}

class Writer {
 public:
  template <class T>
  void put(const T& value) {
    put_all(&value, 1);
  }
  template <class T>
  void put_all(const T* values, std::size_t count) {
    const auto* const first = reinterpret_cast<const std::byte*>(values);
    bytes_.insert(bytes_.end(), first, first + count * sizeof(T));
  }
  const std::byte* at(std::size_t offset) const { return bytes_.data() + offset; }
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(ConstBytes bytes) : bytes_(bytes) {}

  std::uint64_t offset() const { return offset_; }
  std::uint64_t left() const { return bytes_.size - offset_; }
  const std::byte* at(std::uint64_t offset) const { return bytes_.data + offset; }

  template <class T>
  Result<T> get(const char* what) {
    T value{};
    TRY_VOID(get_all(&value, 1, what));
    return value;
  }
  template <class T>
  Result<void> get_all(T* values, std::uint64_t count, const char* what) {
    if (count > left() / sizeof(T))
      return wrong(offset_, std::to_string(left()) + " bytes are left, too few for " + what);
    if (count > 0) std::memcpy(values, at(offset_), count * sizeof(T));
    offset_ += count * sizeof(T);
    return kOk;
  }
  static Error wrong(std::uint64_t offset, const std::string& what, Code code = Code::mismatch) {
    return Error(code, "dump: offset " + std::to_string(offset) + ": " + what);
  }

 private:
  const ConstBytes bytes_;
  std::uint64_t offset_ = 0;
};

Result<std::uint32_t> read_header(Reader& reader) {
  TRY(const Header header, reader.get<Header>("a header"));
  if (header.magic != kMagic) return Reader::wrong(0, "not a dump's magic word");
  if (header.byte_order == kOtherOrder)
    return Reader::wrong(8, "written with the other byte order", Code::unsupported);
  if (header.byte_order != kByteOrder) return Reader::wrong(8, "no byte order");
  if (header.version != kVersion)
    return Reader::wrong(12, "version " + std::to_string(header.version) + ", not 1",
                         Code::unsupported);
  if (header.event_bytes != sizeof(Event))
    return Reader::wrong(16, "events of " + std::to_string(header.event_bytes) + " bytes, not 32");
  return header.recordings;
}

Result<Recording> read_recording(Reader& reader) {
  const std::uint64_t start = reader.offset();
  TRY(const RecordingHeader header, reader.get<RecordingHeader>("a recording's header"));
  if (header.mark != kMark) return Reader::wrong(start, "no recording begins here");
  const std::uint64_t first = reader.offset();
  if (header.count > reader.left() / sizeof(Event))
    return Reader::wrong(start + 16, std::to_string(header.count) + " events in " +
                                         std::to_string(reader.left()) + " bytes");
  Recording recording{Rank{header.rank}, header.lost, std::vector<Event>(header.count)};
  TRY_VOID(reader.get_all(recording.events.data(), header.count, "events"));
  const std::uint64_t end = reader.offset();
  TRY(const std::uint64_t sum, reader.get<std::uint64_t>("a checksum"));
  if (sum != checksum(reader.at(start), end - start))
    return Reader::wrong(
        end, "the checksum of the recording from " + std::to_string(start) + " on is another");
  for (std::uint64_t i = 0; i < header.count; ++i) {
    const auto kind = static_cast<std::uint32_t>(recording.events[i].kind);
    if (kind >= kKinds)
      return Reader::wrong(first + i * sizeof(Event) + offsetof(Event, kind),
                           "an event of kind " + std::to_string(kind));
  }
  return recording;
}

}  // namespace

std::vector<std::byte> encode(std::span<const Recording> recordings) {
  Writer writer;
  Header header;
  header.recordings = static_cast<std::uint32_t>(recordings.size());
  writer.put(header);
  for (const Recording& recording : recordings) {
    const std::size_t start = writer.size();
    RecordingHeader head;
    head.rank = recording.rank.value;
    head.lost = recording.lost;
    head.count = recording.events.size();
    writer.put(head);
    writer.put_all(recording.events.data(), recording.events.size());
    writer.put(checksum(writer.at(start), writer.size() - start));
  }
  return writer.take();
}

Result<std::vector<Recording>> decode(ConstBytes dump) {
  Reader reader(dump);
  TRY(const std::uint32_t count, read_header(reader));
  std::vector<Recording> recordings;
  for (std::uint32_t i = 0; i < count; ++i) {
    TRY(Recording recording, read_recording(reader));
    recordings.push_back(std::move(recording));
  }
  if (reader.left() > 0)
    return Reader::wrong(reader.offset(),
                         std::to_string(reader.left()) + " bytes follow the last recording");
  return recordings;
}

}  // namespace hocket::trace
