// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/network.h"

#include <string>
#include <utility>

#include "transport/shm/fabric.h"
#include "transport/shm/meeting/meeting.h"
#include "transport/shm/membership.h"
#include "transport/shm/peers.h"
#include "transport/shm/place.h"

namespace hocket::transport::shm {
namespace {

class Endpoint final : public world::Endpoint {
 public:
  Endpoint(Node& node, Place place, std::shared_ptr<const Topology> topology)
      : place_(std::move(place)),
        peers_(place_.segment(), {place_.rank(), place_.identity(), place_.descriptor()}, node),
        fabric_(peers_),
        membership_(peers_, fabric_),
        topology_(std::move(topology)) {}
  ~Endpoint() override {
    if (place_.is_own()) fabric_.close();
  }

  world::Fabric& fabric() override { return fabric_; }
  world::Membership& membership() override { return membership_; }
  std::shared_ptr<const Topology> topology() override { return topology_; }

 private:
  Place place_;
  Peers peers_;
  Fabric fabric_;
  Membership membership_;
  std::shared_ptr<const Topology> topology_;
};

Error invalid(const std::string& what) { return Error(Code::invalid_argument, "join: " + what); }

Result<void> check(const world::Join& join) {
  if (join.world == 0 || join.world > Network::kMostRanks)
    return invalid("a world of " + std::to_string(join.world) + " ranks, where 1 to " +
                   std::to_string(Network::kMostRanks) + " fit a machine");
  if (join.rank.value >= join.world)
    return invalid("rank " + std::to_string(join.rank.value) + " in a world of " +
                   std::to_string(join.world));
  if (join.channels == 0 || join.channels > Segment::kMostChannels)
    return invalid(std::to_string(join.channels) + " channels, where 1 to " +
                   std::to_string(Segment::kMostChannels) + " are possible");
  if (join.slice_bytes > Segment::kMostSliceBytes)
    return invalid("slices of " + std::to_string(join.slice_bytes) + " bytes, where " +
                   std::to_string(Segment::kMostSliceBytes) + " are possible");
  return kOk;
}

Result<Topology> topology_of(const world::Join& join) {
  const std::uint32_t each = join.ranks_per_node == 0 ? join.world : join.ranks_per_node;
  std::vector<NodeRun> runs;
  if (join.world >= each) runs.push_back({join.world / each, each});
  if (join.world % each != 0) runs.push_back({1, join.world % each});
  return Topology::make(std::move(runs));
}

// Two nodes in one process would take each other's locks away: see node.h.
Result<void> check_nodes(Place& place) {
  const Identity& own = place.identity();
  for (std::uint32_t r = 0; r < place.segment().shape().world; ++r) {
    const Identity& other = place.segment().row(Rank{r}).identity;
    const bool is_here = other.pid == own.pid && other.pid_namespace == own.pid_namespace;
    if (is_here && other.cookie != own.cookie)
      return Error(Code::invalid_usage,
                   "join: rank " + std::to_string(r) + " is in this process but under another Node")
          .about_peer(Rank{r});
  }
  return kOk;
}

Result<std::unique_ptr<world::Endpoint>> join_checked(Node& node, const world::Join& join) {
  TRY_VOID(check(join));
  TRY(Topology topology, topology_of(join));
  TRY(Place place, meet(node, join));
  TRY_VOID(check_nodes(place));
  return std::unique_ptr<world::Endpoint>(std::make_unique<Endpoint>(
      node, std::move(place), std::make_shared<const Topology>(std::move(topology))));
}

}  // namespace

Result<std::unique_ptr<world::Endpoint>> Network::join(const world::Join& join) {
  auto endpoint = join_checked(node_, join);
  if (!endpoint) return std::move(endpoint).error().at_rank(join.rank);
  return endpoint;
}

}  // namespace hocket::transport::shm
