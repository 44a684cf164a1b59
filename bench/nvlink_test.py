# SPDX-License-Identifier: Apache-2.0
"""Tests of the arithmetic of bench/nvlink."""
import unittest

import nvlink_figures as figures


def row(ratio, size=8, collective='all_reduce', **more):
    return {'collective': collective, 'bytes': size, 'captured': 20, 'processes': True,
            'in_place': False, 'time_us': 2.0, 'peer_time_us': 2.0 * ratio, 'ratio': ratio,
            'wrong': 0, **more}


class Bars(unittest.TestCase):
    def test_depend_on_the_way(self):
        self.assertEqual(figures.bar(row(1)), 2.8)
        self.assertEqual(figures.bar(row(1, 64 << 20, 'alltoall')), 1.17)
        self.assertEqual(figures.bar(row(1, 1 << 30, 'send_recv')), 1.06)
        self.assertEqual(figures.bar(row(1, captured=0)), figures.NOISE)
        self.assertEqual(figures.bar(row(1, processes=False)), figures.NOISE)
        self.assertEqual(figures.bar(row(1, in_place=True)), figures.NOISE)
        self.assertEqual(figures.bar(row(1, 1 << 30, in_place=True)), 1.12)

    def test_hold_between_the_sizes_that_have_one(self):
        self.assertEqual(figures.bar(row(1, 16)), figures.NOISE)
        self.assertEqual(figures.bar(row(1, 8, 'reduce')), figures.NOISE)
        self.assertEqual(figures.bar(row(1, 32 << 20, 'broadcast')), figures.NOISE)
        self.assertEqual(figures.bar(row(1, 128 << 20, 'broadcast')), 1.05)


class Verdicts(unittest.TestCase):
    def test_name_what_is_missed(self):
        met, missed = figures.verdicts([row(3.0), row(2.9, 64), row(2.5, in_place=True),
                                        row(0.9, 64, in_place=True)])
        self.assertTrue(met.met)
        self.assertEqual(str(met), 'met           all_reduce, captured (closest: 2.90x at 64 B, '
                                   '2.80x wanted)')
        self.assertFalse(missed.met)
        self.assertEqual(str(missed),
                         'MISSED        all_reduce, captured, in place: 64 B 0.90x of 0.98x')

    def test_tell_what_the_peer_does_not_have(self):
        [verdict] = figures.verdicts([row(0, collective='broadcast', peer_time_us=0)])
        self.assertFalse(verdict.met)
        self.assertEqual(str(verdict), 'not measured  broadcast, captured')


class Tables(unittest.TestCase):
    def test_mark_what_is_missed_or_wrong(self):
        lines = list(figures.tables([row(3.0), row(1.0, 64), row(3.0, collective='alltoall',
                                                                wrong=2)]))
        self.assertEqual(lines[0], '\ncaptured: us (x NCCL); * misses its bar, ! has wrong '
                                   'elements')
        self.assertEqual(lines[2].split(), ['8', '2.00', '(3.00)', '2.00', '(3.00)!'])
        self.assertEqual(lines[3].split(), ['64', '2.00', '(1.00)*', '-'])


if __name__ == '__main__':
    unittest.main()
