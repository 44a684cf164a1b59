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

namespace {

constexpr const char* kNoMemory = "out of memory";

}  // namespace

/// One for all, which nobody changes; never ends, as errors may outlive it.
union Error::NoMemory {
  Detail detail;
  NoMemory() : detail{Code::out_of_memory, {}, {}, {}, {}, {}, std::nullopt} {}
  ~NoMemory() {}
};

const Error::NoMemory Error::no_memory_;

void Error::Deleter::operator()(Detail* detail) const {
  if (detail != &no_memory_.detail) std::default_delete<Detail>()(detail);
}

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

Error Error::no_memory() {
  Error error;
  error.detail_.reset(const_cast<Detail*>(&no_memory_.detail));
  return error;
}

Error&& Error::at_rank(Rank rank) && {
  if (literal() == nullptr) detail_->rank = rank;
  return std::move(*this);
}
Error&& Error::about_peer(Rank peer) && {
  if (literal() == nullptr) detail_->peer = peer;
  return std::move(*this);
}
Error&& Error::in_op(OpSeq op) && {
  if (literal() == nullptr) detail_->op = op;
  return std::move(*this);
}
Error&& Error::because(Error cause) && {
  if (literal() == nullptr) detail_->cause.emplace(std::move(cause));
  return std::move(*this);
}

const char* Error::literal() const {
  return detail_.get() == &no_memory_.detail ? kNoMemory : nullptr;
}

Code Error::code() const { return detail_->code; }
const std::string& Error::message() const { return detail_->message; }
std::optional<Rank> Error::rank() const { return detail_->rank; }
std::optional<Rank> Error::peer() const { return detail_->peer; }
std::optional<OpSeq> Error::op() const { return detail_->op; }
const Error* Error::cause() const { return detail_->cause ? &*detail_->cause : nullptr; }

std::string Error::text() const {
  if (literal() != nullptr) return literal();
  std::string line;
  if (detail_->rank) line += "rank " + std::to_string(detail_->rank->value) + ": ";
  if (detail_->op) line += "op " + std::to_string(detail_->op->value) + ": ";
  if (detail_->peer) line += "peer " + std::to_string(detail_->peer->value) + ": ";
  line += std::string(name_of(detail_->code)) + ": " + detail_->message;
  if (detail_->cause) line += " (caused by " + detail_->cause->text() + ")";
  return line;
}

Error Error::clone() const {
  if (literal() != nullptr) return no_memory();
  Error copy(detail_->code, detail_->message, detail_->where);
  copy.detail_->rank = detail_->rank;
  copy.detail_->peer = detail_->peer;
  copy.detail_->op = detail_->op;
  if (detail_->cause) copy.detail_->cause.emplace(detail_->cause->clone());
  return copy;
}

}  // namespace hocket
