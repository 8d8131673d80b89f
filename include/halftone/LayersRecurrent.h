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
  double dropout = 0.0;           // rate for the inputs, clipped to [0, 1]; one mask for all steps
  double recurrent_dropout = 0.0; // rate for the states
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
  bool unit_forget_bias = true; // initializes the bias of the forget gate to ones
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
/// One step of an LSTM: outputs({x, h, c}) is {h', h', c'}. kernel (features, 4 units), recurrent_kernel (units, 4
/// units), bias (4 units,), each with the input, forget, cell and output gates in this order.
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
  bool reset_after = true; // applies the reset gate after the product with recurrent_kernel, not before it
  std::optional<int64_t> seed{};
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// One step of a GRU: outputs({x, h}) is {h', h'}. kernel (features, 3 units), recurrent_kernel (units, 3 units), bias
/// (2, 3 units), or (3 units,) without reset_after, each with the update, reset and candidate gates in this order.
class HALFTONE_API GRUCell : public Layer {
public:
  explicit GRUCell(int64_t units, const GRUCellArgs &args = {}, Where where = Where::current());
  Variable kernel() const { return weight("kernel"); }
  Variable recurrent_kernel() const { return weight("recurrent_kernel"); }
  Variable bias() const { return weight("bias"); }
};

/// A stack of cells: the output of each cell is the input of the next. The states are those of the cells, in order.
class HALFTONE_API StackedRNNCells : public Layer {
public:
  explicit StackedRNNCells(const std::vector<Layer> &cells, const LayerArgs &args = {}, Where where = Where::current());
  std::vector<Layer> cells() const;
};

/// The arguments of a call of a recurrent layer.
struct RNNCallArgs {
  Values initial_state{}; // one per state; default: the layer's own states if it is stateful, otherwise zeros
  Value mask{};           // (batch, steps), false for steps to skip; default: the mask of x
  std::optional<bool> training{};
};

struct RNNArgs {
  bool return_sequences = false;     // the outputs of all steps, not only of the last
  bool return_state = false;         // outputs() also returns the states after the last step
  bool go_backwards = false;         // from the last step to the first; outputs are in the order of computation
  bool stateful = false;             // a call starts with the final states of the last call; the batch size is fixed
  bool unroll = false;               // does not unroll the code, but needs a known, nonzero number of steps; a masked
                                     // step repeats the output of the step before it
  bool zero_output_for_mask = false; // the output of a masked step is 0, not the preceding state
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// Runs a cell over the steps of x (batch, steps, ...). The cell is a child layer, with a path such as "rnn/lstm_cell"
/// for policy maps.
class HALFTONE_API RNN : public Layer {
public:
  explicit RNN(const Layer &cell, const RNNArgs &args = {}, Where where = Where::current());
  explicit RNN(const std::vector<Layer> &cells, const RNNArgs &args = {}, Where where = Where::current());
  [[nodiscard]] Value operator()(const Value &x, const RNNCallArgs &args = {}) const;
  // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method): the call on a Value hides that of Layer
  [[nodiscard]] Tensor operator()(const Tensor &x, const CallArgs &args = {}) const;
  /// Returns the output and, with return_state, the states.
  [[nodiscard]] Values outputs(const Value &x, const RNNCallArgs &args = {}) const;
  Layer cell() const;
  std::vector<Variable> states() const; // the states of a stateful layer that is built
  void reset_state() const;             // sets the states to zeros
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
  Integers strides = 1; // for the convolution of the inputs; the convolution of the states has stride 1 and padding
                        // "same"
  Choice<Padding> padding = Padding::valid;
  Choice<DataFormat> data_format = DataFormat::channels_last;
  Integers dilation_rate = 1; // cannot be combined with strides
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
/// An LSTM with convolutions instead of matrix products, over (batch, steps, spatial axes.., channels). The weights are
/// those of its cell: kernel (kernel_size.., channels, 4 filters), recurrent_kernel (kernel_size.., filters, 4
/// filters), bias (4 filters,).
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
  std::optional<Choice<MergeMode>> merge_mode = MergeMode::concat; // none: returns both outputs
  std::optional<Layer> backward_layer{};                           // none: a copy of the layer
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};
/// Runs a copy of a recurrent layer forward over a sequence, and another backward. The outputs of the backward layer
/// are reversed into the order of the steps. States, including initial states, are those of the forward layer, then
/// those of the backward layer.
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

/// Calls a layer on each step of x (batch, steps, ...), and stacks the outputs. The policy of TimeDistributed applies:
/// the steps are not cast again for the inner layer.
class HALFTONE_API TimeDistributed : public Layer {
public:
  explicit TimeDistributed(const Layer &layer, const LayerArgs &args = {}, Where where = Where::current());
  Layer layer() const;
};

} // namespace halftone::layers
