// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "host/config.h"

namespace hocket::host {

Result<Environment> read_environment() { return parse_environment(environ); }

}  // namespace hocket::host
