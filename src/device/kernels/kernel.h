// SPDX-License-Identifier: Apache-2.0
// A kernel here is a function template over a Thread: what one thread of the device does, and all
// it may touch. The CUDA compiler makes device code of it (device/cuda), the host's compiler its
// twin, which device/cpu runs in random interleavings. So there is one text for both; what differs
// is how a Thread reads, writes and waits.
//
//   block(), blocks(), thread(), threads()        as CUDA numbers them
//   sync()                                        all threads of the block get here; orders memory
//   sync(good)                                    the same; whether all of them are good
//   load_word(from), store_word(to, word)         the user's: 8 bytes, aligned
//   load_vector(from), store_vector(to, vector)   16 bytes, aligned: the user's or of staging
//   load(from, bytes), store(to, word, bytes)     the user's: 0 to 8 bytes, any alignment
//   load_packet(from), store_packet(to, packet)   16 bytes at once, relaxed, visible to all ranks
//   load_flag(from), store_flag(to, flag)         8 bytes, acquire and release for all ranks
//   load_lap(from), store_lap(to, lap)            this rank's own
//   patient(spins, domain, from, lap)             false: stopped or late, and has reported so; or
//                                                 another thread of this rank has reported
//   seldom(spins)                                 whether to look for what should not be there
//   report(domain, report)                        why this rank gives up; the first one stays
//
// The twin may be suspended in any of these.
#pragma once

#ifdef __CUDACC__
#define HOCKET_DEVICE __device__
#define HOCKET_UNROLL _Pragma("unroll")  // a tile's loop: what is indexed by it stays in registers
#else
#define HOCKET_DEVICE
#define HOCKET_UNROLL
#endif
