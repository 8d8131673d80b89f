// The catalogue of optimizers, by name and from configs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProgressBar.h"
#include "frontend/optimizers/Fields.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Error.h"
#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace halftone {
using namespace detail;

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

template <class T, class Args> Optimizer made(FieldReader &reader) {
  Args args;
  if constexpr (std::is_same_v<decltype(args.weight_decay), double>)
    if (reader.takes("weight_decay") && reader.isNull("weight_decay"))
      throw Error(ErrorKind::value_error, "Argument `weight_decay` must be a float. Received: weight_decay=None");
  reader.read(args, std::tuple{Field{"name", &Args::name}});
  reader.read(args, sharedFields<Args>);
  reader.read(args, ownFields<Args>);
  if (reader.takes("decay") && !reader.isNull("decay"))
    writeOutput("warning: Argument `decay` is no longer supported and will be ignored.\n");
  if (!reader.takes("learning_rate"))
    return T(LearningRate(T().learning_rate()), args);
  const Config &config = reader.config();
  if (reader.isObject("learning_rate"))
    return T(schedules::deserialize(config.get_object("learning_rate")), args);
  return T(LearningRate(config.get_double("learning_rate")), args);
}

template <class T> void requireDefault(FieldReader &reader, Field<optimizers::SGDArgs, T> field) {
  optimizers::SGDArgs given;
  const T byDefault = given.*field.member;
  reader.read(given, std::tuple{field});
  if (given.*field.member != byDefault)
    throw Error(ErrorKind::value_error, fmt::format("LossScaleOptimizer does not support `{}`. Instead, set `{}` on "
                                                    "the `inner_optimizer`.",
                                                    field.key, field.key));
}

Optimizer madeLossScale(FieldReader &reader) {
  using optimizers::LossScaleArgs;
  if (reader.takes("dynamic") && !reader.get<bool>("dynamic"))
    throw Error(ErrorKind::value_error, "LossScaleOptimizer no longer supports `dynamic=False`. Instead, simply set "
                                        "`loss_scale_factor` directly on the `inner_optimizer`.");
  // Older versions of Keras wrote the fields of every optimizer into the config of LossScaleOptimizer.
  std::apply([&](auto... fields) { (requireDefault(reader, fields), ...); }, sharedFields<optimizers::SGDArgs>);
  LossScaleArgs args;
  reader.read(args,
              std::tuple{Field{"name", &LossScaleArgs::name}, Field{"initial_scale", &LossScaleArgs::initial_scale},
                         Field{"dynamic_growth_steps", &LossScaleArgs::dynamic_growth_steps}});
  if (!reader.takes("inner_optimizer"))
    throw Error(ErrorKind::value_error, "LossScaleOptimizer needs an inner optimizer: "
                                        "optimizers::LossScaleOptimizer(optimizers::Adam()), or 'inner_optimizer' in a "
                                        "config");
  Config inner = reader.config().get_object("inner_optimizer");
  if (std::vector<std::string> keys = reader.left(); !keys.empty())
    throw Error(ErrorKind::value_error,
                fmt::format("LossScaleOptimizer does not support arguments: `{}`.", fmt::join(keys, "`, `")));
  return optimizers::LossScaleOptimizer(optimizers::deserialize(inner), args);
}

struct Known {
  const char *className;
  Optimizer (*make)(FieldReader &);
  bool needsArguments = false; // its name alone denotes no optimizer
};
constexpr Known catalogue[] = {
    {"Adam", made<optimizers::Adam, optimizers::AdamArgs>},
    {"AdamW", made<optimizers::AdamW, optimizers::AdamWArgs>},
    {"RMSprop", made<optimizers::RMSprop, optimizers::RMSpropArgs>},
    {"SGD", made<optimizers::SGD, optimizers::SGDArgs>},
    {"Lion", made<optimizers::Lion, optimizers::LionArgs>},
    {"Adagrad", made<optimizers::Adagrad, optimizers::AdagradArgs>},
    {"Adadelta", made<optimizers::Adadelta, optimizers::AdadeltaArgs>},
    {"Adamax", made<optimizers::Adamax, optimizers::AdamaxArgs>},
    {"Nadam", made<optimizers::Nadam, optimizers::NadamArgs>},
    {"Adafactor", made<optimizers::Adafactor, optimizers::AdafactorArgs>},
    {"Ftrl", made<optimizers::Ftrl, optimizers::FtrlArgs>},
    {"Lamb", made<optimizers::Lamb, optimizers::LambArgs>},
    {"Muon", made<optimizers::Muon, optimizers::MuonArgs>},
    {"ScheduleFreeAdamW", made<optimizers::ScheduleFreeAdamW, optimizers::ScheduleFreeAdamWArgs>},
    {"LossScaleOptimizer", madeLossScale, true},
};

} // namespace

Optimizer detail::optimizerFromConfig(const std::string &className, const Config &config) {
  std::string known;
  for (const Known &entry : catalogue) {
    if (lower(entry.className) == lower(className)) {
      FieldReader reader(config);
      Optimizer optimizer = entry.make(reader);
      reader.requireNothingLeft(entry.className);
      return optimizer;
    }
    if (!entry.needsArguments)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", lower(entry.className));
  }
  throw Error(ErrorKind::value_error,
              fmt::format("Could not interpret optimizer identifier: {}. Known: {}", className, known));
}

Config optimizers::serialize(const Optimizer &optimizer) {
  return serializedObject("keras.optimizers", optimizer.impl()->className, optimizer.get_config());
}
Optimizer optimizers::deserialize(const Config &config) {
  return optimizerFromConfig(config.get_string("class_name"), config.get_object("config"));
}

} // namespace halftone
