// Host steps: strings in models and functions, and the programs that reject them.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Threads.h"
#include "tests/frontend/Recorded.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <set>
#include <thread>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {
Tensor strings(std::vector<std::string> list) { return Tensor(std::move(list)); }

/// A regression on texts whose words are counted on the host. The function records the threads that call it.
struct CountedWords {
  std::atomic<int64_t> calls = 0, running = 0;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::string failsAt; // the text at which the function throws
  TextVectorization vectorize{{.standardize = [this](const std::string &text) { return seen(text); },
                               .output_mode = "count",
                               .vocabulary = {"a", "b", "c"}}};
  Model model = made();

  std::string seen(const std::string &text) {
    ++running;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    --running;
    ++calls;
    if (!failsAt.empty() && text == failsAt)
      throw Error(ErrorKind::value_error, "no words in '" + text + "'");
    return text;
  }
  Model made() const {
    Input text({}, {.dtype = DType::string});
    const Model made({text}, {Dense(1, {.kernel_initializer = "ones"})(vectorize(text))});
    made.compile({.optimizer = "sgd", .loss = "mse"});
    return made;
  }
  void begin() {
    calls = 0;
    threads.clear();
  }
  bool usedOtherThreads() const { return threads.size() > threads.count(std::this_thread::get_id()); }
};
/// 23 different texts, long enough to be worth a thread.
const Tensor manyTexts = [] {
  std::vector<std::string> list;
  for (int i = 0; i < 23; ++i)
    list.push_back(std::string(i % 3 ? "a b " : "c ") + (i % 2 ? "a" : "b") + " t" + std::string(2048, 'x') +
                   std::to_string(i));
  return strings(list);
}();
const Tensor manyTargets = counted({23, 1}) / 10.0;

struct StepCount : Callback {
  int64_t steps = 0, last = 1000;
  std::function<void()> atLast;
  void on_train_batch_end(int64_t, const Logs &) override {
    if (++steps == last)
      atLast();
  }
};
} // namespace

TEST_CASE("A function of strings is compiled once for each shape that the data give") {
  const TextVectorization vectorize({.vocabulary = {"a", "b", "c"}});
  const auto sums = jit([&](const Value &texts) { return ops::sum(vectorize(texts), -1); });
  CHECK(numbers(sums(strings({"a b", "c"}))) == std::vector<double>{5, 4});
  CHECK(numbers(sums(strings({"a b c", "c"}))) == std::vector<double>{9, 4}); // three steps
  CHECK(numbers(sums(strings({"c x", "b"}))) == std::vector<double>{5, 3});
  CHECK(numbers(sums(strings({"", ""}))) == std::vector<double>{0, 0});
  CHECK(numbers(sums(strings({}))).empty());
}

TEST_CASE("Integers that a layer hashes on the host are feeds beside it too") {
  const Hashing hash(10);
  const auto both = jit([&](const Value &x) { return Values{hash(x), x + 1}; });
  const Tensors results = both(Tensor({1, -5, 7}, int32));
  CHECK(results[0].to_vector<int64_t>() == hash(Tensor({1, -5, 7}, int32)).to_vector<int64_t>());
  CHECK(numbers(results[1]) == std::vector<double>{2, -4, 8});
  CHECK(numbers(both(Tensor({4}, int32))[1]) == std::vector<double>{5});
}

TEST_CASE("Models inside of models, custom layers and Sequential pass strings to the layer that reads them") {
  const StringLookup lookup({.vocabulary = {"x", "y"}, .name = "lookup"});
  const Tensor words = strings({"y", "z", "x"});
  Input text({1}, {.dtype = DType::string});
  const Model inner({text}, {lookup(text)});
  Input outerText({1}, {.dtype = DType::string});
  const Model outer({outerText}, {Reshape({1})(inner(outerText)) * 2});
  CHECK(numbers(outer.predict(words, {.verbose = 0})) == std::vector<double>{4, 0, 2}); // (3,) becomes (3, 1)
  struct Reads {
    StringLookup lookup;
    Value call(const Value &x) const { return lookup(x) + 1; }
  };
  CHECK(numbers(Custom(Reads{lookup})(words)) == std::vector<double>{3, 1, 2});
  const Sequential sequential({lookup, Embedding(3, 2)});
  CHECK(sequential(words).shape() == Shape{3, 2});
}

