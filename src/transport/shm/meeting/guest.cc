// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/meeting/guest.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string>
#include <utility>

namespace hocket::transport::shm {
namespace {

constexpr Duration kFirstPause = microseconds(100), kLongestPause = milliseconds(10);

// Rank 0 ends a guest's wait at the guest's deadline; this is how long its word may be on the way.
constexpr Duration kGrace = milliseconds(250);

void pause_for(Duration pause) {
  const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(pause.ns)};
  ::ppoll(nullptr, 0, &time, nullptr);
}

struct Until {
  world::Clock& clock;
  Instant deadline;
};

// The next message, or Got::nothing when the deadline passes first.
template <class Message>
Socket::Got wait_for(const Socket& socket, Message& message, File* passed, const Until& until) {
  while (true) {
    const Socket::Got got = socket.receive(message, passed);
    if (got != Socket::Got::nothing || until.clock.now() >= until.deadline) return got;
    pollfd descriptor{socket.get(), POLLIN, 0};
    ::poll(&descriptor, 1, poll_timeout(until.clock, until.deadline));
  }
}

}  // namespace

Result<Place> Guest::run() {
  TRY(const Greeting greeting, find_host());
  TRY_VOID(say_hello(greeting));
  File file;
  TRY(const Answer welcome, hear(Answer::Kind::welcome, &file));
  if (!file || welcome.credits == 0 || welcome.credits > Segment::kMostCredits)
    return Error(Code::mismatch, "rank 0 offers a segment that cannot be used");
  const Shape shape = shape_of(join_, welcome.credits);
  TRY_VOID(Segment::check(file, shape));
  TRY(Place place, Place::take(node_, join_.rank, shape, std::move(file)));
  socket_.send(Mapped{});
  Result<Answer> go = hear(Answer::Kind::go);
  // Whatever was heard, what counts is on the board.
  if (!go && place.segment().give_up(join_.rank)) return std::move(go).error();
  return place;
}

Result<Greeting> Guest::find_host() {
  const std::string name = secret_.name();
  for (Duration pause = kFirstPause;; pause = std::min(Duration{pause.ns * 2}, kLongestPause)) {
    socket_ = connect_to(name);
    if (!socket_ && errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR)
      return system_error("looking for rank 0");
    if (socket_) {
      Greeting greeting;
      const Socket::Got got = wait_for(socket_, greeting, nullptr, {node_.clock(), join_.deadline});
      if (got == Socket::Got::message && greeting.magic == kMagic) return greeting;
      if (got == Socket::Got::message || got == Socket::Got::garbage)
        return Error(Code::mismatch, "rank 0 speaks another version of this protocol");
      if (got == Socket::Got::nothing) return missing("is there and does not answer");
    }
    if (node_.clock().now() >= join_.deadline)
      return missing("is missing: nobody waits under this id in this network namespace");
    pause_for(pause);
  }
}

Result<void> Guest::say_hello(const Greeting& greeting) {
  TRY_VOID(node_.random().fill({nonce_.data(), nonce_.size()}));
  const Duration patience =
      join_.deadline == kNever ? kForever : join_.deadline - node_.clock().now();
  Hello hello{.rank = join_.rank.value,
              .terms = terms_of(join_),
              .patience_ns = patience.ns,
              .nonce = nonce_};
  hello.proof = secret_.prove(proven_part(hello), greeting.nonce);
  socket_.send(hello);  // if this fails there will be no answer either
  return kOk;
}

Result<Answer> Guest::hear(Answer::Kind expected, File* passed) {
  Answer answer;
  const Socket::Got got =
      wait_for(socket_, answer, passed, {node_.clock(), join_.deadline + kGrace});
  if (got == Socket::Got::nothing) return missing("does not answer");
  if (got == Socket::Got::bare) {
    errno = EMFILE;
    return system_error("taking over the segment");
  }
  if (got == Socket::Got::end)
    return Error(
               Code::peer_lost,
               expected == Answer::Kind::go
                   ? "rank 0 went away while the ranks were meeting"
                   : "rank 0 went away, or had met all its ranks, before it gave a place to rank " +
                         std::to_string(join_.rank.value))
        .about_peer(Rank{0});
  if (got == Socket::Got::garbage || !secret_.verify(answer.proof, proven_part(answer), nonce_))
    return Error(Code::mismatch, "whoever waits under the name of this id does not know the id")
        .about_peer(Rank{0});
  if (answer.kind == expected) return answer;
  answer.text[Answer::kText - 1] = 0;
  Error refusal(answer.code < kCodes ? static_cast<Code>(answer.code) : Code::mismatch,
                answer.text);
  if (answer.peer < join_.world) return std::move(refusal).about_peer(Rank{answer.peer});
  return refusal;
}

Error Guest::missing(const std::string& why) const {
  return Error(Code::timeout, "rank 0 " + why).about_peer(Rank{0});
}

}  // namespace hocket::transport::shm
