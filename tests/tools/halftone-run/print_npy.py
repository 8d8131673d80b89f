# Prints the elements of .npy files, one line per file.
# SPDX-License-Identifier: Apache-2.0
import ast
import struct
import sys

for path in sys.argv[1:]:
    data = open(path, "rb").read()
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10:10 + length].decode())
    code = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "<f2": "e"}[header["descr"]]
    print(*(v for (v,) in struct.iter_unpack("<" + code, data[10 + length:])))
