// Symbolic graphs: shape inference by tracing, dtypes, layer paths, replay, and errors.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;

TEST_CASE("shapes keep None where the batch decides them") {
  Input x({28, 28}, {.dtype = uint8});
  CHECK(x.shape().str() == "(None, 28, 28)");
  CHECK(x.dtype() == uint8);
  Value flat = Flatten()(Rescaling(1.0 / 255)(x));
  CHECK(flat.shape().str() == "(None, 784)");
  CHECK(flat.dtype() == float32);
  Value h = Dense(10)(flat);
  CHECK(h.shape().str() == "(None, 10)");
  CHECK(ops::mean(h, 1).shape().str() == "(None,)");
  CHECK(ops::sum(h, 0).shape().str() == "(10,)");
  CHECK(ops::reshape(h, {none, 2, 5}).shape().str() == "(None, 2, 5)");
  CHECK(ops::transpose(h).shape().str() == "(10, None)");
  CHECK(ops::expand_dims(h, 1).shape().str() == "(None, 1, 10)");
  CHECK(ops::matmul(h, ops::transpose(h)).shape().str() == "(None, None)");
  CHECK(ops::argmax(h).dtype() == int32);
  CHECK(ops::one_hot(ops::argmax(h), 10).shape().str() == "(None, 10)");
}

TEST_CASE("operations promote as Keras does") {
  Input f32({4}), f16({4}, {.dtype = float16}), b16({4}, {.dtype = bfloat16}), i32({4}, {.dtype = int32});
  CHECK((f16 + b16).dtype() == float32);
  CHECK((f16 + i32).dtype() == float16);
  CHECK((f16 * 0.5).dtype() == float16);
  CHECK((i32 * 2).dtype() == int32);
  CHECK((i32 * 0.5).dtype() == float32);
  CHECK((i32 / 2.0).dtype() == float32);
  CHECK((i32 / i32).dtype() == float32);
  CHECK(ops::exp(i32).dtype() == float32);
  CHECK((f32 - f16).dtype() == float32);
  CHECK(ops::equal(f32, f16).dtype() == DType::bool_);
  Input f64({4}, {.dtype = float64});
  CHECK((f64 + f64).dtype() == float64);
}

TEST_CASE("layers have names, paths and policies") {
  Dense hidden(8, {.dtype = "mixed_float16", .name = "hidden"});
  CHECK_FALSE(hidden.built());
  CHECK_THROWS_WITH(hidden.kernel(), Contains("'hidden' has no 'kernel' yet"));
  Value y = hidden(Input({3}));
  CHECK(hidden.built());
  CHECK(hidden.path() == "hidden");
  CHECK(y.dtype() == float16);
  CHECK(y.layer_path() == "hidden");
  CHECK(hidden.kernel().dtype() == float32);
  CHECK(hidden.kernel().path() == "hidden/kernel");
  CHECK(hidden.count_params() == 32);
  Sequential net(
      {Input({3}), Dense(4, {.name = "a"}), Sequential({Input({4}), Dense(2, {.name = "c"})}, {.name = "b"})},
      {.name = "net"});
  CHECK(net.layers().size() == 2);
  CHECK(net.layers()[0].path() == "net/a");
  CHECK(net.layers()[1].layers()[0].path() == "b/c");
  CHECK(net.count_params() == 16 + 10);
  CHECK(net.trainable_variables().size() == 4);
  net.layers()[0].set_trainable(false);
  CHECK(net.trainable_variables().size() == 2);
}

TEST_CASE("a Sequential without an Input is built by its first data") {
  Sequential net({Dense(4), Dense(2)}, {.name = "late"});
  CHECK_FALSE(net.built());
  Value y = net(Input({3}));
  CHECK(net.built());
  CHECK(y.shape().str() == "(None, 2)");
  CHECK(net.layers()[0].path() == "late/" + net.layers()[0].name());
}

TEST_CASE("a functional model lists its layers in order and checks its graph") {
  Input a({4}, {.name = "a"}), b({4}, {.name = "b"});
  Dense shared(3, {.name = "shared"});
  Value y = Dense(1, {.name = "head"})(shared(a) + shared(b));
  Model model({a, b}, {y}, {.name = "twin"});
  std::vector<std::string> names;
  for (const Layer &layer : model.layers())
    names.push_back(layer.name());
  CHECK(names == std::vector<std::string>{"a", "b", "shared", "head"});
  CHECK(model.trainable_variables().size() == 4);
  CHECK_THROWS_WITH(Model({a}, {y}), Contains("Input 'b'"));
  CHECK_THROWS_WITH(model.get_layer("nope"), Contains("No such layer: nope"));
}

