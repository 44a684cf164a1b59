#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the command line tool as a user does: what it refuses, and that it leaves nothing behind.

    cli_test.py path/to/hocket
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HOCKET = sys.argv.pop(1)

REFUSED = [  # arguments, and what the message must say
    ('frobnicate', 'A subcommand is required'),
    ('bench nothing', "collective: 'nothing' is none of all, all_reduce,"),
    ('bench all_reduce -n 0', '-n: must be 1 to 1024 ranks on one machine'),
    ('bench all_reduce -n 2 -b 8 -e 4', '-e: 4 is less than -b, 8'),
    ('bench all_reduce -n 2 -b 1T', "-b: '1T' is not 0 to 64G"),
    ('bench all_reduce -n 2 -e 12Q', "-e: '12Q' is no size such as 8, 64K, 1M or 2G"),
    ('bench all_reduce -n 2 -f 1', '-f: must be at least 2'),
    ('bench all_reduce -n 2 -i 0', '--iterations: Value 0 not in range 1 to 100000'),
    ('bench all_reduce -n 2 --channels 65', '--channels: Value 65 not in range 1 to 64'),
    ('bench all_reduce -n 2 -g 1', '-g: is for --memory cuda'),
    ('bench all_reduce -n 2 --captured 2', '--captured: is for --memory cuda'),
    ('bench all_reduce -n 2 --peer /dev/null', '--peer: is for --memory cuda'),
    ('bench all_reduce -n 2 --memory cuda --peer /nowhere', '/nowhere'),
    ('explain all_reduce -n 8 -b -3', "--bytes: '-3' is no size such as 8"),
    ('explain all_reduce -n 8 -b x', "--bytes: 'x' is no size such as 8, 64K, 1M or 2G"),
    ('explain all_reduce -n 8 --slice 63', "--slice: '63' is not 64 to 1G"),
    ('explain all_reduce -n 8 --algo nope',
     "all_reduce has no algorithm 'nope'; candidates: ring,"),
    ('explain all_reduce -n 8 --memory disk', '--memory: disk not in {host,cuda}'),
    ('explain all_reduce -n 9 --memory cuda',
     '--memory: cuda: 1 to 16 GPUs of one node, here are 1 node x 8 ranks + 1 node x 1'),
    ('sim run all_reduce -n 0', '--ranks: Value 0 not in range 1 to 1048576'),
    ('sim run all_reduce -n 8 -b 2T', "--bytes: '2T' is not 0 to 1T"),
    ('sim run all_reduce -n 8 --late-us -1', '--late-us: Value -1 not in range 0'),
    ('sim run all_reduce -n 8 --late-us nan', '--late-us: Value nan not in range 0'),
    ('sim run all_reduce -n 8 --jitter-us inf', '--jitter-us: Value inf not in range 0'),
    ('sim run all_reduce -n 8 --seed -1', "--seed: '-1' is no whole number below 2^64"),
    ('sim run all_reduce -n 8 --seed 18446744073709551616',
     "--seed: '18446744073709551616' is no whole number below 2^64"),
    ('sim run all_reduce -n 8 --algo nope', "--algo: 'nope' is none of auto, all, ring,"),
    ('sim run all_reduce -n 8 --json /nowhere/x', '--json: cannot write /nowhere/x'),
    ('explain all_reduce --json /nowhere/x', '--json: cannot write /nowhere/x'),
    ('explain all_reduce --channels 0', '--channels: Value 0 not in range 1 to 64'),
    ('bench all_reduce -n 2 --json /nowhere/x', '--json: cannot write /nowhere/x'),
    ('bench all_reduce -n 2 --algo chain',
     "--algo: all_reduce has no 'chain' on 1 node x 2 ranks; candidates: ring,"),
    ('bench all_reduce -n 4 --algo two_level(ring,ring)',
     "--algo: all_reduce has no 'two_level(ring,ring)' on 1 node x 4 ranks"),
    ('bench all -n 2 --algo nope', "--algo: all has no 'nope' on 1 node x 2 ranks"),
]


def run(arguments):
    return subprocess.run([HOCKET, *arguments.split()], capture_output=True, text=True, timeout=60,
                          check=False)


class Refusals(unittest.TestCase):
    def test_each_names_what_is_wrong(self):
        for arguments, says in REFUSED:
            with self.subTest(arguments):
                done = run(arguments)
                self.assertIn(says, done.stderr)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stdout, '')


