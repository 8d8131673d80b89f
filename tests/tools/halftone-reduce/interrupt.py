# Interrupts halftone-reduce: it writes its current result, leaves no temporary file, and ends by the signal.
# SPDX-License-Identifier: Apache-2.0
"""Usage: interrupt.py MODULE, with halftone-reduce in PATH and TMPDIR an empty folder. Writes to the current folder."""
import os
import pathlib
import signal
import subprocess
import sys
import time

SCRIPT = """#!/bin/sh
echo >> asked
[ $(wc -l < asked) -eq 8 ] && touch waits && sleep 1
grep -q atan2 "$1" && exit 1
exit 0
"""


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def heed_signals():
    """In the child process: the caller of the test may ignore signals, as nohup does."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def interrupted(module, number, whole_group):
    """Ends a reduction by a signal to its process, or to its group as a terminal does. Returns the output."""
    asked, waits, small = (pathlib.Path(name) for name in ("asked", "waits", "interrupted.mlir"))
    for path in (asked, waits, small):
        path.unlink(missing_ok=True)
    tool = subprocess.Popen(["halftone-reduce", module, "--test", "./waits.sh", "-o", small], stderr=subprocess.PIPE, text=True,
                            start_new_session=True, preexec_fn=heed_signals)
    while not waits.exists():
        assert tool.poll() is None, tool.stderr.read()
        time.sleep(0.01)
    (os.killpg if whole_group else os.kill)(tool.pid, number)
    printed = tool.communicate(timeout=60)[1]
    assert tool.returncode == -number, f"{number}: {tool.returncode}: {printed}"
    assert not os.listdir(os.environ["TMPDIR"]), os.listdir(os.environ["TMPDIR"])
    assert asked.read_text().count("\n") <= 10, "it went on asking"
    text = small.read_text()
    assert "atan2" in text and len(text) < os.path.getsize(module), text
    return printed


pathlib.Path("waits.sh").write_text(SCRIPT)
os.chmod("waits.sh", 0o755)
for each, group in zip(SIGNALS, (True, False, True)):
    said = interrupted(sys.argv[1], each, group)
    assert said.startswith(f"halftone-reduce: ended by a signal: {signal.strsignal(each)}; interrupted.mlir has the"), said
