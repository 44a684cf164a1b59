#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian 12 packages that building and testing need; does nothing when all are there.
set -euo pipefail
packages=(
  g++ cmake ninja-build ccache pkg-config binutils git        # build
  clang-19 libclang-rt-19-dev clang-format-19                 # second compiler, formatting
  python3                                                     # tools/tidy.py and its like
  libhwy-dev libsodium-dev                                    # library: folds, keyed MAC
  libfmt-dev libcli11-dev nlohmann-json3-dev                  # the command line tool
  libgtest-dev libgmock-dev libbenchmark-dev                  # tests, benchmarks
)
installed=$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "${packages[@]}" 2>/dev/null |
  grep -c '^ii' || true)
[ "$installed" = "${#packages[@]}" ] && exit 0

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q
"${as_root[@]}" apt-get install -y -q --no-install-recommends "${packages[@]}"
