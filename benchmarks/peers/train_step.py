# Training steps of a network in the library that argv[1] names; requests and replies are lines.
# SPDX-License-Identifier: Apache-2.0
"""Usage: train_step.py "PyTorch eager" | "torch.compile" | "torch.compile max-autotune" | "JAX jit" |
                     "Keras on JAX"  THREADS DEVICE

DEVICE is cpu or cuda; PyTorch and JAX support both. Prints `ready VERSION` or `missing REASON`, then answers
  prepare NETWORK POLICY STEPS RATE FOLDER
            the losses of the first STEPS steps from the trainable weights w0, w1, ... and the batch x, y of FOLDER, at
            the learning rate RATE and without dropout. NETWORK is one of networks.py; Keras supports only "mlp"
  steps N   seconds per step, over N more steps from the same tensors, with dropout and at a learning rate of 0: the
            gradients stay constant, whereas training on one batch would end in slow subnormal moments
"""
import os
import sys
import time

from conversation import serve, use_threads
from networks import DROPOUT, JaxNetwork, torch_layout, torch_network, torch_weights

name, threads, device = sys.argv[1], int(sys.argv[2]), sys.argv[3]
use_threads(threads)
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_PLATFORMS"] = device
os.environ["JAX_DEFAULT_MATMUL_PRECISION"] = "highest"  # float32 products are float32, not tf32, as in PyTorch
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # other programs of the benchmark use the same GPU
if device == "cpu":
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-7


class Torch:
    def __init__(self, mode=None):
        """`mode`: the mode of torch.compile; None for eager execution."""
        import torch
        if device == "cuda" and not torch.cuda.is_available():
            raise RuntimeError("PyTorch finds no GPU")
        self.torch, self.mode = torch, mode
        torch.set_num_threads(threads)
        self.version = torch.__version__

    def prepare(self, network, policy, rate, weights, x, y):
        torch = self.torch
        torch._dynamo.reset()
        net = torch_network(torch, network, weights).to(device, memory_format=torch.channels_last)
        x, y = torch.from_numpy(torch_layout(x)).to(device), torch.from_numpy(y).to(device).long().flatten()
        adam = torch.optim.Adam(net.parameters(), lr=rate, betas=(BETA_1, BETA_2), eps=EPSILON, fused=True)
        dtype = {"float32": None, "mixed_bfloat16": torch.bfloat16, "mixed_float16": torch.float16}[policy]
        scaler = torch.amp.GradScaler(device, init_scale=32768.0, enabled=policy == "mixed_float16")

        def loss_of(x, y):
            with torch.autocast(device, dtype=dtype or torch.bfloat16, enabled=dtype is not None):
                return torch.nn.functional.cross_entropy(net(x).float(), y)

        forward = torch.compile(loss_of, mode=self.mode) if self.mode else loss_of

        def step():
            adam.zero_grad(set_to_none=True)
            loss = forward(x, y)
            scaler.scale(loss).backward()
            scaler.step(adam)
            scaler.update()
            return loss.detach()

        self.step, self.adam, self.net, self.weights = step, adam, net, torch_weights(network, weights)
        self.assign(dropout=0.0)

    def assign(self, dropout):
        with self.torch.no_grad():
            for parameter, value in zip(self.net.parameters(), self.weights, strict=True):
                parameter.copy_(self.torch.from_numpy(value))
        for layer in self.net.modules():
            if isinstance(layer, self.torch.nn.Dropout):
                layer.p = dropout

    def losses(self, count):
        return [float(self.step()) for _ in range(count)]

    def rest(self):
        self.assign(DROPOUT)
        self.adam.state.clear()
        for group in self.adam.param_groups:
            group["lr"] = 0.0

    def run(self, count):
        for _ in range(count):
            self.step()
        if device == "cuda":
            self.torch.cuda.synchronize()


