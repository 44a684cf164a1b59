// SPDX-License-Identifier: Apache-2.0
#include "algo/send_recv/direct.h"

#include "algo/circle.h"

namespace hocket::algo::send_recv::direct {

Shape shape(const Topology&) { return {1, 1}; }

Exchange round(const At& at, std::uint32_t) {
  const Rank peer = at.request.root;
  const Range all{.count = 1};
  if (peer == at.me) return copy(at.me, all, Buffer::input, Buffer::output);
  Exchange x;
  if (at.request.sends) {
    x.to = peer;
    x.out = all;
    x.out.buffer = Buffer::input;
    x.staged = true;
  } else {
    x.from = peer;
    x.in = all;
  }
  return x;
}

}  // namespace hocket::algo::send_recv::direct
