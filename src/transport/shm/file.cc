// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/file.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace hocket::transport::shm {
namespace {

struct flock byte_lock(short type, std::uint32_t index) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = index;
  lock.l_len = 1;
  return lock;
}

}  // namespace

File::File(int descriptor) : descriptor_(descriptor) {
  constexpr int kFirst = STDERR_FILENO + 1;
  if (descriptor < 0 || descriptor >= kFirst) return;
  descriptor_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirst);
  const int why = errno;
  ::close(descriptor);
  errno = why;
}

void make_room_for_files() {
  constexpr rlim_t kMany = 1024;
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == 0) return;
  const auto last = static_cast<int>(std::min(kMany, limit.rlim_cur)) - 1;
  const File any(::eventfd(0, EFD_CLOEXEC));
  const File far(any ? ::fcntl(any.get(), F_DUPFD_CLOEXEC, last) : -1);
}

Error system_error(const std::string& what) {
  const Code code = errno == ENOMEM ? Code::out_of_memory : Code::system;
  return Error(code, what + ": " + std::generic_category().message(errno));
}

bool lock_byte(int descriptor, std::uint32_t index) {
  struct flock lock = byte_lock(F_WRLCK, index);
  return ::fcntl(descriptor, F_SETLK, &lock) == 0;
}

void unlock_byte(int descriptor, std::uint32_t index) {
  struct flock lock = byte_lock(F_UNLCK, index);
  ::fcntl(descriptor, F_SETLK, &lock);
}

bool is_byte_locked(int descriptor, std::uint32_t index) {
  struct flock lock = byte_lock(F_WRLCK, index);
  return ::fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace hocket::transport::shm
