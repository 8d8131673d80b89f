// The behaviour that all optimizers share: order, slot variables, clipping, decay, and the errors of apply().
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/CallTransaction.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using optimizers::Adam;
using optimizers::SGD;

namespace {

/// The clipped gradients, computed as negated updates of SGD(1, args) from zeros.
std::vector<std::vector<double>> clipped(Run run, const optimizers::SGDArgs &args,
                                         const std::vector<Tensor> &gradients) {
  std::vector<Variable> variables;
  for (const Tensor &gradient : gradients)
    variables.push_back(weight(Tensor::zeros(gradient.shape(), gradient.dtype())));
  SGD sgd(-1.0, args);
  runOnce(run, gradients, [&](const std::vector<Value> &v) {
    sgd.apply(v, variables);
    return std::vector<Value>{};
  });
  std::vector<std::vector<double>> found;
  for (const Variable &variable : variables)
    found.push_back(numbers(variable));
  return found;
}

} // namespace

TEST_CASE("gradients are clipped by norm, by value and by the global norm") {
  double root = std::sqrt(0.5), global = std::sqrt(50.0 * 50 + 100.0 * 100);
  for (Run run : everyRun) {
    CHECK(near(clipped(run, {.clipnorm = 1.0}, {Tensor({100, 100}, {2})})[0], {root, root}));
    CHECK(near(clipped(run, {.clipnorm = 1.0}, {Tensor({0.5f, 0}, {2})})[0], {0.5, 0}));
    CHECK(near(clipped(run, {.clipnorm = 1.0}, {Tensor({0, 0}, {2})})[0], {0, 0}));
    CHECK(near(clipped(run, {.clipvalue = 1.0}, {Tensor({100, -0.5f}, {2})})[0], {1, -0.5}));
    auto both = clipped(run, {.global_clipnorm = 1.0}, {Tensor({50}, {1}), Tensor({100}, {1})});
    CHECK(near(both[0], {50 / global}));
    CHECK(near(both[1], {100 / global}));
    CHECK(near(clipped(run, {.global_clipnorm = 1.0}, {Tensor({0, 0}, {2})})[0], {0, 0}));
    both = clipped(run, {.global_clipnorm = 1.0}, {Tensor({INFINITY}, {1}), Tensor({1}, {1})});
    CHECK((std::isnan(both[0][0]) && std::isnan(both[1][0])));
    // 300^2 exceeds the range of float16.
    CHECK(near(clipped(run, {.clipnorm = 1.0}, {Tensor({300, 400}, {2}).astype(float16)})[0], {0.6, 0.8}, 1e-3));
  }
  CHECK_THAT(errorOf([] { SGD(0.1, {.clipnorm = 1.0, .clipvalue = 1.0}); }),
             Contains("ValueError: Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set"));
  CHECK_THAT(errorOf([] { SGD(0.1, {.clipvalue = 1.0, .global_clipnorm = 1.0}); }), Contains("Only one of"));
  CHECK_THAT(errorOf([] { SGD(0.1, {.momentum = 2.0}); }), Contains("`momentum` must be a float between [0, 1]."));
  CHECK_THAT(errorOf([] { SGD(0.1, {.momentum = -1.0}); }), Contains("`momentum` must be a float between [0, 1]."));
}

TEST_CASE("weight decay comes before the step") {
  for (Run run : everyRun) {
    Variable x = weight(Tensor({2}, {1}));
    SGD sgd(1.0, {.weight_decay = 0.004});
    auto step = recorded(run, [&](const std::vector<Value> &v) {
      sgd.apply(v, {x});
      return std::vector<Value>{};
    });
    for (int i = 0; i < 3; ++i)
      step.run({Tensor({0}, {1})});
    CHECK(near(numbers(x), {1.9760959}));
  }
}

