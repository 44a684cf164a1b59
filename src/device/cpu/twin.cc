// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/twin.h"

#include <array>
#include <cstddef>
#include <utility>

#include "device/kernels/packet.h"
#include "device/kernels/staged.h"
#include "device/kernels/transfers.h"

namespace hocket::cpu {
namespace {

/// What kernels::Element<type, op> does, behind pointers.
struct Arithmetic {
  using Word = std::uint64_t;
  Word (*before)(std::uint32_t world, Word word);
  Word (*fold)(Word a, Word b);
  Word (*after)(std::uint32_t world, Word word);
};

template <DataType type, ReduceOp op>
constexpr Arithmetic arithmetic() {
  using Element = kernels::Element<type, op>;
  using Word = Arithmetic::Word;
  return {
      .before = [](std::uint32_t world, Word word) { return Element({}, {}, world).before(word); },
      .fold = [](Word a, Word b) { return Element({}, {}, 1).fold(a, b); },
      .after = [](std::uint32_t world, Word word) { return Element({}, {}, world).after(word); },
  };
}

template <std::size_t... kRows>
constexpr auto table_of(std::index_sequence<kRows...>) {
  return std::array{arithmetic<static_cast<DataType>(kRows / kReduceOps),
                               static_cast<ReduceOp>(kRows % kReduceOps)>()...};
}

constexpr auto kTable = table_of(std::make_index_sequence<kDataTypes * kReduceOps>());

/// Any kernels::Element: type and op are asked while it runs, so that each kernel is compiled here
/// once, and not 35 times.
class AnyElement {
 public:
  static std::uint32_t size(DataType type) { return size_of(type); }

  AnyElement(DataType type, ReduceOp op, std::uint32_t world)
      : arithmetic_(
            kTable[static_cast<std::size_t>(type) * kReduceOps + static_cast<std::size_t>(op)]),
        world_(world) {}

  std::uint64_t before(std::uint64_t word) const { return arithmetic_.before(world_, word); }
  std::uint64_t fold(std::uint64_t a, std::uint64_t b) const { return arithmetic_.fold(a, b); }
  std::uint64_t after(std::uint64_t word) const { return arithmetic_.after(world_, word); }

 private:
  const Arithmetic& arithmetic_;
  const std::uint32_t world_;
};

template <class Element>
void run(Thread& thread, const kernels::Domain& domain, const world::Action& action) {
  switch (action.lowering) {
    case world::Lowering::packet:
      return kernels::PacketSwap<Element, Thread>(thread, domain, action).run();
    case world::Lowering::staged:
      return kernels::StagedSwap<Element, Thread>(thread, domain, action).run();
  }
}

}  // namespace

void run_twin(Thread& thread, const kernels::Domain& domain, const world::Action& action) {
  if (action.swap.combine == world::Combine::store)
    return run<kernels::Verbatim>(thread, domain, action);
  run<AnyElement>(thread, domain, action);
}

void run_twin(Thread& thread, const kernels::Domain& domain, const world::Transfers& transfers,
              std::uint32_t stripes) {
  using world::Transfers;
  if (!transfers.folds)
    return kernels::TransferStripe<kernels::Verbatim, Thread, Transfers>(thread, domain, transfers,
                                                                         stripes)
        .run();
  kernels::TransferStripe<AnyElement, Thread, Transfers>(thread, domain, transfers, stripes).run();
}

}  // namespace hocket::cpu
