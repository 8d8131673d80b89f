// The state behind a Layer: its body, policy, weights and children, and how it is built and called.
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

/// The names of the layer's inputs, which graphs of layers have; without names for every other layer.
NameList inputsOf(const LayerImpl &layer);

/// How the body of a layer computes a call whose inputs are no plain list; null: by its call().
using BodyCall = std::function<Values(LayerBody &body, const Values &inputs, const CallContext &context)>;

/// The mask under which a recorded call sees one of its inputs.
struct RecordedMask {
  enum class Kind : uint8_t {
    carried, // the input's own
    given,   // a Value of the call
    none,
    entered, // recorded as null: the input's own if masks entered the graph (masksEntered()), else none
  };
  Kind kind = Kind::carried;
  size_t place = 0; // of a given mask among the Values of the call
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
  bool transparent = false; // a graph of layers: it has no scope of its own in the IR and converts no inputs by policy
  bool madeInCall = false;  // constructed while another layer was called
  std::optional<RematMode> remat = openRematMode();
  Where where{};
  std::vector<Variable> weights;
  std::string quantizedMode;            // of the weights; "" if they are floats
  std::shared_ptr<const void> heldMode; // keeps a map that is the policy from contradicting that mode
  std::vector<Layer> children;          // in the order of their first call; set by adopt() and setChildren()
  std::set<const LayerImpl *> knownChildren;
  std::vector<ValueSpec> inputSpecs, outputSpecs;          // of the first call; batch dimensions None
  int64_t specsOfInference = 0;                            // the id of the inference that recorded them
  int64_t recordedCalls = 0;                               // calls in symbolic graphs
  std::weak_ptr<Call> firstCall;                           // the first of them
  std::optional<Variable> ownGenerator;                    // of the draws of its call(); made at the first
  std::vector<Variable> awaitedStates;                     // weights that a file gave for draws that are still to come
  std::shared_ptr<ModelState> model;                       // null for a layer that is no model
  std::array<std::unique_ptr<CompiledFunction>, 2> onData; // calls on Tensors: inference, training

  /// The policy that decides for this layer. Of a map: its entry for the path, or its default while the layer has no
  /// path.
  DTypePolicy resolvedPolicy() const;
  /// The key of the map that decides; "" if the default decides or the policy is no map.
  std::string policyKey() const;
  /// The scope in which the layer's variables are read, by the rule of keras.src.layers.Layer.__call__; null if the scope
  /// that is open serves.
  std::unique_ptr<AutocastScope> autocastScope() const;
  /// Refuses to compute under a quantization mode that the layer, or its weights once it is built, do not have.
  void requireMode() const;
  /// At the first call, an 'infer' policy becomes the policy of the first input's dtype, for good.
  void settlePolicy(const std::vector<Value> &inputs);
  /// Creates weights. `shapes` have None for the batch. If it fails, or later the call that builds the layer (see
  /// CallTransaction), the layer is as before but for its body, whose build() is then called again.
  void build(const std::vector<Shape> &shapes);
  /// Lets a map that is the policy refuse edits that contradict the mode of the weights. Called when either is settled.
  void holdMode();
  /// Puts quantized weights in place of the float ones, under a mode that the body has. If the body throws, nothing changes.
  void quantize(const QuantizationConfig &config);
  /// Settles the policy and builds the layer for these inputs, unless it is built.
  void buildFor(const std::vector<Value> &inputs);
  std::vector<Value> callTraced(const std::vector<Value> &inputs, const BodyCall &how = {});
  /// `arguments`: the call's, as in a CallForm; without them, the inputs are one Value or one list. `masks`: of the first
  /// inputs; the layer is built, noted and called without the inputs that are given masks.
  std::vector<Value> call(const std::vector<Value> &inputs, const CallArgs &args, const BodyCall &how = {},
                          std::optional<Config> arguments = {}, const RecordedMasks &masks = {});
  Tensors callOnData(const Tensors &inputs, const CallArgs &args);
  void adopt(const Layer &child);
  void setChildren(const std::vector<Layer> &layers);

private:
  /// Whether the backward pass computes this layer's values again, if `parent` calls it. A graph of layers must be named;
  /// a model that nobody calls is the whole step.
  bool isRematerialized(const LayerImpl *parent) const {
    return (parent || !model) && remat && !remat->isOfActivations && remat->isFor(name, path) &&
           (!transparent || remat->names);
  }
  std::optional<std::vector<ValueSpec>> knownSpecs(const std::vector<Value> &inputs) const;
  std::optional<Tensor> onHost(const std::vector<Tensor> &feeds);
  void addPenalties(const std::vector<Value> &outputs, const CallContext &context) const;
  std::vector<Value> callInScope(const std::vector<Value> &inputs, bool again, const TracedBody &run);
  void passMask(const std::vector<Value> &inputs, const std::vector<Value> &outputs) const;
  /// A call that fails takes back the specs that it noted.
  void keepSpecsForFailure();
  void noteCall(const std::vector<Value> &inputs, const std::vector<Value> &outputs);
  void noteRecordedCall(const std::vector<Value> &inputs, const std::vector<Value> &outputs);
};

