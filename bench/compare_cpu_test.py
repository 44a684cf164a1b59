#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench/compare_cpu makes of times: ratios, bars, tables and rows. Runs no contestant."""
import unittest

import contestants
import figures
from contestants import CONTESTANTS
from figures import KIB, MIB, Bar, Figures


def made(ranks, **times):
    """Figures of one size of 64 KiB: rounds by contestant."""
    found = Figures(ranks)
    for name, rounds in times.items():
        for time_us in rounds:
            found.add(name, 64 * KIB, time_us)
    return found


class FiguresTest(unittest.TestCase):
    def test_sizes_are_8_bytes_and_then_powers(self):
        self.assertEqual(figures.sizes(4)[:4], [8, 16, 64, 256])
        self.assertEqual(figures.sizes(4)[-1], 64 * MIB)
        self.assertEqual(figures.sizes(2), [1 << i for i in range(3, 27)])
        self.assertEqual(figures.sizes(16)[-2:], [MIB, 16 * MIB])

    def test_bus_bandwidth(self):
        self.assertAlmostEqual(figures.bus_bandwidth(8_000_000, 2, 1000), 8)
        self.assertAlmostEqual(figures.bus_bandwidth(8_000_000, 4, 1000), 12)

    def test_a_ratio_is_the_median_of_the_rounds_ratios(self):
        # The machine slowed down threefold between the rounds: the ratio is two in each.
        found = made(2, hocket=[10, 30, 31], open_mpi=[20, 60, 62])
        self.assertEqual(found.ratio('open_mpi', 64 * KIB), 2)
        self.assertEqual(found.time_us('hocket', 64 * KIB), 30)
        self.assertIsNone(found.ratio('gloo', 64 * KIB))

    def test_a_bar_is_judged_where_it_is_worst(self):
        bar = Bar('1.0x Open MPI', 2, 'open_mpi', 1.0, 64 * KIB)
        found = made(2, hocket=[10], open_mpi=[12])
        self.assertTrue(figures.judge(bar, found).met)
        found.add('hocket', MIB, 100)
        found.add('open_mpi', MIB, 90)
        found.add('hocket', 4 * KIB, 100)   # below the bar's sizes
        found.add('open_mpi', 4 * KIB, 1)
        verdict = figures.judge(bar, found)
        self.assertFalse(verdict.met)
        self.assertEqual(str(verdict), 'MISSED        2 ranks, 64 KiB to 64 MiB: 1.0x Open MPI '
                                       '(0.90x at 1 MiB)')

    def test_what_was_not_measured_is_not_met(self):
        verdict = figures.judge(figures.BARS[0], made(2, open_mpi=[12]))
        self.assertFalse(verdict.met)
        self.assertIn('not measured', str(verdict))

    def test_the_table_marks_what_misses(self):
        found = made(2, hocket=[10], open_mpi=[9], bare_loop=[8])
        head, row = figures.table(found, CONTESTANTS)
        self.assertNotIn('Gloo', head)
        self.assertEqual(row.split(), ['65536', '10.00', '(', '6.55)', '9.00', '(', '7.28)', '8.00',
                                       '(', '8.19)', '0.90*', '0.80'])

    def test_report_rows_have_the_benchs_fields(self):
        rows = list(figures.report_rows(made(2, gloo=[10, 20, 60]), CONTESTANTS, {65536: 1000}))
        self.assertEqual(len(rows), 1)
        self.assertEqual(rows[0]['time_us'], 20)
        self.assertEqual(rows[0]['iterations'], 100)   # Gloo does a tenth
        self.assertEqual(rows[0]['count'], 16384)


class ContestantsTest(unittest.TestCase):
    def test_every_contestant_has_a_command_for_each_number_of_ranks_that_it_takes(self):
        for contestant in CONTESTANTS:
            for ranks in (2, 4):
                if contestant.takes(ranks):
                    self.assertIn(ranks == 2, contestants.COMMANDS[contestant.name])

    def test_a_command_out_of_time_is_ended_with_all_that_it_started(self):
        with self.assertRaisesRegex(contestants.Failed, 'not done after 0.2 s'):
            contestants.call("sh -c 'sleep 60 & wait'", 0.2)

    def test_a_command_that_fails_says_what_it_said(self):
        with self.assertRaisesRegex(contestants.Failed, 'exit status 3\nno such rank'):
            contestants.call("sh -c 'echo no such rank >&2; exit 3'", 10)


if __name__ == '__main__':
    unittest.main()
