// The catalogue of losses, for conversion to and from configs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ClassNames.h"
#include "frontend/base/ClassRegistry.h"
#include "frontend/losses/Fields.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::losses {
using namespace detail;

namespace {

/// A null reduction means none.
template <class Args> Args argsOf(FieldReader &reader) {
  Args args;
  reader.read(args, std::tuple{Field{"name", &Args::name}, Field{"dtype", &Args::dtype}});
  if (reader.takes("reduction"))
    args.reduction = reader.isNull("reduction") ? Reduction::none : reader.get<Reduction>("reduction");
  reader.read(args, lossFields<Args>);
  return args;
}

template <class T, class Args = LossArgs> Loss made(FieldReader &reader) { return T(argsOf<Args>(reader)); }
Loss madeHuber(FieldReader &reader) {
  double delta = 1.0;
  reader.readOne("delta", delta);
  return Huber(delta, argsOf<LossArgs>(reader));
}
Loss madeGeneralized(FieldReader &reader) {
  double q = 0.5;
  reader.readOne("q", q);
  return CategoricalGeneralizedCrossEntropy(q, argsOf<LossArgs>(reader));
}
Loss madeCosine(FieldReader &reader) {
  int64_t axis = -1;
  reader.readOne("axis", axis);
  return CosineSimilarity(axis, argsOf<LossArgs>(reader));
}

struct Known {
  const char *className, *kind;
  Loss (*make)(FieldReader &);
};
constexpr Known catalogue[] = {
    {"BinaryCrossentropy", "binary_crossentropy", made<BinaryCrossentropy, CrossentropyArgs>},
    {"BinaryFocalCrossentropy", "binary_focal_crossentropy", made<BinaryFocalCrossentropy, BinaryFocalArgs>},
    {"CategoricalCrossentropy", "categorical_crossentropy", made<CategoricalCrossentropy, CrossentropyArgs>},
    {"CategoricalFocalCrossentropy", "categorical_focal_crossentropy",
     made<CategoricalFocalCrossentropy, CategoricalFocalArgs>},
    {"CategoricalGeneralizedCrossEntropy", "categorical_generalized_cross_entropy", madeGeneralized},
    {"CategoricalHinge", "categorical_hinge", made<CategoricalHinge>},
    {"Circle", "circle", made<Circle, CircleArgs>},
    {"CosineSimilarity", "cosine_similarity", madeCosine},
    {"Dice", "dice", made<Dice, DiceArgs>},
    {"Hinge", "hinge", made<Hinge>},
    {"Huber", "huber_loss", madeHuber},
    {"KLDivergence", "kl_divergence", made<KLDivergence>},
    {"LogCosh", "log_cosh", made<LogCosh>},
    {"MeanAbsoluteError", "mean_absolute_error", made<MeanAbsoluteError>},
    {"MeanAbsolutePercentageError", "mean_absolute_percentage_error", made<MeanAbsolutePercentageError>},
    {"MeanSquaredError", "mean_squared_error", made<MeanSquaredError>},
    {"MeanSquaredLogarithmicError", "mean_squared_logarithmic_error", made<MeanSquaredLogarithmicError>},
    {"Poisson", "poisson", made<Poisson>},
    {"SparseCategoricalCrossentropy", "sparse_categorical_crossentropy",
     made<SparseCategoricalCrossentropy, SparseCrossentropyArgs>},
    {"SquaredHinge", "squared_hinge", made<SquaredHinge>},
    {"Tversky", "tversky", made<Tversky, TverskyArgs>},
};

} // namespace

Config serialize(const Loss &loss) {
  for (const Known &known : catalogue)
    if (loss.impl() && loss.impl()->kind == known.kind)
      return serializedObject("keras.losses", known.className, loss.get_config());
  if (const std::optional<std::string> name = loss.defined() ? registeredNameOf(loss) : std::nullopt)
    return savedFunction(*name);
  throw Error(ErrorKind::value_error,
              fmt::format("The loss '{}' is a function, which no config can hold: register it, as it is given to "
                          "compile(), with register_loss(\"package>name\", f)",
                          loss.name()));
}

Loss deserialize(const Config &config) {
  const std::string function = functionIn(config);
  return function.empty() ? madeFrom(catalogue, config, "loss", "losses") : Loss(function);
}

} // namespace halftone::losses
