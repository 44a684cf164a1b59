// SPDX-License-Identifier: Apache-2.0
// Strong integer types for the things that are counted and numbered, so that a rank is never
// passed where a node or a channel is meant. An id is a value without arithmetic: algorithms
// compute with plain indices and name the result once. Threads: values. Cost: the integer's.
#pragma once
#include <compare>
#include <cstdint>

namespace hocket {

template <class Tag, class Integer>
struct Id {
  Integer value = 0;
  constexpr Id() = default;
  constexpr explicit Id(Integer v) : value(v) {}
  constexpr auto operator<=>(const Id&) const = default;
};

using Rank = Id<struct RankTag, std::uint32_t>;          ///< 0-based, within one communicator
using NodeId = Id<struct NodeTag, std::uint32_t>;        ///< 0-based, within one topology
using RailId = Id<struct RailTag, std::uint32_t>;        ///< the k-th NIC of every node
using ChannelId = Id<struct ChannelTag, std::uint16_t>;  ///< independent pipeline of a plan
using OpSeq = Id<struct OpTag, std::uint64_t>;           ///< number of an op, from 1; 0: before any
using Epoch = Id<struct EpochTag, std::uint32_t>;        ///< generation of a membership

inline constexpr Rank kNobody{~std::uint32_t{0}};

}  // namespace hocket
