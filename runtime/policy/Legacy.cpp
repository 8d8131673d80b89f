// TensorFlow 2.0's experimental policy class.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Legacy.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/Floatx.h"
#include "runtime/policy/LegacyPolicy.h"
#include <fmt/format.h>

using namespace halftone;
using halftone::legacy::LossScale;
using halftone::legacy::LossScaleArg;
using Json = nlohmann::ordered_json;

static constexpr std::string_view varsSuffix = "_with_float32_vars";

struct legacy::Policy::Rep {
  std::string name;
  std::optional<DType> compute, variable;
  std::optional<LossScale> lossScale;
  bool usesDefaultLossScale = true;
  std::vector<std::string> warnings;
};

static bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Looks up a dtype by TensorFlow's name: Halftone's names and three more.
static std::optional<DType> dtypeByName(std::string_view name) {
  if (name == "half")
    return DType::float16;
  if (name == "float")
    return DType::float32;
  if (name == "double")
    return DType::float64;
  try {
    return standardize_dtype(name);
  } catch (const Error &) {
    return std::nullopt;
  }
}

static void parseName(legacy::Policy::Rep &rep, Where where) {
  if (rep.name == "mixed_float16" || rep.name == "mixed_bfloat16") {
    rep.compute = rep.name == "mixed_float16" ? DType::float16 : DType::bfloat16;
    rep.variable = DType::float32;
    return;
  }
  std::string_view base = rep.name;
  const bool float32Vars = endsWith(base, varsSuffix);
  if (float32Vars) {
    base.remove_suffix(varsSuffix.size());
    rep.variable = DType::float32;
  }
  if (base == "infer")
    return;
  rep.compute = dtypeByName(base);
  if (!rep.compute)
    throw Error(
        ErrorKind::value_error,
        fmt::format("Cannot convert value {} to a mixed precision Policy. Valid policies include include "
                    "'mixed_float16', 'mixed_bfloat16', and the name of any dtype such as 'float32'.{}",
                    rep.name,
                    float32Vars ? " The part before '_with_float32_vars' must be 'infer' or the name of a dtype." : ""),
        "", where);
  if (!float32Vars)
    rep.variable = rep.compute;
}

static std::optional<std::string> deprecation(const std::string &name) {
  if (!endsWith(name, varsSuffix))
    return std::nullopt;
  std::string text = fmt::format("WARNING: The '{}' policy is deprecated and will be removed in TensorFlow 2.1.", name);
  if (name == "infer_with_float32_vars")
    text += " Please use the 'mixed_float16' or 'mixed_bfloat16' policy instead.";
  for (const char *dtype : {"float16", "bfloat16"})
    if (name == std::string(dtype) + std::string(varsSuffix))
      text += fmt::format(" Please use the 'mixed_{}' policy instead.", dtype);
  return text;
}

legacy::Policy::Policy(std::string_view name, LossScaleArg loss_scale, Where where) {
  auto rep = std::make_shared<Rep>();
  rep->name = name == "infer_float32_vars" ? "infer_with_float32_vars" : std::string(name);
  if (rep->name == "float32_with_float32_vars")
    rep->name = "float32";
  parseName(*rep, where);
  if (const std::optional<std::string> warning = deprecation(rep->name))
    rep->warnings.push_back(*warning);
  rep->usesDefaultLossScale = loss_scale.is_default();
  rep->lossScale = loss_scale.scale();
  if (loss_scale.is_default() && rep->name == "mixed_float16")
    rep->lossScale = LossScale::get("dynamic");
  if (rep->lossScale && rep->compute && rep->compute != DType::float16)
    rep->warnings.push_back(fmt::format(
        "Creating a Policy with a loss scale is only useful for float16 policies. You passed loss_scale={} for policy "
        "{}. Consider not passing any loss_scale instead.",
        rep->lossScale->repr(), rep->name));
  rep_ = std::move(rep);
}

std::string legacy::Policy::name() const { return rep_->name; }
std::optional<DType> legacy::Policy::compute_dtype() const { return rep_->compute; }
std::optional<DType> legacy::Policy::variable_dtype() const { return rep_->variable; }
bool legacy::Policy::should_cast_variables() const { return rep_->compute != rep_->variable; }
std::optional<LossScale> legacy::Policy::loss_scale() const { return rep_->lossScale; }
std::vector<std::string> legacy::Policy::warnings() const { return rep_->warnings; }
std::string legacy::Policy::repr() const {
  return fmt::format("<Policy \"{}\", loss_scale={}>", rep_->name, rep_->lossScale ? rep_->lossScale->repr() : "None");
}