TEST_CASE("A step that is asked for twice runs once, and training reads strings too") {
  int runs = 0;
  const TextVectorization vectorize({.standardize = [&runs](const std::string &text) { return ++runs, text; },
                                     .output_sequence_length = 4,
                                     .vocabulary = {"a", "b"}});
  const auto twice = jit([&](const Value &x) { return vectorize(x) + vectorize(x); });
  (void)twice(strings({"a"}));
  runs = 0;
  CHECK(numbers(twice(strings({"b"}))) == std::vector<double>{6, 0, 0, 0});
  CHECK(runs == 1);
  Input text({}, {.dtype = DType::string});
  const Model model({text}, {Dense(1)(GlobalAvgPool1D()(Embedding(4, 3)(vectorize(text))))});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor texts = strings({"a b", "b b a", "", "a a a a a"}), y({{1}, {2}, {3}, {4}});
  const double before = model.evaluate(texts, y, {.verbose = 0})["loss"];
  model.fit(texts, y, {.epochs = 20, .verbose = 0});
  model.fit(Dataset(texts, y).shuffle(4, 1).batch(3).prefetch(1), {.epochs = 2, .verbose = 0});
  CHECK(model.evaluate(texts, y, {.verbose = 0})["loss"] < before);
  model.compile({.optimizer = "sgd", .loss = "mse", .run_eagerly = true, .jit_compile = false});
  CHECK(near({model.evaluate(texts, y, {.verbose = 0})["loss"]}, {model.evaluate(texts, y, {.verbose = 0})["loss"]}));
}

TEST_CASE("A vocabulary that changes after a compile reaches the programs that have the old one") {
  const StringLookup lookup;
  lookup.adapt(strings({"a", "a", "b"}));
  const auto find = jit([&](const Value &x) { return lookup(x); });
  CHECK(numbers(find(strings({"a", "b", "c"}))) == std::vector<double>{1, 2, 0});
  lookup.adapt(strings({"c", "c", "b"}));
  CHECK(numbers(find(strings({"a", "b", "c"}))) == std::vector<double>{0, 2, 1});
}

TEST_CASE("Strings are refused where numbers are needed, and numbers where strings are, and nothing is changed") {
  const auto add = jit([](const Value &x) { return x + 1; });
  CHECK_THAT(errorOf([&] { (void)add(strings({"a"})); }), Contains("TypeError") && Contains("a Value of strings"));
  CHECK(numbers(add(Tensor({1}))) == std::vector<double>{2});
  CHECK_THAT(errorOf([] { (void)Dense(2)(Tensor(std::vector<std::string>{"a"}, {1, 1})); }), Contains("string"));
  Input number({1}), text({1}, {.dtype = DType::string, .name = "text"});
  const Model model({number}, {number * 2});
  CHECK_THAT(errorOf([&] { (void)model.predict(strings({"a"}), {.verbose = 0}); }),
             Contains("TypeError") && Contains("takes float32, but it received string"));
  const StringLookup lookup({.vocabulary = {"a"}});
  const Model reads({text}, {lookup(text)});
  CHECK_THAT(errorOf([&] { (void)reads.predict(Tensor({{1}}), {.verbose = 0}); }),
             Contains("Input 'text'") && Contains("takes string, but it received float32"));
  CHECK_THAT(errorOf([&] { (void)lookup(number); }), Contains("StringLookup takes strings"));
  CHECK_THAT(errorOf([&] { (void)(text + 1); }), Contains("a Value of strings"));
}

TEST_CASE("A host layer reads Inputs alone") {
  const IntegerLookup lookup({.vocabulary = {5, 7}});
  Input x({2}, {.dtype = int64});
  CHECK_THAT(errorOf([&] { (void)lookup(x + 1); }), Contains("NotImplementedError") && Contains("must be an Input"));
  const Model model({x}, {lookup(x)});
  CHECK(numbers(model.predict(Tensor({{5, 7}, {1, 7}}, int32), {.verbose = 0})) == std::vector<double>{1, 2, 0, 2});
}

TEST_CASE("A thread runs the host steps of the next batch while a step runs, once for each text") {
  const auto train = [](CountedWords &words, const Dataset &data) {
    words.model.fit(data, {.verbose = 0}); // traces with data
    words.begin();
    const History history = words.model.fit(data, {.epochs = 3, .verbose = 0});
    return std::pair(history["loss"], numbers(words.model.get_weights()[0]));
  };
  const Dataset batches = Dataset(manyTexts, manyTargets).shuffle(23, 5).batch(4);
  CountedWords alone;
  const auto expected = train(alone, batches);
  CHECK(alone.calls == 3 * 23);
  CHECK_FALSE(alone.usedOtherThreads());
  CountedWords ahead;
  CHECK(train(ahead, Dataset(manyTexts, manyTargets).shuffle(23, 5).batch(4).prefetch(2)) == expected);
  CHECK(ahead.calls == 3 * 23);
  CHECK(ahead.usedOtherThreads());
  CountedWords without;
  const ThreadLimit none(0);
  CHECK(train(without, Dataset(manyTexts, manyTargets).shuffle(23, 5).batch(4).prefetch(2)) == expected);
  CHECK(without.calls == 3 * 23);
}