class Output(unittest.TestCase):
    def test_that_cannot_be_written_is_an_error(self):
        for command in 'explain all_reduce -n 4', 'sim run all_reduce -n 4', 'prove --max-ranks 2':
            with self.subTest(command), open('/dev/full', 'w') as full:
                done = subprocess.run([HOCKET, *command.split()], stdout=full, timeout=60,
                                      stderr=subprocess.PIPE, text=True, check=False)
                self.assertIn('hocket: standard output: No space left on device', done.stderr)
                self.assertEqual(done.returncode, 1)

    def test_of_no_bytes_is_about_no_bytes(self):
        for command in 'explain all_reduce -n 4 -b 0', 'sim run all_reduce -n 4 -b 0':
            with self.subTest(command), tempfile.NamedTemporaryFile() as file:
                done = run(f'{command} --json {file.name}')
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual({row['bytes'] for row in json.load(file)['rows']}, {0})


class Explain(unittest.TestCase):
    def test_the_largest_message_takes_no_minute(self):
        begun = time.monotonic()
        done = run('explain all_reduce -n 8 -b 256T')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(time.monotonic() - begun, 20)

    def test_names_the_lowering_and_why(self):
        for arguments, says in [
                ('all_reduce -n 2 -b 8', 'on a stream by packet: packets take parts up to 524288 '
                 'bytes, these have 8: 1 block of 256 threads'),
                ('all_gather -n 2 -b 128M', 'on a stream by staged: packets take parts up to '
                 '524288 bytes, these have 67108864: staging of 16777216 bytes, 4 windows, '
                 '64 blocks of 512 threads'),
                ('all_reduce -n 4 -b 1M --algo ring', 'on a stream by rounds: 6 of them, each a '
                 'launch'),
                ('send_recv -n 2 -b 8', 'on a stream by packet: a message of 8 bytes, 1 block of '
                 '256 threads'),
                ('send_recv -n 2 -b 1M', 'on a stream by staged: a message of 1048576 bytes, 32 '
                 'blocks of 256 threads')]:
            with self.subTest(arguments):
                done = run(f'explain {arguments} --memory cuda')
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.splitlines()[-1], says)
                self.assertNotIn('on a stream', run(f'explain {arguments}').stdout)

    def test_writes_json_whatever_it_explains(self):
        with tempfile.TemporaryDirectory() as folder:
            for collective in 'all_reduce', 'send_recv':
                path = os.path.join(folder, collective)
                done = run(f'explain {collective} -n 2 --memory cuda --json {path}')
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(path) as file:
                    self.assertIn('rows', json.load(file))


def ranks_of(parent):
    """Processes whose parent is this one."""
    found = []
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/stat') as file:
                fields = file.read().rpartition(')')[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == parent:
            found.append(int(name))
    return found


def is_alive(process):
    try:
        with open(f'/proc/{process}/stat') as file:
            return file.read().rpartition(')')[2].split()[0] not in 'ZX'
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


class Children(unittest.TestCase):
    def test_die_with_their_parent(self):
        for arguments, count in [('bench all_reduce -n 3 -b 1M -e 1M -i 100000', 3),
                                 ('sim run alltoall -n 2048 --ranks-per-node 8', 1)]:
            with self.subTest(arguments):
                parent = subprocess.Popen([HOCKET, *arguments.split()],
                                          stdout=subprocess.DEVNULL)
                try:
                    self.assertTrue(wait_until(lambda: len(ranks_of(parent.pid)) == count))
                    children = ranks_of(parent.pid)
                finally:
                    parent.send_signal(signal.SIGKILL)
                    parent.wait()
                self.assertTrue(wait_until(lambda: not any(map(is_alive, children))), children)


class Bench(unittest.TestCase):
    def rows_of(self, arguments, **environment):
        with tempfile.NamedTemporaryFile(suffix='.json') as file:
            done = subprocess.run([HOCKET, *arguments.split(), '--json', file.name],
                                  capture_output=True, text=True, timeout=60, check=False,
                                  env={**os.environ, **environment})
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.load(file)['rows']

    def test_begins_with_no_elements(self):
        rows = self.rows_of('bench all_gather -n 2 -b 0 -e 64 -f 8')
        self.assertEqual([row['count'] for row in rows if not row['in_place']], [0, 1, 8])

    def test_has_the_nodes_that_the_library_has(self):
        rows = self.rows_of('bench all_reduce -n 4 -b 8 -e 8 --algo two_level(ring,ring)',
                            HOCKET_RANKS_PER_NODE='2')
        self.assertEqual({row['nodes'] for row in rows}, {2})
        self.assertEqual({row['algorithm'] for row in rows}, {'two_level(ring,ring)'})

    def test_rows_say_how_many_values_were_wrong(self):
        with tempfile.NamedTemporaryFile(suffix='.json') as file:
            done = run(f'bench all_reduce -n 2 -b 8 -e 64K -f 8 --json {file.name}')
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = json.load(file)['rows']
        sizes = [8, 64, 512, 4096, 32768]
        self.assertEqual([row['bytes'] for row in rows], [size for size in sizes for _ in '12'])
        self.assertEqual([row['wrong'] for row in rows], [0] * 10)


if __name__ == '__main__':
    unittest.main()
