#!/usr/bin/env python3
# Runs an example that trains, and checks the figures that it prints and the drawing that it writes.
# SPDX-License-Identifier: Apache-2.0
"""Usage: example_figures.py PROGRAM [ARGUMENT...] --svg FILE"""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree


def figures(pattern, text):
    """The numbers of each line that the pattern matches."""
    return [tuple(map(float, found.groups())) for found in re.finditer(f"^{pattern}$", text, re.M)]


def gan(text, picture, arguments):
    number = r"(-?[\d.]+(?:e-?\d+)?)"
    epochs = int(arguments["--epochs"])
    differences = f"differ from the data by {number} in the mean and {number} in the deviation"
    first = figures(rf"after 0 epochs: pixels {differences}", text)
    rows = figures(rf"after (\d+) epochs: pixels {differences}; distance: {number} - penalty: {number}", text)
    if len(first) != 1 or [row[0] for row in rows] != list(range(1, epochs + 1)):
        yield f"expected a line before and a line after each of {epochs} epochs"
        return
    if not rows[-1][1] < first[0][0] / 2 or not rows[-1][2] < first[0][1] / 2:
        yield f"the generated images are not nearer to the data: {first[0]} before, {rows[-1][1:3]} after"
    if not all(row[3] > 0 and row[4] >= 0 for row in rows) or not rows[-1][3] < max(row[3] for row in rows):
        yield f"the distance does not become smaller: {[row[3] for row in rows]}"
    paths = [element for element in picture.iter() if element.tag.endswith("path") and element.get("d")]
    if len(paths) < 8:
        yield f"expected eight grays in the picture, found {len(paths)}"
    if picture.get("viewBox") != f"0 0 {16 * 30} {30 * (epochs + 2)}":
        yield f"expected a row of 16 images before the training, after each epoch and of the data, got the box {picture.get('viewBox')}"


def transfer(text, picture, arguments):
    number = r"([\d.]+)"
    known = figures(f"digits 0 to 4: test accuracy {number} after 1 epoch; saved as .*", text)
    scratch = figures(rf"digits 5 to 9, {arguments['--samples']} samples of each: test accuracy {number} from scratch", text)
    trained = figures(r"new head on base: (\d+) of (\d+) weights are trained", text)
    tuned = figures(f"test accuracy {number} with the new head, {number} fine-tuned", text)
    if not (len(known) == len(scratch) == len(trained) == len(tuned) == 1):
        yield "expected one line of each accuracy"
        return
    if trained[0][0] != 2:
        yield f"expected that the kernel and the bias of the head are trained, got {trained[0]}"
    if not known[0][0] > 0.9:
        yield f"the first digits are not learned: {known[0][0]}"
    if not scratch[0][0] < tuned[0][0] or not tuned[0][0] > 0.7 or not tuned[0][1] >= tuned[0][0] - 0.05:
        yield f"expected better results than from scratch, which are not lost by fine-tuning: {scratch[0]} and {tuned[0]}"
    lines = [element for element in picture.iter() if element.tag.endswith(("polyline", "path"))]
    if len(lines) < 3:
        yield f"expected three lines in the picture, found {len(lines)}"


def forecast(text, picture, arguments):
    number = r"([\d.]+)"
    persistence = figures(f"as the day before: mean error {number} degrees", text)
    errors = figures(rf"(?:LSTM|Conv1D), (?:\d+) weights: mean error {number} degrees", text)
    if len(persistence) != 1 or len(errors) != 2:
        yield "expected a line of the day before, and one of each network"
        return
    if not all(error[0] < persistence[0][0] for error in errors):
        yield f"expected better forecasts than the day before: {persistence[0]} and {errors}"
    lines = [element for element in picture.iter() if element.tag.endswith(("polyline", "path"))]
    if len(lines) < 5:
        yield f"expected three lines of temperatures and two of errors in the picture, found {len(lines)}"


CHECKS = {"07-forecast": forecast, "10-gan": gan, "12-transfer": transfer}


def main(program, *arguments):
    options = dict(zip(arguments[::2], arguments[1::2]))
    if os.path.exists(options["--svg"]):
        os.remove(options["--svg"])
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout)
    if done.returncode:
        sys.exit(f"exit status {done.returncode}")
    picture = xml.etree.ElementTree.parse(options["--svg"]).getroot()
    findings = list(CHECKS[os.path.basename(program)](done.stdout, picture, options))
    print("\n".join(findings + [f"{len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if "--svg" in sys.argv[1:] else __doc__)
