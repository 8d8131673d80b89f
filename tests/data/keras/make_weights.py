#!/usr/bin/env python3
# Makes the small HDF5 files of tests/frontend/io/H5File.cpp by h5py: chunked, linked, virtual and external numbers.
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
with file("compressed.h5") as made:  # both arrays come through the pipe
    made.create_dataset("a/vars/0", data=numbers, chunks=(2, 2), compression="gzip")
    made.create_dataset("a/vars/1", data=np.float16([1, -2, 0.5]), chunks=(2,))
    made.create_dataset("a/vars/2", data=np.array([True, False]))
with file("cycles.h5") as made:  # a group that contains itself, and two names of a dataset
    made.create_dataset("a/vars/0", data=numbers)
    made["a/itself"] = made["a"]
    made["b/vars/0"] = made["a/vars/0"]
for name, link in [("soft_link.h5", h5py.SoftLink("/a/vars/0")), ("external_link.h5", h5py.ExternalLink("cycles.h5", "/b"))]:
    with file(name) as made:
        made.create_dataset("a/vars/0", data=numbers)
        made["b"] = link
with file("virtual.h5") as made:  # its numbers are those of cycles.h5
    layout = h5py.VirtualLayout(numbers.shape, numbers.dtype)
    layout[:] = h5py.VirtualSource("cycles.h5", "a/vars/0", numbers.shape)
    made.create_virtual_dataset("a/vars/0", layout)
with file("external.h5") as made:  # its numbers are bytes of another file
    made.create_dataset("a/vars/0", numbers.shape, numbers.dtype, external=[("cycles.h5", 0, numbers.nbytes)])
with file("types.h5") as made:  # types that Keras does not store
    made.create_dataset("a/vars/0", data=np.arange(3, dtype=">f4"))
    made.create_dataset("a/vars/1", data=["text"])
