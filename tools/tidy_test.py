#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants each break of a house rule in a small clean tree and checks what tidy.py says of it."""
import subprocess
import tempfile
import unittest
from pathlib import Path

import tidy

SPDX = '// SPDX-License-Identifier: Apache-2.0\n'
HEAD = SPDX + '// What it is, and why it is here.\n#pragma once\n'

CLEAN = {
    'src/base/CMakeLists.txt': 'hocket_module(base SOURCES clock.cc)\n'
                               'hocket_test(base_test SOURCES clock_test.cc DEPENDS base)\n',
    'src/base/README.md': '# base\n',
    'src/base/clock.h': HEAD + '''#include <atomic>
#include <memory>

namespace hocket {

enum class Mode : unsigned char { fast, slow };

struct Pair {
  int first = 0, second = 0;
  bool operator==(const Pair&) const = default;
};

/// A comment may say new, delete, goto, volatile and std::function. So may "a string".
class Clock {
 public:
  explicit Clock(std::shared_ptr<const Pair> pair) : pair_{std::move(pair)}, ticks_(0) {}
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  void* operator new(std::size_t size);
  template <class T, class U = std::pair<int, int>>
  static int count(T first, const std::pair<T, U>& second, int third = f(1, 2, 3), int fourth = 4);

 private:
  std::shared_ptr<const Pair> pair_;
  alignas(64) std::atomic<int> ticks_;
  static constexpr int kTable[] = {1, 2, 3};
};

inline constexpr const char* kNames[] = {"new", "goto"};

}  // namespace hocket
''',
    'src/base/clock.cc': SPDX + '''#include "base/clock.h"

#include <new>

namespace hocket {
namespace {

constexpr int kMany = 1'000'000;
const char kQuote = '"';
const char* const kRaw = R"(goto "volatile" // TODO)";

int sign(int x) {
  static constexpr int kSigns[] = {-1, 1};
  if (x < 0) {
    return kSigns[0];
  } else if (x > 0) {
    for (int i = 0; i < x; ++i) {
      if (i == kMany) return i;
    }
  } else if (x == 0) {
    switch (x) {
      case 0: {
        return 0;
      }
    }
  }
  // TODO(#12): handle the rest.
  auto compare = [&](int a, int b) { return a < b || a < x; };
  return compare(1, 2) ? kSigns[1] : 0;
}

}  // namespace

Task<int> answer(Task<int> other, Flag& flag) {
  co_await flag;
  const Pair pair{1, 2};
  Result<int> first = co_await ready(pair, 1 + 2);
  first = co_await std::move(other);
  if (first) co_await flag;
  for (int i = 0; i < 2; ++i) {
    std::map<int, int> both = co_await pairs<int, 2>(i);
  }
  switch (sign(1)) {
    case 1:
      co_await flag;
      break;
    default:
      break;
  }
  CO_TRY(Pair got, fetch(pair));
  co_return co_await ready(pair, 2);
}

void* Clock::operator new(std::size_t size) { return ::operator new(size); }

}  // namespace hocket
''',
    'src/base/clock_test.cc': SPDX + '''#include "base/clock.h"

#include <gtest/gtest.h>

#include <thread>

TEST(Clock, Ticks) {
  static int runs = 0;
  std::thread other([&] { ++runs; });
  other.join();
}
''',
    'src/async/CMakeLists.txt': 'hocket_module(async SOURCES task.cc DEPENDS base)\n',
    'src/async/README.md': '# async\n',
    'src/async/task.h': HEAD + '#include "base/clock.h"\n',
    'src/async/task.cc': SPDX + '#include "async/task.h"\n',
    'include/hocket/hocket.h':
        '/* SPDX-License-Identifier: Apache-2.0 */\n/*\n * Conventions.\n */\n'
        '#include <stddef.h>\n'
        'int hocket_all_reduce(const void* in, void* out, size_t n, int type, int op, int c);\n',
    'tools/hocket/CMakeLists.txt': 'hocket_program(hocket SOURCES main.cc DEPENDS async)\n',
    'tools/hocket/main.cc': SPDX + '#include <fmt/core.h>\n\n#include "async/task.h"\n',
}