namespace {

/// A TensorFlow 2.0 policy as a layer policy. While the policy is 'infer', its dtypes are floatx and unused.
struct LegacyRep final : PolicyAccess::Rep {
  LegacyRep(const legacy::Policy &policy, bool usesDefaultLossScale)
      : Rep("Policy", policy.name(), policy.compute_dtype().value_or(floatx()),
            policy.variable_dtype().value_or(floatx())),
        policy(policy), usesDefaultLossScale(usesDefaultLossScale) {}
  std::string repr() const override { return policy.repr(); }
  Config config() const override {
    Json config{{"name", name}};
    const std::optional<LossScale> scale = policy.loss_scale();
    if (!usesDefaultLossScale)
      config["loss_scale"] =
          scale ? Json{{"class_name", scale->class_name()}, {"config", ConfigAccess::json(scale->get_config())}}
                : Json();
    return ConfigAccess::make(std::move(config));
  }
  bool equals(const Rep &other) const override { return config().dump() == other.config().dump(); }

  const legacy::Policy policy;
  const bool usesDefaultLossScale;
};

const LegacyRep *legacyOf(const DTypePolicy &policy) {
  return dynamic_cast<const LegacyRep *>(&PolicyAccess::rep(policy));
}

} // namespace

/// The equivalent plain policy of Keras 3, if there is one, so that config files match Keras's.
legacy::Policy::operator DTypePolicy() const {
  if (rep_->usesDefaultLossScale)
    try {
      return DTypePolicy(rep_->name);
    } catch (const Error &) { // the name exists only in TensorFlow 2.0
    }
  return PolicyAccess::make(std::make_shared<LegacyRep>(*this, rep_->usesDefaultLossScale));
}
legacy::Policy::operator PolicyArg() const { return PolicyArg(DTypePolicy(*this)); }

std::optional<DTypePolicy> halftone::inferredPolicy(const DTypePolicy &policy, DType input) {
  const LegacyRep *rep = legacyOf(policy);
  if (!rep || rep->policy.compute_dtype())
    return std::nullopt;
  const std::string dtype(name(input));
  return legacy::Policy(rep->policy.variable_dtype() ? dtype + std::string(varsSuffix) : dtype);
}

std::optional<std::optional<LossScale>> halftone::legacyLossScale(const DTypePolicy &policy) {
  if (const LegacyRep *rep = legacyOf(policy))
    return {{rep->policy.loss_scale()}};
  return std::nullopt;
}

LossScaler halftone::lossScaler(const DTypePolicy &own, LossScaler given, bool isAutomatic) {
  const auto legacy = legacyLossScale(own);
  const bool asks = legacy ? legacy->has_value() : own.name() == "mixed_float16"; // Keras decides by the name
  return isAutomatic && asks && given != LossScaler::given ? LossScaler::added : given;
}

static LossScale lossScaleFromJson(const Json &json) {
  const auto fail = [&] {
    throw Error(ErrorKind::value_error, fmt::format("Could not interpret loss scale identifier: {}", json.dump()));
  };
  if (!json.is_object() || !json.contains("class_name") || !json.contains("config"))
    fail();
  const Config config = ConfigAccess::make(json["config"]);
  if (json["class_name"] == "FixedLossScale")
    return legacy::FixedLossScale(config.get_double("loss_scale_value"));
  if (json["class_name"] != "DynamicLossScale")
    fail();
  return legacy::DynamicLossScale({.initial_loss_scale = config.get_double("initial_loss_scale"),
                                   .increment_period = config.get_int("increment_period"),
                                   .multiplier = config.get_double("multiplier")});
}

std::shared_ptr<PolicyAccess::Rep> halftone::legacyRep(const Config &config) {
  const Json &json = ConfigAccess::json(config);
  LossScaleArg scale;
  if (json.contains("loss_scale"))
    scale = json["loss_scale"].is_null() ? LossScaleArg(std::nullopt) : lossScaleFromJson(json["loss_scale"]);
  return PolicyAccess::handle(DTypePolicy(legacy::Policy(config.get_string("name"), scale, {})));
}

DTypePolicy halftone::policyNamed(const std::string &name) {
  try {
    return DTypePolicy(name, Where{});
  } catch (const Error &) { // a quantized policy, or one of TensorFlow 2.0
  }
  try {
    return policyByString(name);
  } catch (const Error &error) {
    try {
      return PolicyArg(legacy::Policy(name, {}, Where{})).get();
    } catch (const Error &) {
      throw error;
    }
  }
}

std::string halftone::nameInIR(const DTypePolicy &policy) {
  const bool isQuantized = policy.quantization_mode() && !policy.as_map();
  if (!isQuantized)
    return policy.name();
  const Config config = policy.get_config();
  return fmt::format("{}_from_{}", config.get_string("mode"), config.get_string("source_name"));
}

legacy::Policy legacy::global_policy() {
  const std::optional<DTypePolicy> set = policyIfSet();
  if (!set)
    return Policy(halftone::name(floatx()), {}, {});
  const LegacyRep *rep = legacyOf(*set);
  return rep ? rep->policy : Policy(set->name(), {}, {});
}
void legacy::set_policy(std::nullopt_t) { unsetPolicy(); }
void legacy::set_policy(std::string_view name, Where where) { set_dtype_policy(Policy(name, {}, where)); }
void legacy::set_policy(const Policy &policy) { set_dtype_policy(DTypePolicy(policy)); }
