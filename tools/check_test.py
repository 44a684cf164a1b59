#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles small wrong libraries and checks what check_worlds.py and check_library.py say."""
import os
import subprocess
import tempfile
import unittest

import check_library
import check_worlds


class Compiled(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'w') as file:
            file.write(text)
        return path

    def archive(self, code):
        source = self.write('a.cc', code)
        target = os.path.join(self.folder, 'lib.a')
        subprocess.run(['g++', '-std=c++20', '-O1', '-c', source, '-o', source + '.o'], check=True)
        subprocess.run(['ar', 'rc', target, source + '.o'], check=True)
        return [line.split(': ', 2)[2] for line in check_worlds.complaints(target)]

    def library(self, code, *flags):
        header = self.write('hocket.h', '#define X hocket_no()\n// hocket_no()\nint hocket_x(int);')
        source = self.write('a.cc', code)
        target = os.path.join(self.folder, 'lib.so')
        subprocess.run(['g++', '-shared', '-fPIC', source, '-o', target, *flags], check=True)
        return list(check_library.complaints(target, header))

    def test_worlds(self):
        self.assertEqual(self.archive(
            '#include <string>\nnamespace hocket { std::string f(int i) '
            '{ return std::string(i, char(i)); } }'), [])
        self.assertEqual(self.archive(
            'namespace hocket::sim { int now(); }\nint f() { return hocket::sim::now(); }'),
            ['names an adapter: hocket::sim::now()'])
        self.assertEqual(self.archive(
            '#include <sys/mman.h>\nint f() { return munmap(nullptr, 1); }'),
            ['calls munmap: only an adapter may'])
        self.assertEqual(self.archive(
            '#include <chrono>\nlong f() '
            '{ return std::chrono::steady_clock::now().time_since_epoch().count(); }'),
            ['calls std::chrono::_V2::steady_clock::now(): only an adapter may'])

    def test_library(self):
        soname = '-Wl,-soname,libhocket.so.0'
        good = 'extern "C" int hocket_x(int i) { return i; }\n'
        self.assertEqual(self.library(good, soname, '-nostdlib', '-lc'), [])
        self.assertEqual(self.library(good, '-nostdlib', '-lc'), ['has no soname libhocket.so.N'])
        self.assertEqual(self.library(good + 'int other;', soname, '-nostdlib', '-lc'),
                         ['exports other, which hocket.h does not declare'])
        self.assertEqual(self.library('', soname, '-nostdlib', '-lc'), ['does not export hocket_x'])
        self.assertEqual(self.library(good, soname, '-nostdlib', '-Wl,--no-as-needed', '-lstdc++'),
                         ['needs libstdc++.so.6'])
        newer = '#include <stdlib.h>\nextern "C" int hocket_x(int) { return (int)arc4random(); }'
        self.assertEqual(self.library(newer, soname, '-nostdlib', '-lc'),
                         ['asks for arc4random@GLIBC_2.36, newer than GLIBC_2.34'])
        big = good + 'static const char kBig[11 << 20] = {1};\n' \
                     'extern "C" __attribute__((visibility("hidden"))) const char* keep() ' \
                     '{ return kBig; }'
        self.assertRegex(self.library(big, soname, '-nostdlib', '-lc')[0],
                         r'^has \d+ bytes, 10485760 at most$')


if __name__ == '__main__':
    unittest.main()
