#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what bench/compare_cpu compares with, and builds it in build/peers; does nothing when all
# is there. --no-gloo leaves PyTorch out.
set -euo pipefail
cd "$(dirname "$0")/.."
torch=torch==2.13.0   # its CPU build where pip finds one

packages=(openmpi-bin libopenmpi-dev gcc cmake ninja-build python3-venv)
installed=$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "${packages[@]}" 2>/dev/null |
  grep -c '^ii' || true)
if [ "$installed" != "${#packages[@]}" ]; then
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" apt-get install -y -q --no-install-recommends "${packages[@]}"
fi

cmake -S bench/peers -B build/peers -G Ninja >/dev/null
cmake --build build/peers >/dev/null

venv=build/peers/venv
if [ "${1:-}" != --no-gloo ] && [ ! -e "$venv/$torch" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet "$torch"
  touch "$venv/$torch"   # the last step went well
fi
