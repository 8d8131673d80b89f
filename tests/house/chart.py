#!/usr/bin/env python3
# Checks that docs/benchmarks.svg is the drawing of the results by scripts/chart, is XML, and shows each result.
# SPDX-License-Identifier: Apache-2.0
"""Usage: chart.py ROOT"""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


def main(root):
    with tempfile.TemporaryDirectory() as folder:
        drawn = os.path.join(folder, "chart.svg")
        results = os.path.join(root, "benchmarks", "results")
        subprocess.run([os.path.join(root, "scripts", "chart"), results, drawn], check=True)
        with open(drawn, "rb") as new, open(os.path.join(root, "docs", "benchmarks.svg"), "rb") as kept:
            if new.read() != kept.read():
                return "docs/benchmarks.svg is not what the results say; expected scripts/chart to have been run"
        titles = [title.text for title in xml.etree.ElementTree.parse(drawn).iter("{http://www.w3.org/2000/svg}title")]
        for name in ("train-step.json", "train-step-cnn.json"):
            with open(os.path.join(results, name), encoding="utf-8") as file:
                peers = [row["peer"] for row in json.load(file)["rows"]]
            missing = [peer for peer in peers if not any(title.replace(": ", " ") == peer for title in titles)]
            if missing or not peers:
                return f"docs/benchmarks.svg lacks {missing or 'every training step'} of {name}"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
