#!/usr/bin/env python3
# Checks that a test cites each numbered clause of docs/policies.md, and that each citation names an existing clause.
# SPDX-License-Identifier: Apache-2.0
"""Usage: policy_clauses.py ROOT

A test cites clauses in a comment line of its own: `// policies 7.1, 7.2`.
"""
import os
import re
import sys


def cited(root):
    """Clause -> the first `file:line` that cites it."""
    found = {}
    for folder, _, names in os.walk(os.path.join(root, "tests")):
        for name in sorted(names):
            if not name.endswith(".cpp"):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    citation = re.fullmatch(r"// policies (\d+\.\d+(?:, \d+\.\d+)*)\n", line)
                    for clause in citation[1].split(", ") if citation else []:
                        found.setdefault(clause, f"{os.path.relpath(path, root)}:{number}")
    return found


def main(root):
    with open(os.path.join(root, "docs", "policies.md"), encoding="utf-8") as file:
        clauses = re.findall(r"^(\d+\.\d+) ", file.read(), re.M)
    citations = cited(root)
    findings = [f"docs/policies.md: clause {c} is cited by no test" for c in clauses if c not in citations]
    findings += [f"{place}: cites {c}, which is no clause" for c, place in citations.items() if c not in clauses]
    findings += [f"docs/policies.md: clause {c} stands twice" for c in set(clauses) if clauses.count(c) > 1]
    print("\n".join(findings) if findings else f"{len(clauses)} clauses, all cited")
    return 1 if findings or not clauses else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
