#!/usr/bin/env python3
# Makes the small HDF5 files of tests/frontend/io/H5File.cpp by h5py: numbers in pieces, links, and tables that lie.
# SPDX-License-Identifier: Apache-2.0
"""Usage: make_weights.py FOLDER"""
import pathlib
import sys

import h5py
import numpy as np


def file(name):
    return h5py.File(pathlib.Path(sys.argv[1]) / name, "w")


if len(sys.argv) != 2:
    sys.exit(__doc__)
numbers = np.arange(12, dtype="float32").reshape(4, 3)
with file("compressed.h5") as made:  # the numbers of both come through the pipe
    made.create_dataset("a/vars/0", data=numbers, chunks=(2, 2), compression="gzip")
    made.create_dataset("a/vars/1", data=np.float16([1, -2, 0.5]), chunks=(2,))
    made.create_dataset("a/vars/2", data=np.array([True, False]))
with file("links.h5") as made:  # a group that holds itself, and links to nowhere, to another file and to a dataset
    made.create_dataset("a/vars/0", data=numbers)
    made["a/itself"] = made["a"]
    made["a/soft"] = h5py.SoftLink("/nowhere")
    made["a/other"] = h5py.ExternalLink("/etc/passwd", "/")
    made["b/vars/0"] = made["a/vars/0"]
with file("types.h5") as made:  # types that Keras does not store
    made.create_dataset("a/vars/0", data=np.arange(3, dtype=">f4"))
    made.create_dataset("a/vars/1", data=["text"])
