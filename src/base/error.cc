// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <array>
#include <utility>

namespace hocket {

struct Error::Detail {
  Code code;
  std::string message;
  std::source_location where;
  std::optional<Rank> rank, peer;
  std::optional<OpSeq> op;
  std::optional<Error> cause;
};

void Error::Deleter::operator()(Detail* detail) const { std::default_delete<Detail>()(detail); }

const char* name_of(Code code) {
  constexpr std::array<const char*, kCodes> kNames = {
      "invalid argument", "invalid usage", "mismatch",    "timeout",
      "cancelled",        "aborted",       "peer lost",   "maybe delivered",
      "out of memory",    "unsupported",   "system error"};
  return kNames[static_cast<std::size_t>(code)];
}

Error::Error(Code code, std::string message, std::source_location where)
    : detail_(std::make_unique<Detail>(
                  Detail{code, std::move(message), where, {}, {}, {}, std::nullopt})
                  .release()) {}

Error&& Error::at_rank(Rank rank) && {
  detail_->rank = rank;
  return std::move(*this);
}
Error&& Error::about_peer(Rank peer) && {
  detail_->peer = peer;
  return std::move(*this);
}
Error&& Error::in_op(OpSeq op) && {
  detail_->op = op;
  return std::move(*this);
}
Error&& Error::because(Error cause) && {
  detail_->cause.emplace(std::move(cause));
  return std::move(*this);
}

Code Error::code() const { return detail_->code; }
const std::string& Error::message() const { return detail_->message; }
std::optional<Rank> Error::rank() const { return detail_->rank; }
std::optional<Rank> Error::peer() const { return detail_->peer; }
std::optional<OpSeq> Error::op() const { return detail_->op; }
const Error* Error::cause() const { return detail_->cause ? &*detail_->cause : nullptr; }

std::string Error::text() const {
  std::string line;
  if (detail_->rank) line += "rank " + std::to_string(detail_->rank->value) + ": ";
  if (detail_->op) line += "op " + std::to_string(detail_->op->value) + ": ";
  if (detail_->peer) line += "peer " + std::to_string(detail_->peer->value) + ": ";
  line += std::string(name_of(detail_->code)) + ": " + detail_->message;
  if (detail_->cause) line += " (caused by " + detail_->cause->text() + ")";
  return line;
}

Error Error::clone() const {
  Error copy(detail_->code, detail_->message, detail_->where);
  copy.detail_->rank = detail_->rank;
  copy.detail_->peer = detail_->peer;
  copy.detail_->op = detail_->op;
  if (detail_->cause) copy.detail_->cause.emplace(detail_->cause->clone());
  return copy;
}

}  // namespace hocket
