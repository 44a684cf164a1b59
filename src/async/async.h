// SPDX-License-Identifier: Apache-2.0
// Everything of async: tasks and scopes, the loop, what a coroutine may wait for.
#pragma once
#include "async/cancel.h"
#include "async/event.h"
#include "async/loop.h"
#include "async/queue.h"
#include "async/scope.h"
#include "async/semaphore.h"
#include "async/task.h"
#include "async/timer.h"
#include "async/wait.h"
