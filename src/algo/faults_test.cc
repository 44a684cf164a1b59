// SPDX-License-Identifier: Apache-2.0
// Faults planted in real algorithms, of every kind that an author might make. The prover has to
// catch each, naming rank and round; the rows here say what exactly it says.
#include <gtest/gtest.h>

#include <string>

#include "algo/table.h"
#include "plan/prove.h"

namespace hocket::algo {
namespace {

Exchange round_of(Collective collective, const char* name, const At& at, std::uint32_t k) {
  return find(collective, name)->round(at, k);
}
Exchange all_reduce_of(const char* name, const At& at, std::uint32_t k) {
  return round_of(Collective::all_reduce, name, at, k);
}

// Dependencies.
Exchange sends_too_early(const At& at, std::uint32_t k) {
  Exchange x = all_reduce_of("ring", at, k);
  if (x.after > 0) --x.after;
  return x;
}
Exchange gathers_before_the_last_add(const At& at, std::uint32_t k) {
  Exchange x = all_reduce_of("direct", at, k);
  if (x.after > 0) --x.after;
  return x;
}
Exchange forgets_the_levels_below(const At& at, std::uint32_t k) {
  Exchange x = all_reduce_of("two_level(direct,halving_doubling)", at, k);
  if (x.out.buffer == Buffer::output) x.after = x.after > 3 ? x.after - 3 : 0;
  return x;
}
Exchange receives_before_it_sends(const At& at, std::uint32_t k) {  // a ring of half exchanges
  Exchange x = all_reduce_of("ring", at, k / 2);
  if (k % 2 == 0) {
    x.to = kNobody;
  } else {
    x.from = kNobody;
    x.fold = Fold::none;
    x.after = k;
  }
  return x;
}

// Where things go.
Exchange lands_where_it_came_from(const At& at, std::uint32_t k) {
  Exchange x = round_of(Collective::alltoall, "direct", at, k);
  x.lands = x.out.first;
  return x;
}
Exchange lands_instead_of_being_folded(const At& at, std::uint32_t k) {
  Exchange x = all_reduce_of("halving_doubling", at, k);
  if (k == 1) x.staged = false;
  return x;
}
Exchange lands_while_the_target_adds(const At& at, std::uint32_t k) {
  Exchange x = lands_instead_of_being_folded(at, k);
  if (k == 1) x.fold = Fold::none;
  return x;
}
Exchange one_rank_sends_elsewhere(const At& at, std::uint32_t k) {
  Exchange x = all_reduce_of("direct", at, k);
  if (at.me == Rank{7} && k == 3) x.to = Rank{0};
  return x;
}
Exchange starts_at_the_wrong_root(const At& at, std::uint32_t k) {
  Request request = at.request;
  request.root = Rank{0};
  return round_of(Collective::broadcast, "chain", {at.topology, request, at.me, at.channel}, k);
}

// Messages.
Exchange one_message_is_missing(const At& at, std::uint32_t k) {
  Exchange x = all_reduce_of("ring", at, k);
  if (at.me == Rank{5} && k == 4) x.to = kNobody;
  return x;
}
Exchange the_root_forgets_one(const At& at, std::uint32_t k) {
  Exchange x = round_of(Collective::broadcast, "direct", at, k);
  if (k == 5) x.to = kNobody;
  return x;
}
Exchange one_message_too_many(const At& at, std::uint32_t k) {
  Exchange x = round_of(Collective::broadcast, "chain", at, k);
  if (at.me == Rank{2} && k == 1) {  // the end of the chain
    x.to = Rank{3};
    x.out = {.count = 1};
    x.after = 1;
  }
  return x;
}
Exchange two_messages_are_swapped(const At& at, std::uint32_t k) {
  if (at.me == Rank{4} && (k == 2 || k == 3)) {
    Exchange x = all_reduce_of("ring", at, k);
    x.out = all_reduce_of("ring", at, 5 - k).out;
    return x;
  }
  return all_reduce_of("ring", at, k);
}
Exchange one_block_more_than_expected(const At& at, std::uint32_t k) {
  Exchange x = round_of(Collective::all_gather, "halving_doubling", at, k);
  if (at.me == Rank{6} && k == 3) ++x.out.count;
  return x;
}

// Sums.
Exchange adds_to_the_wrong_operand(const At& at, std::uint32_t k) {
  Exchange x = all_reduce_of("halving_doubling", at, k);
  if (x.fold == Fold::output) x.fold = Fold::input;
  return x;
}
Exchange sends_a_sum_in_place_of_its_input(const At& at, std::uint32_t k) {
  Exchange x = all_reduce_of("ring", at, k);
  if (x.fold == Fold::input && k > 0) x.fold = Fold::output;
  return x;
}
Exchange adds_one_block_twice(const At& at, std::uint32_t k) {  // rank 3 hears rank 2 twice
  Exchange x = all_reduce_of("one_shot", at, k);
  if (at.me == Rank{3} && k == 2) x.from = Rank{0};
  if (at.me == Rank{0} && k == 2) x.to = Rank{3};
  return x;
}
Exchange forgets_its_own(const At& at, std::uint32_t k) {
  Exchange x = round_of(Collective::reduce, "chain", at, k);
  if (at.me == Rank{9}) x.fold = Fold::none;
  return x;
}
Exchange adds_as_neighbours_come(const At& at, std::uint32_t k) {  // one_shot in another order
  const std::uint32_t world = at.topology.world(), me = at.me.value;
  Exchange x;
  x.to = Rank{(me + k + 1) % world};
  x.from = Rank{(me + world - k - 1) % world};
  x.out = {.count = 1, .buffer = Buffer::input};
  x.in = {.count = 1};
  x.staged = true;
  x.fold = k == 0 ? Fold::input : Fold::output;
  return x;
}

// Memory.
Exchange reads_scratch_of_the_piece_before(const At& at, std::uint32_t k) {
  Exchange x = round_of(Collective::reduce_scatter, "ring", at, k);
  x.out.buffer = Buffer::scratch;
  return x;
}
Exchange keeps_partial_sums_in_the_output(const At& at, std::uint32_t k) {
  Exchange x = round_of(Collective::reduce_scatter, "halving_doubling", at, k);
  if (x.in.buffer == Buffer::scratch) x.in.buffer = Buffer::output;
  return x;
}
Exchange does_not_save_its_input(const At& at, std::uint32_t k) {
  Request request = at.request;
  request.in_place = false;
  return all_reduce_of("one_shot", {at.topology, request, at.me, at.channel}, k);
}
Exchange takes_it_for_another_block(const At& at, std::uint32_t k) {
  Exchange x = all_reduce_of("ring", at, k);
  if (k == 3 && at.me == Rank{2}) x.in.first = (x.in.first + 1) % 12;
  return x;
}

struct Planted {
  const char* what;
  Collective collective;
  const char* name;
  void (*change)(Algorithm&);
  const char* caught;
  bool in_place = false;
};

template <Exchange (*Round)(const At&, std::uint32_t)>
void rounds(Algorithm& algorithm) {
  algorithm.round = Round;
  algorithm.pattern = Pattern::none;
}

Shape twice_the_rounds(const Topology& t) { return {t.world(), 4 * (t.world() - 1)}; }
Shape one_round_less(const Topology&) { return {1, 3}; }
Shape signals_less_one(const Topology& t) { return {1, t.world() - 2}; }
Shape shape_without_saving(const Topology& t) { return {1, t.world() - 1}; }

constexpr auto kReduce = Collective::all_reduce;

const Planted kPlanted[] = {
    {"dependency", kReduce, "ring", rounds<sends_too_early>,
     "rank 11 round 1: sends block 9, which it does not have"},
    {"dependency between phases", kReduce, "direct", rounds<gathers_before_the_last_add>,
     "rank 9 round 11: sends block 9 before it is sure to be complete"},
    {"dependency between levels", kReduce, "two_level(direct,halving_doubling)",
     rounds<forgets_the_levels_below>,
     "rank 6 round 3: sends block 6 before it is sure to be complete"},
    {"deadlock", kReduce, "ring",
     [](Algorithm& a) {
       rounds<receives_before_it_sends>(a);
       a.shape = twice_the_rounds;
     },
     "rank 0 round 0: waits for rank 11, which does not send"},
    {"landing", Collective::alltoall, "direct", rounds<lands_where_it_came_from>,
     "rank 1 round 1: the two ends disagree on the landing: rank 0 sends it in round 1"},
    {"staging", kReduce, "halving_doubling", rounds<lands_instead_of_being_folded>,
     "rank 3 round 1: the receiver folds what lands: rank 0 sends it in round 1"},
    {"race", kReduce, "halving_doubling", rounds<lands_while_the_target_adds>,
     "rank 0 round 1: lands in block 3 of rank 3, which may be in use"},
    {"peer", kReduce, "direct", rounds<one_rank_sends_elsewhere>,
     "rank 0 round 4: the two ends name different blocks: rank 7 sends it in round 3"},
    {"root", Collective::broadcast, "chain", rounds<starts_at_the_wrong_root>,
     "rank 0 round 0: sends blocks that its buffer does not hold"},
    {"message missing", kReduce, "ring", rounds<one_message_is_missing>,
     "rank 6 round 4: the two ends name different blocks: rank 5 sends it in round 5"},
    {"message of the root missing", Collective::broadcast, "direct", rounds<the_root_forgets_one>,
     "rank 8 round 5: waits for rank 3, which does not send"},
    {"message too many", Collective::broadcast, "chain", rounds<one_message_too_many>,
     "rank 2 round 1: sends to rank 3, which does not take it"},
    {"messages swapped", kReduce, "ring", rounds<two_messages_are_swapped>,
     "rank 5 round 2: the two ends name different blocks: rank 4 sends it in round 2"},
    {"size", Collective::all_gather, "halving_doubling", rounds<one_block_more_than_expected>,
     "rank 3 round 3: the two ends disagree on the number of blocks: rank 6 sends it in round 3"},
    {"rounds", Collective::barrier, "halving_doubling",
     [](Algorithm& a) { a.shape = one_round_less; },
     "rank 0 round 2: leaves before rank 1 has entered"},
    {"rounds, of signals", Collective::barrier, "direct",
     [](Algorithm& a) {
       a.shape = signals_less_one;
       a.pattern = Pattern::none;
     },
     "rank 0 round 9: leaves before rank 1 has entered"},
    {"operand", kReduce, "halving_doubling", rounds<adds_to_the_wrong_operand>,
     "rank 0 round 3: leaves a wrong result in block 0"},
    {"operand never stored", kReduce, "ring", rounds<sends_a_sum_in_place_of_its_input>,
     "rank 1 round 1: adds to what it does not have: block 10"},
    {"peer of a sum", kReduce, "one_shot", rounds<adds_one_block_twice>,
     "rank 3 round 2: adds an operand twice: block 0"},
    {"operand forgotten", Collective::reduce, "chain", rounds<forgets_its_own>,
     "rank 3 round 0: leaves a wrong result in block 0"},
    {"order of adds", kReduce, "one_shot",
     [](Algorithm& a) {
       rounds<adds_as_neighbours_come>(a);
       a.shape = shape_without_saving;
       a.fold_order = FoldOrder::rounds;
     },
     "rank 1 round 10: adds block 0 in another order than rank 0"},
    {"stale scratch", Collective::reduce_scatter, "ring", rounds<reads_scratch_of_the_piece_before>,
     "rank 11 round 0: sends block 10, which it does not have"},
    {"output too short", Collective::reduce_scatter, "halving_doubling",
     rounds<keeps_partial_sums_in_the_output>,
     "rank 0 round 0: receives blocks that its buffer does not hold"},
    {"in place", kReduce, "one_shot", rounds<does_not_save_its_input>,
     "rank 1 round 2: adds an operand twice: block 0", true},
    {"block", kReduce, "ring", rounds<takes_it_for_another_block>,
     "rank 2 round 3: the two ends name different blocks: rank 1 sends it in round 3"},
    {"claim of in_place", Collective::alltoall, "direct", [](Algorithm& a) { a.in_place = true; },
     "rank 11 round 1: sends block 0 before it is sure to be complete", true},
    {"claim of scratch", Collective::reduce, "chain", [](Algorithm& a) { a.scratch = false; },
     "rank 0 round 0: uses scratch that the row does not claim"},
    {"claim of fold_order", kReduce, "ring", [](Algorithm& a) { a.fold_order = FoldOrder::ranks; },
     "rank 0 round 0: adds out of rank order: block 10"},
    {"claim of fold_order at a root", Collective::reduce, "direct",
     [](Algorithm& a) {
       a.fold_order = FoldOrder::ranks;
       a.pattern = Pattern::none;
     },
     "rank 3 round 0: adds out of rank order: block 0"},
    {"claim of depth", Collective::broadcast, "chain",
     [](Algorithm& a) { a.depth = [](const Topology&) { return 1u; }; },
     "rank 0 round 0: has a depth of 11"},
    {"claim of pattern", kReduce, "ring",
     [](Algorithm& a) { a.pattern = Pattern::push_reduce_push; },
     "rank 0 round 0: is not as in push_reduce_push"},
    {"claim of rounds", Collective::broadcast, "chain",
     [](Algorithm& a) { a.shape = one_round_less; },
     "rank 4 round 0: takes a message of another piece"},
};

// 3 nodes of 4 ranks, root 3.
TEST(Prover, CatchesPlantedFaults) {
  const Topology topology(3, 4);
  Prover prover;
  for (const Planted& planted : kPlanted) {
    Algorithm algorithm = *find(planted.collective, planted.name);
    Request request{.collective = planted.collective, .in_place = planted.in_place};
    if (planted.collective == Collective::broadcast || planted.collective == Collective::reduce)
      request.root = Rank{3};
    const Result<Proof> right = prover.prove(make_plan(algorithm, topology, request));
    EXPECT_EQ(right.has_value(), algorithm.in_place || !request.in_place) << planted.what;

    planted.change(algorithm);
    Plan plan = make_plan(algorithm, topology, request);
    if (planted.collective != Collective::barrier) plan.pieces = 2;
    const Result<Proof> proof = prover.prove(plan);
    ASSERT_FALSE(proof) << planted.what;
    const std::string caught = proof.error().message();
    EXPECT_EQ(caught.substr(caught.find(": ") + 2), planted.caught) << planted.what;
  }
}

}  // namespace
}  // namespace hocket::algo
