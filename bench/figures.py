# SPDX-License-Identifier: Apache-2.0
"""The figures of a comparison and the bars that Hocket has to clear. Nothing here runs anything.

A machine changes its mind while it is measured: other guests of its host come and go, and the host
moves its two virtual cores apart and together. So contestants run in rounds, one after the other,
and a ratio is the median of the rounds' ratios, never the ratio of figures taken far apart.
"""
from dataclasses import dataclass
from statistics import median

KIB, MIB = 1 << 10, 1 << 20
LATENCY = (8, 100_000)   # bytes, iterations


@dataclass(frozen=True)
class Bar:
    """Hocket is at least `ratio` times as fast as `peer` from `least` to `most` bytes."""
    text: str
    ranks: int
    peer: str
    ratio: float
    least: int
    most: int = 64 * MIB
    latency: bool = False   # of the long runs of small ops


BARS = [
    Bar('1.0x Open MPI', 2, 'open_mpi', 1.0, 64 * KIB),
    Bar('1.0x Open MPI', 4, 'open_mpi', 1.0, MIB),
    *(Bar('5x Gloo', ranks, 'gloo', 5, 8, 4 * MIB) for ranks in (2, 4)),
    *(Bar('2x Gloo', ranks, 'gloo', 2, 8 * MIB) for ranks in (2, 4)),
    Bar('0.75x a bare loop', 2, 'bare_loop', 0.75, 64 * KIB),
    Bar('0.4x Open MPI in long runs', 2, 'open_mpi', 0.4, 8, 8, latency=True),
]


def sizes(factor, most=64 * MIB):
    """8 B, then powers of `factor` up to `most`."""
    found, size = [8], factor
    while size <= most:
        if size > 8:
            found.append(size)
        size *= factor
    return found


def iterations(size):
    return max(10, min(1000, 256 * MIB // size))


def bus_bandwidth(size, ranks, time_us):
    """GB/s, as nccl-tests defines it for all_reduce."""
    return size / time_us * 1e-3 * 2 * (ranks - 1) / ranks


class Figures:
    """Times of one number of ranks; all contestants have the same rounds."""

    def __init__(self, ranks):
        self.ranks = ranks
        self.times = {}   # contestant -> bytes -> microseconds by round

    def add(self, name, size, time_us):
        self.times.setdefault(name, {}).setdefault(size, []).append(time_us)

    def sizes(self):
        return sorted({size for by_size in self.times.values() for size in by_size})

    def rounds(self, name, size):
        return self.times.get(name, {}).get(size, [])

    def time_us(self, name, size):
        times = self.rounds(name, size)
        return median(times) if times else None

    def ratio(self, peer, size):
        """How many times as fast as the peer Hocket is; None if either was not measured."""
        pairs = zip(self.rounds('hocket', size), self.rounds(peer, size))
        ratios = [theirs / ours for ours, theirs in pairs]
        return median(ratios) if ratios else None


@dataclass
class Verdict:
    bar: Bar
    worst: float | None   # the lowest ratio, and where; None: not measured
    size: int | None

    @property
    def met(self):
        return self.worst is not None and self.worst >= self.bar.ratio

    def __str__(self):
        bar = self.bar
        span = print_bytes(bar.least) + (f' to {print_bytes(bar.most)}' * (bar.least < bar.most))
        head = f'{bar.ranks} ranks, {span}: {bar.text}'
        if self.worst is None:
            return f'not measured  {head}'
        state = 'met' if self.met else 'MISSED'
        return f'{state:12}  {head} ({self.worst:.2f}x at {print_bytes(self.size)})'


def judge(bar, figures):
    """`figures`: those of the bar's ranks, or of the long runs."""
    found = [(figures.ratio(bar.peer, size), size) for size in figures.sizes()
             if bar.least <= size <= bar.most]
    measured = [pair for pair in found if pair[0] is not None]
    return Verdict(bar, *(min(measured) if measured else (None, None)))


def is_missed(figures, peer, size):
    ratio = figures.ratio(peer, size)
    return any(bar.peer == peer and bar.ranks == figures.ranks and not bar.latency and
               bar.least <= size <= bar.most and ratio < bar.ratio for bar in BARS)


def print_bytes(size):
    for unit, suffix in ((MIB, ' MiB'), (KIB, ' KiB')):
        if size >= unit:
            return f'{size / unit:.0f}{suffix}'
    return f'{size} B'


def table(figures, contestants):
    """Lines of text: a size a row, a contestant a column, then Hocket's ratio to each peer."""
    shown = [c for c in contestants if c.name in figures.times]
    peers = [c for c in shown if c.name != 'hocket' and 'hocket' in figures.times]
    head = ''.join(f'{c.label + "  us (GB/s)":>24}' for c in shown)
    yield f'{"bytes":>9}{head}' + ''.join(f'{"x " + c.label:>12}' for c in peers)
    for size in figures.sizes():
        line = f'{size:>9}'
        for contestant in shown:
            time_us = figures.time_us(contestant.name, size)
            bandwidth = bus_bandwidth(size, figures.ranks, time_us)
            line += f'{time_us:>15.2f} ({bandwidth:6.2f})'
        for peer in peers:
            mark = '*' if is_missed(figures, peer.name, size) else ' '
            line += f'{figures.ratio(peer.name, size):>11.2f}{mark}'
        yield line


def report_rows(figures, contestants, counts):
    """Rows of the report. `counts`: iterations by size, before the contestant's share."""
    for contestant in contestants:
        for size, times in sorted(figures.times.get(contestant.name, {}).items()):
            time_us = median(times)
            yield {'collective': 'all_reduce', 'library': contestant.name, 'bytes': size,
                   'count': size // 4, 'type': 'float32', 'op': 'sum', 'ranks': figures.ranks,
                   'memory': 'host', 'in_place': contestant.name == 'gloo',
                   'iterations': contestant.iterations(counts[size]), 'time_us': time_us,
                   'busbw_gbs': bus_bandwidth(size, figures.ranks, time_us), 'round_us': times}
