// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/twin.h"

#include "device/kernels/packet.h"
#include "device/kernels/staged.h"

namespace hocket::cpu {
namespace {

struct Call {
  Thread& thread;
  const kernels::Domain& domain;
  const world::Action& action;

  template <class Element>
  void run() const {
    switch (action.lowering) {
      case world::Lowering::packet:
        return kernels::PacketSwap<Element, Thread>(thread, domain, action).run();
      case world::Lowering::staged:
        return kernels::StagedSwap<Element, Thread>(thread, domain, action).run();
    }
  }
  template <DataType type>
  void run_type() const {
    switch (action.swap.op) {
      case ReduceOp::sum:
        return run<kernels::Element<type, ReduceOp::sum>>();
      case ReduceOp::prod:
        return run<kernels::Element<type, ReduceOp::prod>>();
      case ReduceOp::min:
        return run<kernels::Element<type, ReduceOp::min>>();
      case ReduceOp::max:
        return run<kernels::Element<type, ReduceOp::max>>();
      case ReduceOp::avg:
        return run<kernels::Element<type, ReduceOp::avg>>();
    }
  }
};

}  // namespace

void run_twin(Thread& thread, const kernels::Domain& domain, const world::Action& action) {
  const Call call{thread, domain, action};
  if (action.swap.combine == world::Combine::store) return call.run<kernels::Verbatim>();
  switch (action.swap.type) {
    case DataType::float32:
      return call.run_type<DataType::float32>();
    case DataType::float64:
      return call.run_type<DataType::float64>();
    case DataType::bfloat16:
      return call.run_type<DataType::bfloat16>();
    case DataType::float16:
      return call.run_type<DataType::float16>();
    case DataType::int32:
      return call.run_type<DataType::int32>();
    case DataType::int64:
      return call.run_type<DataType::int64>();
    case DataType::uint8:
      return call.run_type<DataType::uint8>();
  }
}

}  // namespace hocket::cpu