def findings(changes):
    """What tidy says of the clean tree with these files replaced, None meaning removed."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in {**CLEAN, **changes}.items():
            if text is not None:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
        return [f'{path}:{line}: {rule}: {message}'
                for path, line, rule, message in sorted(set(tidy.check_tree(root)))]


def in_async(code):
    """findings() of a body of async/task.cc whose first line is line 3, without the path."""
    text = SPDX + '#include "async/task.h"\n' + code
    return [f.removeprefix('src/async/task.cc:') for f in findings({'src/async/task.cc': text})]


class Tidy(unittest.TestCase):
    maxDiff = None

    def test_clean_code_passes(self):
        self.assertEqual(findings({}), [])

    def test_words(self):
        cases = {
            'std::function<void()> f();': 'std::function is banned here; use a template parameter, '
                                          'an interface or a function pointer',
            'const auto x = std::getenv("A");': 'getenv is banned here; use the Config that '
                                          'host/env.cc reads',
            'using C = std::chrono::system_clock;': "system_clock is banned here; use the world's "
                                                    'Clock',
            'using C = std::chrono::steady_clock;': "steady_clock is banned here; use the world's "
                                                    'Clock',
            'void f() { sleep_for(x); }': 'sleep_for is banned here; use a wait that has a '
                                          'deadline',
            'int f() { return rand(); }': 'rand is banned here; use the seeded Prng of base',
            'void f() { std::printf("x"); }': 'printf is banned here; use a trace event or an '
                                              'Error; fmt in tools',
            'void f(volatile int& x);': 'volatile is banned here; use std::atomic in the folders '
                                        'that may have it',
            'std::shared_ptr<int> f();': 'shared_ptr is banned here; use unique_ptr, or '
                                         'shared_ptr<const T>',
            'void f() { goto end; }': 'goto is banned here; use a function that returns',
            'void f(std::atomic<int>& x);': 'std::atomic is banned here; use the Loop; atomics '
                                            'live in base, trace, transport/shm and device',
            'void f(std::mutex& x);': 'std::mutex is banned here; use the Loop; threads live in '
                                      'host and api',
            'bool is_simulated();': 'is_simulated is banned here; use nothing: no code may ask',
            'int* f() { return new int; }': 'new is banned here; use make_unique, or a container',
            'void f(int* p) { delete p; }': 'delete is banned here; use an owner that destroys',
            'void f(int* p) { delete[] p; }': 'delete is banned here; use an owner that destroys',
            'thread_local int x = 1;': 'thread_local is banned here; use an argument; '
                                             'thread_local lives in api',
        }
        for code, message in cases.items():
            with self.subTest(code):
                self.assertEqual(in_async(code + '\n'), [f'3: word: {message}'])

    def test_words_where_they_may_stand(self):
        self.assertEqual(in_async('void* f(void* p) { return ::new (p) int; }\n'), [])
        text = SPDX + 'const char* f() { return getenv("X"); }\n'
        host = {'src/host/CMakeLists.txt': 'hocket_module(host SOURCES env.cc)\n',
                'src/host/README.md': '# host\n', 'src/host/env.cc': text}
        self.assertEqual(findings(host), [])

    def test_todo(self):
        message = 'write TODO(#issue), or do it'
        self.assertEqual(in_async('// A.\n// TODO: later\n'), [f'4: todo: TODO: {message}'])
        self.assertEqual(in_async('/* One.\n * FIXME(#3) */\n'), [f'4: todo: FIXME: {message}'])

    def test_await_forms(self):
        say = ('write `co_await e;`, `T v = co_await e;`, `v = co_await e;` or '
               '`co_return co_await e;`')
        part, braces = 'it is part of an expression', 'braces stand inside the awaited expression'
        cases = {
            'if ((co_await f()).value() == 2) co_return 1;': part + ' or a condition',
            'while (co_await f()) {\n}': part + ' or a condition',
            'switch (co_await f()) {\n}': part + ' or a condition',
            'int v = 1 + co_await f();': part,
            'int v = co_await f() + 1;': part,
            'int v = x ? co_await f() : 1;': part,
            'int v = x ? 1 : co_await f();': part,
            'g(co_await f());': part + ' or a condition',
            'int v{co_await f()};': None,
            'co_return (co_await f()).value();': part + ' or a condition',
            'auto [a, b] = co_await f();': 'a structured binding takes it apart',
            'co_await f({.a = 1});': braces,
            'co_await f(Options{1});': braces,
            'int v = co_await f([] { return 1; });': braces,
            'int v = co_await f(co_await g());': 'another one stands inside it',
        }
        for code, complaint in cases.items():
            with self.subTest(code):
                found = in_async(f'Task<int> t() {{\n  {code}\n}}\n')
                if complaint:
                    self.assertEqual(found[0], f'4: await: {complaint}: {say}')
                else:
                    self.assertIn('4: await: ', found[0])
        self.assertEqual(in_async('Task<int> t() {\n  CO_TRY(int v, f({.a = 1}));\n}\n'),
                         ['4: await: braces stand inside the awaited expression: name a local'])

    def test_capturing_lambda_coroutine(self):
        message = 'lambda: a coroutine is a named function, never a capturing lambda'
        code = 'void f() {\n  g([%s]() -> Task<int> { co_return 1; });\n}\n'
        self.assertEqual(in_async(code % '&'), [f'4: {message}'])
        self.assertEqual(in_async(code % ''), [])

    def test_static_and_global(self):
        self.assertEqual(in_async('int f() {\n  static int calls = 0;\n  return ++calls;\n}\n'),
                         ['4: static: calls outlives its function: give it an owner'])
        self.assertEqual(in_async('namespace hocket {\nint calls = 0;\n}\n'),
                         ['4: global: calls is a mutable global: give it an owner'])

    def test_sizes(self):
        self.assertEqual(in_async('//' + 'x' * 99 + '\n'), ['3: line: 101 characters, 100 at most'])
        self.assertEqual(in_async('\n' * 500), ['1: file: 502 lines, 500 at most: split it by '
                                                'concern'])
        self.assertEqual(in_async('void f() {\n' + '  g();\n' * 69 + '}\n'),
                         ['3: function: f has 71 lines, 70 at most'])
        self.assertEqual(in_async('void f() {\n' + '  g();\n' * 68 + '}\n'), [])
        self.assertEqual(in_async('__global__ void f() {\n' + '  g();\n' * 119 + '}\n'),
                         ['3: function: f has 121 lines, 120 at most'])
        self.assertEqual(in_async('struct S {\n' + '  int a;\n' * 16 + '};\n'),
                         ['3: members: S has 16 data members, 15 at most'])
        self.assertEqual(in_async('struct S {\n  int a, b = 1, c{2};\n' + '  int d();\n' * 16 +
                                  '  std::array<int, 3> e;\n' * 12 + '};\n'), [])

    def test_header_size(self):
        text = HEAD + '\n' * 298
        self.assertEqual(findings({'src/async/task.h': text + '#include "base/clock.h"\n'}),
                         ['src/async/task.h:1: file: 302 lines, 300 at most: split it by concern'])

    def test_parameters(self):
        say = 'takes 5, 4 at most: make an options struct'
        five = 'int a, std::map<int, int> b, int c, int d = g(1, 2), int e'
        for code, name in ((f'void f({five});', 'f'), (f'void f({five}) {{}}', 'f'),
                           (f'struct S {{\n  S({five});\n}};', 'S'),
                           (f'bool operator()({five});', 'operator()')):
            with self.subTest(code):
                line = 4 if 'struct' in code else 3
                self.assertEqual(in_async(code + '\n'), [f'{line}: parameters: {name} {say}'])
        self.assertEqual(in_async('void f(int a, std::map<int, int> b, int c, int d);\n'), [])

    def test_nesting(self):
        braces = 'void f() {\n  for (;;) {\n    if (a) {\n      while (b) {\n        if (c) {\n' \
                 '        }\n      }\n    }\n  }\n}\n'
        message = 'nesting: 4 deep, 3 at most: move the inner part out'
        self.assertEqual(in_async(braces), [f'7: {message}'])
        self.assertEqual(in_async('void f() {\n  for (;;)\n    if (a)\n      while (b)\n'
                                  '        if (c) g();\n}\n'), [f'4: {message}'])
        self.assertEqual(in_async('void f() {\n  for (;;)\n    for (;;)\n      for (;;)\n'
                                  '        if (c) g();\n        else if (d) h();\n}\n'), [])

    def test_folder_size(self):
        names = [f's{i}.cc' for i in range(16)]
        changes = {f'src/async/{name}': SPDX for name in names}
        changes['src/async/CMakeLists.txt'] = \
            'hocket_module(async SOURCES task.cc DEPENDS base)\n' + '\n'.join(names)
        self.assertEqual(findings(changes), ['src/async:1: folder: 17 sources, 15 at most'])

    def test_heads(self):
        where = 'src/async/task.h'
        body = '#include "base/clock.h"\n'
        self.assertEqual(findings({where: body}), [
            f'{where}:1: head: the first line is `// SPDX-License-Identifier: Apache-2.0`'])
        self.assertEqual(findings({where: SPDX + '#pragma once\n' + body}), [
            f'{where}:2: head: a header begins with prose: what it is and why it exists'])
        self.assertEqual(findings({where: SPDX + '// Prose.\n' + body}), [
            f'{where}:3: head: #pragma once is missing'])
        self.assertEqual(findings({where: SPDX + '// x\n' * 26 + '#pragma once\n' + body}), [
            f'{where}:2: head: 26 lines of prose, 25 at most'])

    def test_include_table(self):
        for module in ('world', 'engine', 'host', 'sim'):
            with self.subTest(module):
                found = findings({
                    'src/plan/CMakeLists.txt':
                        f'hocket_module(plan SOURCES p.cc DEPENDS {module})\n',
                    'src/plan/README.md': '# plan\n',
                    'src/plan/p.cc': SPDX + f'#include "{module}/x.h"\n',
                    f'src/{module}/CMakeLists.txt': f'hocket_module({module})\n',
                    f'src/{module}/README.md': f'# {module}\n',
                    f'src/{module}/x.h': HEAD})
                self.assertEqual(found, [
                    f'src/plan/CMakeLists.txt:1: depends: plan may not depend on {module}',
                    f'src/plan/p.cc:2: include: plan may not include {module} ("{module}/x.h")'])

    def test_includes_of_the_system(self):
        for header in ('sys/socket.h', 'thread', 'unistd.h', 'mutex', 'cuda.h'):
            with self.subTest(header):
                found = in_async(f'#include <{header}>\n')
                self.assertEqual(len(found), 1)
                self.assertIn(f'3: include: async may not include <{header}>', found[0])
        self.assertEqual(in_async('#include <iostream>\n'),
                         ['3: include: <iostream> has static initialisers'])
        self.assertEqual(in_async('#include <gtest/gtest.h>\n'),
                         ['3: include: async may not include <gtest/gtest.h>'])
        self.assertEqual(in_async('#include "hocket/hocket.h"\n'),
                         ['3: include: async may not include the C API "hocket/hocket.h"'])
        self.assertEqual(in_async('#include "task.h"\n'),
                         ['3: include: "task.h" is not a path from src/ or include/'])

    def test_foreign_headers_stay_in_sources(self):
        found = findings({
            'tools/hocket/table.h': HEAD + '#include <fmt/core.h>\n',
            'tools/hocket/main.cc': SPDX + '#include "async/task.h"\n'
                                           '#include "tools/hocket/table.h"\n'})
        self.assertEqual(found, [
            'tools/hocket/table.h:4: include: <fmt/core.h> belongs in .cc files only'])

    def test_cmake_and_includes_agree(self):
        where = 'src/async/CMakeLists.txt'
        self.assertEqual(findings({where: 'hocket_module(async SOURCES task.cc)\n'}), [
            f'{where}:1: depends: async includes base but does not DEPEND on it'])
        self.assertEqual(findings({'src/async/task.h': HEAD}), [
            f'{where}:1: depends: async DEPENDS on base but includes nothing of it'])
        self.assertEqual(findings({where: 'hocket_module(sync SOURCES task.cc DEPENDS base)\n'}), [
            f'{where}:1: depends: module sync is not named like its folder src/async'])

    def test_dead_files(self):
        self.assertEqual(findings({'src/async/left.cc': SPDX, 'src/async/left.h': HEAD}), [
            'src/async/left.cc:1: dead: no CMakeLists.txt builds it',
            'src/async/left.h:1: dead: nobody includes it'])
        self.assertEqual(findings({
            'src/async/left_a.cc': SPDX,
            'src/async/CMakeLists.txt':
                'hocket_module(async SOURCES task.cc left_${x}.cc DEPENDS base)\n'}), [])

        self.assertEqual(findings({
            'examples/one.c': SPDX,
            'examples/CMakeLists.txt': 'file(GLOB sources *.c)\n'}), [])

    def test_readme_and_table(self):
        self.assertEqual(findings({'src/async/README.md': None}),
                         ['src/async:1: readme: README.md is missing'])
        self.assertEqual(findings({'src/async/README.md': 'x\n' * 61}),
                         ['src/async/README.md:1: readme: 61 lines, a page is 60'])
        self.assertEqual(findings({'src/attic/x.h': HEAD})[0],
                         'src/attic/x.h:1: dead: nobody includes it')
        self.assertEqual(findings({'src/attic/x.h': HEAD})[1],
                         'src/attic/x.h:1: include: its folder is not in the table of '
                         'tools/tidy.py')


class Walk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.git('init', '-q')

    def git(self, *arguments):
        subprocess.run(['git', '-C', str(self.root), '-c', 'user.name=t', '-c', 'user.email=t@t',
                        *arguments], check=True, capture_output=True)

    def commit(self, subject, *paths):
        for path in paths:
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            with open(self.root / path, 'a') as file:
                file.write('x\n')
        self.git('add', '-A')
        self.git('commit', '-q', '-m', subject)
        return [message for *_, message in tidy.check_walk(self.root, 'HEAD')]

    def test_a_new_member_touches_one_folder(self):
        self.assertEqual(self.commit('algo: add ring', 'src/algo/all_reduce/ring.cc',
                                     'src/algo/all_reduce/table.cc', 'docs/x.md'), [])
        self.assertEqual(self.commit('algo: mend ring', 'src/algo/all_reduce/ring.cc',
                                     'src/plan/plan.cc'), [])
        self.assertEqual(self.commit('plan: add a field', 'src/algo/all_reduce/chain.cc',
                                     'src/plan/plan.cc'), [])
        self.assertEqual(self.commit('algo: add tree', 'src/algo/all_reduce/tree.cc',
                                     'src/engine/select.cc'),
                         ['"algo: add tree" adds a member of algo and touches src/engine too'])
        self.assertEqual(self.commit('transport: add tcp', 'src/transport/tcp/tcp.cc',
                                     'src/host/net.cc'),
                         ['"transport: add tcp" adds a member of transport and touches src/host '
                          'too'])


if __name__ == '__main__':
    unittest.main()
