// Nested models: the work per level, and the maximum depth.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>
#include <pthread.h>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;

namespace {

/// The number of calls of a layer while models are created and traced.
int64_t calls = 0;
struct Counted {
  Value call(const Value &x) const {
    ++calls;
    return x * 2.0;
  }
};
int64_t callsOf(const std::function<void()> &f) {
  calls = 0;
  f();
  return calls;
}

Layer inSequentials(Layer layer, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    layer = Sequential({layer});
  return layer;
}
Layer inAdded(Layer layer, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    Sequential outer;
    outer.add(layer);
    outer.add(Activation("linear"));
    layer = outer;
  }
  return layer;
}
Layer inGraphs(Layer layer, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const Value in = Input({4});
    layer = Model(in, layer(in));
  }
  return layer;
}

/// Each level is a layer with its own scope and a nested call.
struct Around {
  Layer inner;
  Value call(const Value &x) const { return inner(x); }
};
Layer inCustoms(Layer layer, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    layer = Custom(Around{layer});
  return layer;
}
/// A layer that calls itself endlessly.
struct Endless {
  Layer *self;
  Value call(const Value &x) const { return (*self)(x); }
};

std::string errorOf(const std::function<void()> &f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

/// The error of f() on a thread with a stack of `bytes`.
std::string errorOnStack(size_t bytes, const std::function<void()> &f) {
  struct Work {
    const std::function<void()> &f;
    std::string error;
  } work{f, "not run"};
  pthread_attr_t attributes;
  pthread_t thread;
  REQUIRE(::pthread_attr_init(&attributes) == 0);
  REQUIRE(::pthread_attr_setstacksize(&attributes, bytes) == 0);
  const auto run = [](void *given) -> void * {
    auto *work = static_cast<Work *>(given);
    work->error = errorOf(work->f);
    return nullptr;
  };
  REQUIRE(::pthread_create(&thread, &attributes, run, &work) == 0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
  return work.error;
}

const Tensor ones = Tensor::ones({2, 4});

} // namespace

TEST_CASE("Making a model of models calls the layers below as often at 200 levels as at 20") {
  for (const auto &nest : {inSequentials, inAdded, inGraphs}) {
    const auto make = [&](int64_t count) {
      return callsOf([&] { (void)nest(Sequential({Input({4}), Custom(Counted{})}), count); });
    };
    CHECK(make(20) > 0);
    CHECK(make(200) == make(20));
  }
}

TEST_CASE("The first call of models inside of each other calls the layers below as often at 200 levels as at 20") {
  const auto call = [](int64_t count) {
    const Layer layer = inSequentials(Custom(Counted{}), count);
    return callsOf([&] { CHECK(layer(ones).to_vector<float>() == std::vector<float>(8, 2)); });
  };
  CHECK(call(20) > 0);
  CHECK(call(200) == call(20));
}

TEST_CASE("A model that is recorded anew under another policy gives the outer model its new dtype") {
  const Dense dense(4);
  const Sequential inner({Input({4}), dense});
  const Value in = Input({4});
  CHECK(inner(in).dtype() == float32);
  dense.set_dtype_policy("mixed_bfloat16");
  CHECK(inner(in).dtype() == bfloat16);
  CHECK(Sequential({inner}).outputs()[0].dtype() == bfloat16);
  const Value wide = Input({3, 4});
  CHECK(inner(Value(Input({4}, {.batch_size = 7}))).shape() == Shape({7, 4}));
  CHECK_THROWS_AS(inner(wide), Error);
}

TEST_CASE("800 Sequentials inside of each other are called") {
  const Layer layer = inSequentials(Custom(Counted{}), 800);
  CHECK(layer(ones).to_vector<float>() == std::vector<float>(8, 2));
  CHECK(layer.weights().empty());
}

TEST_CASE("Layers that call each other more deeply than the stack allows are an error, on every stack") {
  const Layer deep = inCustoms(Activation("relu"), 20000);
  Layer endless = Activation("relu");
  endless = Custom(Endless{&endless});
  for (const Layer &layer : {deep, endless})
    for (const size_t bytes : {size_t(256) << 10, size_t(1) << 20, size_t(64) << 20}) {
      const auto call = [&] { (void)layer(ones); };
      CHECK_THAT(errorOnStack(bytes, call), Contains("layers: nested too deeply for the stack of this thread"));
    }
  CHECK_THAT(errorOf([&] { (void)deep(ones); }), Contains("nested too deeply"));
  CHECK(errorOf([&] { (void)inCustoms(Activation("relu"), 100)(ones); }).empty());
  endless = Activation("relu"); // breaks the cycle
}

TEST_CASE("As many layers inside of each other as the stack allows run to their end") {
  const auto fits = [](int64_t count) {
    return errorOnStack(size_t(1) << 20,
                        [&] {
                          const Layer layer = inCustoms(Dense(4), count);
                          (void)layer(ones);
                          (void)layer.weights();
                        })
        .empty();
  };
  int64_t most = 16, tooMany = 4096;
  REQUIRE(fits(most));
  while (tooMany - most > most / 16) {
    const int64_t middle = (most + tooMany) / 2;
    (fits(middle) ? most : tooMany) = middle;
  }
  CHECK(most > 50);
}

TEST_CASE("Walks over a model that is nested too deeply for a stack are errors") {
  const Layer deep = inSequentials(Activation("relu"), 50000);
  const auto model = [&] { return Model(deep); };
  for (const std::function<void()> &walk : std::vector<std::function<void()>>{
           [&] { (void)deep(ones); }, [&] { (void)deep.weights(); }, [&] { (void)model().to_json(); },
           [&] { (void)model().summary({.expand_nested = true}); }, [&] { (void)clone_model(model()); }})
    CHECK_THAT(errorOnStack(size_t(512) << 10, walk), Contains("nested too deeply"));
  deep.set_trainable(false);
  CHECK_FALSE(deep.layers()[0].layers()[0].trainable());
}

TEST_CASE("Models and graphs of any depth are destroyed without recursion") {
  const auto make = [] {
    {
      const Layer deep = inSequentials(Activation("relu"), 200000);
    }
    {
      const Layer deep = inCustoms(Activation("relu"), 200000);
    }
    Value x = detail::symbolicInput(Shape({4}), float32, "x");
    for (int64_t i = 0; i < 200000; ++i) {
      const auto same = [](const std::vector<Value> &v) { return v; };
      x = detail::apply("same", {x}, same, nullptr, {}, std::vector<detail::ValueSpec>{{Shape({4}), float32}})[0];
    }
  };
  CHECK(errorOnStack(size_t(256) << 10, make).empty());
}

TEST_CASE("Weights of layers that stand at many places are found once, in time for one") {
  Layer left = Dense(4), right = left;
  for (int i = 0; i < 60; ++i) { // 2^60 paths to the Dense
    const Layer both = Sequential({left, right});
    left = Sequential({both});
    right = Sequential({both});
  }
  CHECK(left.weights().empty());
  left.set_trainable(false);
  CHECK_FALSE(right.layers()[0].trainable());
}
