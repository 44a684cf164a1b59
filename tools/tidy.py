#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The house rules of docs/STYLE.md as a program: silent when all hold, else one line for each
break, `path:line: rule: message`, and exit status 1.

    tools/tidy.py                 every file of the tree
    tools/tidy.py --walk [RANGE]  each commit (default HEAD): a new member touches one folder
"""
import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import tidy_cpp
from tidy_table import (
    CPP, FILE_LINES, FOREIGN, FUNCTION, HEAD_LINES, HEADER_LINES, IMPURE_HEADERS, KERNEL, LINE,
    MAY_INCLUDE, MEMBERS, NESTING, NOT_IN_HEADERS, PARAMETERS, PURE, README, ROOTS, SKIPPED,
    SOURCES, TEST_FOLDERS, TEST_LINES, TESTS_MAY_INCLUDE, TEXT, WALK, WORDS)

# ---- files ---------------------------------------------------------------------------------------

@dataclass
class File:
    root: Path
    path: str   # from the root, with /

    @cached_property
    def text(self):
        return (self.root / self.path).read_text(errors='replace')

    @cached_property
    def lines(self):
        return self.text.split('\n')

    @cached_property
    def split(self):
        return tidy_cpp.split(self.text)

    @cached_property
    def includes(self):
        return tidy_cpp.includes(self.split[0])

    @cached_property
    def tokens(self):
        return tidy_cpp.tokens(self.split[0])

    @property
    def is_cpp(self):
        return self.path.endswith(CPP)

    @property
    def is_header(self):
        return self.path.endswith(('.h', '.cuh'))

    @property
    def folder(self):
        return os.path.dirname(self.path)

    @cached_property
    def module(self):
        return module_of(self.path)

    @cached_property
    def is_test(self):
        stem = os.path.splitext(self.path)[0]
        return stem.endswith(('_test', '_bench', '_suite')) or self.module in TEST_FOLDERS

    def stands_in(self, places):
        return any(self.is_test if place == 'tests' else self.path.startswith(place)
                   for place in places)


def module_of(path):
    """The folder of the include table that a path from the root lies in; None if in none."""
    parts = path.split('/')[:-1]
    parts = parts[1:] if parts[:1] == ['src'] else parts[:1]
    while parts and '/'.join(parts) not in MAY_INCLUDE:
        parts.pop()
    return '/'.join(parts) or None


def tree(root):
    """Every file that rules are about, by path."""
    files = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED)
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, '/')
            if path.split('/')[0] in ROOTS:
                files[path] = File(root, path)
    return files


def resolve(files, include):
    """Path from the root of a quoted include; None if there is no such file."""
    for place in ('src/', 'include/', ''):
        if place + include in files and (place or include.split('/')[0] in ('tools', 'bench')):
            return place + include
    return None


def allowed(module, is_test):
    names = set(MAY_INCLUDE[module].split()) | {module}
    if is_test:
        names |= set(TESTS_MAY_INCLUDE.get(module, '').split()) | {'testing'}
    return names


# ---- rules about one file; each yields (line, rule, message) -------------------------------------

def check_size(file):
    for number, line in enumerate(file.lines, 1):
        if len(line) > LINE:
            yield number, 'line', f'{len(line)} characters, {LINE} at most'
    count = len(file.lines) - 1
    bound = TEST_LINES if file.is_test or file.path.endswith('_test.py') else FILE_LINES
    bound = HEADER_LINES if file.is_header else bound
    if count > bound:
        yield 1, 'file', f'{count} lines, {bound} at most: split it by concern'


def check_shape(file):
    scan = tidy_cpp.scan(file.tokens)
    for line, name, lines, kernel in scan.functions:
        bound = KERNEL if kernel else FUNCTION
        if lines > bound:
            yield line, 'function', f'{name} has {lines} lines, {bound} at most'
    for line, name, count in scan.parameters:
        is_exempt = re.match(r'hocket_|nccl|[A-Z0-9_]{3,}$', name)   # the C API, macros
        if count > PARAMETERS and not is_exempt:
            yield line, 'parameters', (f'{name} takes {count}, {PARAMETERS} at most: '
                                       'make an options struct')
    for line, name, count in scan.classes:
        if count > MEMBERS:
            yield line, 'members', f'{name} has {count} data members, {MEMBERS} at most'
    deep = 0
    for line, depth in scan.nesting:
        if depth > NESTING and line > deep + 1:
            yield line, 'nesting', f'{depth} deep, {NESTING} at most: move the inner part out'
        deep = line if depth > NESTING else deep
    for (line,) in scan.captures:
        yield line, 'lambda', 'a coroutine is a named function, never a capturing lambda'
    if file.is_test or not file.path.startswith('src/') or file.path == 'src/api/process.cc':
        return
    for line, name in scan.statics:
        yield line, 'static', f'{name} outlives its function: give it an owner'
    for line, name in scan.globals:
        yield line, 'global', f'{name} is a mutable global: give it an owner'


def check_await(file):
    for line, complaint in tidy_cpp.awaits(file.tokens):
        yield line, 'await', (f'{complaint}: write `co_await e;`, `T v = co_await e;`, '
                              '`v = co_await e;` or `co_return co_await e;`')
    for match in re.finditer(r'\bCO_TRY(_VOID)?\s*\([^;]*?\{[^;]*;', file.split[0]):
        line = file.split[0].count('\n', 0, match.start()) + 1
        if '#' not in file.lines[line - 1]:
            yield line, 'await', 'braces stand inside the awaited expression: name a local'


def check_words(file):
    code = re.sub(r'(?m)^[ \t]*#[ \t]*include.*', '', file.split[0])
    code = re.sub(r'\boperator\s+(new|delete)\b|=\s*delete\b', '', code)
    for pattern, instead, places in WORDS:
        if file.stands_in(places):
            continue
        for match in re.finditer(pattern, code):
            line = code.count('\n', 0, match.start()) + 1
            word = match.group().strip().rstrip('(<').strip()
            yield line, 'word', f'{word} is banned here; use {instead}'
    for line, comment in file.split[1]:
        for match in re.finditer(r'\b(TODO|FIXME|XXX|HACK)\b(\(#\d+\))?', comment):
            if match.group(1) != 'TODO' or not match.group(2):
                at = line + comment.count('\n', 0, match.start())
                yield at, 'todo', f'{match.group(1)}: write TODO(#issue), or do it'


def check_head(file):
    is_public = file.path.startswith('include/')   # C: may have block comments and a guard
    spdx = 'SPDX-License-Identifier: Apache-2.0'
    if file.lines[0] != f'// {spdx}' and not (is_public and file.lines[0] == f'/* {spdx} */'):
        yield 1, 'head', f'the first line is `// {spdx}`'
        return
    if not file.is_header:
        return
    head = 0
    while file.lines[1 + head].startswith(('/*', ' *') if is_public else '//'):
        head += 1
    if not head:
        yield 2, 'head', 'a header begins with prose: what it is and why it exists'
    elif head > HEAD_LINES and not is_public:
        yield 2, 'head', f'{head} lines of prose, {HEAD_LINES} at most'
    if '#pragma once' not in file.lines and not is_public:
        yield head + 2, 'head', '#pragma once is missing'


def check_includes(file, files):
    module, is_test = file.module, file.is_test
    may = allowed(module, is_test) if module else set()
    for line, mark, path in file.includes:
        if mark == '<':
            complaint = foreign_complaint(file, path)
            if complaint:
                yield line, 'include', complaint
            continue
        target = resolve(files, path)
        if target is None:
            yield line, 'include', f'"{path}" is not a path from src/ or include/'
        elif target.startswith('include/'):
            if file.path.startswith('src/') and module not in ('api', 'scenario'):
                yield line, 'include', f'{module} may not include the C API "{path}"'
        elif module and module_of(target) not in may:
            yield line, 'include', f'{module} may not include {module_of(target)} ("{path}")'


def foreign_complaint(file, path):
    module = file.module or 'include'
    for pattern, places in FOREIGN:
        if not re.match(pattern, path):
            continue
        is_here = any(file.is_test if p == 'tests' else (module + '/').startswith(p + '/')
                      for p in places)
        if not is_here:
            return f'{module} may not include <{path}>'
        if file.is_header and re.match(NOT_IN_HEADERS, path):
            return f'<{path}> belongs in .cc files only'
        return None
    if path == 'iostream' and file.path.startswith('src/'):
        return '<iostream> has static initialisers'
    if module in PURE and not file.is_test and (path.endswith('.h') or path in IMPURE_HEADERS):
        return f'{module} may not include <{path}>: it sees no operating system and no threads'
    return None


# ---- rules about the tree; each yields (path, line, rule, message) -------------------------------

@dataclass
class Call:
    """hocket_module(name KEY words...) as it stands in a CMakeLists.txt."""
    file: File
    line: int
    kind: str
    name: str
    words: dict


def cmake_calls(file):
    code = re.sub(r'#[^\n]*', '', file.text)
    for match in re.finditer(r'\b(hocket_(?:module|test|bench|program))\s*\(([^()]*)\)', code):
        words, key = {}, ''
        name, *rest = match.group(2).split() or ['']
        for word in rest:
            if word.isupper():
                key = word
            else:
                words.setdefault(key, []).append(word)
        yield Call(file, code.count('\n', 0, match.start()) + 1, match.group(1), name, words)


def check_cmake(files):
    used = {}   # module -> the modules whose headers its own code includes
    for file in files.values():
        if file.is_cpp and file.module and (file.module in TEST_FOLDERS or not file.is_test):
            targets = (resolve(files, path) for _, mark, path in file.includes if mark == '"')
            used.setdefault(file.module, set()).update(module_of(t) for t in targets if t)
    for file in files.values():
        if file.path.endswith('/CMakeLists.txt') and file.module:
            for call in cmake_calls(file):
                for message in depends_complaints(call, used):
                    yield file.path, call.line, 'depends', message


def depends_complaints(call, used):
    named = set(call.words.get('DEPENDS', []))
    owner = call.file.module
    is_module = call.kind == 'hocket_module'
    if is_module and f'src/{call.name}' != call.file.folder:
        yield f'module {call.name} is not named like its folder {call.file.folder}'
        return
    for name in sorted(named - allowed(owner, not is_module)):
        yield f'{owner} may not depend on {name}'
    if not is_module:
        return
    seen = {owner, None}
    reached = set(used.get(owner, ())) - seen
    for name in sorted(reached - named):
        yield f'{owner} includes {name} but does not DEPEND on it'
    while reached - seen:
        name = (reached - seen).pop()
        seen.add(name)
        reached |= used.get(name, set())
    for name in sorted(named - reached):
        yield f'{owner} DEPENDS on {name} but includes nothing of it'


def check_dead(files):
    built = []
    for file in files.values():
        if not file.path.endswith(('CMakeLists.txt', '.cmake')):
            continue
        for word in re.findall(r'[^\s()"]+\.(?:cc|cu|c)\b', re.sub(r'#[^\n]*', '', file.text)):
            path = re.sub(r'^\$\{(PROJECT|CMAKE)_SOURCE_DIR\}/', '/', word)
            path = re.sub(r'^\$\{CMAKE_CURRENT_(SOURCE|LIST)_DIR\}/', '', path)
            path = path[1:] if path.startswith('/') else os.path.join(file.folder, path)
            path = re.sub(r'\$\{\w+\}', '*', os.path.normpath(path))
            built.append(re.escape(path).replace(r'\*', '[^/]*'))
    is_built = re.compile('|'.join(built) or r'\0')
    included = {resolve(files, path) for f in files.values() if f.is_cpp
                for _, mark, path in f.includes if mark == '"'}
    for file in files.values():
        if file.path.endswith(('.cc', '.c', '.cu')) and not is_built.fullmatch(file.path):
            yield file.path, 1, 'dead', 'no CMakeLists.txt builds it'
        is_ours = file.is_header and file.path.startswith(('src/', 'tools/'))
        if is_ours and file.path not in included:
            yield file.path, 1, 'dead', 'nobody includes it'


def check_folders(files):
    sources, modules = {}, {}
    for file in files.values():
        if file.path.startswith('src/') and file.is_cpp:
            if file.module is None:
                yield file.path, 1, 'include', 'its folder is not in the table of tools/tidy.py'
                continue
            modules[file.module] = file
            if not file.is_test or file.module in TEST_FOLDERS:
                sources.setdefault(file.folder, set()).add(os.path.splitext(file.path)[0])
    for folder, stems in sources.items():
        if len(stems) > SOURCES:
            yield folder, 1, 'folder', f'{len(stems)} sources, {SOURCES} at most'
    for module in modules:
        readme = files.get(f'src/{module}/README.md')
        if readme is None:
            yield f'src/{module}', 1, 'readme', 'README.md is missing'
        elif len(readme.lines) - 1 > README:
            yield readme.path, 1, 'readme', f'{len(readme.lines) - 1} lines, a page is {README}'


# ---- the walk test -------------------------------------------------------------------------------

def git(root, *arguments):
    return subprocess.run(['git', '-C', str(root), *arguments], check=True, text=True,
                          capture_output=True).stdout


def check_walk(root, commits):
    """A commit `algo: ...` (transport, fault) that adds a member touches that folder alone."""
    one = [] if '..' in commits else ['-1']
    for commit in git(root, 'rev-list', '--no-merges', *one, commits).split():
        subject = git(root, 'log', '-1', '--format=%s', commit).strip()
        area = subject.split(':')[0].split('/')[0]
        if area not in WALK:
            continue
        rows = [row.split('\t') for row in git(
            root, 'diff-tree', '-r', '--root', '--no-commit-id', '--name-status', '--no-renames',
            commit).splitlines()]
        adds = any(state == 'A' and re.fullmatch(rf'src/{area}/.+/\w+\.(cc|cu)', path)
                   and not path.endswith(('_test.cc', '_bench.cc')) for state, path in rows)
        touched = {path.split('/')[1] for _, path in rows if path.startswith('src/')}
        others = sorted(touched - {area})
        if adds and others:
            yield (commit[:12], 1, 'walk',
                   f'"{subject}" adds a member of {area} and touches src/{others[0]} too')


def check_tree(root):
    files = tree(root)
    findings = []
    for file in files.values():
        if not file.path.endswith(TEXT):
            continue
        checks = [check_size(file)]
        if file.is_cpp:
            checks += [check_shape(file), check_await(file), check_words(file), check_head(file),
                       check_includes(file, files)]
        findings += [(file.path, *found) for check in checks for found in check]
    for check in (check_cmake, check_dead, check_folders):
        findings += check(files)
    return findings


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--root', type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument('--walk', nargs='?', const='HEAD', metavar='RANGE')
    arguments = parser.parse_args()
    if arguments.walk:
        findings = list(check_walk(arguments.root, arguments.walk))
    else:
        findings = check_tree(arguments.root)
    for path, line, rule, message in sorted(set(findings)):
        print(f'{path}:{line}: {rule}: {message}')
    return 1 if findings else 0


if __name__ == '__main__':
    sys.exit(main())
