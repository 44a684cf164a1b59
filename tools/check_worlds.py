#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the engine cannot tell which world it runs in: the object code of the pure folders
names nothing of an adapter and calls nothing of the operating system.

    tools/check_worlds.py ARCHIVE...      one line for each break, exit status 1 if any
"""
import re
import subprocess
import sys

# Namespaces of the adapters and of what composes them.
FOREIGN = re.compile(r'\bhocket::(sim|transport|local|shm|tcp|verbs|device|cpu|cuda|host|api|'
                     r'scenario|tools)::')
# All that pure code may call by a C name: memory, text, arithmetic, the end of the process.
C_NAMES = re.compile(r'(mem|str)[a-z]+|abort|fprintf|fwrite|fputc|stderr|malloc|free|aligned_alloc|'
                     r'calloc|__assert_fail|(l?l?round|floor|ceil|log2?|exp2?|pow|sqrt|fma?)[fl]?|'
                     r'__cxa_\w+|__gxx_personality_v0|__stack_chk_fail|__dso_handle|_Unwind_\w+|'
                     r'_GLOBAL_OFFSET_TABLE_|__tls_get_addr|__popcountdi2|__(u?div|u?mod)ti3|'
                     r'__fprintf_chk|__memcpy_chk|__snprintf_chk|'
                     r'__libc_single_threaded')  # shared_ptr counts with it


def symbols(archive):
    """(object, symbol, is undefined) of an archive."""
    out = subprocess.run(['nm', '-A', '-P', archive], check=True, text=True, capture_output=True)
    for row in out.stdout.splitlines():
        where, rest = row.split(': ', 1)
        name, kind = rest.split()[:2]
        yield re.search(r'\[(.*)\]', where).group(1), name, kind in 'Uw'


def demangle(names):
    out = subprocess.run(['c++filt'], input='\n'.join(names), check=True, text=True,
                         capture_output=True)
    return out.stdout.split('\n')


def complaints(archive):
    rows = sorted(set(symbols(archive)))
    names = demangle([name for _, name, _ in rows])
    for (where, name, is_undefined), text in zip(rows, names):
        if FOREIGN.search(text):
            yield f'{archive}: {where}: names an adapter: {text}'
        elif is_undefined and not name.startswith('_Z') and not C_NAMES.fullmatch(name):
            yield f'{archive}: {where}: calls {name}: only an adapter may'
        elif is_undefined and re.search(r'\bstd::(chrono|thread|mutex|filesystem|this_thread|'
                                        r'condition_variable|random_device)\b', text):
            yield f'{archive}: {where}: calls {text}: only an adapter may'


def main(archives):
    found = [line for archive in archives for line in complaints(archive)]
    print('\n'.join(found) if found else f'{len(archives)} archives name no world')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
