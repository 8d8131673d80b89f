// The facts on which processes must agree: each argument that matters, and the computation of the model.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/CallFacts.h"
#include "frontend/training/ArgFields.h"
#include "frontend/training/ModelState.h"
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::detail;

namespace {

std::vector<std::string> namesOf(const std::vector<Fact> &facts) {
  std::vector<std::string> names;
  for (const auto &[name, value] : facts)
    names.push_back(name);
  return names;
}

/// The module of the loss of a new model, each time in a new session.
std::string textOf(const Loss &loss, const std::string &activation) {
  utils::clear_session();
  const Sequential model({layers::Input({3}), layers::Dense(2, {.activation = activation})});
  model.compile({.optimizer = "sgd", .loss = loss, .metrics = {"mae"}});
  CompiledModel &compiled = *compiledIfAny(model);
  const Tensor x = Tensor::zeros({4, 3}), y = Tensor::zeros({4, 2});
  prepareCompiled(model, compiled, {x}, {y});
  const std::vector<TensorType> types{{DType::float32, {4, 3}}, {DType::float32, {4, 2}}};
  return lossText(model, compiled, true, types, batchLayout(1, 1, 0, 0));
}

} // namespace

TEST_CASE("Every argument of a call is a fact, but for verbose") {
  std::vector<Fact> facts;
  addArgs(FitArgs{}, facts);
  CHECK(namesOf(facts) == std::vector<std::string>{"batch_size", "epochs", "callbacks", "validation_split",
                                                   "validation_data", "shuffle", "class_weight", "sample_weight",
                                                   "initial_epoch", "steps_per_epoch", "validation_steps",
                                                   "validation_batch_size", "validation_freq", "initial_batch"});
  facts.clear();
  addArgs(FitArgs{.callbacks = {callbacks::EarlyStopping({.patience = 3}), callbacks::CSVLogger("a.csv"),
                                callbacks::LambdaCallback({})},
                  .class_weight = {{1, 0.5}},
                  .sample_weight = Tensor::ones({4}),
                  .validation_steps = 7},
          facts);
  CHECK(facts[2].second.starts_with("[EarlyStopping(monitor 'val_loss', min_delta 0, patience 3, mode 'auto'"));
  CHECK(facts[2].second.find("CSVLogger") == std::string::npos);
  CHECK(facts[6].second == "[1: 0.5]");
  CHECK(facts[7].second == "[(4,) float32]");
  CHECK(facts[10].second == "7");
}

TEST_CASE("The facts of a dataset tell whether its count is known, unknown or without end") {
  const Dataset data = Dataset(Tensor::zeros({6, 3})).batch(2);
  const auto factOf = [](const Dataset &given) {
    std::vector<Fact> facts;
    addData(given, facts);
    return facts.back().second;
  };
  CHECK(factOf(data.repeat(2)).ends_with("a dataset of 6 batches"));
  CHECK(factOf(data.repeat()).ends_with("an infinite dataset"));
  const auto epoch = [] { return [] { return std::optional<Batch>(); }; };
  CHECK(factOf(Dataset::from_generator(epoch)).ends_with("a dataset of unknown length"));
}

TEST_CASE("The text of a loss is the same in each session, and another one for another function") {
  const auto twice = [](const Value &t, const Value &p) { return ops::square(t - p) * 2.0; };
  const auto thrice = [](const Value &t, const Value &p) { return ops::square(t - p) * 3.0; };
  CHECK(textOf(Loss(twice), "relu") == textOf(Loss(twice), "relu"));
  CHECK(textOf(Loss(twice), "relu") != textOf(Loss(thrice), "relu"));
  CHECK(textOf("mse", "relu") != textOf("mse", "tanh"));
}

TEST_CASE("The terms and weights of a vocabulary are a fact, in their order") {
  const auto factOf = [](const layers::Vocabulary<std::string> &terms, const std::vector<double> &weights = {}) {
    const bool isWeighted = !weights.empty();
    const layers::StringLookup lookup({.output_mode = isWeighted ? OutputMode::tf_idf : OutputMode::int_});
    lookup.set_vocabulary(terms, weights);
    Input text({1}, {.dtype = DType::string});
    std::vector<Fact> facts;
    addModel(Model({text}, {lookup(text)}), facts);
    std::string found;
    for (const auto &[name, value] : facts)
      if (name.ends_with(": terms of the vocabulary"))
        found += value;
    return found;
  };
  CHECK(factOf({"a", "b"}).starts_with("3 terms with the fingerprint 0x"));
  CHECK(factOf({"a", "b"}) == factOf({"a", "b"}));
  CHECK(factOf({"a", "b"}) != factOf({"b", "a"}));
  CHECK(factOf({"a", "b"}) != factOf({"ab", ""}));
  CHECK(factOf({"a", "b"}, {1.0, 2.0}) != factOf({"a", "b"}, {1.0, 2.5}));
}
