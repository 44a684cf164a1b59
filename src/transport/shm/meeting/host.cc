// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/meeting/host.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace hocket::transport::shm {
namespace {

constexpr int kBacklog = 512;
constexpr std::size_t kMostStrangers = 64;  // connections that have not said hello
constexpr std::size_t kMostNamed = 16;

std::string text_of(const Terms& terms) {
  return "a world of " + std::to_string(terms.world) + " ranks, nodes of " +
         std::to_string(terms.ranks_per_node) + ", " + std::to_string(terms.channels) +
         " channels (one for send / recv), slices of " + std::to_string(terms.slice_bytes) +
         " bytes and other options of hash " + std::to_string(terms.agreement);
}

std::string list_of(const std::vector<std::uint32_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostNamed); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
  if (ranks.size() > kMostNamed)
    text += " and " + std::to_string(ranks.size() - kMostNamed) + " more";
  return text;
}

}  // namespace

Host::Host(Node& node, const world::Join& join)
    : node_(node), join_(join), secret_(join.id), gave_up_(join.world) {}

Result<Place> Host::run() {
  Result<Place> place = gather();
  if (place) return place;
  // What is about no peer happened here: to the guests it is about rank 0.
  const Error told = place.error().clone().about_peer(place.error().peer().value_or(join_.rank));
  for (Guest& guest : guests_)
    if (guest.stage == Stage::seated || guest.stage == Stage::mapped) refuse(guest, told);
  return place;
}

Result<Place> Host::gather() {
  if (join_.world > 1) {
    listener_ = listen_at(secret_.name(), kBacklog);
    if (!listener_ && errno == EADDRINUSE)
      return Error(Code::invalid_argument, "another rank 0 is meeting under this id already");
    if (!listener_) return system_error("listening for the other ranks");
  }
  TRY_VOID(serve(Stage::seated));
  is_open_ = false;
  const Shape shape = shape_of(join_, node_.options().credits);
  TRY(File file, Segment::create(shape));
  TRY(Place place, Place::take(node_, join_.rank, shape, std::move(file)));
  for (Guest& guest : guests_) {
    if (guest.stage != Stage::seated) continue;
    const Answer welcome{.kind = Answer::Kind::welcome, .credits = shape.credits};
    if (!answer(guest, welcome, place.descriptor())) deserter_ = guest.rank;
  }
  TRY_VOID(serve(Stage::mapped));
  if (const std::optional<Rank> who = place.segment().conclude()) return gone(*who);
  // Who goes away now has joined: the others learn of its end from the board.
  for (Guest& guest : guests_) {
    if (guest.stage == Stage::mapped) answer(guest, {.kind = Answer::Kind::go});
    if (guest.stage == Stage::greeted) hear(guest);  // to tell it that its seat is taken
  }
  return place;
}

Result<void> Host::serve(Stage stage) {
  while (count(stage) + 1 < join_.world) {
    if (deserter_) return gone(*deserter_);
    const Instant now = node_.clock().now();
    if (now >= join_.deadline) return missing(stage);
    Instant until = join_.deadline;
    if (is_open_) {
      dismiss_impatient(now);
      for (const Guest& guest : guests_) until = std::min(until, guest.patience);
    }
    poll_once(until);
    TRY_VOID(accept_all());
    for (Guest& guest : guests_)
      if (guest.has_spoken) hear(guest);
    guests_.remove_if([](const Guest& guest) { return guest.stage == Stage::over; });
  }
  return kOk;
}

void Host::poll_once(Instant until) {
  std::vector<pollfd> descriptors{{listener_.get(), POLLIN, 0}};
  for (const Guest& guest : guests_) descriptors.push_back({guest.socket.get(), POLLIN, 0});
  const int ready =
      ::poll(descriptors.data(), descriptors.size(), poll_timeout(node_.clock(), until));
  auto descriptor = descriptors.begin();
  for (Guest& guest : guests_) guest.has_spoken = ready > 0 && (++descriptor)->revents != 0;
}

Result<void> Host::accept_all() {
  while (Socket socket = accept_from(listener_)) {
    Guest guest{.socket = std::move(socket)};
    guest.pid = guest.socket.peer_pid();
    Greeting greeting;
    TRY_VOID(node_.random().fill({greeting.nonce.data(), greeting.nonce.size()}));
    guest.nonce = greeting.nonce;
    if (guest.socket.send(greeting)) guests_.push_back(std::move(guest));
    if (count(Stage::greeted) <= kMostStrangers) continue;
    std::erase_if(guests_, [found = false](const Guest& g) mutable {
      return g.stage == Stage::greeted && !std::exchange(found, true);
    });
  }
  if (errno == EMFILE || errno == ENFILE) return system_error("accepting another rank");
  return kOk;
}

