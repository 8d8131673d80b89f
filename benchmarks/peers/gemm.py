# Matrix products in the library that argv[1] names; requests and replies are lines.
# SPDX-License-Identifier: Apache-2.0
"""Usage: gemm.py OpenBLAS | MKL | oneDNN  THREADS

Says `ready VERSION` or `missing REASON`, then answers
  prepare DTYPE M N K   the sum of all elements of A x B (M x K by K x N), where A[i] = (i % 13 - 6) / 8 and
                        B[i] = (i % 11 - 5) / 8, counted row by row
  calls TIMES           seconds a call, without what a call costs from Python
oneDNN keeps narrow weights in the layout that it asks for.
"""
import ctypes as C
import glob
import os
import sys
import time

from conversation import serve, use_threads

name, threads = sys.argv[1], int(sys.argv[2])
use_threads(threads)
library_path = os.path.join(sys.prefix, "lib")


def load(*patterns):
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(library_path, pattern))):
            return C.CDLL(path, mode=C.RTLD_GLOBAL)
    raise FileNotFoundError(f"no {patterns[0]} in {library_path}")


def clock(function, arguments, times):
    start = time.perf_counter()
    for _ in range(times):
        function(*arguments)
    return (time.perf_counter() - start) / times


class Calls:
    """A function of C and its arguments."""

    def seconds(self, times):
        clock(self.function, self.arguments, 3)  # wakes the threads
        taken = clock(self.function, self.arguments, times)
        return max(taken - clock(C.CDLL(None).abs, self.arguments, min(times, 1000)), 1e-9)


class Blas(Calls):
    def __init__(self, library, prefix, version):
        self.gemm, self.version = getattr(library, prefix + "cblas_sgemm"), version
        self.gemm.restype = None

    def prepare(self, dtype, m, n, k):
        if dtype != "float32":
            raise ValueError("float32 only")
        self.tensors = a, b, c = operand(m * k, 13), operand(k * n, 11), numpy.zeros(m * n, numpy.float32)
        at = lambda tensor: C.c_void_p(tensor.ctypes.data)
        row_major, no_transpose = 101, 111
        self.function = self.gemm
        self.arguments = (C.c_int(row_major), C.c_int(no_transpose), C.c_int(no_transpose), C.c_int(m), C.c_int(n),
                          C.c_int(k), C.c_float(1), at(a), C.c_int(k), at(b), C.c_int(n), C.c_float(0), at(c), C.c_int(n))
        self.function(*self.arguments)
        return c.sum(dtype=numpy.float64)


