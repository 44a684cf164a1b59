// SPDX-License-Identifier: Apache-2.0
// Which sanitizer a test is built with, for what one cannot do under it. Included by tests only.
// Threads: constants.
#pragma once

namespace hocket::testing {

#if defined(__has_feature)  // clang; g++ has macros
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
inline constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
#endif

}  // namespace hocket::testing
