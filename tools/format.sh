#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formats every C and C++ file that git knows or would add; --check only names what would change.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=-i
[ "${1:-}" = --check ] && mode="--dry-run --Werror"
# shellcheck disable=SC2086
git ls-files -z --cached --others --exclude-standard -- '*.h' '*.c' '*.cc' '*.cu' '*.cuh' |
  xargs -0 -r clang-format-19 --style=file $mode
