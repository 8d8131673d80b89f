# Matrix products in the library that argv[1] names; requests and replies are lines.
# SPDX-License-Identifier: Apache-2.0
"""Usage: gemm.py OpenBLAS | MKL | oneDNN | "oneDNN of PyTorch"  THREADS

Prints `ready VERSION` or `missing REASON`, then answers
  prepare DTYPE M N K   the sum of all elements of A x B (M x K by K x N), where A[i] = (i % 13 - 6) / 8 and
                        B[i] = (i % 11 - 5) / 8, in row-major order
  calls TIMES           seconds per call, without the overhead of calling from Python
oneDNN keeps narrow weights in the layout that it chooses. In int8, A and B are 8 times as large, and sums are int32.
PyTorch uses oneDNN for narrow floats and int8, and another library for float32.
"""
import ctypes as C
import sys

from conversation import serve, use_threads

name, threads = sys.argv[1], int(sys.argv[2])
use_threads(threads)

from dnnl import Calls, OneDnn, TorchDnn, load, operand  # noqa: E402: after the threads are set


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


class Products(OneDnn):
    def descriptor(self, dtype, rows, columns, plain):
        return self.strided(dtype, (rows, columns), (columns, 1)) if plain else self.any_layout(dtype, (rows, columns))

    def prepare(self, dtype, m, n, k):
        a, b, c = operand(m * k, 13), operand(k * n, 11), numpy.zeros(m * n, numpy.float32)
        if dtype == "int8":
            a, b = a * 8, b * 8
        self.tensors = a, b, c
        kind, wide = self.DTYPES[dtype], self.DTYPES["float32"]
        narrow = kind != wide
        sums = self.DTYPES["int32"] if dtype == "int8" else kind
        source, result = self.descriptor(kind, m, k, True), self.descriptor(sums, m, n, True)
        weights = self.descriptor(kind, k, n, not narrow)
        product = self.made("dnnl_matmul_primitive_desc_create", self.engine, source, weights, None, result, None)
        if narrow:
            weights = self.queried(product, self.WEIGHTS_DESCRIPTOR)
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


class TorchProducts(TorchDnn):
    def prepare(self, dtype, m, n, k):
        if dtype == "float32":
            raise ValueError("PyTorch multiplies float32 by another library")
        a, b = operand(m * k, 13).reshape(m, k), operand(k * n, 11).reshape(k, n)
        if dtype == "int8":
            a, b = self.tensor(a * 8, dtype), self.tensor(b * 8, dtype)
            self.step = lambda: self.torch._int_mm(a, b)
        else:
            operators = self.torch.ops.mkldnn
            a, b = self.tensor(a, dtype), operators._reorder_linear_weight(self.tensor(b, dtype).t().contiguous())
            self.step = lambda: operators._linear_pointwise(a, b, None, "none", [], "")
        return self.step().double().sum()


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
    return {"OpenBLAS": open_blas, "MKL": mkl, "oneDNN": Products, "oneDNN of PyTorch": lambda: TorchProducts(threads)}[name]()


serve(library,
      prepare=lambda library, dtype, *extents: repr(float(library.prepare(dtype, *map(int, extents)))),
      seconds=lambda library, times: library.seconds(times))
