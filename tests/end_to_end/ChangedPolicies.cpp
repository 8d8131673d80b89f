// Settings changed after a program was compiled: known shapes and new ones compute under the new setting.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "halftone/Legacy.h"
#include "tests/TemporaryFolder.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;

namespace {

/// The result for one row, which is the same for each row of a batch.
struct Seen {
  DType dtype;
  double number;
  bool operator==(const Seen &) const = default;
};
std::ostream &operator<<(std::ostream &os, const Seen &seen) { return os << name(seen.dtype) << " " << seen.number; }

Seen firstOf(const Tensor &tensor) { return {tensor.dtype(), tensor.astype(float64).to_vector<double>().at(0)}; }

/// A model, the dtype of its inputs, and a change of a setting.
struct Setting {
  Sequential model;
  std::function<void()> change;
  DType input = float32;
  bool trains = true;     // whether the model has weights to train
  bool isSeen = true;     // whether the change alters dtypes or numbers
  bool isLossSeen = true; // also in the loss, which is kept in float32
};

Tensor rows(int64_t count, DType dtype) { return Tensor::full({count, 2}, 1.003).astype(dtype); }

/// A named way to run a model on a batch.
struct Way {
  const char *name;
  bool ofLoss, trains;
  std::function<Seen(const Sequential &model, const Tensor &x)> run;
};

Tensor targetsFor(const Tensor &x) { return Tensor::zeros({x.shape()[0], 1}); }

std::vector<Way> ways(const Sequential &model) {
  const Layer layer = model;
  const auto compiled = jit([layer](const Value &x) { return layer(x); });
  return {
      {"layer call", false, false, [](const Sequential &m, const Tensor &x) { return firstOf(m(x)); }},
      {"jit", false, false, [compiled](const Sequential &, const Tensor &x) { return firstOf(compiled(x)); }},
      {"predict", false, false,
       [](const Sequential &m, const Tensor &x) {
         return firstOf(m.predict(x, {.batch_size = x.shape()[0], .verbose = 0}));
       }},
      {"evaluate", true, false,
       [](const Sequential &m, const Tensor &x) {
         const Logs logs = m.evaluate(x, targetsFor(x), {.batch_size = x.shape()[0], .verbose = 0});
         return Seen{float32, logs["loss"]};
       }},
      {"train_on_batch", true, true,
       [](const Sequential &m, const Tensor &x) { return Seen{float32, m.train_on_batch(x, targetsFor(x))["loss"]}; }},
      {"fit", true, true,
       [](const Sequential &m, const Tensor &x) {
         const History history = m.fit(x, targetsFor(x), {.batch_size = x.shape()[0], .verbose = 0});
         return Seen{float32, history["loss"].at(0)};
       }},
  };
}

/// Runs the model each way before and after the change. The learning rate is 0, so that a step changes no weight.
void check(const std::function<Setting()> &make) {
  const size_t count = ways(make().model).size();
  for (size_t i = 0; i < count; ++i) {
    const PolicyScope policy("float32");
    const Setting setting = make();
    const Way way = ways(setting.model)[i];
    if (way.trains && !setting.trains)
      continue;
    CAPTURE(way.name);
    setting.model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse"});
    const Tensor known = rows(2, setting.input), fresh = rows(3, setting.input);
    const Seen before = way.run(setting.model, known);
    CHECK(way.run(setting.model, known) == before);
    setting.change();
    const Seen after = way.run(setting.model, known);
    CHECK(after == way.run(setting.model, fresh));
    CHECK(after == way.run(setting.model, known));
    if (setting.isLossSeen || !way.ofLoss)
      CHECK((after == before) == !setting.isSeen);
  }
}

struct RestoredFloatx {
  ~RestoredFloatx() { config::set_floatx("float32"); }
};

std::vector<float> numbersOf(const Tensor &tensor) { return tensor.astype(float32).to_vector<float>(); }

Dense ones(const PolicyArg &dtype) {
  return Dense(1, {.use_bias = false, .kernel_initializer = "ones", .dtype = dtype, .name = "a"});
}
Setting of(const Layer &layer, std::function<void()> change) {
  return {.model = Sequential({Input({2}), layer}, {.name = "s"}), .change = std::move(change)};
}

} // namespace

