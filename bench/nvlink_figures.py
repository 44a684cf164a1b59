# SPDX-License-Identifier: Apache-2.0
"""The bars that Hocket has to clear beside NCCL on NVLink, and tables. Nothing here runs anything.
A row is one of `hocket bench --memory cuda --peer`; its ratio is NCCL's time over Hocket's.
"""
from dataclasses import dataclass

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
COLLECTIVES = ['all_reduce', 'all_gather', 'reduce_scatter', 'alltoall', 'send_recv', 'broadcast',
               'reduce']
NOISE = 0.98   # nowhere slower than the peer by more

# Captured, out of place, two processes: bytes -> ratio by the first five collectives.
CAPTURED = {
    **{size: (2.8, 2.2, 2.2, 2.5, 1.3) for size in (8, 64, 512, 4 * KIB)},
    32 * KIB: (2.4, 2.3, 2.2, 2.6, 1.3),
    256 * KIB: (2.0, 2.0, 1.9, 2.2, 1.3),
    1 * MIB: (1.7, 1.8, 1.7, 2.0, 1.5),
    2 * MIB: (2.3, 2.0, 1.8, 1.8, 1.5),
    4 * MIB: (1.8, 2.2, 2.0, 1.7, 1.5),
    16 * MIB: (1.35, 1.7, 1.5, 1.5, 1.4),
    64 * MIB: (1.3, 1.4, 1.45, 1.17, 1.2),
    128 * MIB: (1.25, 1.4, 1.45, 1.25, 1.2),
    256 * MIB: (1.22, 1.4, 1.4, 1.25, 1.2),
    1 * GIB: (1.15, 1.35, 1.3, 1.12, 1.06),
}
IN_PLACE = {('all_reduce', GIB): 1.12}
BROADCAST = (64 * MIB, 1.05)   # from there on


def bar(row):
    """The least ratio of a row."""
    collective, size = row['collective'], row['bytes']
    if not row['captured'] or not row['processes']:
        return NOISE
    if row['in_place']:
        return IN_PLACE.get((collective, size), NOISE)
    if collective == 'broadcast' and size >= BROADCAST[0]:
        return BROADCAST[1]
    return dict(zip(COLLECTIVES, CAPTURED.get(size, ()))).get(collective, NOISE)


def is_missed(row):
    return row['ratio'] < bar(row)


@dataclass
class Verdict:
    collective: str
    way: str
    rows: list   # those that say something: the peer has such an op

    @property
    def missed(self):
        return [row for row in self.rows if is_missed(row)]

    @property
    def met(self):
        return bool(self.rows) and not self.missed

    def __str__(self):
        head = f'{self.collective}, {self.way}'
        if not self.rows:
            return f'not measured  {head}'
        if self.met:
            worst = min(self.rows, key=lambda row: row['ratio'] / bar(row))
            return (f'met           {head} (closest: {worst["ratio"]:.2f}x at '
                    f'{print_bytes(worst["bytes"])}, {bar(worst):.2f}x wanted)')
        listed = ', '.join(f'{print_bytes(row["bytes"])} {row["ratio"]:.2f}x of {bar(row):.2f}x'
                           for row in self.missed)
        return f'MISSED        {head}: {listed}'


def way_of(row):
    return ('captured' if row['captured'] else 'eager') + (', in place' * row['in_place'])


def verdicts(rows):
    """One for each collective and way of calling it, in the rows' order."""
    found = {}
    for row in rows:
        verdict = found.setdefault((row['collective'], way_of(row)),
                                   Verdict(row['collective'], way_of(row), []))
        if row['peer_time_us'] > 0:
            verdict.rows.append(row)
    return list(found.values())


def tables(rows):
    """Lines of text: a table for each way, a size a row, Hocket's time and ratio a column."""
    for way in dict.fromkeys(way_of(row) for row in rows):
        of_way = [row for row in rows if way_of(row) == way]
        columns = list(dict.fromkeys(row['collective'] for row in of_way))
        yield f'\n{way}: us (x NCCL); * misses its bar, ! has wrong elements'
        yield f'{"bytes":>11}' + ''.join(f'{column:>22}' for column in columns)
        for size in sorted({row['bytes'] for row in of_way}):
            at = {row['collective']: row for row in of_way if row['bytes'] == size}
            yield f'{size:>11}' + ''.join(f'{cell(at.get(column)):>22}' for column in columns)
    yield ''


def cell(row):
    if row is None:
        return '-'
    mark = '!' if row['wrong'] else '*' if row['peer_time_us'] > 0 and is_missed(row) else ' '
    return f'{row["time_us"]:.2f} ({row["ratio"]:.2f}){mark}'


def print_bytes(size):
    for unit, suffix in ((GIB, ' GiB'), (MIB, ' MiB'), (KIB, ' KiB')):
        if size >= unit:
            return f'{size / unit:.0f}{suffix}'
    return f'{size} B'
