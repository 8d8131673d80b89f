// Losses from configs and to configs: the list of all that there are.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ClassNames.h"
#include "frontend/ConfigFields.h"
#include "frontend/LossImpl.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::losses {
using namespace detail;

namespace {

/// A reduction of null is none.
template <class Args> Args sharedArgs(FieldReader &reader) {
  Args args;
  reader.readOne("name", args.name);
  reader.readOne("dtype", args.dtype);
  if (reader.takes("reduction"))
    args.reduction = reader.isNull("reduction") ? Reduction::none : reader.get<Reduction>("reduction");
  return args;
}

template <class T> Loss made(FieldReader &reader) { return T(sharedArgs<LossArgs>(reader)); }
template <class T> Loss madeCrossentropy(FieldReader &reader) {
  auto args = sharedArgs<CrossentropyArgs>(reader);
  reader.readOne("from_logits", args.from_logits);
  reader.readOne("label_smoothing", args.label_smoothing);
  reader.readOne("axis", args.axis);
  return T(args);
}
Loss madeSparse(FieldReader &reader) {
  auto args = sharedArgs<SparseCrossentropyArgs>(reader);
  reader.readOne("from_logits", args.from_logits);
  reader.readOne("ignore_class", args.ignore_class);
  reader.readOne("axis", args.axis);
  return SparseCategoricalCrossentropy(args);
}
Loss madeHuber(FieldReader &reader) {
  double delta = 1.0;
  reader.readOne("delta", delta);
  return Huber(delta, sharedArgs<LossArgs>(reader));
}
Loss madeCosine(FieldReader &reader) {
  int64_t axis = -1;
  reader.readOne("axis", axis);
  return CosineSimilarity(axis, sharedArgs<LossArgs>(reader));
}

struct Known {
  const char *className, *kind;
  Loss (*make)(FieldReader &);
};
constexpr Known catalogue[] = {
    {"BinaryCrossentropy", "binary_crossentropy", madeCrossentropy<BinaryCrossentropy>},
    {"CategoricalCrossentropy", "categorical_crossentropy", madeCrossentropy<CategoricalCrossentropy>},
    {"CategoricalHinge", "categorical_hinge", made<CategoricalHinge>},
    {"CosineSimilarity", "cosine_similarity", madeCosine},
    {"Hinge", "hinge", made<Hinge>},
    {"Huber", "huber_loss", madeHuber},
    {"KLDivergence", "kl_divergence", made<KLDivergence>},
    {"LogCosh", "log_cosh", made<LogCosh>},
    {"MeanAbsoluteError", "mean_absolute_error", made<MeanAbsoluteError>},
    {"MeanAbsolutePercentageError", "mean_absolute_percentage_error", made<MeanAbsolutePercentageError>},
    {"MeanSquaredError", "mean_squared_error", made<MeanSquaredError>},
    {"MeanSquaredLogarithmicError", "mean_squared_logarithmic_error", made<MeanSquaredLogarithmicError>},
    {"Poisson", "poisson", made<Poisson>},
    {"SparseCategoricalCrossentropy", "sparse_categorical_crossentropy", madeSparse},
    {"SquaredHinge", "squared_hinge", made<SquaredHinge>},
};

} // namespace

Config serialize(const Loss &loss) {
  for (const Known &known : catalogue)
    if (loss.impl() && loss.impl()->kind == known.kind)
      return serializedObject("keras.losses", known.className, loss.get_config());
  throw Error(ErrorKind::value_error,
              fmt::format("The loss '{}' is a function, which no config can hold", loss.name()));
}

Loss deserialize(const Config &config) {
  SavedObject saved = savedObject(config);
  const Known *found = findClass(catalogue, saved.className);
  if (!found)
    throw Error(ErrorKind::value_error, fmt::format("Could not locate loss class '{}'. {}", saved.className,
                                                    knownClasses(catalogue, saved.className, "losses")));
  const Loss loss = found->make(saved.fields);
  saved.fields.requireNothingLeft(saved.className);
  return loss;
}

} // namespace halftone::losses
