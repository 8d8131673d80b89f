// Models of strings in several processes compared with one: vocabularies, training, predictions, and a resumed run.
// SPDX-License-Identifier: Apache-2.0
#include "tests/distributed/Ranks.h"
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <string>

using namespace halftone;
using namespace halftone::test;

namespace {

constexpr int64_t rows = 25; // batches of 8, 8, 8 and 1: in the last one a process has no rows
/// Texts of 1 to 9 words, each long enough to be prefetched.
Tensor texts() {
  std::vector<std::string> all;
  for (int64_t i = 0; i < rows; ++i) {
    std::string text(1024, '!');
    for (int64_t word = 0; word <= i * 5 % 9; ++word)
      text += fmt::format(" w{}", (i * word + word) % 17);
    all.push_back(text);
  }
  return Tensor(all);
}
Tensor targets() {
  std::vector<float> y;
  for (int64_t i = 0; i < rows; ++i)
    y.push_back(0.3f * static_cast<float>(i % 5 - 2));
  return Tensor(std::move(y), {rows, 1});
}
Dataset batches(bool isAhead) {
  const Dataset data = Dataset(texts(), targets()).shuffle(rows, 3).batch(8);
  return isAhead ? data.prefetch(1) : data;
}

Model net(std::optional<int64_t> length, const Tensor &adapted) {
  set_random_seed(5);
  const layers::TextVectorization vectorize({.output_sequence_length = length});
  vectorize.adapt(adapted);
  Input text({}, {.dtype = DType::string});
  const Value tokens = layers::Embedding(vectorize.vocabulary_size(), 4, {.mask_zero = true})(vectorize(text));
  const Model model({text}, {layers::Dense(1)(layers::GlobalAveragePooling1D()(tokens))}, {.name = "net"});
  model.compile({.optimizer = optimizers::Adam(0.05), .loss = "mse"});
  return model;
}

std::vector<double> numbersOf(const Model &model) {
  std::vector<double> all;
  for (const Tensor &weight : model.get_weights())
    for (const float number : weight.to_vector<float>())
      all.push_back(number);
  return all;
}
void requireNear(const std::vector<double> &found, const std::vector<double> &expected, const std::string &what) {
  require(found.size() == expected.size(), what + " have another count");
  for (size_t i = 0; i < found.size(); ++i)
    require(std::abs(found[i] - expected[i]) < 1e-4, fmt::format("{}: {} instead of {}", what, found[i], expected[i]));
}

/// Losses, weights, predictions and the loss of an evaluation.
struct Results {
  std::vector<double> losses, weights, predicted;
  double loss = 0.0;
};
Results resultsOf(bool isTogether, bool isAhead) {
  distribute(isTogether);
  const Model model = net(5, texts());
  Results results;
  results.losses = model.fit(batches(isAhead), {.epochs = 3, .verbose = 0})["loss"];
  results.weights = numbersOf(model);
  for (const float number : model.predict(texts(), {.batch_size = 8, .verbose = 0}).to_vector<float>())
    results.predicted.push_back(number);
  results.loss = model.evaluate(texts(), targets(), {.batch_size = 8, .verbose = 0})["loss"];
  return results;
}
void checkAgainstOne() {
  const Results alone = resultsOf(false, false);
  for (const bool isAhead : {false, true}) {
    const Results together = resultsOf(true, isAhead);
    requireNear(together.losses, alone.losses, "losses");
    requireNear(together.weights, alone.weights, "weights");
    requireNear(together.predicted, alone.predicted, "predictions");
    requireNear({together.loss}, {alone.loss}, "the loss of a test");
    say(fmt::format("read {}: as one process", isAhead ? "ahead" : "in turn"));
  }
}

/// A run that stops within an epoch and resumes in a new model has the bits of an uninterrupted run.
void checkResume(const std::string &folder) {
  distribute(true);
  const std::string path = folder + "/texts.ckpt";
  const Model whole = net(5, texts()), first = net(5, texts()), second = net(5, texts());

  set_random_seed(9);
  whole.fit(texts(), targets(), {.batch_size = 8, .epochs = 3, .verbose = 0});
  struct Stop : Callback {
    std::string path;
    int64_t steps = 0;
    void on_train_batch_end(int64_t, const Logs &) override {
      if (++steps != 6)
        return;
      Checkpoint(model()).save(path);
      model().stop_training();
    }
  } stop;
  stop.path = path;
  set_random_seed(9);
  first.fit(texts(), targets(), {.batch_size = 8, .epochs = 3, .verbose = 0, .callbacks = {&stop}});
  set_random_seed(1234);
  const Checkpoint::Restored restored = Checkpoint(second).restore(path);
  require(restored.epoch == 1 && restored.batch == 2,
          fmt::format("epoch {}, batch {}", restored.epoch, restored.batch));
  second.fit(
      texts(), targets(),
      {.batch_size = 8, .epochs = 3, .verbose = 0, .initial_epoch = restored.epoch, .initial_batch = restored.batch});
  require(numbersOf(second) == numbersOf(whole), "the run that went on has other weights");
  say("a run that went on within an epoch: the same bits");
}

void requireRefusal(const std::string &what, const std::string &words, const std::function<void()> &f) {
  distribute(true);
  std::string refusal;
  try {
    f();
  } catch (const Error &error) {
    refusal = std::string(name(error.kind())) + ": " + error.message();
  }
  require(refusal.starts_with("ValueError") && refusal.find(words) != refusal.npos, what + ": " + refusal);
  say(what + ": refused");
}
void checkRefusals() {
  requireRefusal("other vocabularies", ": terms of the vocabulary 5 terms", [] {
    const Tensor own(std::vector<std::string>{distribution::rank() == 0 ? "a b c" : "a b d"}); // of the same size
    (void)net(5, own).fit(texts(), targets(), {.batch_size = 8, .verbose = 0});
  });
  requireRefusal("rows as long as their texts", "set `output_sequence_length`",
                 [] { (void)net({}, texts()).fit(texts(), targets(), {.batch_size = 8, .verbose = 0}); });
  requireRefusal("predictions as long as their texts", "TextVectorization",
                 [] { (void)net({}, texts()).predict(texts(), {.batch_size = 8, .verbose = 0}); });
}

} // namespace

int main(int argc, char **argv) {
  int code = 0;
  const auto check = [&](const auto &f) {
    try {
      f();
    } catch (const std::exception &error) {
      say(fmt::format("error: {}", error.what()));
      code = 3;
    }
  };
  check(checkAgainstOne);
  check([&] { checkResume(argc > 1 ? argv[1] : "."); });
  check(checkRefusals);
  return code;
}
