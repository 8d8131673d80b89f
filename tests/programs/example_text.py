#!/usr/bin/env python3
# Runs the text example, types two reviews, and checks its answers.
# SPDX-License-Identifier: Apache-2.0
"""Usage: example_text.py PROGRAM [ARGUMENT...]"""
import re
import subprocess
import sys

TYPED = {"the music was fresh, but the ending was not funny": "blame", "the camera work was not lifeless": "praise"}
ran = subprocess.run(sys.argv[1:], input="\n".join(TYPED) + "\n", capture_output=True, text=True)
print(ran.stdout, ran.stderr, sep="", end="")
if ran.returncode:
    sys.exit(f"the example ended with {ran.returncode}")
accuracy = re.search(r"^accuracy on new reviews: ([\d.]+)$", ran.stdout, re.M)
if not accuracy or float(accuracy[1]) < 0.9:
    sys.exit("expected a line with an accuracy of at least 0.9")
for text, verdict in TYPED.items():
    if not re.search(rf"^{re.escape(text)} +{verdict} \(", ran.stdout, re.M):
        sys.exit(f"expected {verdict} for '{text}'")
