// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/meeting/secret.h"

#include <sodium.h>

#include <string_view>

namespace hocket::transport::shm {
namespace {

const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

}  // namespace

Secret::Secret(const world::UniqueId& id) {
  crypto_generichash(raw(key_.data()), key_.size(), raw(id.data()), id.size(), nullptr, 0);
}

std::string Secret::name() const {
  constexpr std::string_view kPurpose = "where the ranks of a machine meet";
  constexpr std::string_view kDigits = "0123456789abcdef";
  unsigned char hash[16];
  crypto_generichash(hash, sizeof hash, reinterpret_cast<const unsigned char*>(kPurpose.data()),
                     kPurpose.size(), raw(key_.data()), key_.size());
  std::string name = "hocket-";
  for (const unsigned char byte : hash) {
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

Proof Secret::prove(ConstBytes message, const Nonce& nonce) const {
  Proof proof;
  crypto_generichash_state state;
  crypto_generichash_init(&state, raw(key_.data()), key_.size(), proof.size());
  crypto_generichash_update(&state, raw(nonce.data()), nonce.size());
  crypto_generichash_update(&state, raw(message.data), message.size);
  crypto_generichash_final(&state, raw(proof.data()), proof.size());
  return proof;
}

bool Secret::verify(const Proof& proof, ConstBytes message, const Nonce& nonce) const {
  const Proof expected = prove(message, nonce);
  return sodium_memcmp(expected.data(), proof.data(), proof.size()) == 0;
}

}  // namespace hocket::transport::shm
