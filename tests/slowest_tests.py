#!/usr/bin/env python3
# Copies ctest's output line by line, and prints the ten slowest tests before ctest's summary.
# SPDX-License-Identifier: Apache-2.0
"""Usage: ctest ... | slowest_tests.py"""
import re
import sys

RESULT = re.compile(r"\s*\d+/\d+ +Test +#\d+: (.*?) *\.\.\.+ *(?:Passed|\*\*\*[A-Za-z: ]+?) +(\d+\.\d+) sec")
SUMMARY = re.compile(r"\d+% tests passed")


def main():
    seconds = {}
    for line in sys.stdin:
        if match := RESULT.match(line):
            seconds[match.group(1)] = float(match.group(2))
        elif SUMMARY.match(line):
            print("The slowest tests:")
            for name in sorted(seconds, key=seconds.get, reverse=True)[:10]:
                print(f"{seconds[name]:9.2f} s  {name}")
            print()
        print(line, end="", flush=True)


if __name__ == "__main__":
    main()
