# Checks in the object files of the library and the tools that no static or thread_local object has a destructor.
# SPDX-License-Identifier: Apache-2.0
"""A static object that exit() destroys is used afterwards by functions of std::atexit(), by users' static objects, and
by threads that still run. So a static object with a destructor is a reference to an object made by `new`, and a
thread_local object is a PerThread (runtime/base/PerThread.h). This check looks for code that registers a destructor.

usage: destructors.py BUILD_DIR LLVM_BIN_DIR
"""
import pathlib
import re
import subprocess
import sys

ROOMS = ["runtime", "dialect", "compiler", "frontend", "tools"]
REGISTERS = re.compile(r"^(__cxa_atexit|__cxa_thread_atexit(_impl)?|atexit|at_quick_exit|on_exit)(-0x[0-9a-f]+|@\w+)?$")
# Functions that may register a destructor, each with the reason.
ALLOWED = {
    r"noticeThreadEnd\(\)": "the end of a thread begins with the destruction of its thread_local objects (CompilerGate.cpp)",
    r"noticeExit\(\)": "exit() waits for threads inside the compiler (CompilerGate.cpp)",
    r"halftone_open_communicator|\(anonymous namespace\)::join\(\)": "the process takes its leave of MPI (halftone-mpi.cpp)",
    r"halftone-lsp-server\.cpp\.o: main$": "the language server's relay passes on its last messages",
    r"watchFailures\(": "the end of the process in a pass is told (PassFailures.cpp)",
}
# Destructors in headers of other projects, in tools whose threads have ended when main() returns: the counter of
# <iostream>, LLVM's command-line options, and CLI11's validators.
FOREIGN = re.compile(r"_ZNSt8ios_base4InitD1Ev|_ZN4llvm2cl|_ZN3CLI")


def symbols_of(nm: str, file: pathlib.Path) -> set[str]:
    out = subprocess.run([nm, "--undefined-only", "--format=just-symbols", file], capture_output=True, text=True, check=True)
    return set(out.stdout.split())


def registrations(objdump: str, file: pathlib.Path) -> list[tuple[str, str]]:
    """The functions that register, each with the destructor that it registers, or ""."""
    out = subprocess.run([objdump, "-dr", "--no-show-raw-insn", file], capture_output=True, text=True, check=True).stdout
    found, name, refers, destructor = [], "", [], ""
    for line in out.splitlines():
        if head := re.match(r"^[0-9a-f]+ <(.*)>:$", line):
            name, refers, destructor = head.group(1), [], ""
        elif "R_" in line:
            symbol = line.split()[-1]
            if REGISTERS.match(symbol):  # the arguments are destructor, object, library; the first may be in a register
                given = [each for each in refers[-3:] if re.search(r"D[12]Ev", each)]
                destructor = given[-1] if given else destructor
                found.append((name, destructor))
            refers.append(symbol)
    return found


def demangled(cxxfilt: str, name: str) -> str:
    return subprocess.run([cxxfilt, name], capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    build, tools = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    nm, objdump, cxxfilt = (str(tools / name) for name in ("llvm-nm", "llvm-objdump", "llvm-cxxfilt"))
    files = sorted(file for room in ROOMS for file in (build / room).rglob("*.o"))
    if not any("Unity" in str(file) or "ForkGate" in file.name for file in files):
        print(f"destructors.py: no object files below {build}")
        return 1
    wrong, allowed = [], set()
    for file in files:
        if not any(REGISTERS.match(symbol) for symbol in symbols_of(nm, file)):
            continue
        for name, destructor in registrations(objdump, file):
            text = demangled(cxxfilt, name)
            rule = next((rule for rule in ALLOWED if re.search(rule, f"{file.name}: {text}")), None)
            if rule:
                allowed.add(rule)
                continue
            isOfTool = "tools" in file.relative_to(build).parts
            if isOfTool and (FOREIGN.search(destructor) or text.startswith("CLI::")):
                continue
            wrong.append(f"{file.relative_to(build)}: {text} {demangled(cxxfilt, re.sub(r'-0x4$', '', destructor))}")
    for each in sorted(set(wrong)):
        print(f"{each}: registers the destructor of a static or thread_local object")
    if r"noticeExit\(\)" not in allowed:
        print("destructors.py: found nothing, not even the registrations of CompilerGate.cpp")
        return 1
    return 1 if wrong else 0


sys.exit(main())