TEST_CASE("an edit of a layer's map, through any handle, reaches shapes that are compiled and others alike") {
  SECTION("an entry is replaced") {
    check([] {
      const DTypePolicyMap map("float32", {{"s/a", "float32"}});
      return of(ones(map), [map] {
        map.erase("s/a");
        map.insert("s/a", "mixed_bfloat16");
      });
    });
  }
  SECTION("a pattern is inserted, by a copy of the layer's own policy") {
    check([] {
      const Dense layer = ones(DTypePolicyMap("float32", {}));
      return of(layer, [layer] { layer.dtype_policy().as_map()->insert("s/.", "mixed_bfloat16"); });
    });
  }
  SECTION("an entry is erased, so that the default decides") {
    check([] {
      const DTypePolicyMap map("mixed_bfloat16", {{"s/a", "float32"}});
      return of(ones(map), [map] { map.erase("s/a"); });
    });
  }
  SECTION("the map is the global policy") {
    check([] {
      const DTypePolicyMap map("float32", {});
      const PolicyScope scope(map);
      return of(ones({}), [map] { map.insert("s/a", "mixed_bfloat16"); });
    });
  }
  SECTION("another layer's policy is set, which replaces the entry of the map that both share") {
    check([] {
      const DTypePolicyMap map("float32", {});
      const Sequential other({Input({2}), ones(map)}, {.name = "s"});
      return of(ones(map), [other] { other.get_layer("a").set_dtype_policy("mixed_bfloat16"); });
    });
  }
  SECTION("a map in a map stands for its own default, whatever becomes of its entries") {
    check([] {
      const DTypePolicyMap inner("float32", {});
      Setting setting =
          of(ones(DTypePolicyMap("float32", {{"s/a", inner}})), [inner] { inner.insert("s/a", "mixed_bfloat16"); });
      setting.isSeen = false;
      return setting;
    });
  }
}

TEST_CASE("a change of a layer or a model reaches shapes that are compiled and others alike") {
  SECTION("set_dtype_policy") {
    check([] {
      const Dense layer = ones("float32");
      return of(layer, [layer] { layer.set_dtype_policy("mixed_bfloat16"); });
    });
  }
  SECTION("apply_policy") {
    check([] {
      Setting setting = of(ones("float32"), {});
      setting.change = [model = setting.model] { (void)model.apply_policy(DTypePolicyMap("mixed_bfloat16", {})); };
      return setting;
    });
  }
  SECTION("set_trainable") {
    check([] {
      const Dense layer = ones("float32");
      Setting setting = of(layer, [layer] { layer.set_trainable(false); });
      setting.isSeen = false;
      return setting;
    });
  }
  SECTION("quantize") {
    check([] {
      Setting setting =
          of(Dense(1, {.use_bias = false, .kernel_initializer = initializers::Constant(0.3), .name = "a"}), {});
      setting.change = [model = setting.model] { (void)model.quantize("int8", {.verbose = false}); };
      setting.trains = false; // compile() is needed afterwards
      return setting;
    });
  }
}

// policies 10.9
TEST_CASE("floatx and the global policy reach functions that read them, at shapes that are compiled and others alike") {
  const RestoredFloatx floatx;
  SECTION("floatx decides the mean of integers") {
    check([] {
      config::set_floatx("float32");
      const Lambda mean([](const Value &x) { return ops::mean(x, {1}, true) + 1e-9; });
      return Setting{.model = Sequential({Input({2}, {.dtype = int32}), mean}),
                     .change = [] { config::set_floatx("float64"); },
                     .input = int32,
                     .trains = false,
                     .isLossSeen = false};
    });
  }
  const auto made = [](std::function<void()> change) {
    const Lambda rescaled([](const Value &x) { return ops::sum(Rescaling(1.0)(x), {1}, true); });
    return Setting{.model = Sequential({Input({2}), rescaled}), .change = std::move(change), .trains = false};
  };
  SECTION("the global policy decides layers that a function makes") {
    check([&] { return made([] { set_dtype_policy("bfloat16"); }); });
  }
  SECTION("so does a map, whose entries may change") {
    check([&] { return made([] { set_dtype_policy(DTypePolicyMap("bfloat16", {})); }); });
  }
  SECTION("so does a policy of TensorFlow 2.0") {
    check([&] { return made([] { legacy::set_policy("bfloat16"); }); });
  }
}