void Host::hear(Guest& guest) {
  if (guest.stage == Stage::greeted) {
    Hello hello;
    const Socket::Got got = guest.socket.receive(hello);
    if (got == Socket::Got::nothing) return;
    if (got == Socket::Got::message) return admit(guest, hello);
    guest.stage = Stage::over;
    return;
  }
  Mapped mapped;
  const Socket::Got got = guest.socket.receive(mapped);
  if (got == Socket::Got::nothing) return;
  if (got == Socket::Got::message && guest.stage == Stage::seated && !is_open_) {
    guest.stage = Stage::mapped;
    return;
  }
  if (!is_open_) deserter_ = guest.rank;
  guest.stage = Stage::over;
}

void Host::admit(Guest& guest, const Hello& hello) {
  guest.theirs = hello.nonce;
  if (!secret_.verify(hello.proof, proven_part(hello), guest.nonce) || hello.magic != kMagic)
    return refuse(guest, Error(Code::mismatch, "the id is not this communicator's"));
  if (const std::optional<Error> why = objection(hello, guest.pid)) {
    turned_away_ = why->message();
    return refuse(guest, *why);
  }
  guest.rank = Rank{hello.rank};
  guest.patience = node_.clock().now() + nanoseconds(hello.patience_ns);
  guest.stage = Stage::seated;
  gave_up_[hello.rank] = false;
}

std::optional<Error> Host::objection(const Hello& hello, pid_t pid) const {
  const std::string rank = "rank " + std::to_string(hello.rank);
  if (const Terms own = terms_of(join_); hello.terms != own)
    return Error(Code::invalid_argument, "the ranks disagree: " + rank + " expects " +
                                             text_of(hello.terms) + ", rank 0 expects " +
                                             text_of(own));
  if (hello.rank == 0 || hello.rank >= join_.world)
    return Error(Code::invalid_argument,
                 "there is no seat for " + rank + " in a world of " + std::to_string(join_.world));
  for (const Guest& other : guests_) {
    if (other.rank.value != hello.rank || other.stage == Stage::over) continue;
    return Error(Code::invalid_argument, rank + " is here already (pid " +
                                             std::to_string(other.pid) + "); pid " +
                                             std::to_string(pid) + " claims to be it too")
        .about_peer(Rank{hello.rank});
  }
  return std::nullopt;
}

void Host::refuse(Guest& guest, const Error& why) {
  Answer refusal{.kind = Answer::Kind::refusal, .code = static_cast<std::uint32_t>(why.code())};
  refusal.peer = why.peer().value_or(kNobody).value;
  const std::size_t size = std::min(why.message().size(), Answer::kText - 1);
  std::memcpy(refusal.text, why.message().data(), size);
  answer(guest, refusal);
  guest.stage = Stage::over;
}

bool Host::answer(const Guest& guest, Answer answer, int descriptor) {
  answer.proof = secret_.prove(proven_part(answer), guest.theirs);
  return guest.socket.send(answer, descriptor);
}

void Host::dismiss_impatient(Instant now) {
  for (Guest& guest : guests_) {
    if (guest.stage != Stage::seated || guest.patience > now) continue;
    refuse(guest, missing(Stage::seated));
    gave_up_[guest.rank.value] = true;
  }
  guests_.remove_if([](const Guest& guest) { return guest.stage == Stage::over; });
}

std::uint32_t Host::count(Stage stage) const {
  const auto is_at = [stage](const Guest& guest) { return guest.stage == stage; };
  return static_cast<std::uint32_t>(std::count_if(guests_.begin(), guests_.end(), is_at));
}

Error Host::gone(Rank who) {
  return Error(Code::peer_lost,
               "rank " + std::to_string(who.value) + " went away while the ranks were meeting")
      .about_peer(who);
}

Error Host::missing(Stage stage) const {
  std::vector<bool> is_here(join_.world);
  is_here[0] = true;
  for (const Guest& guest : guests_)
    if (guest.rank != kNobody && guest.stage >= stage && guest.stage != Stage::over)
      is_here[guest.rank.value] = true;
  std::vector<std::uint32_t> absent, impatient;
  for (std::uint32_t r = 0; r < join_.world; ++r)
    if (!is_here[r]) (gave_up_[r] ? impatient : absent).push_back(r);
  std::string text = std::to_string(absent.size()) + " of " + std::to_string(join_.world) +
                     " ranks are missing at the deadline";
  if (!absent.empty()) text += ": " + list_of(absent);
  if (!impatient.empty()) text += "; came and gave up before: " + list_of(impatient);
  if (!turned_away_.empty()) text += "; turned away: " + turned_away_;
  const std::uint32_t first = absent.empty() ? impatient.front() : absent.front();
  return Error(Code::timeout, std::move(text)).about_peer(Rank{first});
}

}  // namespace hocket::transport::shm
