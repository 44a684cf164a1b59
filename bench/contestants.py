# SPDX-License-Identifier: Apache-2.0
"""Who takes part in bench/compare_cpu, and how each is started. All measure alike: buffers whose
pages were touched, two warm-up calls, then every rank times each of its calls without a barrier
between; a size's figure is the median over the calls of the slowest rank's time.
"""
import json
import os
import shlex
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent
HOCKET = 'build/release/hocket'
PEERS = 'build/peers'

# Command lines from the root, by whether every rank has a core of its own. Hocket is started once
# for each size, the others for several: {cases} are BYTES:ITERATIONS.
_HOCKET = (f'{HOCKET} bench all_reduce -n {{ranks}} -d float32 -o sum -b {{bytes}} -e {{bytes}} '
           '-i {iterations} --json {json}')
_MPIRUN = 'mpirun --allow-run-as-root --mca pml ob1 --mca btl self,vader -n {ranks} '
_MPI = f'{PEERS}/mpi_all_reduce {{cases}}'
_GLOO = f'{PEERS}/venv/bin/python bench/peers/gloo_all_reduce.py {{ranks}} {{cases}}'
_BARE = f'{PEERS}/bare_loop {{cases}}'
COMMANDS = {
    'hocket': {True: f'{_HOCKET} --pin', False: _HOCKET},
    'open_mpi': {True: f'{_MPIRUN} --bind-to core {_MPI}',
                 False: f'{_MPIRUN} --bind-to none --oversubscribe {_MPI}'},
    'gloo': {True: _GLOO, False: _GLOO},
    'bare_loop': {True: _BARE},
}


class Failed(Exception):
    """A contestant did not give its figures."""


def call(command, seconds):
    """What a command printed. It is ended, with all that it started, when its time is up."""
    with subprocess.Popen(shlex.split(command), cwd=ROOT, text=True, start_new_session=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            output, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f'{command}: not done after {seconds} s') from None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode != 0:
        raise Failed(f'{command}: exit status {process.returncode}\n{errors.strip()[-2000:]}')
    return output


def rows(output):
    """The JSON objects that a peer printed, one a line."""
    return [json.loads(line) for line in output.splitlines() if line.startswith('{')]


def run_peer(command, ranks, cases, seconds):
    text = ' '.join(f'{size}:{iterations}' for size, iterations in cases)
    printed = rows(call(command.format(ranks=ranks, cases=text), seconds))
    return {row['bytes']: row['time_us'] for row in printed if 'time_us' in row}


def run_hocket(command, ranks, cases, seconds):
    times = {}
    for size, iterations in cases:
        with tempfile.NamedTemporaryFile(suffix='.json') as file:
            line = command.format(ranks=ranks, bytes=size, iterations=iterations, json=file.name)
            call(line, seconds)
            row = next(r for r in json.load(file)['rows'] if not r['in_place'])
        if row['wrong']:
            raise Failed(f'{line}: {row["wrong"]} wrong elements')
        times[size] = row['time_us']
    return times


@dataclass
class Contestant:
    name: str
    label: str
    runner: Callable = run_peer
    share: float = 1   # of the iterations: Gloo's small ops take a thousand times as long

    def takes(self, ranks):
        return self.name != 'bare_loop' or ranks == 2

    def iterations(self, count):
        return max(5, round(count * self.share))

    def run(self, ranks, cases, seconds=300):
        """Microseconds by size in bytes; raises Failed."""
        own = [(size, self.iterations(count)) for size, count in cases]
        command = COMMANDS[self.name][ranks <= cores()]
        times = self.runner(command, ranks, own, seconds)
        missing = [size for size, _ in cases if size not in times]
        if missing:
            raise Failed(f'{self.name}, {ranks} ranks: no figures for {missing} bytes')
        return times


CONTESTANTS = [
    Contestant('hocket', 'Hocket', run_hocket),
    Contestant('open_mpi', 'Open MPI'),
    Contestant('gloo', 'Gloo', share=0.1),
    Contestant('bare_loop', 'bare loop'),
]


def cores():
    return len(os.sched_getaffinity(0))


def exchange_us():
    """What two cores need to see each other's flag, now."""
    return rows(call(f'{PEERS}/bare_loop', 60))[0]['exchange_us']


def open_mpi_copies():
    """How large messages go: 'cma' is the single copy that Open MPI is to have."""
    command = COMMANDS['open_mpi'][cores() >= 2].format(ranks=2, cases='')
    return rows(call(command, 60))[0]['single_copy']
