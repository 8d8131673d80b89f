#!/usr/bin/env python3
# Builds the target `docs` and checks that the reference has every op, every pass and every public class.
# SPDX-License-Identifier: Apache-2.0
"""Usage: docs.py ROOT BUILD_FOLDER"""
import glob
import os
import re
import subprocess
import sys


def read(*paths):
    text = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text.append(file.read())
    return "\n".join(text)


def main(root, build):
    subprocess.run(["cmake", "--build", build, "--target", "docs"], check=True)
    docs = os.path.join(build, "docs")
    ops = read(*glob.glob(os.path.join(root, "dialect", "ops", "*.td")))
    passes = read(os.path.join(root, "compiler", "passes", "Passes.td"))
    headers = read(*glob.glob(os.path.join(root, "include", "halftone", "*.h")))
    headers = re.sub(r"^namespace detail \{.*?^\} // namespace detail", "", headers, flags=re.S | re.M)
    attributes = read(os.path.join(root, "dialect", "Attributes.cpp"))
    known = set(re.findall(r'\{"(\w+)", Owner::', attributes))
    kernels = read(os.path.join(root, "dialect", "KernelAttributes.def"))
    known |= set(re.findall(r'^KERNEL_ATTRIBUTE\(\w+, \w+, "(\w+)"\)', kernels, re.M))
    table = re.findall(r"^    \| (`halftone\..*?) \|", read(os.path.join(root, "dialect", "Dialect.td")), re.M)
    told = set(re.findall(r"`halftone\.(\w+)`", "\n".join(table)))
    if known != told or not known:
        sys.exit(f"Dialect.td tells of the attributes {sorted(told)}; expected those of Attributes.cpp and KernelAttributes.def, {sorted(known)}")
    expected = [("ops.md", f"### `halftone.{name}`") for name in re.findall(r'^def \w+ : \w+<"(\w+)"', ops, re.M)]
    expected += [("passes.md", f"### `-halftone-{flag}`") for flag in re.findall(r'Pass : Halftone_Pass<"([\w-]+)"', passes)]
    # The names are those of classes, so the list of all classes must contain each of them.
    expected += [("api/annotated.html", f">{name}<") for name in re.findall(r"^class HALFTONE_API (\w+)", headers, re.M)]
    texts = {name: read(os.path.join(docs, name)) for name in ("ops.md", "passes.md", "api/annotated.html")}
    missing = [f"{name} lacks {heading}" for name, heading in expected if heading not in texts[name]]
    for name in texts:
        if not any(name == file for file, _ in expected):
            missing.append(f"found nothing that {name} should have")
    print("\n".join(missing + [f"{len(expected)} entries expected, {len(missing)} findings"]))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)
