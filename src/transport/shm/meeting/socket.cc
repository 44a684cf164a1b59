// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/meeting/socket.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hocket::transport::shm {
namespace {

constexpr int kType = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;

struct Address {
  sockaddr_un path = {};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&path); }
};

Address abstract(const std::string& name) {
  Address address;
  address.path.sun_family = AF_UNIX;
  const std::size_t count = std::min(name.size(), sizeof address.path.sun_path - 1);
  std::memcpy(address.path.sun_path + 1, name.data(), count);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + count);
  return address;
}

// Room for one passed descriptor.
union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

bool Socket::send(ConstBytes message, int descriptor) const {
  iovec part{const_cast<std::byte*>(message.data), message.size};
  msghdr packet = {};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  Control control = {};
  if (descriptor >= 0) {
    packet.msg_control = &control;
    packet.msg_controllen = sizeof control;
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
  }
  return ::sendmsg(get(), &packet, MSG_NOSIGNAL) == static_cast<ssize_t>(message.size);
}

Socket::Got Socket::receive(Bytes message, File* passed) const {
  iovec part{message.data, message.size};
  msghdr packet = {};
  packet.msg_iov = &part;
  packet.msg_iovlen = 1;
  Control control = {};
  if (passed != nullptr) {
    packet.msg_control = &control;
    packet.msg_controllen = sizeof control;
  }
  ssize_t size = ::recvmsg(get(), &packet, MSG_CMSG_CLOEXEC);
  // The kernel may tell of the end ahead of the peer's last words: of a reset, since the peer
  // closed before it had read ours, always; of a close, when it comes between the kernel's looks at
  // what is queued and at whether more can come. What is queued at the end is still there to be
  // heard.
  const bool is_end = size == 0 || (size < 0 && errno == ECONNRESET);
  if (is_end) size = ::recvmsg(get(), &packet, MSG_CMSG_CLOEXEC);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Got::nothing;
  if (size <= 0) return Got::end;
  const cmsghdr* const header = CMSG_FIRSTHDR(&packet);
  if (passed != nullptr && header != nullptr && header->cmsg_level == SOL_SOCKET &&
      header->cmsg_type == SCM_RIGHTS) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    *passed = File(descriptor);
  }
  if (passed != nullptr && !*passed && (packet.msg_flags & MSG_CTRUNC) != 0) return Got::bare;
  const bool is_whole =
      size == static_cast<ssize_t>(message.size) && (packet.msg_flags & MSG_TRUNC) == 0;
  return is_whole ? Got::message : Got::garbage;
}

pid_t Socket::peer_pid() const {
  ucred credentials = {};
  socklen_t size = sizeof credentials;
  const int rc = ::getsockopt(get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size);
  return rc == 0 ? credentials.pid : 0;
}

File listen_at(const std::string& name, int backlog) {
  const Address address = abstract(name);
  File file(::socket(AF_UNIX, kType, 0));
  if (!file || ::bind(file.get(), address.get(), address.size) != 0 ||
      ::listen(file.get(), backlog) != 0)
    return File();
  return file;
}

Socket accept_from(const File& listener) {
  return Socket(File(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
}

Socket connect_to(const std::string& name) {
  const Address address = abstract(name);
  File file(::socket(AF_UNIX, kType, 0));
  if (!file || ::connect(file.get(), address.get(), address.size) != 0) return Socket();
  return Socket(std::move(file));
}

int poll_timeout(world::Clock& clock, Instant deadline) {
  if (deadline == kNever) return 60'000;
  const std::int64_t left = (deadline - clock.now()).ns;
  return static_cast<int>(std::clamp<std::int64_t>((left + 999'999) / 1'000'000, 0, 60'000));
}

}  // namespace hocket::transport::shm
