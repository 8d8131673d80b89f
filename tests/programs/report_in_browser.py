#!/usr/bin/env python3
# Opens the pages of write_reports: they are XML, and a headless browser shows them without console errors and sorts.
# SPDX-License-Identifier: Apache-2.0
"""Usage: report_in_browser.py FOLDER

Without a browser the test checks the files as XML and is then skipped (exit code 77), with the reason.
"""
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pixels(path):
    """The rows of a PNG of 8-bit RGB or RGBA, without alpha."""
    with open(path, "rb") as file:
        data = file.read()
    at, header, packed = 8, None, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", data[at + 8:at + 8 + size])
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    width, height, depth, color = header[:4]
    if depth != 8 or color not in (2, 6):
        raise ValueError(f"{path}: expected 8-bit RGB or RGBA, got depth {depth}, color type {color}")
    step = 3 if color == 2 else 4
    raw, rows, before = zlib.decompress(packed), [], bytearray(width * step)
    for row in range(height):
        start = row * (width * step + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + width * step])
        for i in range(len(line)):
            a = line[i - step] if i >= step else 0
            b, c = before[i], before[i - step] if i >= step else 0
            near = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, near)[kind]) & 255
        rows.append(bytes(line))
        before = line
    return width, step, rows


def check_screenshot(path):
    """The fraction of pixels that differ from the corner must be that of a page with text."""
    width, step, rows = pixels(path)
    paper, different, total = rows[0][:3], 0, 0
    for row in rows[::3]:
        for x in range(0, width, 3):
            total += 1
            different += row[x * step:x * step + 3] != paper
    if not 0.01 < different / total < 0.9:
        return f"{path}: {100 * different / total:.1f} % of the pixels differ from the paper; expected a page with text"
    return None


def check_sorting(command, page, home):
    """Two clicks on "Parameters" must sort the layers by their counts, the largest first."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    click = 'document.querySelectorAll("#layers th button")[4].click();'
    clicked = os.path.join(home, "clicked.html")
    with open(clicked, "w", encoding="utf-8") as file:
        file.write(text.replace("//]]>", 2 * click + "//]]>"))
    dom = subprocess.run(command + ["--dump-dom", "file://" + clicked], capture_output=True, text=True, timeout=90,
                         check=True).stdout
    layers = dom[dom.index('<section id="layers"'):dom.index('<section id="policies"')]
    rows = re.findall(r"<tr>(<td.*?)</tr>", layers)
    counts = [int(re.findall(r'class="number" data-key="(\d+)"', row)[1]) for row in rows]
    if len(counts) < 10 or counts != sorted(counts, reverse=True) or 'aria-sort="descending"' not in layers:
        return f"{page}: after two clicks the counts of parameters are {counts}; expected the largest first"
    return None


def main(folder):
    pages = sorted(glob.glob(os.path.join(folder, "*.html")))
    names = [os.path.basename(page) for page in pages]
    if names != ["branched.html", "deep.html", "unbuilt.html"]:
        return f"{folder} holds {names}; expected the pages of write_reports"
    for path in pages + [os.path.join(folder, "branched.svg")]:
        xml.etree.ElementTree.parse(path)
    if dot := shutil.which("dot"):
        subprocess.run([dot, "-Tsvg", "-o", os.devnull, os.path.join(folder, "branched.dot")], check=True)
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        print(f"skipped: none of {', '.join(BROWSERS)} is installed; the files are XML")
        return 77
    with tempfile.TemporaryDirectory() as home:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={home}/profile"]
        for page in pages:
            picture = os.path.join(home, os.path.basename(page) + ".png")
            run = subprocess.run(
                command + ["--enable-logging=stderr", "--v=0", "--window-size=560,420", f"--screenshot={picture}",
                           "file://" + os.path.abspath(page)],
                capture_output=True, text=True, timeout=90, check=False)
            errors = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
            if run.returncode or errors:
                return f"{page}: exit code {run.returncode}; console: {errors or run.stderr}"
            if fault := check_screenshot(picture):
                return fault
            print(f"{os.path.basename(page)}: shown without a console error")
        if fault := check_sorting(command, pages[0], home):
            return fault
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
