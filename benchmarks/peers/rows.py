# Row kernels in the library that argv[1] names; requests and replies are lines.
# SPDX-License-Identifier: Apache-2.0
"""Usage: rows.py "PyTorch eager" | "JAX jit"  THREADS

Prints `ready VERSION` or `missing REASON`, then answers
  prepare KERNEL DTYPE ROWS COLUMNS   the sum of squares of each result; operands as in rows.cpp
  calls N                             seconds per call
Each computes what its users get: PyTorch the operators that its autograd calls, from what its forward pass saves (the
statistics of a layer norm); JAX the compiled gradient of the formula, including the forward pass.
"""
import os
import sys
import time

from conversation import serve, use_threads

name, threads = sys.argv[1], int(sys.argv[2])
use_threads(threads)
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

NORM_EPSILON, RMS_EPSILON = 1e-3, 1e-6


def noise(seed, *shape):
    """The noise of rows.cpp: both start from the 32-bit outputs of the Mersenne Twister."""
    bits = numpy.random.RandomState(seed).randint(0, 2**32, size=shape, dtype=numpy.uint32)
    return (bits >> 8).astype(numpy.float32) / numpy.float32(8388608) - numpy.float32(1)


class Torch:
    def __init__(self):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        self.version = torch.__version__

    def tensor(self, array, dtype):
        return self.torch.from_numpy(array).to(getattr(self.torch, dtype))

    def kernel(self, kernel, x, dy, gamma, beta, labels):
        torch = self.torch
        functional, aten, shape = torch.nn.functional, torch.ops.aten, [x.shape[1]]
        labels = torch.from_numpy(labels).long()
        if kernel == "cross-entropy":
            x.requires_grad_()

            def step():
                loss = functional.cross_entropy(x, labels)
                return loss.detach(), torch.autograd.grad(loss, x)[0]

            return step
        _, mean, rstd = torch.native_layer_norm(x, shape, gamma, beta, NORM_EPSILON)
        return {
            "softmax-forward": lambda: (torch.softmax(x, -1),),
            "softmax-backward": lambda: (aten._softmax_backward_data(dy, x, -1, x.dtype),),
            "layer-norm-forward": lambda: (functional.layer_norm(x, shape, gamma, beta, NORM_EPSILON),),
            "layer-norm-backward": lambda: aten.native_layer_norm_backward(dy, x, shape, mean, rstd, gamma, beta, [True] * 3),
            "log-softmax-forward": lambda: (torch.log_softmax(x, -1),),
            "rms-norm-forward": lambda: (functional.rms_norm(x, shape, gamma, RMS_EPSILON),),
            "cumsum-along-rows": lambda: (torch.cumsum(x, 1),),
            "cumsum-along-columns": lambda: (torch.cumsum(x, 0),),
        }[kernel]

    def numbers(self, results):
        return [float(result.double().square().sum()) for result in results]

    def run(self, count):
        for _ in range(count):
            self.step()


class Jax:
    def __init__(self):
        import jax
        self.jax = jax
        self.version = jax.__version__

    def tensor(self, array, dtype):
        import jax.numpy as np
        return np.asarray(array).astype(dtype)

    def kernel(self, kernel, x, dy, gamma, beta, labels):
        jax = self.jax
        import jax.numpy as np
        labels = np.asarray(labels)

        def layer_norm(x, gamma, beta):
            centered = x - x.mean(-1, keepdims=True)
            variance = np.square(centered).mean(-1, keepdims=True)
            return centered * jax.lax.rsqrt(variance + NORM_EPSILON) * gamma + beta

        def loss(x):
            return -np.take_along_axis(jax.nn.log_softmax(x.astype(np.float32)), labels[:, None], 1).mean()

        function, operands = {
            "softmax-forward": (jax.nn.softmax, (x,)),
            "softmax-backward": (lambda y, dy: y * (dy - (y * dy).sum(-1, keepdims=True)), (x, dy)),
            "layer-norm-forward": (layer_norm, (x, gamma, beta)),
            "layer-norm-backward": (lambda dy, *of: jax.vjp(layer_norm, *of)[1](dy), (dy, x, gamma, beta)),
            "log-softmax-forward": (jax.nn.log_softmax, (x,)),
            "rms-norm-forward": (lambda x, gamma: x * jax.lax.rsqrt(np.square(x).mean(-1, keepdims=True) + RMS_EPSILON) * gamma,
                                 (x, gamma)),
            "cumsum-along-rows": (lambda x: np.cumsum(x, 1), (x,)),
            "cumsum-along-columns": (lambda x: np.cumsum(x, 0), (x,)),
            "cross-entropy": (jax.value_and_grad(loss), (x,)),
        }[kernel]
        compiled = jax.jit(function)
        return lambda: jax.block_until_ready(compiled(*operands))

    def numbers(self, results):
        results = results if isinstance(results, (tuple, list)) else (results,)
        return [float((numpy.asarray(result.astype("float32")).astype(numpy.float64) ** 2).sum()) for result in results]

    def run(self, count):
        for _ in range(count):
            self.step()


def library():
    global numpy
    import numpy
    return {"PyTorch eager": Torch, "JAX jit": Jax}[name]()


def prepare(library, kernel, dtype, rows, columns):
    rows, columns = int(rows), int(columns)
    operands = [library.tensor(noise(seed, *shape), dtype)
                for seed, shape in ((3, (rows, columns)), (5, (rows, columns)), (7, (columns,)), (9, (columns,)))]
    labels = (numpy.arange(rows) * 7919 % columns).astype(numpy.int32)
    library.step = library.kernel(kernel, *operands, labels)
    return " ".join(map(repr, library.numbers(library.step())))


def seconds(library, calls):
    start = time.perf_counter()
    library.run(calls)
    return (time.perf_counter() - start) / calls


serve(library, prepare, seconds)
