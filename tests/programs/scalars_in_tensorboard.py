#!/usr/bin/env python3
# Reads the event files of write_scalars with TensorBoard's own reader and compares each scalar.
# SPDX-License-Identifier: Apache-2.0
"""Usage: scalars_in_tensorboard.py FOLDER

Looks for TensorBoard (PyPI: tensorboard) in this Python, or in that of the variable TENSORBOARD_PYTHON. Without it the
test is skipped (exit code 77), with the reason.
"""
import os
import subprocess
import sys


def main(folder):
    try:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    except ImportError as error:
        other = os.environ.pop("TENSORBOARD_PYTHON", "")
        if other:
            return subprocess.run([other, __file__, folder], check=False).returncode
        print(f"skipped: TensorBoard is not installed ({error})")
        return 77
    found = {}
    for run in ("train", "validation"):
        events = EventAccumulator(os.path.join(folder, run))
        events.Reload()
        for tag in events.Tags()["scalars"]:
            for scalar in events.Scalars(tag):
                found[run, tag, scalar.step] = scalar.value
    count, findings = 0, []
    with open(os.path.join(folder, "expected.txt"), encoding="utf-8") as file:
        for line in file:
            run, tag, step, value = line.split()
            count += 1
            got = found.get((run, tag, int(step)))
            if got is None or abs(got - float(value)) > 1e-5 * max(1.0, abs(float(value))):
                findings.append(f"{run} {tag} at {step}: expected {value}, found {got}")
    tags = {tag for _, tag, _ in found}
    wanted = {"batch_loss", "batch_mae", "epoch_learning_rate", "epoch_loss", "epoch_mae", "evaluation_loss_vs_iterations",
              "evaluation_mae_vs_iterations"}
    if tags != wanted:
        findings.append(f"tags {sorted(tags)}, expected {sorted(wanted)}")
    print("\n".join(findings + [f"{count} scalars, {len(findings)} findings"]))
    return 1 if findings or count != 24 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