class Jax:
    def __init__(self):
        import jax
        self.version = jax.__version__

    def prepare(self, network, policy, rate, weights, x, y):
        import jax
        import jax.numpy as np
        dtype = {"float32": np.float32, "mixed_bfloat16": np.bfloat16, "mixed_float16": np.float16}[policy]
        scaled = policy == "mixed_float16"
        x, y = np.asarray(x), np.asarray(y).reshape(-1)
        net = JaxNetwork(jax, network, dtype)

        def loss_of(weights, x, y, scale, moving, key):
            logits, moving = net.logits(weights, x, moving, key)
            loss = -np.take_along_axis(jax.nn.log_softmax(logits.astype(np.float32)), y[:, None], 1).mean()
            return loss * scale, (loss, moving)

        def updated(weights, m, v, count, rate, gradients):
            count = count + 1
            m = [BETA_1 * a + (1 - BETA_1) * g for a, g in zip(m, gradients)]
            v = [BETA_2 * a + (1 - BETA_2) * g * g for a, g in zip(v, gradients)]
            rate = rate * np.sqrt(1 - BETA_2**count) / (1 - BETA_1**count)
            weights = [w - rate * a / (np.sqrt(b) + EPSILON) for w, a, b in zip(weights, m, v)]
            return weights, m, v, count

        def step(state, x, y, drops):
            weights, m, v, count, rate, scale, good, moving = state
            key = jax.random.fold_in(jax.random.key(1), count.astype(np.uint32)) if drops else None
            gradients, (loss, moving) = jax.grad(loss_of, has_aux=True)(weights, x, y, scale, moving, key)
            if not scaled:
                return (*updated(weights, m, v, count, rate, gradients), rate, scale, good, moving), loss
            gradients = [g / scale for g in gradients]
            finite = np.all(np.asarray([np.all(np.isfinite(g)) for g in gradients]))
            old = (weights, m, v, count)
            new = jax.lax.cond(finite, lambda: updated(*old, rate, gradients), lambda: old)
            grow = finite & (good + 1 >= 2000)
            scale = np.where(finite, np.where(grow, scale * 2, scale), scale / 2)
            return (*new, rate, scale, np.where(finite & ~grow, good + 1, 0), moving), loss

        self.jitted = jax.jit(step, donate_argnums=0, static_argnums=3)
        zeros = lambda: [np.zeros_like(value) for value in weights]
        scale = 32768.0 if scaled else 1.0
        self.start = lambda rate: ([np.array(value) for value in weights], zeros(), zeros(), np.float32(0),
                                   np.float32(rate), np.float32(scale), np.int32(0), [np.array(a) for a in net.moving])
        self.state = self.start(rate)
        self.data = (x, y, False)

    def losses(self, count):
        losses = []
        for _ in range(count):
            self.state, loss = self.jitted(self.state, *self.data)
            losses.append(float(loss))
        return losses

    def rest(self):
        self.state = self.start(0)
        self.data = (*self.data[:2], True)

    def run(self, count):
        loss = None
        for _ in range(count):
            self.state, loss = self.jitted(self.state, *self.data)
        loss.block_until_ready()
        self.state[0][0].block_until_ready()


class Keras:
    def __init__(self):
        import jax
        import keras
        self.keras = keras
        self.version = f"{keras.__version__} (JAX {jax.__version__})"

    def prepare(self, network, policy, rate, weights, x, y):
        keras = self.keras
        keras.config.set_dtype_policy(policy)
        dense = keras.layers.Dense
        self.net = keras.Sequential([keras.Input((784,)), dense(512, "relu"), dense(512, "relu"), dense(10)])
        self.data, self.weights = (x, y), weights
        self.start(rate)

    def start(self, rate):
        self.net.set_weights(self.weights)
        loss = self.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.net.compile(self.keras.optimizers.Adam(rate), loss)

    def losses(self, count):
        return [float(self.net.train_on_batch(*self.data)) for _ in range(count)]

    def rest(self):
        self.start(0.0)

    def run(self, count):
        for _ in range(count):
            self.net.train_on_batch(*self.data)


def library():
    global numpy
    import numpy
    return {"PyTorch eager": Torch, "torch.compile": lambda: Torch("default"),
            "torch.compile max-autotune": lambda: Torch("max-autotune"), "JAX jit": Jax, "Keras on JAX": Keras}[name]()


def prepare(library, network, policy, steps, rate, folder):
    load = lambda part: numpy.load(os.path.join(folder, part + ".npy"))
    count = sum(name.startswith("w") for name in os.listdir(folder))
    library.prepare(network, policy, float(rate), [load(f"w{i}") for i in range(count)], load("x"), load("y"))
    losses = library.losses(int(steps))
    library.rest()
    return " ".join(map(repr, losses))


def seconds(library, steps):
    start = time.perf_counter()
    library.run(steps)
    return (time.perf_counter() - start) / steps


serve(library, prepare, seconds)