class OneDnn(Calls):
    DTYPES = {"float16": 1, "bfloat16": 2, "float32": 3}
    SOURCE, RESULT, WEIGHTS = 1, 17, 33  # DNNL_ARG_*, for the operands of a primitive
    WEIGHTS_DESCRIPTOR = 131  # dnnl_query_weights_md
    ANY_LAYOUT = 1

    class Argument(C.Structure):
        _fields_ = [("index", C.c_int), ("memory", C.c_void_p)]

    class Version(C.Structure):
        _fields_ = [("major", C.c_int), ("minor", C.c_int), ("patch", C.c_int)]

    def __init__(self):
        self.dnnl = load("libdnnl.so.3")
        self.dnnl.dnnl_version.restype = C.POINTER(self.Version)
        self.dnnl.dnnl_primitive_desc_query_md.restype = C.c_void_p
        version = self.dnnl.dnnl_version().contents
        self.version = f"{version.major}.{version.minor}.{version.patch}"
        self.engine = self.made("dnnl_engine_create", C.c_int(1), C.c_size_t(0))
        self.stream = self.made("dnnl_stream_create", self.engine, C.c_uint(1))

    def call(self, function, *arguments):
        status = getattr(self.dnnl, function)(*arguments)
        if status:
            raise RuntimeError(f"{function}: status {status}")

    def made(self, function, *arguments):
        handle = C.c_void_p()
        self.call(function, C.byref(handle), *arguments)
        return handle

    def descriptor(self, dtype, rows, columns, plain):
        dims = (C.c_int64 * 12)(rows, columns)
        if plain:
            strides = (C.c_int64 * 12)(columns, 1)
            return self.made("dnnl_memory_desc_create_with_strides", C.c_int(2), dims, C.c_int(dtype), strides)
        return self.made("dnnl_memory_desc_create_with_tag", C.c_int(2), dims, C.c_int(dtype), C.c_int(self.ANY_LAYOUT))

    def memory(self, descriptor, data=None):
        allocate = C.c_void_p(-1 % 2**64)
        return self.made("dnnl_memory_create", descriptor, self.engine, C.c_void_p(data.ctypes.data) if data is not None else allocate)

    def execute(self, primitive, arguments):
        pairs = (self.Argument * len(arguments))(*[(index, memory.value) for index, memory in arguments])
        arguments = (primitive, self.stream, C.c_int(len(pairs)), pairs)
        self.call("dnnl_primitive_execute", *arguments)
        self.call("dnnl_stream_wait", self.stream)
        return arguments

    def reorder(self, source, source_memory, target, target_memory):
        description = self.made("dnnl_reorder_primitive_desc_create", source, self.engine, target, self.engine, None)
        self.execute(self.made("dnnl_primitive_create", description), [(self.SOURCE, source_memory), (self.RESULT, target_memory)])

    def prepare(self, dtype, m, n, k):
        a, b, c = operand(m * k, 13), operand(k * n, 11), numpy.zeros(m * n, numpy.float32)
        self.tensors = a, b, c
        kind, wide = self.DTYPES[dtype], self.DTYPES["float32"]
        narrow = kind != wide
        source, result = self.descriptor(kind, m, k, True), self.descriptor(kind, m, n, True)
        weights = self.descriptor(kind, k, n, not narrow)
        product = self.made("dnnl_matmul_primitive_desc_create", self.engine, source, weights, None, result, None)
        if narrow:
            weights = C.c_void_p(self.dnnl.dnnl_primitive_desc_query_md(product, C.c_int(self.WEIGHTS_DESCRIPTOR), C.c_int(0)))
        plain = [self.descriptor(wide, *shape, True) for shape in ((m, k), (k, n), (m, n))]
        plain_memory = [self.memory(descriptor, data) for descriptor, data in zip(plain, self.tensors)]
        if narrow:
            memory = [self.memory(descriptor) for descriptor in (source, weights, result)]
            for i in range(2):
                self.reorder(plain[i], plain_memory[i], (source, weights)[i], memory[i])
        else:
            memory = plain_memory
        primitive = self.made("dnnl_primitive_create", product)
        self.arguments = self.execute(primitive, list(zip((self.SOURCE, self.WEIGHTS, self.RESULT), memory)))
        self.function = self.dnnl.dnnl_primitive_execute
        if narrow:
            self.reorder(result, memory[2], plain[2], plain_memory[2])
        return c.sum(dtype=numpy.float64)


def operand(count, period):
    return ((numpy.arange(count) % period - period // 2) / 8).astype(numpy.float32)


def open_blas():
    library = load("python*/site-packages/scipy_openblas32/lib/libscipy_openblas.so")
    library.scipy_openblas_get_config.restype = library.scipy_openblas_get_corename.restype = C.c_char_p
    version = library.scipy_openblas_get_config().decode().split()[1]
    return Blas(library, "scipy_", f"{version} ({library.scipy_openblas_get_corename().decode()})")


def mkl():
    library = load("libmkl_rt.so*")
    text = C.create_string_buffer(200)
    library.mkl_get_version_string(text, C.c_int(200))
    return Blas(library, "", text.value.decode().split(" for ")[0].removeprefix("Intel(R) oneAPI Math Kernel Library "))


def library():
    global numpy
    import numpy
    return {"OpenBLAS": open_blas, "MKL": mkl, "oneDNN": OneDnn}[name]()


serve(library,
      prepare=lambda library, dtype, *extents: repr(float(library.prepare(dtype, *map(int, extents)))),
      seconds=lambda library, times: library.seconds(times))
