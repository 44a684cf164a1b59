// SPDX-License-Identifier: Apache-2.0
// NCCL's calls, by the names, numbers and orders of its ABI, which have been the same since 2.14.
#include <dlfcn.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "tools/hocket/bench_place.h"

namespace hocket::tools {
namespace {

struct Id {
  std::array<std::byte, 128> bytes;
};
using Comm = struct NcclComm*;
using Status = int;  // 0: fine

constexpr int kTypes[kDataTypes] = {7, 8, 9, 6, 2, 4, 1};  // by DataType
constexpr int kOps[kReduceOps] = {0, 1, 3, 2, 4};          // by ReduceOp

struct Functions {
  const char* (*error_text)(Status);
  Status (*new_id)(Id*);
  Status (*join)(Comm*, int ranks, Id, int rank);
  Status (*group_start)();
  Status (*group_end)();
  Status (*send)(const void*, std::size_t, int type, int peer, Comm, void* stream);
  Status (*receive)(void*, std::size_t, int type, int peer, Comm, void* stream);
  Status (*all_reduce)(const void*, void*, std::size_t, int type, int op, Comm, void* stream);
  Status (*all_gather)(const void*, void*, std::size_t, int type, Comm, void* stream);
  Status (*reduce_scatter)(const void*, void*, std::size_t, int type, int op, Comm, void* stream);
  Status (*broadcast)(const void*, void*, std::size_t, int type, int root, Comm, void* stream);
  Status (*reduce)(const void*, void*, std::size_t, int type, int op, int root, Comm, void* stream);
  Status (*alltoall)(const void*, void*, std::size_t, int type, Comm, void* stream);  // from 2.28
};

class Library {
 public:
  explicit Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
    find("ncclGetErrorString", functions_.error_text);
    find("ncclGetUniqueId", functions_.new_id);
    find("ncclCommInitRank", functions_.join);
    find("ncclGroupStart", functions_.group_start);
    find("ncclGroupEnd", functions_.group_end);
    find("ncclSend", functions_.send);
    find("ncclRecv", functions_.receive);
    find("ncclAllReduce", functions_.all_reduce);
    find("ncclAllGather", functions_.all_gather);
    find("ncclReduceScatter", functions_.reduce_scatter);
    find("ncclBroadcast", functions_.broadcast);
    find("ncclReduce", functions_.reduce);
    functions_.alltoall =
        reinterpret_cast<decltype(functions_.alltoall)>(dlsym(handle_, "ncclAlltoAll"));
  }
  const Functions* operator->() const { return &functions_; }

  void must(Status status) const {
    if (status != 0)
      throw std::runtime_error(std::string("NCCL: ") + functions_.error_text(status));
  }

 private:
  template <class F>
  void find(const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(handle_, name));
    if (function == nullptr) throw std::runtime_error(dlerror());
  }

  void* const handle_;  // stays open: what it has begun ends with the process
  Functions functions_{};
};

class NcclCalls final : public BenchCalls {
 public:
  NcclCalls(const std::string& path, hocket_comm* comm) : nccl_(path), seat_(comm) {
    Id id{};
    if (seat_.rank == 0) nccl_.must(nccl_->new_id(&id));
    must(hocket_broadcast(&id, &id, sizeof id, HOCKET_UINT8, 0, comm, nullptr));
    nccl_.must(nccl_->join(&comm_, seat_.ranks, id, seat_.rank));
  }

  bool has(Collective collective) const override { return collective != Collective::barrier; }

  void call(const BenchCase& c, const BenchMemory& m, void* stream) override {
    nccl_.must(begin(c, m, stream));
  }

 private:
  Status begin(const BenchCase& c, const BenchMemory& m, void* stream) {
    const int type = kTypes[static_cast<std::size_t>(c.type)];
    const int op = kOps[static_cast<std::size_t>(c.op)];
    const int root = static_cast<int>(c.root);
    switch (c.collective) {
      case Collective::all_reduce:
        return nccl_->all_reduce(m.input, m.output, c.count, type, op, comm_, stream);
      case Collective::all_gather:
        return nccl_->all_gather(m.input, m.output, c.count, type, comm_, stream);
      case Collective::reduce_scatter:
        return nccl_->reduce_scatter(m.input, m.output, c.count, type, op, comm_, stream);
      case Collective::broadcast:
        return nccl_->broadcast(m.input, m.output, c.count, type, root, comm_, stream);
      case Collective::reduce:
        return nccl_->reduce(m.input, m.output, c.count, type, op, root, comm_, stream);
      case Collective::alltoall:
        if (nccl_->alltoall == nullptr) return exchange(c, m, stream);
        return nccl_->alltoall(m.input, m.output, c.count, type, comm_, stream);
      case Collective::send_recv:
        return shift(c, m, stream);
      case Collective::barrier:
        break;
    }
    throw std::runtime_error(std::string("NCCL has no ") + name_of(c.collective));
  }

  Status exchange(const BenchCase& c, const BenchMemory& m, void* stream) {
    const int type = kTypes[static_cast<std::size_t>(c.type)];
    const std::uint64_t one = c.count * size_of(c.type);
    nccl_.must(nccl_->group_start());
    for (int peer = 0; peer < seat_.ranks; ++peer) {
      const std::uint64_t at = one * static_cast<std::uint64_t>(peer);
      nccl_.must(nccl_->send(m.input + at, c.count, type, peer, comm_, stream));
      nccl_.must(nccl_->receive(m.output + at, c.count, type, peer, comm_, stream));
    }
    return nccl_->group_end();
  }

  /// As shift() of bench_place.h.
  Status shift(const BenchCase& c, const BenchMemory& m, void* stream) {
    const int type = kTypes[static_cast<std::size_t>(c.type)];
    nccl_.must(nccl_->group_start());
    nccl_.must(nccl_->send(m.input, c.count, type, seat_.next(), comm_, stream));
    nccl_.must(nccl_->receive(m.output, c.count, type, seat_.previous(), comm_, stream));
    return nccl_->group_end();
  }

  const Library nccl_;
  const BenchSeat seat_;
  Comm comm_ = nullptr;
};

}  // namespace

std::unique_ptr<BenchCalls> make_nccl_calls(const std::string& path, hocket_comm* comm) {
  return std::make_unique<NcclCalls>(path, comm);
}

}  // namespace hocket::tools