TEST_CASE("fit, evaluate and predict of arrays of strings read ahead, and give what single batches give") {
  CountedWords words, single;
  words.model.fit(manyTexts, manyTargets, {.batch_size = 5, .epochs = 2, .verbose = 0, .shuffle = false});
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int64_t row = 0; row < 23; row += 5) {
      const int64_t end = std::min<int64_t>(row + 5, 23);
      (void)single.model.train_on_batch(manyTexts.slice(row, end), manyTargets.slice(row, end));
    }
  CHECK(numbers(words.model.get_weights()[0]) == numbers(single.model.get_weights()[0]));
  words.begin();
  const double loss = words.model.evaluate(manyTexts, manyTargets, {.batch_size = 4, .verbose = 0})["loss"];
  CHECK(words.usedOtherThreads());
  CHECK(loss == Approx(single.model.evaluate(manyTexts, manyTargets, {.batch_size = 23, .verbose = 0})["loss"]));
  words.begin();
  const Tensor predicted = words.model.predict(manyTexts, {.batch_size = 4, .verbose = 0});
  CHECK(words.usedOtherThreads());
  CHECK(near(numbers(predicted), numbers(single.model.predict(manyTexts, {.batch_size = 23, .verbose = 0}))));
  CHECK(words.model.predict(manyTexts.slice(0, 1), {.verbose = 0}).shape() == Shape{1, 1});
  words.begin();
  (void)words.model.predict(strings({"a", "b", "c", "a", "b"}), {.batch_size = 1, .verbose = 0});
  CHECK_FALSE(words.usedOtherThreads()); // handing a short text to another thread takes longer than its computation
}

TEST_CASE("An error of a host step that is computed ahead comes at the place of its batch, and names the layer") {
  CountedWords words;
  const auto count = std::make_shared<StepCount>();
  const Dataset data = Dataset(manyTexts, manyTargets).batch(4).prefetch(1);
  words.model.fit(data, {.verbose = 0, .callbacks = {count}});
  CHECK(count->steps == 6);
  count->steps = 0;
  words.failsAt = manyTexts.to_vector<std::string>()[13];
  CHECK_THAT(errorOf([&] { words.model.fit(data, {.verbose = 0, .callbacks = {count}}); }),
             Contains("no words in '" + words.failsAt + "'"));
  CHECK(count->steps == 3);
  CHECK(words.running == 0);
  CHECK_THAT(errorOf([&] { (void)words.model.predict(manyTexts, {.batch_size = 4, .verbose = 0}); }),
             Contains("no words in"));
  words.failsAt.clear();
  words.model.fit(data, {.verbose = 0, .callbacks = {count}});
  CHECK(count->steps == 9);
}

TEST_CASE("A run that a callback ends leaves no host step running, whether it stops or throws") {
  const Dataset data = Dataset(manyTexts, manyTargets).batch(2).repeat().prefetch(2);
  CountedWords words;
  const auto count = std::make_shared<StepCount>();
  count->last = 4;
  count->atLast = [&] { words.model.stop_training(); };
  words.model.fit(data, {.epochs = 5, .verbose = 0, .callbacks = {count}, .steps_per_epoch = 7});
  CHECK(count->steps == 4);
  CHECK(words.running == 0);
  count->steps = 0;
  count->atLast = [] { throw std::runtime_error("enough"); };
  CHECK_THROWS_WITH(words.model.fit(data, {.verbose = 0, .callbacks = {count}, .steps_per_epoch = 7}), "enough");
  CHECK(words.running == 0);
  const int64_t calls = words.calls;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK(words.calls == calls);
}

TEST_CASE("A vocabulary that a callback changes holds for the next batch, though that was read ahead") {
  const auto train = [](bool isAhead) {
    CountedWords words;
    const auto count = std::make_shared<StepCount>();
    count->last = 8;
    count->atLast = [&] { words.vectorize.set_vocabulary({"b", "c", "a"}); };
    const Dataset batches = Dataset(manyTexts, manyTargets).batch(4);
    words.model.fit(isAhead ? batches.prefetch(1) : batches, {.epochs = 3, .verbose = 0, .callbacks = {count}});
    return numbers(words.model.get_weights()[0]);
  };
  CHECK(train(true) == train(false));
}

TEST_CASE("Steps per epoch go on in batches that are read ahead, and named inputs are computed ahead too") {
  const auto train = [](bool isAhead) {
    const StringLookup lookup({.vocabulary = {"x", "y"}, .output_mode = "one_hot"});
    const Hashing hash(4, {.output_mode = "one_hot"});
    Input word({}, {.dtype = DType::string, .name = "word"}), id({}, {.dtype = int32, .name = "id"});
    const Model model({word, id}, {Dense(1, {.kernel_initializer = "ones"})(Concatenate()({lookup(word), hash(id)}))});
    model.compile({.optimizer = "sgd", .loss = "mse"});
    const Tensors x{{"id", Tensor({1, 2, 3, 4, 5, 6, 7}, int32)},
                    {"word", strings({"x", "y", "z", "x", "x", "y", "z"})}};
    const Dataset data = Dataset(x, manyTargets.slice(0, 7)).shuffle(7, 2).batch(2).repeat();
    const auto history =
        model.fit(isAhead ? data.prefetch(3) : data, {.epochs = 4, .verbose = 0, .steps_per_epoch = 3});
    return std::pair(history["loss"], numbers(model.get_weights()[0]));
  };
  CHECK(train(true) == train(false));
}
