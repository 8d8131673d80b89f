# Writes a safetensors file of every dtype by the Python package safetensors.
# SPDX-License-Identifier: Apache-2.0
"""Usage: python record_files.py FOLDER

Writes FOLDER/every_dtype.safetensors: for each dtype a tensor of shape (3,), named as Halftone names the dtype, whose
bytes count up from 1 (a bool is 1, 0, 1); an empty tensor and a scalar.
"""
import os
import sys

import ml_dtypes  # noqa: F401 (NumPy then knows bfloat16 and float8)
import numpy as np
import safetensors
import safetensors.numpy

NAMES = ("bool uint8 int8 float8_e4m3fn float8_e5m2 uint16 int16 float16 bfloat16 uint32 int32 float32 uint64 int64 "
         "float64").split()


def counted(name):
    dtype = np.dtype(name)
    return np.frombuffer(bytes(range(1, 3 * dtype.itemsize + 1)), dtype)


def main(folder):
    tensors = {name: counted(name) for name in NAMES}
    tensors["bool"] = np.array([True, False, True])
    tensors["empty"] = np.zeros((0, 3), "int16")
    tensors["scalar"] = np.array(0x04030201, "uint32")
    safetensors.numpy.save_file(tensors, os.path.join(folder, "every_dtype.safetensors"),
                                {"written by": "safetensors " + safetensors.__version__})


if __name__ == "__main__":
    main(sys.argv[1])
