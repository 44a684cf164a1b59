// SPDX-License-Identifier: Apache-2.0
// Unix sockets of whole packets, with abstract names: nothing of them is left in a file system, and
// they are found from every namespace but another network's. Nothing here blocks.
// Threads: a value. Ownership: closes its descriptor.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/time.h"
#include "transport/shm/file.h"
#include "world/clock.h"

namespace hocket::transport::shm {

/// One end of a connection.
class Socket {
 public:
  /// `bare`: a descriptor was to come along, and this process may not have one more.
  enum class Got : std::uint8_t { message, nothing, garbage, end, bare };
  Socket() = default;
  explicit Socket(File file) : file_(std::move(file)) {}

  /// False when the other end is gone or does not read. `descriptor` goes along unless negative.
  template <class Message>
  bool send(const Message& message, int descriptor = -1) const {
    return send({reinterpret_cast<const std::byte*>(&message), sizeof message}, descriptor);
  }
  /// A message of exactly this type. A descriptor that came along goes to `passed`, or is refused.
  template <class Message>
  Got receive(Message& message, File* passed = nullptr) const {
    return receive(Bytes{reinterpret_cast<std::byte*>(&message), sizeof message}, passed);
  }
  pid_t peer_pid() const;  ///< 0 when it cannot be seen from here
  int get() const { return file_.get(); }
  explicit operator bool() const { return static_cast<bool>(file_); }

 private:
  bool send(ConstBytes message, int descriptor) const;
  Got receive(Bytes message, File* passed) const;
  File file_;
};

/// An abstract unix socket that listens; none and errno when the name is taken.
File listen_at(const std::string& name, int backlog);
Socket accept_from(const File& listener);
/// None and errno when nobody listens, or the listener is busy.
Socket connect_to(const std::string& name);

/// For poll(): milliseconds until `deadline`, rounded up, at most a minute.
int poll_timeout(world::Clock& clock, Instant deadline);

}  // namespace hocket::transport::shm