TEST_CASE("an error in a call of a layer names the layer and the line") {
  try {
    Sequential({Input({5}), Dense(2, {.name = "head"}), Reshape({3})}, {.name = "net"});
    FAIL("nothing was thrown");
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::value_error);
    CHECK_THAT(error.message(), Contains("reshape"));
    CHECK_THAT(error.layer_path(), Contains("net/reshape"));
    CHECK(error.where().line > 0);
  }
  CHECK_THROWS_WITH(ops::matmul(Input({3}), Input({4})), Contains("matmul of"));
  CHECK_THROWS_WITH(Dense(0), Contains("Received an invalid value for `units`, expected a positive integer."));
  CHECK_THROWS_WITH(Dense(4, {.activation = "reluu"}), Contains("reluu"));
  CHECK_THROWS_WITH(Dense(4, {.kernel_initializer = "glorot"}), Contains("glorot"));
  CHECK_THROWS_WITH(Dropout(1.5), Contains("between 0 and 1"));
  CHECK_THROWS_WITH(Dense(4, {.dtype = "mixed_float15"}), Contains("Cannot convert 'mixed_float15'"));
}

namespace {
struct Misspelled {
  Variable kernel{};
  void biuld(BuildContext &, const Shape &) {}
  Value call(const Value &x) const { return ops::matmul(x, kernel); }
};
struct MadeInCall {
  Value call(const Value &x) const { return Dense(4)(x); }
};
struct Residual {
  Dense inner;
  Dropout dropout{0.1};
  Value call(const Value &x, const CallContext &context) const {
    Value y = ops::relu(inner(x));
    return context.training() ? x + dropout(y) : x + y;
  }
};
} // namespace

TEST_CASE("custom layers find their children by calling them") {
  Custom block(Residual{Dense(4, {.name = "inner"})}, {.name = "block"});
  Value y = block(Input({4}));
  CHECK(y.shape().str() == "(None, 4)");
  REQUIRE(block.layers().size() >= 1);
  CHECK(block.layers()[0].path() == "block/inner");
  CHECK(block.class_name() == "Residual");
  CHECK_THROWS_WITH((void)Custom(Misspelled{}, {.name = "low_rank"})(Input({3})),
                    Contains("was read before it was created"));
  CHECK_THROWS_WITH((void)Custom(MadeInCall{})(Input({3})), Contains("was created inside the call"));
}

TEST_CASE("symbols and traces do not mix") {
  Input outside({2});
  auto f = jit([=](const Value &x) { return x + outside; });
  CHECK_THROWS_WITH(f(Tensor::ones({1, 2})), Contains("symbolic"));
}

TEST_CASE("errors of symbolic calls name None and no size that was tried for it") {
  auto message = [](auto f) {
    try {
      f();
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  Input x({4}, {.name = "x"}), sequence({none, 1031}, {.name = "sequence"});
  CHECK(message([&] { return ops::reshape(x, {none, 3}); }) == "cannot reshape (None, 4) to (None, 3)");
  CHECK_THAT(message([&] { return ops::matmul(sequence, ops::ones_like(x)); }), Contains("(None, None, 1031)"));
  CHECK_THAT(message([&] { return Dense(2)(x) + ops::concatenate({x, x}, 0); }), !Contains("4099") && Contains("None"));
  CHECK_THAT(message([&] { return ops::reshape(sequence, {none, 7}); }), !Contains("4099"));
  struct Throwing {
    Value call(const Value &v) { throw Error(ErrorKind::key_error, "of " + v.shape().str() + ", and of 1031"); }
  };
  CHECK(message([&] { return Custom(Throwing{})(x); }) == "of (None, 4), and of 1031");
  struct Naming { // gives a new name at each call
    Value call(const Value &v) {
      throw Error(ErrorKind::key_error, "dense_7: " + Dense(1).name() + " of " + v.shape().str());
    }
  };
  CHECK_THAT(message([&] { return Custom(Naming{})(x); }),
             Catch::StartsWith("dense_7: dense_") && !Contains("e_None") && Catch::EndsWith(" of (None, 4)"));
}

TEST_CASE("An extent that a layer divides or cuts stays unknown where the input's is unknown") {
  using namespace halftone::layers;
  Input image({none, none, 3});
  Value x = image;
  for (int i = 0; i < 6; ++i)
    x = MaxPooling2D(2)(x);
  CHECK(x.shape() == Shape{none, none, none, 3});
  CHECK(Cropping2D(300)(image).shape() == Shape{none, none, none, 3});
  CHECK(ZeroPadding2D({0, 5})(image).shape() == Shape{none, none, none, 3});
  CHECK(UpSampling2D({2, 1})(image).shape() == Shape{none, none, none, 3});
  CHECK(Resizing(5, 7)(image).shape() == Shape{none, 5, 7, 3});
  CHECK(CenterCrop(5, 7)(image).shape() == Shape{none, 5, 7, 3});
  CHECK(GlobalAveragePooling2D()(image).shape() == Shape{none, 3});
}
