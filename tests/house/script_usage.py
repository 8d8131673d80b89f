# Runs every script with --help and with invalid arguments: nothing is installed, built or written.
# SPDX-License-Identifier: Apache-2.0
"""Usage: script_usage.py SOURCE_FOLDER"""
import os
import stat
import subprocess
import sys
import tempfile

# Programs that a script would run to do its work: a stand-in for each is first on PATH and records its calls.
WORKERS = ("apt-get", "cmake", "ctest", "cpack", "debootstrap", "pip", "sudo", "clang-tidy-22", "mpirun", "ninja", "git")


def scripts(root):
    for folder, _, names in os.walk(os.path.join(root, "scripts")):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.stat(path).st_mode & stat.S_IXUSR:
                yield path


def main(root):
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        called = os.path.join(folder, "called")
        for worker in WORKERS:
            path = os.path.join(folder, worker)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\necho {worker} "$@" >> {called}\nexit 1\n')
            os.chmod(path, 0o755)
        home = os.path.join(folder, "home")
        os.makedirs(home)
        environment = {**os.environ, "PATH": folder + ":" + os.environ["PATH"], "HOME": home, "XDG_DATA_HOME": home, "TMPDIR": home}

        def run(path, *arguments):
            done = subprocess.run([path, *arguments], env=environment, cwd=folder, capture_output=True, text=True, timeout=20, check=False)
            if os.path.exists(called) or os.listdir(home):
                with open(called, encoding="utf-8") if os.path.exists(called) else open(os.devnull, encoding="utf-8") as file:
                    failures.append(f"{path} {arguments} began to work: {file.read()}{os.listdir(home)}")
                if os.path.exists(called):
                    os.remove(called)
            return done

        for path in scripts(root):
            count += 1
            name = os.path.relpath(path, root)
            for option in ("--help", "-h"):
                done = run(path, option)
                if done.returncode or done.stderr or os.path.basename(name) not in done.stdout or "sage" not in done.stdout:
                    failures.append(f"{name} {option}: expected its usage and 0, got {done.returncode}: {done.stdout}{done.stderr}")
            for arguments in (("--frobnicate",), ("-x",), ("--help-me",)):
                done = run(path, *arguments)
                if done.returncode != 2 or arguments[0] not in done.stderr and "sage" not in done.stderr or done.stdout:
                    failures.append(f"{name} {arguments}: expected 2, got {done.returncode}: {done.stdout}{done.stderr}")
    print("\n".join(failures) or f"{count} scripts tell their usage and refuse other options")
    return 1 if failures or count < 20 else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
