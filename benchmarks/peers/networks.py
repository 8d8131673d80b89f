# The networks whose training steps are timed, in PyTorch and JAX; weights are in Keras's order.
# SPDX-License-Identifier: Apache-2.0
"""Networks: "mlp", Dense layers with relu between them, of the sizes of their weights; "convnet", Keras's MNIST convnet; "block", a residual block of 64 channels with
batch normalization, global average pooling and a Dense layer; "gptN", a GPT with N heads, whose other sizes follow
from its weights. Images are (batch, height, width, channels), tokens (batch, length), logits (count, classes)."""

DROPOUT = 0.5
EPSILON, MOMENTUM = 1e-3, 0.99  # of batch normalization
LAYER_EPSILON = 1e-5  # of layer normalization
GPT_WEIGHTS = 16  # of a layer: a normalization, four projections, a normalization, two Dense layers


def torch_gpt(torch, heads, weights):
    """A torch.nn.Module with the projections of query, key and value fused into one product."""
    nn = torch.nn
    functional = nn.functional
    (vocabulary, width), (length, _) = weights[0].shape, weights[1].shape
    normalization = lambda: nn.LayerNorm(width, eps=LAYER_EPSILON)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.projection = normalization(), nn.Linear(width, 3 * width)
            self.output = nn.Linear(width, width)
            self.second, self.up, self.down = normalization(), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            split = lambda part: part.unflatten(-1, (heads, -1)).transpose(1, 2)
            query, key, value = map(split, self.projection(self.first(x)).chunk(3, -1))
            attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + self.output(attended.transpose(1, 2).flatten(2))
            return x + self.down(functional.gelu(self.up(self.second(x))))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.layers = nn.Sequential(*[Layer() for _ in range(len(weights) // GPT_WEIGHTS)])
            self.last, self.head = normalization(), nn.Linear(width, vocabulary)

        def forward(self, x):
            x = self.tokens(x) + self.places.weight[:x.shape[1]]
            return self.head(self.last(self.layers(x))).flatten(0, 1)

    return Gpt()


def torch_network(torch, name, weights):
    """A torch.nn.Module; its Dropout layers, if any, have the rate DROPOUT."""
    nn = torch.nn
    if name.startswith("gpt"):
        return torch_gpt(torch, int(name[3:]), weights)

    class Flat(nn.Module):
        def forward(self, x):
            return x.permute(0, 2, 3, 1).flatten(1)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            convolution = lambda: nn.Conv2d(64, 64, 3, padding=1, bias=False)
            normalization = lambda: nn.BatchNorm2d(64, eps=EPSILON, momentum=1 - MOMENTUM)
            self.first, self.first_normalization = convolution(), normalization()
            self.second, self.second_normalization = convolution(), normalization()
            self.head = nn.Linear(64, 10)

        def forward(self, x):
            y = nn.functional.relu(self.first_normalization(self.first(x)))
            y = self.second_normalization(self.second(y))
            return self.head(nn.functional.relu(y + x.to(y.dtype)).mean((2, 3)))

    if name == "mlp":
        dense = [nn.Linear(*kernel.shape) for kernel in weights[::2]]
        return nn.Sequential(*[part for layer in dense for part in (layer, nn.ReLU())][:-1])
    if name == "convnet":
        return nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(),
                             nn.MaxPool2d(2), Flat(), nn.Dropout(DROPOUT), nn.Linear(1600, 10))
    return Block()


def torch_layout(array):
    """A Keras weight or batch with PyTorch's axis order; images keep their memory layout."""
    return array.transpose(0, 3, 1, 2) if array.ndim == 4 else array


def torch_gpt_weights(weights):
    import numpy  # after use_threads()
    tables, layers = weights[:2], weights[2:-4]
    result = list(tables)
    for i in range(0, len(layers), GPT_WEIGHTS):
        gamma, beta, *heads, output, output_bias = layers[i:i + 10]
        width = len(gamma)
        kernels, biases = ([array.reshape(-1, width) for array in heads[part::2]] for part in (0, 1))
        result += [gamma, beta, numpy.concatenate([kernel.T for kernel in kernels]), numpy.concatenate(biases, 1)[0],
                   output.reshape(width, width).T, output_bias]
        result += [array.T for array in layers[i + 10:i + GPT_WEIGHTS]]
    return result + [array.T for array in weights[-4:]]


def torch_weights(name, weights):
    """Converts Keras's weights to the parameters of torch_network()."""
    if name.startswith("gpt"):
        return torch_gpt_weights(weights)
    return [array.transpose(3, 2, 0, 1) if array.ndim == 4 else array.T for array in weights]


class JaxNetwork:
    """logits(weights, x, moving, key) of float32 weights; also returns the new moving statistics. Without `key` there
    is no dropout."""

    def __init__(self, jax, name, dtype):
        self.jax, self.np, self.dtype = jax, jax.numpy, dtype
        self.heads = int(name[3:]) if name.startswith("gpt") else 0
        self.logits = {"mlp": self.mlp, "convnet": self.convnet, "block": self.block}.get(name, self.gpt)
        self.moving = [value(64) for value in (self.np.zeros, self.np.ones) * 2] if name == "block" else []

    def dense(self, x, kernel, bias):
        return x @ kernel.astype(self.dtype) + bias.astype(self.dtype)

    def convolution(self, x, kernel, padding):
        return self.jax.lax.conv_general_dilated(x, kernel.astype(self.dtype), (1, 1), padding,
                                                 dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def pool(self, x):
        window = (1, 2, 2, 1)
        return self.jax.lax.reduce_window(x, -self.np.inf, self.jax.lax.max, window, window, "VALID")

    def normalized(self, x, gamma, beta, moving):
        """In float32, rounded to the compute dtype at the end."""
        x = x.astype(self.np.float32)
        mean = x.mean((0, 1, 2))
        variance = ((x - mean)**2).mean((0, 1, 2))
        y = (x - mean) * self.jax.lax.rsqrt(variance + EPSILON) * gamma + beta
        moving = [MOMENTUM * old + (1 - MOMENTUM) * new for old, new in zip(moving, (mean, variance))]
        return y.astype(self.dtype), moving

    def mlp(self, w, x, moving, key):
        h = x.astype(self.dtype)
        for kernel, bias in zip(w[:-2:2], w[1:-2:2]):
            h = self.jax.nn.relu(self.dense(h, kernel, bias))
        return self.dense(h, w[-2], w[-1]), moving

    def convnet(self, w, x, moving, key):
        h = x.astype(self.dtype)
        for kernel, bias in ((w[0], w[1]), (w[2], w[3])):
            h = self.pool(self.jax.nn.relu(self.convolution(h, kernel, "VALID") + bias.astype(self.dtype)))
        h = h.reshape(len(h), -1)
        if key is not None:
            kept = self.jax.random.bernoulli(key, 1 - DROPOUT, h.shape)
            h = self.np.where(kept, h / (1 - DROPOUT), 0)
        return self.dense(h, w[4], w[5]), moving

    def block(self, w, x, moving, key):
        x = x.astype(self.dtype)
        y, first = self.normalized(self.convolution(x, w[0], "SAME"), w[1], w[2], moving[:2])
        y, second = self.normalized(self.convolution(self.jax.nn.relu(y), w[3], "SAME"), w[4], w[5], moving[2:])
        h = self.jax.nn.relu(y + x).astype(self.np.float32).mean((1, 2)).astype(self.dtype)
        return self.dense(h, w[6], w[7]), first + second

    def layer_normalized(self, x, gamma, beta):
        """In float32, rounded to the compute dtype at the end."""
        x = x.astype(self.np.float32)
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean)**2).mean(-1, keepdims=True)
        return ((x - mean) * self.jax.lax.rsqrt(variance + LAYER_EPSILON) * gamma + beta).astype(self.dtype)

    def gpt(self, w, x, moving, key):
        width = w[0].shape[1]
        h = (w[0][x] + w[1][:x.shape[1]]).astype(self.dtype)
        for i in range(2, len(w) - 4, GPT_WEIGHTS):
            gamma, beta, query, query_bias, keys, keys_bias, value, value_bias, output, output_bias = w[i:i + 10]
            normal = self.layer_normalized(h, gamma, beta)
            kernels = [part.reshape(width, -1) for part in (query, keys, value)]
            biases = [part.reshape(-1) for part in (query_bias, keys_bias, value_bias)]
            projected = self.dense(normal, self.np.concatenate(kernels, 1), self.np.concatenate(biases))
            parts = self.np.split(projected, 3, -1)
            parts = [part.reshape(*part.shape[:2], self.heads, -1) for part in parts]
            attended = self.jax.nn.dot_product_attention(*parts, is_causal=True).reshape(h.shape)
            h = h + self.dense(attended, output.reshape(-1, width), output_bias)
            gamma, beta, up, up_bias, down, down_bias = w[i + 10:i + GPT_WEIGHTS]
            normal = self.layer_normalized(h, gamma, beta)
            h = h + self.dense(self.jax.nn.gelu(self.dense(normal, up, up_bias), approximate=False), down, down_bias)
        h = self.layer_normalized(h, w[-4], w[-3])
        return self.dense(h, w[-2], w[-1]).reshape(-1, w[-2].shape[1]), moving
