# oneDNN through its C API, and PyTorch's copy through its operators: shared by the peer programs.
# SPDX-License-Identifier: Apache-2.0
import ctypes as C
import glob
import os
import sys
import time

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
    """A C function and its arguments."""

    def seconds(self, times):
        clock(self.function, self.arguments, 3)  # wakes the threads
        taken = clock(self.function, self.arguments, times)
        return max(taken - clock(C.CDLL(None).abs, self.arguments, min(times, 1000)), 1e-9)


class OneDnn(Calls):
    DTYPES = {"float16": 1, "bfloat16": 2, "float32": 3, "int32": 4, "int8": 5}
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

    def strided(self, dtype, dims, strides):
        """The descriptor of a tensor with these strides."""
        return self.made("dnnl_memory_desc_create_with_strides", C.c_int(len(dims)), (C.c_int64 * 12)(*dims), C.c_int(dtype),
                         (C.c_int64 * 12)(*strides))

    def any_layout(self, dtype, dims):
        """The descriptor of a tensor whose layout the primitive chooses."""
        return self.made("dnnl_memory_desc_create_with_tag", C.c_int(len(dims)), (C.c_int64 * 12)(*dims), C.c_int(dtype),
                         C.c_int(self.ANY_LAYOUT))

    def queried(self, description, query):
        return C.c_void_p(self.dnnl.dnnl_primitive_desc_query_md(description, C.c_int(query), C.c_int(0)))

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


class TorchDnn:
    """The oneDNN that PyTorch was built with. It is accessible only through operators, so a call's time includes
    dispatch."""

    def __init__(self, threads):
        import re
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        found = re.search(r"(?:MKL-DNN|oneDNN) v([\d.]+)", torch.__config__.show())
        if not found or not torch.backends.mkldnn.is_available():
            raise RuntimeError("this PyTorch is built without oneDNN")
        self.version = f"{found[1]} (PyTorch {torch.__version__})"

    def tensor(self, array, dtype):
        return self.torch.from_numpy(array).to(getattr(self.torch, dtype))

    def seconds(self, times):
        with self.torch.no_grad():
            clock(self.step, (), 3)  # wakes the threads
            return clock(self.step, (), times)


def operand(count, period):
    """`count` consecutive elements of operand() in benchmarks/Operand.cpp."""
    import numpy

    return ((numpy.arange(count) % period - period // 2) / 8).astype(numpy.float32)
