// Recurrent layers: cells, the layers that run them over the steps of a sequence, and wrappers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Layer.h"
#include "Spatial.h"

namespace halftone::layers {

struct SimpleRNNCellArgs {
  ActivationArg activation = "tanh";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer recurrent_regularizer{};
  Regularizer bias_regularizer{};
  Constraint kernel_constraint{};
  Constraint recurrent_constraint{};
  Constraint bias_constraint{};
  double dropout = 0.0;           // of the inputs, clipped to [0, 1]; one mask for all steps
  double recurrent_dropout = 0.0; // of the states
  std::optional<int64_t> seed{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// One step of a SimpleRNN: outputs({x, h}) is {h', h'} with h' = activation(x @ kernel + bias + h @ recurrent_kernel).
/// kernel (features, units), recurrent_kernel (units, units), bias (units,).
class HALFTONE_API SimpleRNNCell : public Layer {
public:
  explicit SimpleRNNCell(int64_t units, const SimpleRNNCellArgs &args = {}, Where where = Where::current());
  Variable kernel() const { return weight("kernel"); }
  Variable recurrent_kernel() const { return weight("recurrent_kernel"); }
  Variable bias() const { return weight("bias"); }
};

struct LSTMCellArgs {
  ActivationArg activation = "tanh";
  ActivationArg recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  bool unit_forget_bias = true; // the bias of the forget gate begins as ones
  Regularizer kernel_regularizer{};
  Regularizer recurrent_regularizer{};
  Regularizer bias_regularizer{};
  Constraint kernel_constraint{};
  Constraint recurrent_constraint{};
  Constraint bias_constraint{};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  std::optional<int64_t> seed{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// One step of an LSTM: outputs({x, h, c}) is {h', h', c'}. kernel (features, 4 units), recurrent_kernel (units, 4 units), bias
/// (4 units,), each for the input, forget, cell and output gates.
class HALFTONE_API LSTMCell : public Layer {
public:
  explicit LSTMCell(int64_t units, const LSTMCellArgs &args = {}, Where where = Where::current());
  Variable kernel() const { return weight("kernel"); }
  Variable recurrent_kernel() const { return weight("recurrent_kernel"); }
  Variable bias() const { return weight("bias"); }
};

struct GRUCellArgs {
  ActivationArg activation = "tanh";
  ActivationArg recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer recurrent_regularizer{};
  Regularizer bias_regularizer{};
  Constraint kernel_constraint{};
  Constraint recurrent_constraint{};
  Constraint bias_constraint{};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  bool reset_after = true; // the reset gate multiplies the product with recurrent_kernel, else the state before it
  std::optional<int64_t> seed{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// One step of a GRU: outputs({x, h}) is {h', h'}. kernel (features, 3 units), recurrent_kernel (units, 3 units), bias
/// (2, 3 units), or (3 units,) without reset_after, each for the update, reset and candidate gates.
class HALFTONE_API GRUCell : public Layer {
public:
  explicit GRUCell(int64_t units, const GRUCellArgs &args = {}, Where where = Where::current());
  Variable kernel() const { return weight("kernel"); }
  Variable recurrent_kernel() const { return weight("recurrent_kernel"); }
  Variable bias() const { return weight("bias"); }
};

/// Cells one above the other: the output of each is the input of the next. The states are those of the cells, in order.
class HALFTONE_API StackedRNNCells : public Layer {
public:
  explicit StackedRNNCells(const std::vector<Layer> &cells, const LayerArgs &args = {}, Where where = Where::current());
  std::vector<Layer> cells() const;
};

/// The arguments of a call of a recurrent layer.
struct RNNCallArgs {
  Values initial_state{}; // one for each state; of the layer itself if it is stateful, else zeros
  Value mask{};           // (batch, steps), false for steps that change nothing; that of x if undefined
  std::optional<bool> training{};
};

struct RNNArgs {
  bool return_sequences = false; // the outputs of all steps, not of the last one
  bool return_state = false;     // outputs() also gives the states after the last step
  bool go_backwards = false;     // from the last step to the first; outputs in the order in which they are computed
  bool stateful = false;         // a call begins with the states with which the last one ended; the batch is fixed
  bool unroll = false;           // no effect on code; with a mask, a step that it hides repeats the output before it
  bool zero_output_for_mask = false; // the output of a step that the mask hides is 0, not the state before it
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// Runs a cell over the steps of x (batch, steps, ...). The cell is a layer of its own, "rnn/lstm_cell" to a policy map.
class HALFTONE_API RNN : public Layer {
public:
  explicit RNN(const Layer &cell, const RNNArgs &args = {}, Where where = Where::current());
  explicit RNN(const std::vector<Layer> &cells, const RNNArgs &args = {}, Where where = Where::current());
  [[nodiscard]] Value operator()(const Value &x, const RNNCallArgs &args = {}) const;
  // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method): the call on a Value hides that of Layer
  [[nodiscard]] Tensor operator()(const Tensor &x, const CallArgs &args = {}) const;
  /// The output and, with return_state, the states.
  [[nodiscard]] Values outputs(const Value &x, const RNNCallArgs &args = {}) const;
  Layer cell() const;
  std::vector<Variable> states() const; // of a stateful layer, once it is built
  void reset_state() const;             // to zeros
  void reset_states() const { reset_state(); }

protected:
  RNN(std::unique_ptr<detail::LayerBody> body, std::string class_name, const LayerArgs &args, Where where);
};

struct SimpleRNNArgs {
  ActivationArg activation = "tanh";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer recurrent_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{};
  Constraint kernel_constraint{};
  Constraint recurrent_constraint{};
  Constraint bias_constraint{};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  bool return_sequences = false; // see RNNArgs
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;
  bool unroll = false;
  std::optional<int64_t> seed{};
  bool zero_output_for_mask = false;
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
class HALFTONE_API SimpleRNN : public RNN {
public:
  explicit SimpleRNN(int64_t units, const SimpleRNNArgs &args = {}, Where where = Where::current());
};

struct LSTMArgs {
  ActivationArg activation = "tanh";
  ActivationArg recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  bool unit_forget_bias = true;
  Regularizer kernel_regularizer{};
  Regularizer recurrent_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{};
  Constraint kernel_constraint{};
  Constraint recurrent_constraint{};
  Constraint bias_constraint{};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  std::optional<int64_t> seed{};
  bool return_sequences = false; // see RNNArgs
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;
  bool unroll = false;
  bool zero_output_for_mask = false;
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
class HALFTONE_API LSTM : public RNN {
public:
  explicit LSTM(int64_t units, const LSTMArgs &args = {}, Where where = Where::current());
};

struct GRUArgs {
  ActivationArg activation = "tanh";
  ActivationArg recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer{};
  Regularizer recurrent_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{};
  Constraint kernel_constraint{};
  Constraint recurrent_constraint{};
  Constraint bias_constraint{};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  std::optional<int64_t> seed{};
  bool return_sequences = false; // see RNNArgs
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;
  bool unroll = false;
  bool reset_after = true;
  bool zero_output_for_mask = false;
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
class HALFTONE_API GRU : public RNN {
public:
  explicit GRU(int64_t units, const GRUArgs &args = {}, Where where = Where::current());
};

struct ConvLSTMArgs {
  Integers strides = 1; // of the convolution of the inputs; that of the states has strides of 1 and keeps their extents
  Choice<Padding> padding = Padding::valid;
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Integers dilation_rate = 1; // not together with strides
  ActivationArg activation = "tanh";
  ActivationArg recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  bool unit_forget_bias = true;
  Regularizer kernel_regularizer{};
  Regularizer recurrent_regularizer{};
  Regularizer bias_regularizer{};
  Regularizer activity_regularizer{};
  Constraint kernel_constraint{};
  Constraint recurrent_constraint{};
  Constraint bias_constraint{};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  std::optional<int64_t> seed{};
  bool return_sequences = false; // see RNNArgs
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;
  bool unroll = false;
  bool zero_output_for_mask = false;
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// An LSTM whose products are convolutions, over (batch, steps, spatial axes.., channels). The weights are those of its cell:
/// kernel (kernel_size.., channels, 4 filters), recurrent_kernel (kernel_size.., filters, 4 filters), bias (4 filters,).
class HALFTONE_API ConvLSTM1D : public RNN {
public:
  ConvLSTM1D(int64_t filters, const Integers &kernel_size, const ConvLSTMArgs &args = {},
             Where where = Where::current());
};
class HALFTONE_API ConvLSTM2D : public RNN {
public:
  ConvLSTM2D(int64_t filters, const Integers &kernel_size, const ConvLSTMArgs &args = {},
             Where where = Where::current());
};
class HALFTONE_API ConvLSTM3D : public RNN {
public:
  ConvLSTM3D(int64_t filters, const Integers &kernel_size, const ConvLSTMArgs &args = {},
             Where where = Where::current());
};

struct BidirectionalArgs {
  std::optional<Choice<MergeMode>> merge_mode = MergeMode::concat; // none: both outputs, one after the other
  std::optional<Layer> backward_layer{};                           // none: a copy of the layer
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// A copy of a recurrent layer that runs forward over a sequence, and one that runs backward. The outputs of the second are put
/// in the order of the first. States, initial ones too, are those of the forward layer, then those of the backward layer.
class HALFTONE_API Bidirectional : public Layer {
public:
  explicit Bidirectional(const Layer &layer, const BidirectionalArgs &args = {}, Where where = Where::current());
  [[nodiscard]] Value operator()(const Value &x, const RNNCallArgs &args = {}) const;
  // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method): the call on a Value hides that of Layer
  [[nodiscard]] Tensor operator()(const Tensor &x, const CallArgs &args = {}) const;
  [[nodiscard]] Values outputs(const Value &x, const RNNCallArgs &args = {}) const;
  Layer forward_layer() const;
  Layer backward_layer() const;
  void reset_state() const;
  void reset_states() const { reset_state(); }
};

/// Calls a layer on each step of x (batch, steps, ...), and stacks the outputs. It computes under the policy of this layer: the
/// steps are not cast for the layer within.
class HALFTONE_API TimeDistributed : public Layer {
public:
  explicit TimeDistributed(const Layer &layer, const LayerArgs &args = {}, Where where = Where::current());
  Layer layer() const;
};

} // namespace halftone::layers
