// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/node.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace hocket::transport::shm {

struct Node::Mapping {
  dev_t device = 0;
  ino_t inode = 0;
  std::byte* data = nullptr;
  std::uint64_t size = 0;
  int descriptor = -1;  // the first of `files`
  std::uint32_t leases = 0;
  std::vector<File> files;  // all of them: see the head of node.h

  ~Mapping() {
    if (data != nullptr) ::munmap(data, size);
  }
};

namespace {

// Zero when there is no /proc to tell.
std::uint64_t current_pid_namespace() {
  struct stat status = {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace

Node::Node(world::Clock& clock, world::Random& random, const Options& options)
    : clock_(clock), random_(random), options_(options) {
  make_room_for_files();
}

Node::~Node() { CHECK(mappings_.empty(), "a node ended before its endpoints"); }

Result<Identity> Node::identity() {
  const Held held(baton_, ::sched_yield);
  Identity now{.pid = ::getpid(), .pid_namespace = current_pid_namespace()};
  if (now.pid == identity_.pid &&
      (now.pid_namespace == identity_.pid_namespace || now.pid_namespace == 0))
    return identity_;
  std::uint64_t words[2];
  TRY_VOID(random_.fill({reinterpret_cast<std::byte*>(words), sizeof words}));
  now.cookie = words[0];
  now.cookie_address = reinterpret_cast<std::uint64_t>(&cookie_);
  // A namespace that nobody else is in, so that nobody takes our pid for one of his.
  if (now.pid_namespace == 0) now.pid_namespace = words[1];
  cookie_.store(now.cookie, std::memory_order_relaxed);
  identity_ = now;
  return identity_;
}

Result<Node::Lease> Node::map(File file, std::uint64_t bytes) {
  const Held held(baton_, ::sched_yield);
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return system_error("fstat of a shared segment");
  for (const std::unique_ptr<Mapping>& mapping : mappings_) {
    if (mapping->device != status.st_dev || mapping->inode != status.st_ino) continue;
    mapping->files.push_back(std::move(file));
    ++mapping->leases;
    return Lease(*this, *mapping);
  }
  void* const data =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (data == MAP_FAILED)
    return system_error("mapping a shared segment of " + std::to_string(bytes) + " bytes");
  // A core dump would walk through all of the sparse range.
  ::madvise(data, bytes, MADV_DONTDUMP);
  auto mapping = std::make_unique<Mapping>();
  mapping->device = status.st_dev;
  mapping->inode = status.st_ino;
  mapping->data = static_cast<std::byte*>(data);
  mapping->size = bytes;
  mapping->descriptor = file.get();
  mapping->leases = 1;
  mapping->files.push_back(std::move(file));
  mappings_.push_back(std::move(mapping));
  return Lease(*this, *mappings_.back());
}

void Node::release(Mapping& mapping) {
  const Held held(baton_, ::sched_yield);
  if (--mapping.leases > 0) return;
  std::erase_if(mappings_, [&](const auto& m) { return m.get() == &mapping; });
}

std::byte* Node::Lease::data() const { return mapping_->data; }
std::uint64_t Node::Lease::size() const { return mapping_->size; }
int Node::Lease::descriptor() const { return mapping_->descriptor; }

}  // namespace hocket::transport::shm
