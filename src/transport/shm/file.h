// SPDX-License-Identifier: Apache-2.0
// A file descriptor with an owner, the error of a system call, and record locks, by which a process
// shows that it lives: the kernel drops them when it dies, however it dies, a forked child does not
// inherit them, and they are seen from every namespace. (A pid can be seen from its own namespace
// only, a pidfd costs a descriptor per peer, and a lock of an open file outlives its process in a
// child that inherited the file.)
// Threads: a file is a value, moved, never shared; locks belong to the process.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"

namespace hocket::transport::shm {

class File {
 public:
  File() = default;
  /// Moves it out of 0 to 2, where a program whose standard streams are closed will write; false,
  /// and errno, when there is no other.
  explicit File(int descriptor);
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

/// "WHAT: ERRNO'S TEXT", Code::system; of ENOMEM out_of_memory.
Error system_error(const std::string& what);

/// Makes room for up to 1,024 descriptors of this process, as its limit allows. The kernel makes
/// more when a descriptor needs it, and then every thread's readers are waited for: some 20 ms in a
/// process with threads, which would be some later communicator's.
void make_room_for_files();

/// Locks byte `index` of a file for this process. False when the kernel refuses or another process
/// has it.
bool lock_byte(int descriptor, std::uint32_t index);
void unlock_byte(int descriptor, std::uint32_t index);
/// Whether another process holds it; true also when the kernel does not say.
bool is_byte_locked(int descriptor, std::uint32_t index);

}  // namespace hocket::transport::shm
