// SPDX-License-Identifier: Apache-2.0
// Every other rank's side of a meeting (meeting.h). Threads: one. Ownership: borrows the node.
#pragma once
#include <string>

#include "base/result.h"
#include "transport/shm/meeting/meeting.h"
#include "transport/shm/meeting/messages.h"
#include "transport/shm/meeting/secret.h"
#include "transport/shm/meeting/socket.h"
#include "transport/shm/node.h"
#include "transport/shm/place.h"
#include "world/network.h"

namespace hocket::transport::shm {

class Guest {
 public:
  Guest(Node& node, const world::Join& join) : node_(node), join_(join), secret_(join.id) {}
  Result<Place> run();

 private:
  Result<Greeting> find_host();
  Result<void> say_hello(const Greeting& greeting);
  Result<Answer> hear(Answer::Kind expected, File* passed = nullptr);
  Error missing(const std::string& why) const;

  Node& node_;
  const world::Join& join_;
  const Secret secret_;
  Nonce nonce_{};
  Socket socket_;
};

}  // namespace hocket::transport::shm
