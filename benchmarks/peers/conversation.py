# Shared by the peer programs: the protocol with a benchmark, in which requests and replies are lines.
# SPDX-License-Identifier: Apache-2.0
import os
import sys

_out = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # for text that libraries print


def use_threads(count):
    """Call it before any library is loaded. Threads spin between calls, but not during the turns of others."""
    for library in ("OMP", "MKL", "OPENBLAS"):
        os.environ[f"{library}_NUM_THREADS"] = str(count)
    os.environ["KMP_BLOCKTIME"] = "1"
    os.environ["OPENBLAS_THREAD_TIMEOUT"] = "20"
    os.environ["GOMP_SPINCOUNT"] = "60000"


def serve(make, prepare, seconds):
    """Prints `ready VERSION` of the library that make() returns, or `missing REASON`; then answers `prepare WORDS...`
    by prepare(library, *words), a text, and any other request `WORD N` by seconds(library, N), a number."""
    try:
        library = make()
    except Exception as error:
        _out.write(f"missing {type(error).__name__}: {error}".replace("\n", " ") + "\n")
        return
    _out.write(f"ready {library.version}\n")
    for line in sys.stdin:
        request, *words = line.split()
        try:
            reply = prepare(library, *words) if request == "prepare" else repr(seconds(library, int(words[0])))
        except Exception as error:
            reply = f"missing {type(error).__name__}: {error}".replace("\n", " ")[:300]
        _out.write(reply + "\n")
