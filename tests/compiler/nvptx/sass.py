# Reads sm_80 machine code from ptxas's files: instructions, loops, and an estimate of cycles from instruction counts.
# SPDX-License-Identifier: Apache-2.0
"""An instruction has 16 bytes. Its low 12 bits identify it; the upper 3 of these are the kind of its operands. Bits 34
to 81 of a branch are the distance to its target, in units of 4 bytes, from the next instruction.

usage: sass.py FOLDER PTXAS
prints a table of the products among FOLDER's kernels: for each tile the cycles of a stage for each pipe, in the slowest
operand order.
"""
import collections
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

BRANCH = 0x947
FUNCTION = 2  # the type of a symbol
NAMES = {0x23C: "HMMA", 0x237: "IMMA", 0x83B: "LDSM", 0xFAE: "LDGSTS", 0x984: "LDS", 0x388: "STS", 0x981: "LDG", 0x386: "STG"}
# The same for instructions with several kinds of operands, by the low 9 bits.
FAMILIES = {0x23: "FFMA", 0x2B: "DFMA", 0x20: "FMUL", 0x21: "FADD", 0x28: "DMUL", 0x29: "DADD"}

# Cycles for which one warp's instruction occupies its pipe of an A100 multiprocessor. Each quarter has one: products of
# 16 x 8 x 16 at 256 a cycle and quarter, f32 at 16, f64 at 8. Shared memory gives the four quarters 128 bytes a cycle.
# Each instruction also takes an issue cycle of its quarter.
PIPES = {"multiply": {"HMMA": 8, "IMMA": 8, "FFMA": 2, "FMUL": 2, "FADD": 2, "DFMA": 4, "DMUL": 4, "DADD": 4},
         "shared memory": {"LDSM": 16, "LDS": 16, "STS": 16, "LDGSTS": 16}}
DEPTH = 1024  # products per sum, in the table
# The number of products of one warp-level instruction.
PRODUCTS = {"HMMA": 16 * 8 * 16, "IMMA": 16 * 8 * 32, "FFMA": 32, "DFMA": 32}


def sections(cubin):
    """(name, bytes) of each section of a 64-bit ELF file."""
    start, = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQ", cubin, start + i * size) for i in range(count)]
    strings = headers[names][4]
    for name, _, _, _, offset, length in headers:
        end = cubin.index(b"\0", strings + name)
        yield cubin[strings + name:end].decode(), cubin[offset:offset + length]


def functions(cubin):
    """The names of the functions in a file: the entry, and the functions that it calls."""
    parts = dict(sections(cubin))
    symbols, names = parts[".symtab"], parts[".strtab"]
    for name, info, _, _, _, _ in struct.iter_unpack("<IBBHQQ", symbols):
        if info & 15 == FUNCTION:
            yield names[name:names.index(b"\0", name)].decode()


class Code:
    """The instructions of the only kernel in a file."""

    def __init__(self, cubin):
        self.words = [int.from_bytes(text[i:i + 16], "little") for name, text in sections(cubin) if name.startswith(".text.")
                      for i in range(0, len(text), 16)]

    def name(self, place):
        word = self.words[place]
        return NAMES.get(word & 0xFFF) or FAMILIES.get(word & 0x1FF) or "other"

    def loops(self):
        """(first, last) index of each loop: the extent of a backward branch."""
        found = []
        for place, word in enumerate(self.words):
            distance = word >> 34 & (1 << 48) - 1
            distance -= (distance >> 47) << 48
            target = place + 1 + distance * 4 // 16
            if word & 0xFFF == BRANCH and target < place:
                found.append((target, place))
        return found

    def counts(self, loop):
        return collections.Counter(self.name(place) for place in range(loop[0], loop[1] + 1))

    def main_loop(self, names):
        """The loop with the most instructions in `names`, counting inner loops once; of several, the shortest."""
        def rank(loop):
            counts = self.counts(loop)
            return sum(counts[name] for name in names), -counts.total()
        return max(self.loops(), key=rank, default=None)

    def around(self, loop):
        """The shortest loop that strictly contains `loop`, or None."""
        outer = [other for other in self.loops() if other[0] <= loop[0] and other[1] > loop[1]]
        return min(outer, key=lambda other: other[1] - other[0], default=None)


def times(counts):
    """The cycles of each pipe of a quarter for one warp."""
    found = {pipe: sum(counts[name] * cycles for name, cycles in costs.items()) for pipe, costs in PIPES.items()}
    return found | {"issue": counts.total()}


def stage_of(code, products):
    """Counts of all instructions of one warp for a stage with `products` products: the main loop, and the rest of the
    enclosing loop if a stage takes several rounds."""
    loop = code.main_loop(PRODUCTS)
    counts = code.counts(loop)
    rounds = products // sum(counts[name] * number for name, number in PRODUCTS.items())
    stage = collections.Counter({name: count * rounds for name, count in counts.items()})
    if rounds > 1:
        stage += code.counts(code.around(loop)) - counts
    return stage


def estimate(title, code):
    """The tile of a kernel, from its title, and the cycles of each pipe of a quarter for one stage."""
    what, rows, columns, depth, down, across, worker = re.search(
        r"([\w.]+(?: multiply-add)?), tiles of (\d+) x (\d+) x (\d+), (\d+) x (\d+) sums per (\w+)", title).groups()
    part = int(down) * int(across) * (1 if worker == "warp" else 32)
    warps = int(rows) * int(columns) // part
    pipes = {pipe: time * -(-warps // 4) for pipe, time in times(stage_of(code, part * int(depth))).items()}
    return (what, f"{rows} x {columns}", int(depth), warps), pipes


def main():
    folder, ptxas = pathlib.Path(sys.argv[1]), sys.argv[2]
    found = collections.defaultdict(list)
    for file in folder.glob("*.ptx"):
        title = file.read_text().partition("\n")[0]
        if " sums per " not in title:
            continue
        with tempfile.NamedTemporaryFile(suffix=".cubin") as out:
            subprocess.run([ptxas, "-arch=sm_80", file, "-o", out.name], check=True)
            code = Code(out.read())
        if any(code.name(place) in PRODUCTS for place in range(len(code.words))):
            tile, pipes = estimate(title, code)
            found[tile].append(pipes)
    print("| products | tile | warps |", " | ".join([*PIPES, "issue"]), f"| longest | whole tile, K = {DEPTH} | share of the peak |")
    print("|" + " --- |" * 9)
    for (what, extents, depth, warps), orders in sorted(found.items()):
        slowest = {pipe: max(pipes[pipe] for pipes in orders) for pipe in orders[0]}
        longest = max(slowest, key=slowest.get)
        row = [what, f"{extents} x {depth}", warps, *slowest.values(), longest, slowest[longest] * DEPTH // depth,
               f"{slowest['multiply'] / slowest[longest]:.2f}"]
        print("|", " | ".join(map(str, row)), "|")


if __name__ == "__main__":
    main()
