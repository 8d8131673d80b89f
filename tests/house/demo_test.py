# Runs scripts/demo into a file, with stand-ins for the build and the programs: each line appears exactly once.
# SPDX-License-Identifier: Apache-2.0
"""Usage: demo_test.py ROOT"""
import os
import shutil
import subprocess
import sys
import tempfile

POLICIES = ["float32", "mixed_bfloat16", "mixed_float16", "float16", "bfloat16"]
PROGRAM = """#!/bin/bash
for i in 1 2 3; do echo "Epoch $i/3 under $2"; echo "a word on stderr" >&2; done
echo "$2: test accuracy 0.98 after 3 epochs, 1.5 s"
"""
CNN_POLICIES = ["float32", "mixed_float16"]
CNN = """#!/bin/bash
echo "Epoch 1/1 of $2"
for policy in ${2//,/ }; do echo "$policy: test accuracy 0.97 after 1 epochs, 2.5 s"; done
"""


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)


def main(root):
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(folder, "scripts"))
        for name in ("demo", "usage.bash"):
            shutil.copy(os.path.join(root, "scripts", name), os.path.join(folder, "scripts", name))
        put(os.path.join(folder, "scripts", "dependencies"), "#!/bin/bash\necho installed\n")
        put(os.path.join(folder, "bin", "cmake"), "#!/bin/bash\necho cmake \"$@\"\n")
        put(os.path.join(folder, "build", "release", "examples", "01-mnist"), PROGRAM)
        put(os.path.join(folder, "build", "release", "examples", "02-mnist-cnn"), CNN)
        environment = dict(os.environ, PATH=os.path.join(folder, "bin") + ":" + os.environ["PATH"])
        log = os.path.join(folder, "log")
        command = f"{folder}/scripts/demo > {log} 2>&1"
        code = subprocess.run(["bash", "-c", command], env=environment, check=False).returncode
        with open(log, "rb") as file:
            found = file.read()
        results = [f"{policy}: test accuracy 0.98 after 3 epochs, 1.5 s" for policy in POLICIES]
        of_cnn = [f"{policy}: test accuracy 0.97 after 1 epochs, 2.5 s" for policy in CNN_POLICIES]
        told = results + [f"CNN, {line}" for line in of_cnn]
        build = "cmake --build --preset release --target 01-mnist 02-mnist-cnn"
        expected = ["installed", "cmake --preset release", build, "Epoch 1/1 of float32,mixed_float16"] + of_cnn + told[-2:]
        lines = found.decode(errors="replace").splitlines()
        counts = {line: lines.count(line) for line in expected + results + ["a word on stderr"]}
        wanted = {line: 1 for line in expected} | {line: 2 for line in results} | {"a word on stderr": 15}
        ok = code == 0 and b"\0" not in found and counts == wanted and lines[-7:] == told
        ok = ok and all(lines.count(f"Epoch 3/3 under {policy}") == 1 for policy in POLICIES)
        if not ok:
            print(f"scripts/demo gave code {code} and wrote:\n{found!r}", file=sys.stderr)
        return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
