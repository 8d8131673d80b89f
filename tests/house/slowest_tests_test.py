#!/usr/bin/env python3
# Checks that the output of ctest passes unchanged, with the ten slowest tests before its summary.
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "slowest_tests.py")
PASSED = " 1/12 Test  #7: room.A name, with .. dots and 1/2 ....   Passed    0.25 sec\n"
FAILED = " 2/12 Test #12: room.another ...............***Failed    3.50 sec\n"
CRASHED = " 3/12 Test  #3: crashed ....***Exception: SegFault  9.00 sec\n"
SUMMARY = "\n50% tests passed, 2 tests failed out of 4\n\nTotal Test time (real) =  12.75 sec\n"


def printed(text):
    return subprocess.run([sys.executable, SCRIPT], input=text, capture_output=True, text=True, check=True).stdout


class SlowestTests(unittest.TestCase):
    def test_the_slowest_tests_stand_before_the_summary(self):
        table = "The slowest tests:\n     9.00 s  crashed\n     3.50 s  room.another\n     0.25 s  room.A name, with .. dots and 1/2\n\n"
        head = "Test project /folder\n" + PASSED + FAILED + CRASHED
        self.assertEqual(printed(head + SUMMARY), head + SUMMARY.replace("50%", table + "50%"))

    def test_ten_tests_are_named(self):
        lines = "".join(f"{i}/12 Test #{i}: test {i} ...   Passed  {i}.00 sec\n" for i in range(1, 13))
        output = printed(lines + SUMMARY)
        self.assertIn("3.00 s  test 3\n", output)
        self.assertNotIn("s  test 2\n", output)

    def test_output_without_a_summary_is_copied(self):
        self.assertEqual(printed(PASSED), PASSED)


if __name__ == "__main__":
    unittest.main()
