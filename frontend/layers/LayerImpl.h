// The state behind a Layer: its body, policy, weights and children, and its build and call logic.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/NameList.h"
#include "frontend/graph/CompiledFunction.h"
#include "frontend/graph/Graph.h"
#include "frontend/graph/Rematerialize.h"
#include "halftone/Layer.h"
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace halftone::detail {

struct ModelState;
struct LayerImpl;

/// The names of the layer's inputs. Only graphs of layers have names.
NameList inputsOf(const LayerImpl &layer);

/// Computes a call whose inputs are not a plain list; null: the body's call().
using BodyCall = std::function<Values(LayerBody &body, const Values &inputs, const CallContext &context)>;

/// The mask that a recorded call applies to one of its inputs.
struct RecordedMask {
  enum class Kind : uint8_t {
    carried, // the input's own
    given,   // a Value of the call
    none,
    entered, // recorded as null: the input's own if masks entered the graph (masksEntered()), otherwise none
  };
  Kind kind = Kind::carried;
  size_t position = 0; // of a given mask, among the Values of the call
};
using RecordedMasks = std::vector<RecordedMask>;

struct LayerImpl : std::enable_shared_from_this<LayerImpl> {
  /// Computes the outputs of one call, in a trace.
  using TracedBody = std::function<std::vector<Value>(const std::vector<Value> &)>;

  LayerImpl() = default;
  ~LayerImpl();
  LayerImpl(const LayerImpl &) = delete;
  LayerImpl &operator=(const LayerImpl &) = delete;

  std::unique_ptr<LayerBody> body;
  std::string className, name, path;
  DTypePolicy policy = dtype_policy(); // if it is a map, see resolvedPolicy()
  Regularizer activityRegularizer;
  bool hasOwnName = false; // not an automatic one
  bool trainable = true, autocast = true, built = false;
  bool transparent = false; // a graph of layers: has no IR scope of its own and does not cast inputs by policy
  bool madeInCall = false;  // constructed during the call of another layer
  std::optional<RematMode> remat = openRematMode();
  Where where{};
  std::vector<Variable> weights;
  std::string quantizedMode;            // of the weights; "" if they are floats
  std::shared_ptr<const void> heldMode; // prevents a policy map from contradicting that mode
  std::vector<Layer> children;          // in the order of their first call; set by adopt() and setChildren()
  std::set<const LayerImpl *> knownChildren;
  std::vector<ValueSpec> inputSpecs, outputSpecs;          // of the first call; batch dimensions None
  int64_t specsOfInference = 0;                            // id of the inference that recorded them
  int64_t recordedCalls = 0;                               // calls in symbolic graphs
  std::weak_ptr<Call> firstCall;                           // the first of them
  std::optional<Variable> ownGenerator;                    // of the draws of its call(); created at the first one
  std::vector<Variable> awaitedStates;                     // weights from a file for draws that have not occurred yet
  std::shared_ptr<ModelState> model;                       // null for a layer that is not a model
  std::array<std::unique_ptr<CompiledFunction>, 2> onData; // calls on Tensors: inference, training

  /// The effective policy of this layer. For a map: its entry for the path, or its default while the layer has no path.
  DTypePolicy resolvedPolicy() const;
  /// The matching key of the map; "" if the default applies or the policy is not a map.
  std::string policyKey() const;
  /// The scope in which the layer's variables are read, by the rule of keras.src.layers.Layer.__call__; null if the
  /// open scope already applies.
  std::unique_ptr<AutocastScope> autocastScope() const;
  /// Throws for a quantization mode that the layer or, once it is built, its weights do not have.
  void requireMode() const;
  /// At the first call, replaces an 'infer' policy permanently by the policy of the first input's dtype.
  void resolvePolicy(const std::vector<Value> &inputs);
  /// Creates weights. `shapes` have None for the batch. If it fails, or if the call that builds the layer fails later
  /// (see CallTransaction), the layer is restored except for its body, whose build() is then called again.
  void build(const std::vector<Shape> &shapes);
  /// Makes a policy map refuse edits that contradict the mode of the weights. Called when either is determined.
  void holdMode();
  /// Replaces float weights by quantized weights, for a mode that the body has. Nothing changes if the body throws.
  void quantize(const QuantizationConfig &config);
  /// Resolves the policy and builds the layer for these inputs, unless it is built.
  void buildFor(const std::vector<Value> &inputs);
  std::vector<Value> callTraced(const std::vector<Value> &inputs, const BodyCall &how = {});
  /// `arguments`: the arguments of the call, as in a CallForm; without them, the inputs are one Value or one list.
  /// `masks`: the masks of the first inputs; the layer is built, recorded and called without the inputs that are given
  /// masks.
  std::vector<Value> call(const std::vector<Value> &inputs, const CallArgs &args, const BodyCall &how = {},
                          std::optional<Config> arguments = {}, const RecordedMasks &masks = {});
  Tensors callOnData(const Tensors &inputs, const CallArgs &args);
  void adopt(const Layer &child);
  void setChildren(const std::vector<Layer> &layers);

private:
  /// Returns true if the backward pass recomputes this layer's values when `parent` calls it. A graph of layers must be
  /// named; a top-level model is the whole step.
  bool isRematerialized(const LayerImpl *parent) const {
    return (parent || !model) && remat && !remat->isOfActivations && remat->isFor(name, path) &&
           (!transparent || remat->names);
  }
  std::optional<std::vector<ValueSpec>> knownSpecs(const std::vector<Value> &inputs) const;
  std::optional<Tensor> onHost(const std::vector<Tensor> &feeds);
  void addPenalties(const std::vector<Value> &outputs, const CallContext &context) const;
  std::vector<Value> callInScope(const std::vector<Value> &inputs, bool again, const TracedBody &run);
  void passMask(const std::vector<Value> &inputs, const std::vector<Value> &outputs) const;
  /// Restores the recorded specs if the call fails.
  void keepSpecsForFailure();
  void noteCall(const std::vector<Value> &inputs, const std::vector<Value> &outputs);
  void noteRecordedCall(const std::vector<Value> &inputs, const std::vector<Value> &outputs);
};

/// The key that marks a user-given name in the form of an automatic one. Keras ignores it.
inline constexpr const char *markOfName = "name_is_given";
/// A layer's config, with the mark if needed.
Config withMarkOfName(const Layer &layer, Config object);
/// Completes a layer created from a config with or without the mark. Without the mark, a name in the form of an
/// automatic name counts as the automatic name of the writer's process.
Layer withNameOfConfig(const Layer &layer, bool isMarked);

/// All descendants of `root`, without duplicates, in preorder.
std::vector<Layer> layersBelow(const LayerImpl &root);
/// The descendants of `model` that compute under a policy.
std::vector<Layer> computingLayers(const Layer &model);

/// The InputLayer that represents an Input among the layers of a model.
Layer inputLayer(const Value &input);

struct LayerMode;
LayerMode modeOf(const LayerImpl &layer); // QuantizedModes.h

/// Throws for a layer that lacks the mode.
[[noreturn]] void refuseMode(const LayerImpl &layer, const std::string &mode);

/// The quantization config of a layer with this policy: `given` if it has the policy's mode, otherwise that of the
/// policy. It has no mode if the policy has none.
QuantizationConfig quantizationOf(const DTypePolicy &policy, const QuantizationConfig &given);

/// The quantization of the layer's weights that assigning this policy implies; no mode if they are unchanged. Throws if
/// the layer cannot have the policy because it lacks the mode, or because its weights are quantized under another mode.
QuantizationConfig quantizationBy(const DTypePolicy &policy, const LayerImpl &layer);

/// The shape with None as the batch extent.
Shape withoutBatch(const Shape &shape);

/// A scope that prefixes the paths of layers that this thread builds.
class NameScope {
public:
  explicit NameScope(const std::string &name);
  ~NameScope();
  NameScope(const NameScope &) = delete;
  /// A scope for the children of the layer at `path`; it ignores the open scope. It stores a reference: a path is as
  /// long as the layer's depth, and most calls do not need it.
  static NameScope ofLayer(const std::string &path) { return {path, Whole()}; }
  static NameScope ofLayer(std::string &&path) = delete;
  static std::string prefix(); // "" or "net/"

private:
  struct Whole {};
  NameScope(const std::string &path, Whole);
};

/// Rethrows an error with the layer's path and the user's line, if it has none.
[[noreturn]] void rethrowWithLayer(const Error &error, const LayerImpl &layer);

/// The innermost persistent layer that this thread is calling; null if there is none. A layer constructed during a call
/// is not persistent: it is created anew at each call.
LayerImpl *calledLayer();
/// Returns true if this thread is calling a layer, so that a layer constructed now is created anew at each call.
bool layerCallOpen();

/// `x` as a layer with float arithmetic uses it: integers and bools are cast to the compute dtype or, if that is not a
/// float, to floatx. So differences and sums do not wrap.
Value asComputed(const Value &x, const CallContext &context);

/// The penalties of the regularizers of trainable weights, one Value each, in the variables' dtypes.
std::vector<Value> weightRegularizers(const std::vector<Variable> &variables);

/// A penalty in the form that Keras's Trainer adds to the loss: a float scalar.
Value scalarPenalty(const Value &penalty);

} // namespace halftone::detail
