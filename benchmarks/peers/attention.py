# Attention in the library that argv[1] names; requests and replies are lines.
# SPDX-License-Identifier: Apache-2.0
"""Usage: attention.py "PyTorch eager" | "JAX jit"  THREADS

Prints `ready VERSION` or `missing REASON`, then answers
  prepare forward|train DTYPE BATCH LENGTH HEADS DEPTH CAUSAL   the sum of squares of each result
  calls N                                                       seconds per call
Operands are (batch, length, heads, depth), as in attention.cpp. PyTorch runs scaled_dot_product_attention on views
with the heads first; `train` also runs its autograd. JAX compiles dot_product_attention, and its gradient with it.
"""
import os
import sys
import time

from conversation import serve, use_threads

name, threads = sys.argv[1], int(sys.argv[2])
use_threads(threads)
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["CUDA_VISIBLE_DEVICES"] = ""


def operand(shape, period):
    """The tensor of operand() in Operand.cpp."""
    index = numpy.arange(int(numpy.prod(shape)), dtype=numpy.int64)
    return ((index % period - period // 2) / 8).astype(numpy.float32).reshape(shape)


class Torch:
    def __init__(self):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        self.version = torch.__version__

    def step_of(self, way, arrays, dtype, causal):
        torch = self.torch
        q, k, v, cotangent = [torch.from_numpy(array).to(getattr(torch, dtype)).transpose(1, 2) for array in arrays]
        attention = torch.nn.functional.scaled_dot_product_attention
        if way == "forward":
            return lambda: (attention(q, k, v, is_causal=causal),)
        leaves = [each.requires_grad_() for each in (q, k, v)]

        def train():
            out = attention(*leaves, is_causal=causal)
            return (out.detach(), *torch.autograd.grad(out, leaves, cotangent))

        return train

    def numbers(self, results):
        return [float(result.double().square().sum()) for result in results]


class Jax:
    def __init__(self):
        import jax
        self.jax = jax
        self.version = jax.__version__

    def step_of(self, way, arrays, dtype, causal):
        jax = self.jax
        import jax.numpy as np
        q, k, v, cotangent = [np.asarray(array).astype(dtype) for array in arrays]

        def attention(q, k, v):
            return jax.nn.dot_product_attention(q, k, v, is_causal=causal)

        def train(q, k, v, cotangent):
            out, backward = jax.vjp(attention, q, k, v)
            return (out, *backward(cotangent))

        compiled = jax.jit(train if way == "train" else attention)
        operands = (q, k, v, cotangent) if way == "train" else (q, k, v)
        return lambda: jax.block_until_ready(compiled(*operands))

    def numbers(self, results):
        results = results if isinstance(results, (tuple, list)) else (results,)
        return [float((numpy.asarray(each.astype("float32")).astype(numpy.float64) ** 2).sum()) for each in results]


def library():
    global numpy
    import numpy
    return {"PyTorch eager": Torch, "JAX jit": Jax}[name]()


def prepare(library, way, dtype, batch, length, heads, depth, causal):
    shape = (int(batch), int(length), int(heads), int(depth))
    arrays = [operand(shape, period) for period in (13, 11, 7, 5)]
    library.step = library.step_of(way, arrays, dtype, causal == "1")
    return " ".join(map(repr, library.numbers(library.step())))


def seconds(library, calls):
    start = time.perf_counter()
    for _ in range(calls):
        library.step()
    return (time.perf_counter() - start) / calls


serve(library, prepare, seconds)
