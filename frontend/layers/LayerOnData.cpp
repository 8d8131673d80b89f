// Calls of layers on data: compiled, or on the host.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/CompiledFunction.h"
#include "frontend/layers/HostBody.h"
#include "frontend/layers/LayerImpl.h"
#include "runtime/base/ForkGate.h"
#include <fmt/format.h>
#include <mutex>

namespace halftone::detail {

/// The result of a call on data, if the host computes all of it. The layer is then built.
std::optional<Tensor> LayerImpl::onHost(const std::vector<Tensor> &feeds) {
  const auto *host = dynamic_cast<const HostBody *>(body.get());
  if (!host)
    return std::nullopt;
  try {
    std::vector<Shape> shapes;
    for (const Tensor &feed : feeds)
      shapes.push_back(withoutBatch(feed.shape()));
    if (const size_t most = body->most_inputs(); feeds.empty() || (most > 0 && feeds.size() > most))
      return std::nullopt; // the trace rejects them
    std::optional<Tensor> result = host->onHost(feeds);
    if (result && !built)
      build(shapes);
    return result;
  } catch (const Error &error) {
    rethrowWithLayer(error, *this);
  }
}

Tensors LayerImpl::callOnData(const Tensors &inputs, const CallArgs &args) {
  const std::shared_ptr<LayerImpl> self = shared_from_this(); // user code may drop the last handle
  const std::vector<Tensor> feeds = inputs.names().empty() ? std::vector<Tensor>(inputs.begin(), inputs.end())
                                                           : inOrder(inputsOf(*this), "inputs", inputs);
  if (std::optional<Tensor> result = onHost(feeds))
    return *std::move(result);
  bool training = args.training.value_or(false);
  static std::mutex making; // guards creation of all layers' functions, which several threads may call first
  std::unique_ptr<CompiledFunction> &function = onData[training];
  if (const ForkSafeLock lock(making); !function)
    function = std::make_unique<CompiledFunction>(
        FunctionOptions{.name = name}, std::vector<std::string>{},
        [this, training](Trace &trace, const std::vector<Value> &feeds, const FeedLayout &) {
          trace.isCallOnData = true;
          TrainingScope scope(training);
          std::vector<CompiledFunction::Named> fetches;
          for (const Value &output : callTraced(feeds))
            fetches.push_back({fmt::format("output{}", fetches.size()), output});
          return fetches;
        });
  return Tensors(function->run(feeds));
}

} // namespace halftone::detail
