// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

namespace hocket {

Plan make_plan(const Algorithm& algorithm, const Topology& topology, const Request& request) {
  Plan plan;
  plan.algorithm = &algorithm;
  plan.topology = &topology;
  plan.request = request;
  plan.shape = algorithm.shape(topology);
  return plan;
}

}  // namespace hocket
