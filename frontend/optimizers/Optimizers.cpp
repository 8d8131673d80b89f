// The Optimizer handle, and creation of optimizers by name.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Optimizers.h"
#include "frontend/graph/Promotion.h"
#include "frontend/optimizers/MinimizeTogether.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/optimizers/UpdaterScope.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace detail {

Variable optimizerScalar(const std::string &optimizer, const char *name, double value, DType dtype, VariableRole role) {
  return makeVariable(Tensor::full({}, value, dtype), {.name = name,
                                                       .path = fmt::format("{}/{}", optimizer, name),
                                                       .role = role,
                                                       .update = UpdateKind::assign,
                                                       .trainable = false,
                                                       .autocast = false});
}

Value readRaw(const Variable &variable) { return tracing().read(variable.impl(), variable.impl()->dtype); }

void checkGradients(const std::vector<Value> &gradients, const std::vector<Variable> &variables) {
  if (gradients.size() != variables.size())
    throw Error(ErrorKind::value_error,
                fmt::format("apply() needs one gradient for each variable. Received: {} gradients and {} variables",
                            gradients.size(), variables.size()));
  if (!gradients.empty() &&
      std::none_of(gradients.begin(), gradients.end(), [](const Value &g) { return g.defined(); }))
    throw Error(ErrorKind::value_error, "No gradients provided for any variable.");
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!variables[i].defined())
      throw Error(ErrorKind::value_error, fmt::format("apply(): variable {} was not created", i));
    if (!gradients[i].defined())
      continue;
    if (!is_float(gradients[i].dtype()))
      throw Error(ErrorKind::type_error, fmt::format("The gradient of variable '{}' must be a float, got {}",
                                                     variables[i].path(), name(gradients[i].dtype())));
    if (const auto &shared = tracing().sharedBatch; shared && shared->hasOwnGradients)
      continue;
    if (gradients[i].shape() != variables[i].shape())
      throw Error(ErrorKind::value_error,
                  fmt::format("The gradient of variable '{}' must have its shape {}, got {}", variables[i].path(),
                              variables[i].shape().str(), gradients[i].shape().str()));
  }
}

std::vector<Value> dividedBy(const Value &scale, std::vector<Value> gradients,
                             const std::vector<bool> &areReplacements) {
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined() && !areReplacements[i]) {
      const Value wide = atLeastFloat32(gradients[i]);
      gradients[i] = wide / asDtype(scale, wide.dtype(), "optimizer");
    }
  return gradients;
}

Optimizer ownOptimizer(const Optimizer &optimizer) {
  OptimizerImpl &impl = *optimizer.impl();
  if (!impl.isFromName || (!impl.isClaimed.exchange(true) && !impl.isBuilt()))
    return optimizer;
  Optimizer own(impl.className);
  own.impl()->isClaimed = true;
  return own;
}

} // namespace detail

Optimizer::Optimizer(const Optimizer &) = default;
Optimizer::Optimizer(Optimizer &&other) noexcept : impl_(other.impl_) {} // a moved-from optimizer stays valid
Optimizer &Optimizer::operator=(const Optimizer &) & = default;
Optimizer &Optimizer::operator=(Optimizer &&other) & noexcept { return *this = static_cast<const Optimizer &>(other); }
Optimizer::~Optimizer() = default;
Optimizer::Optimizer(std::shared_ptr<OptimizerImpl> impl) : impl_(std::move(impl)) {}
Optimizer::Optimizer(const char *name) : Optimizer(std::string(name)) {}
Optimizer::Optimizer(const std::string &name) : Optimizer(optimizerFromConfig(name, {})) { impl_->isFromName = true; }

Value Optimizer::scale_loss(const Value &loss) const { return impl_->scaleLoss(loss); }
void Optimizer::apply(const std::vector<Value> &gradients, const std::vector<Variable> &variables,
                      const ApplyArgs &args) const {
  requireMayUpdate(*this);
  impl_->apply(gradients, variables, args);
  if (!variables.empty())
    UpdaterScope::note(*this);
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined())
      tracing().updated.push_back(variables[i].impl());
}
std::vector<Value> Optimizer::unscale(const std::vector<Value> &gradients) const {
  if (!Trace::current())
    throw Error(ErrorKind::runtime_error, "unscale() is for functions being traced: use it inside a jit function");
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined() && !is_float(gradients[i].dtype()))
      throw Error(ErrorKind::type_error,
                  fmt::format("unscale() takes float gradients, but gradient {} has the dtype {}", i,
                              halftone::name(gradients[i].dtype())));
  return impl_->unscale(gradients);
}
void Optimizer::minimize(const Value &loss, const std::vector<Variable> &variables, Where where) const {
  if (variables.empty())
    return;
  apply(gradients(scale_loss(loss), variables, where), variables);
}
void Optimizer::finalize_variable_values(const std::vector<Variable> &variables) const { impl_->finalize(variables); }
void Optimizer::exclude_from_weight_decay(const std::vector<Variable> &var_list,
                                          const std::vector<std::string> &var_names) const {
  impl_->excludeFromWeightDecay(var_list, var_names);
}
double Optimizer::learning_rate() const { return impl_->learningRate(); }
void Optimizer::set_learning_rate(double learning_rate) const { impl_->setLearningRate(learning_rate); }
int64_t Optimizer::iterations() const { return impl_->iterations(); }
std::vector<Variable> Optimizer::variables() const { return impl_->variables(); }
std::string Optimizer::name() const { return impl_->name; }
Config Optimizer::get_config() const { return impl_->config(); }

} // namespace halftone
