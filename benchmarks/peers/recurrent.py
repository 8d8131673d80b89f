# Recurrent layers in the library that argv[1] names; requests and replies are lines.
# SPDX-License-Identifier: Apache-2.0
"""Usage: recurrent.py "PyTorch eager" | "Keras on JAX"  THREADS

Prints `ready VERSION` or `missing REASON`, then answers
  prepare LAYER POLICY STEPS RATE FOLDER
           the losses of the first STEPS steps of SGD with that learning rate, from the weights w0, w1, ... and the batch
           x, y of FOLDER; if STEPS is 0, the layer predicts, and the loss is the mean square of its outputs minus
           y. LAYER is LSTM, GRU, SimpleRNN or Bidirectional (of an LSTM); it returns the outputs of all steps
  calls N  seconds per call, over N more steps from the same weights at a learning rate of 0, or over N predictions
"""
import os
import sys
import time

from conversation import serve, use_threads

name, threads = sys.argv[1], int(sys.argv[2])
use_threads(threads)
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"


def torch_weights(layer, weights):
    """Keras's weights as the parameters of PyTorch's module, which has two biases and orders a GRU's gates
    differently."""
    result = []
    for kernel, recurrent, bias in zip(*[iter(weights)] * 3, strict=True):
        arrays = [kernel, recurrent, *(bias if layer == "GRU" else (bias, numpy.zeros_like(bias)))]
        if layer == "GRU":
            update, reset, candidate = zip(*(numpy.split(array, 3, -1) for array in arrays))
            arrays = [numpy.concatenate(gates, -1) for gates in zip(reset, update, candidate)]
        result += [array.T for array in arrays]
    return result


class Torch:
    def __init__(self):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        self.version = torch.__version__

    def prepare(self, layer, policy, weights, x, y):
        torch = self.torch
        kind = {"LSTM": torch.nn.LSTM, "GRU": torch.nn.GRU, "SimpleRNN": torch.nn.RNN, "Bidirectional": torch.nn.LSTM}[layer]
        net = kind(*weights[0].shape[:1], *weights[1].shape[:1], batch_first=True, bidirectional=layer == "Bidirectional")
        self.net, self.layer, self.weights = net, layer, torch_weights(layer, weights)
        x, y = torch.from_numpy(x), torch.from_numpy(y)
        autocast = lambda: torch.autocast("cpu", dtype=torch.bfloat16, enabled=policy == "mixed_bfloat16")

        def predict():
            with torch.inference_mode(), autocast():
                return net(x)[0]

        def step():
            self.sgd.zero_grad(set_to_none=True)
            with autocast():
                loss = torch.nn.functional.mse_loss(net(x)[0].float(), y)
            loss.backward()
            self.sgd.step()
            return loss.detach()

        self.predict, self.step = predict, step

    def start(self, rate):
        with self.torch.no_grad():
            for parameter, value in zip(self.net.parameters(), self.weights, strict=True):
                parameter.copy_(self.torch.from_numpy(value))
        # Keras has one bias where PyTorch has the sum of two: the second one stays 0.
        second = lambda name: "bias_hh" in name and self.layer != "GRU"
        groups = [{"params": [parameter], "lr": 0.0 if second(name) else rate}
                  for name, parameter in self.net.named_parameters()]
        self.sgd = self.torch.optim.SGD(groups, lr=rate)

    def outputs(self):
        return self.predict().float().numpy()


class Keras:
    def __init__(self):
        import jax
        import keras
        self.jax, self.keras = jax, keras
        self.version = f"{keras.__version__} (JAX {jax.__version__})"

    def prepare(self, layer, policy, weights, x, y):
        keras = self.keras
        keras.utils.clear_session()
        self.jax.clear_caches()
        keras.config.set_dtype_policy(policy)
        kind = {"LSTM": keras.layers.LSTM, "GRU": keras.layers.GRU, "SimpleRNN": keras.layers.SimpleRNN,
                "Bidirectional": keras.layers.LSTM}[layer]
        made = kind(weights[1].shape[0], return_sequences=True)
        made = keras.layers.Bidirectional(made) if layer == "Bidirectional" else made
        self.net, self.weights = keras.Sequential([keras.Input(x.shape[1:]), made]), weights
        x, y = self.jax.numpy.asarray(x), self.jax.numpy.asarray(y)
        self.step = lambda: self.net.train_on_batch(x, y)
        self.predict = lambda: self.net.predict_on_batch(x)

    def start(self, rate):
        self.net.set_weights(self.weights)
        self.net.compile(self.keras.optimizers.SGD(rate), "mse")

    def outputs(self):
        return self.predict().astype("float32")


def library():
    global numpy
    import numpy
    return {"PyTorch eager": Torch, "Keras on JAX": Keras}[name]()


def prepare(library, layer, policy, steps, rate, folder):
    load = lambda part: numpy.load(os.path.join(folder, part + ".npy"))
    count = sum(name.startswith("w") for name in os.listdir(folder))
    y, steps = load("y"), int(steps)
    library.prepare(layer, policy, [load(f"w{i}") for i in range(count)], load("x"), y)
    library.start(float(rate))
    if steps:
        losses = [float(library.step()) for _ in range(steps)]
        library.start(0.0)
    else:
        losses = [float(((library.outputs().astype("float64") - y)**2).mean())]
    library.call = library.step if steps else library.predict
    return " ".join(map(repr, losses))


def seconds(library, calls):
    start = time.perf_counter()
    for _ in range(calls):
        library.call()
    return (time.perf_counter() - start) / calls


serve(library, prepare, seconds)