TEST_CASE("a map may be edited while another thread calls its layer") {
  const DTypePolicyMap map("float32", {});
  const Sequential model({Input({2}), ones(map)}, {.name = "s"});
  std::atomic<bool> isDone = false;
  std::thread editor([&] {
    for (int i = 0; i < 40; ++i) {
      map.insert("s/a", "mixed_bfloat16");
      map.erase("s/a");
    }
    map.insert("s/a", "mixed_bfloat16");
    isDone = true;
  });
  while (!isDone) {
    const DType dtype = model(rows(2, float32)).dtype();
    CHECK((dtype == float32 || dtype == bfloat16));
  }
  editor.join();
  CHECK(model(rows(2, float32)).dtype() == bfloat16);
  CHECK(model(rows(3, float32)).dtype() == bfloat16);
}

// policies 7.11
TEST_CASE("an edit that gives a quantized layer's path another mode is refused and changes nothing") {
  const DTypePolicyMap map("float32", {{"s/a", "int8_from_float32"}});
  const Sequential model({Input({2}), ones(map)}, {.name = "s"});
  const Tensor x = rows(2, float32), before = model(x);
  const auto items = map.items();
  CHECK_THROWS_WITH(map.erase("s/a"), Contains("Layer 's/a' is already quantized: its weights have the mode 'int8'") &&
                                          Contains("'float32'"));
  model.get_layer("a").set_dtype_policy("int8_from_mixed_bfloat16"); // another source dtype is the same mode
  CHECK(model(x).dtype() == bfloat16);
  model.get_layer("a").set_dtype_policy("int8_from_float32");
  CHECK(map.items() == items);
  CHECK(numbersOf(model(x)) == numbersOf(before));
  map.insert("other", "mixed_bfloat16");
  map.insert("s/.", "int8_from_float32"); // a pattern with the same mode may replace the entry
  map.erase("s/a");
  CHECK_THROWS_AS(map.erase("s/."), Error);
  CHECK(numbersOf(model(x)) == numbersOf(before));
  CHECK(map.size() == 2);
}

TEST_CASE("a map of a quantized default refuses an entry, and a second key, for the layer's path") {
  const DTypePolicyMap map("int4_from_float32", {});
  const Sequential model({Input({2}), ones(map)}, {.name = "s"});
  CHECK_THROWS_WITH(map.insert("s/a", "float32"), Contains("'int4'"));
  CHECK_THROWS_WITH(map.insert(".*", "int8_from_float32"), Contains("'int4'"));
  map.insert("s/a?", "int4_from_float32");
  CHECK_THROWS_WITH(map.insert("s/.", "int4_from_float32"), Contains("matches multiple"));
  CHECK(map.size() == 1);
}

TEST_CASE("a map is free again when its quantized layers are gone or have another policy") {
  const DTypePolicyMap map("float32", {{"s/a", "int8_from_float32"}});
  {
    const Sequential gone({Input({2}), ones(map)}, {.name = "s"});
  }
  const Sequential model({Input({2}), ones(map)}, {.name = "s"});
  (void)model.apply_policy(DTypePolicyMap("int8_from_float32", {}));
  map.erase("s/a");
  CHECK(map.size() == 0);
}

// policies 10.8
TEST_CASE("save() and clone_model refuse a policy whose mode the weights do not have, and keep the old file") {
  const TemporaryFolder folder;
  const std::string path = folder / "m.keras";
  const DTypePolicyMap map("float32", {});
  const Sequential model({Input({2}), ones(map)}, {.name = "s"});
  model.save(path);
  map.insert("s/a", "int8_from_float32"); // the weights remain floats
  CHECK_THROWS_WITH(model.save(path, {.overwrite = true}), Contains("float weights") && Contains("s/a"));
  CHECK_THROWS_WITH(clone_model(model), Contains("float weights"));
  CHECK(numbersOf(load_model(path)(rows(2, float32)))[0] == Catch::Detail::Approx(2.006f));
  map.erase("s/a");
  model.save(path, {.overwrite = true});
}