// policies 12.2
TEST_CASE("variables in Keras's order, with Keras's names and the variables' dtypes") {
  for (DType dtype : {float16, bfloat16, float32, float64}) {
    Variable kernel = weight(Tensor::ones({2, 3}, dtype), "net/h/kernel");
    Variable bias = weight(Tensor::ones({3}, float32), "net/h/bias");
    Adam adam(0.001, {.amsgrad = true});
    CHECK(adam.variables().size() == 2);
    auto step = recorded(Run::compiled, [&](const std::vector<Value> &v) {
      adam.apply(v, {kernel, bias});
      return std::vector<Value>{};
    });
    step.run({Tensor::ones({2, 3}, dtype), Tensor::ones({3})});
    step.run({Tensor::ones({2, 3}), Tensor::ones({3})}); // gradients of another dtype: a new trace with the same slots
    std::vector<std::string> paths;
    for (const Variable &variable : adam.variables())
      paths.push_back(variable.path());
    CHECK(paths == std::vector<std::string>{"adam/iteration", "adam/learning_rate", "adam/net_h_kernel_momentum",
                                            "adam/net_h_kernel_velocity", "adam/net_h_bias_momentum",
                                            "adam/net_h_bias_velocity", "adam/net_h_kernel_velocity_hat",
                                            "adam/net_h_bias_velocity_hat"});
    CHECK(adam.variables()[0].dtype() == int32);
    CHECK(adam.variables()[1].dtype() == float32);
    CHECK(adam.variables()[2].dtype() == dtype);
    CHECK(adam.variables()[2].shape() == Shape{2, 3});
    CHECK(adam.variables()[4].dtype() == float32);
    CHECK(adam.iterations() == 2);
    // The first Adam step moves the first entries of both variables equally in every dtype.
    CHECK(near({numbers(kernel)[0]}, {0.998}, 8e-3));
  }
}

TEST_CASE("apply: no gradients, some, none of the known variables") {
  Variable a = weight(Tensor({1}, {1}), "a"), b = weight(Tensor({1}, {1}), "b"), c = weight(Tensor({1}, {1}), "c");
  SGD sgd(1.0);
  auto apply = [&](std::vector<Value> gradients, std::vector<Variable> variables) {
    runOnce(Run::interpreted, {Tensor({2}, {1})}, [&](const std::vector<Value> &v) {
      for (Value &gradient : gradients)
        if (gradient.defined())
          gradient = v[0];
      sgd.apply(gradients, variables);
      return std::vector<Value>{v[0]};
    });
  };
  Value given = layers::Input({1});
  apply({}, {});
  CHECK(sgd.iterations() == 0);
  CHECK_THAT(errorOf([&] { apply({Value(), Value()}, {a, b}); }),
             Contains("ValueError: No gradients provided for any variable."));
  apply({Value(), given}, {a, b});
  CHECK(numbers(a) == std::vector<double>{1});
  CHECK(numbers(b) == std::vector<double>{-1});
  CHECK_THAT(errorOf([&] { apply({given}, {c}); }),
             Contains("ValueError: Unknown variable: c. This optimizer can only be called for the variables"));
  CHECK_THAT(errorOf([&] { apply({given}, {a, b}); }), Contains("1 gradients and 2 variables"));
  CHECK_THAT(errorOf([&] { SGD(1.0).apply({given}, {a}); }), Contains("RuntimeError: "));
  Variable wide = weight(Tensor({1, 2}, {2}), "wide");
  CHECK_THAT(errorOf([&] {
               runOnce(Run::interpreted, {Tensor({2}, {1})}, [&](const std::vector<Value> &v) {
                 SGD(1.0).apply(v, {wide});
                 return v;
               });
             }),
             Contains("The gradient of variable 'wide' must have its shape (2"));
}

TEST_CASE("variables that take their gradient as a value") {
  Variable plain = weight(Tensor({0, 1, 2, 3}, {2, 2}), "plain");
  Variable taken = detail::makeVariable(Tensor({1, 2, 3, 4}, {2, 2}),
                                        {.name = "taken", .path = "taken", .update = detail::UpdateKind::overwrite});
  Adam adam(1.0);
  runOnce(Run::compiled, {Tensor::ones({2, 2})}, [&](const std::vector<Value> &v) {
    adam.apply({v[0], v[0]}, {taken, plain});
    return std::vector<Value>{};
  });
  CHECK(numbers(taken) == std::vector<double>{1, 1, 1, 1});
  CHECK(near(numbers(plain), {-1, 0, 1, 2}, 1e-5));
  CHECK(adam.variables().size() == 4); // variables that are overwritten have no slot variables
}

TEST_CASE("an optimizer's state is made within a transaction alone, which undoes it unless it is committed") {
  const Variable x = weight(Tensor({2}, {1}));
  const Adam adam(0.1);
  const size_t without = adam.variables().size();
  CHECK_THAT(errorOf([&] { adam.impl()->build({x}); }), Contains("outside of a transaction"));
  {
    const detail::CallTransaction reading;
    adam.impl()->build({x});
    CHECK(adam.variables().size() == without + 2);
  }
  CHECK(adam.variables().size() == without);
  {
    detail::CallTransaction outer, inner;
    adam.impl()->build({x});
    inner.commit();
  }
  CHECK(adam.variables().size() == without);
  detail::CallTransaction transaction;
  adam.impl()->build({x});
  transaction.commit();
  CHECK(adam.variables().size() == without + 2);
}
