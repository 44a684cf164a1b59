// SPDX-License-Identifier: Apache-2.0
// Everything of base: results and errors, checks, ids, time, memory, lists and the few atomics.
#pragma once
#include "base/arena.h"
#include "base/array.h"
#include "base/baton.h"
#include "base/bytes.h"
#include "base/check.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/mailbox.h"
#include "base/prng.h"
#include "base/result.h"
#include "base/time.h"
#include "base/types.h"
#include "base/word.h"
