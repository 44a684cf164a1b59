// SPDX-License-Identifier: Apache-2.0
// All_reduce in two levels, which send over the slow links between nodes only what they must: each
// node reduces to its ranks (Intra), ranks of one seat reduce and gather across nodes, each over
// its own rail (Inter), each node gathers (Intra). Any two families of phases compose.
//
// Cost, g ranks on each of h nodes, m bytes:
//   T = Intra(g, m) + Inter(h, m/g), where Ring(n, m) = 2(n-1) alpha + 2(n-1)/n m beta,
//   HalvingDoubling = 2 ceil(log2 n) alpha + the same bytes, Direct = 2 alpha + the same bytes.
// Wins: several nodes with a NIC for each rank; direct inside, halving_doubling outside is the
// usual best. Equal nodes only, more than one and of more than one rank.
#pragma once
#include <cstdint>

#include "algo/circle.h"

namespace hocket::algo::all_reduce {

template <class Intra, class Inter>
struct TwoLevel {
  static Shape shape(const Topology& t) {
    return {t.world(), intra_rounds(t) + Intra::gather_rounds(t.ranks_per_node()) +
                           Inter::reduce_rounds(t.nodes(), kSums) +
                           Inter::gather_rounds(t.nodes())};
  }

  static Exchange round(const At& at, std::uint32_t k) {
    const std::uint32_t ranks = at.topology.ranks_per_node(), nodes = at.topology.nodes();
    const std::uint32_t index = at.me.value % ranks, node = at.me.value / ranks;
    const Circle inside{ranks, index, node * ranks, 1, 0, nodes};
    const Circle across{nodes, node, index, ranks, index * nodes, 1};
    Phases p{k};
    Exchange x = p.take(intra_rounds(at.topology))            ? Intra::reduce(inside, p.k, Sums{})
                 : p.take(Inter::reduce_rounds(nodes, kSums)) ? Inter::reduce(across, p.k, kSums)
                 : p.take(Inter::gather_rounds(nodes))        ? Inter::gather(across, p.k)
                 : p.take(Intra::gather_rounds(ranks))        ? Intra::gather(inside, p.k)
                                                              : Exchange{};
    p.place(x);
    return x;
  }

 private:
  /// Across nodes, the sums of the node are what a rank has to give.
  static constexpr Sums kSums{Buffer::output, Buffer::output, Buffer::output};
  static std::uint32_t intra_rounds(const Topology& t) {
    return Intra::reduce_rounds(t.ranks_per_node(), Sums{});
  }
};

inline bool fits_two_level(const Topology& t) {
  return t.uniform() && t.nodes() > 1 && t.ranks_per_node() > 1;
}

}  // namespace hocket::algo::all_reduce
