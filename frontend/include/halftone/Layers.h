// The catalogue of layers. First argument(s) as in Keras; everything else in one struct, in Keras's order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Layer.h"

namespace halftone::layers {
using halftone::Input;

struct DenseArgs {
  ActivationArg activation{};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// activation(x @ kernel + bias) over the last axis: (..., n) -> (..., units). kernel (n, units), bias (units,).
class HALFTONE_API Dense : public Layer {
public:
  explicit Dense(int64_t units, const DenseArgs &args = {}, Where where = Where::current());
  Variable kernel() const { return weight("kernel"); }
  Variable bias() const { return weight("bias"); }
};

struct PlainArgs {
  PolicyArg dtype{};
  std::string name{};
};
struct RandomLayerArgs {
  std::optional<int64_t> seed{};
  PolicyArg dtype{};
  std::string name{};
};
/// In training, zeros a share `rate` of the elements and scales the others by 1 / (1 - rate); else the identity.
class HALFTONE_API Dropout : public Layer {
public:
  explicit Dropout(double rate, const RandomLayerArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API Activation : public Layer {
public:
  explicit Activation(const ActivationArg &activation, const PlainArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API ReLU : public Layer {
public:
  explicit ReLU(const PlainArgs &args = {}, Where where = Where::current());
};
class HALFTONE_API Softmax : public Layer {
public:
  explicit Softmax(int64_t axis = -1, const PlainArgs &args = {}, Where where = Where::current());
};
/// (batch, a, b, ...) -> (batch, a * b * ...).
class HALFTONE_API Flatten : public Layer {
public:
  explicit Flatten(const PlainArgs &args = {}, Where where = Where::current());
};
/// (batch, ...) -> (batch, target_shape...); one target dimension may be -1.
class HALFTONE_API Reshape : public Layer {
public:
  explicit Reshape(const Shape &target_shape, const PlainArgs &args = {}, Where where = Where::current());
};
/// x * scale + offset in the compute dtype; integers are cast first.
class HALFTONE_API Rescaling : public Layer {
public:
  explicit Rescaling(double scale, double offset = 0.0, const PlainArgs &args = {}, Where where = Where::current());
};
/// Whatever the function returns; its result is not cast.
class HALFTONE_API Lambda : public Layer {
public:
  explicit Lambda(std::function<Value(const Value &)> function, const PlainArgs &args = {},
                  Where where = Where::current());
};
} // namespace halftone::layers
