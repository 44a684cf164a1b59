#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the built shared library as a stranger's program meets it: what it needs, what it exports
against its header, how new a C library it asks for, how large it is.

    tools/check_library.py LIBRARY HEADER    one line for each break, exit status 1 if any
"""
import os
import re
import subprocess
import sys

NEEDED = {'libc.so.6', 'libm.so.6', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
GLIBC = (2, 34)
SIZE = 10 << 20


def run(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def declared(header):
    """The functions that a C header declares."""
    with open(header) as file:
        text = re.sub(r'//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*', '', file.read(), flags=re.S | re.M)
    return set(re.findall(r'\b(hocket_\w+)\s*\(', text))


def complaints(library, header):
    dynamic = run('readelf', '-dW', library)
    for name in re.findall(r'\(NEEDED\).*\[(.*)\]', dynamic):
        if name not in NEEDED:
            yield f'needs {name}'
    if not re.search(r'\(SONAME\).*\[libhocket\.so\.\d+\]', dynamic):
        yield 'has no soname libhocket.so.N'

    rows = [row.split() for row in run('nm', '-D', library).splitlines()]
    for name in sorted(row[-1] for row in rows if row[-2] in 'Uw'):
        version = re.search(r'@GLIBC_(\d+)\.(\d+)', name)
        if version and tuple(map(int, version.groups())) > GLIBC:
            yield f'asks for {name}, newer than GLIBC_{GLIBC[0]}.{GLIBC[1]}'

    exported = {row[-1].split('@')[0] for row in rows if row[-2] not in 'Uw'}
    for name in sorted(exported - declared(header)):
        yield f'exports {name}, which {os.path.basename(header)} does not declare'
    for name in sorted(declared(header) - exported):
        yield f'does not export {name}'

    size = os.path.getsize(library)
    if size > SIZE:
        yield f'has {size} bytes, {SIZE} at most'


def main(library, header):
    found = [f'{library}: {line}' for line in complaints(library, header)]
    print('\n'.join(found) if found else
          f'{library}: {os.path.getsize(library)} bytes, {len(declared(header))} functions')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