/// The key that marks a name which was given and has the form of an automatic one. Keras ignores it.
inline constexpr const char *markOfName = "name_is_given";
/// A layer's config, with the mark if its name needs it.
Config withMarkOfName(const Layer &layer, Config object);
/// A layer that was made from a config, which has the mark or not. Without it a name of the form of an automatic one counts as
/// automatic, that of the writer's process.
Layer withNameOfConfig(const Layer &layer, bool isMarked);

/// Every layer below `root`, at any depth, once: each before the layers below it, children in their order.
std::vector<Layer> layersBelow(const LayerImpl &root);
/// Those below `model` that compute under a policy.
std::vector<Layer> computingLayers(const Layer &model);

/// The InputLayer that shows an Input among the layers of a model.
Layer inputLayer(const Value &input);

struct LayerMode;
LayerMode modeOf(const LayerImpl &layer); // QuantizedModes.h

/// Refuses to quantize a layer that lacks the mode.
[[noreturn]] void refuseMode(const LayerImpl &layer, const std::string &mode);

/// The config under which a layer with this policy computes: `given` if it has the policy's mode, else that of the policy. It
/// has no mode if the policy has none.
QuantizationConfig quantizationOf(const DTypePolicy &policy, const QuantizationConfig &given);

/// How giving a layer this policy quantizes its weights; no mode if they stay. Throws if the layer cannot have the policy:
/// it lacks the mode, or its weights are quantized under another one.
QuantizationConfig quantizationBy(const DTypePolicy &policy, const LayerImpl &layer);

/// The shape with None for the batch.
Shape withoutBatch(const Shape &shape);

/// While it lives, layers that this thread builds get paths with its prefix.
class NameScope {
public:
  explicit NameScope(const std::string &name);
  ~NameScope();
  NameScope(const NameScope &) = delete;
  /// A scope for the children of the layer at `path`; it ignores the scope that is open. It keeps a reference: a path is as long
  /// as the layer's depth, and most calls need none.
  static NameScope ofLayer(const std::string &path) { return {path, Whole()}; }
  static NameScope ofLayer(std::string &&path) = delete;
  static std::string prefix(); // "" or "net/"

private:
  struct Whole {};
  NameScope(const std::string &path, Whole);
};

/// Adds the layer's path and the user's line to an error that has none.
[[noreturn]] void rethrowWithLayer(const Error &error, const LayerImpl &layer);

/// The innermost layer that this thread is calling and that lives on: one that is constructed during a call is made anew at each.
/// Null if there is none.
LayerImpl *calledLayer();
/// Whether this thread is calling a layer. A layer that is constructed during that call is made anew at each call.
bool layerCallOpen();

/// `x` as a layer that computes in floats takes it: integers and bools in the compute dtype, or in floatx if that is no float.
/// So no difference and no sum of them wraps.
Value asComputed(const Value &x, const CallContext &context);

/// The penalties of the regularizers of trainable weights, one Value each, in the variables' dtypes.
std::vector<Value> weightRegularizers(const std::vector<Variable> &variables);

/// A penalty as Keras's Trainer adds it to the loss: a float scalar.
Value scalarPenalty(const Value &penalty);

} // namespace halftone::detail
