// Custom training loops in several processes: sums and means in functions of jit(), and rejected calls.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/TensorAccess.h"
#include "runtime/base/Sha256.h"
#include "tests/distributed/Ranks.h"
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <limits>
#include <map>
#include <string>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::layers;

namespace {

bool isLast() { return distribution::rank() == distribution::size() - 1; }

Tensor wave(const Shape &shape, double step, double phase) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(static_cast<double>(i) * step + phase));
  return Tensor(values, shape);
}
std::string digest(const std::vector<Variable> &variables) {
  std::string bytes;
  for (const Variable &variable : variables) {
    const Tensor value = variable.value();
    bytes.append(reinterpret_cast<const char *>(TensorAccess::data(value)),
                 static_cast<size_t>(TensorAccess::bytes(value)));
  }
  return sha256(bytes);
}

Sequential modelOf(const std::string &policy, uint64_t seed = 1) {
  utils::clear_session();
  set_random_seed(static_cast<int64_t>(seed));
  set_dtype_policy(policy);
  return Sequential({Input({3}),
                     Dense(8, {.activation = "tanh", .kernel_regularizer = regularizers::L2(0.01), .name = "hidden"}),
                     Dense(1, {.activity_regularizer = regularizers::L2(0.02), .name = "out"})},
                    {.name = "net"});
}
Optimizer optimizerOf(const std::string &policy) {
  if (policy == "mixed_float16")
    return optimizers::LossScaleOptimizer(optimizers::Adam(0.01), {.initial_scale = 1024.0});
  return optimizers::Adam(0.01);
}
/// `calls` is the number of earlier calls of the model in the trace.
std::vector<Value> slopesOf(const Sequential &model, const Optimizer &optimizer, const Value &x, const Value &y,
                            size_t calls = 0) {
  Value loss = Loss("mse")(y, model(x, {.training = true}));
  const std::vector<Value> penalties = model.losses(); // the penalties on the activity of each call, and on the weight
  loss = loss + penalties.at(calls) + penalties.back();
  return gradients(optimizer.scale_loss(loss), model.trainable_variables());
}

/// A step that averages the gradients over all processes: they are unscaled, clipped, applied.
std::function<void(const Tensor &, const Tensor &)> sharedStep(const Sequential &model, const Optimizer &optimizer) {
  return jit(
      [=](const Value &x, const Value &y) {
        std::vector<Value> all = slopesOf(model, optimizer, x, y);
        for (Value &each : all)
          each = distribution::mean(each);
        all = optimizer.unscale(all);
        for (Value &each : all)
          each = ops::clip(each, -0.5, 0.5);
        optimizer.apply(all, model.trainable_variables(), {.unscaled = true});
      },
      {.name = "shared", .numerics = Numerics::strict});
}

constexpr int64_t steps = 12, rows = 4; // rows of each process in a step
Tensor xOf(int64_t step, int64_t rank) { return wave({rows, 3}, 0.3, static_cast<double>(7 * step + rank)); }
Tensor yOf(int64_t step, int64_t rank) { return wave({rows, 1}, 0.7, static_cast<double>(3 * step + rank)); }

/// The weights after steps of all processes, and of one process that computes the parts of `processes` processes.
void train(const std::string &policy, int64_t processes) {
  const Sequential model = modelOf(policy);
  const Optimizer optimizer = optimizerOf(policy);
  if (processes == 0) {
    const auto step = sharedStep(model, optimizer);
    for (int64_t i = 0; i < steps; ++i)
      step(xOf(i, distribution::rank()), yOf(i, distribution::rank()));
  } else {
    const auto step = jit(
        [=](const Values &xs, const Values &ys) {
          std::vector<Value> sums;
          for (size_t part = 0; part < xs.size(); ++part) {
            const std::vector<Value> own = slopesOf(model, optimizer, xs[part], ys[part], part);
            for (size_t i = 0; i < own.size(); ++i)
              part == 0 ? sums.push_back(own[i]) : void(sums[i] = sums[i] + own[i]);
          }
          for (Value &each : sums)
            each = each / static_cast<double>(xs.size());
          sums = optimizer.unscale(sums);
          for (Value &each : sums)
            each = ops::clip(each, -0.5, 0.5);
          optimizer.apply(sums, model.trainable_variables(), {.unscaled = true});
        },
        {.numerics = Numerics::strict});
    for (int64_t i = 0; i < steps; ++i) {
      std::vector<Tensor> xs, ys;
      for (int64_t rank = 0; rank < processes; ++rank) {
        xs.push_back(xOf(i, rank));
        ys.push_back(yOf(i, rank));
      }
      step(Tensors(xs), Tensors(ys));
    }
  }
  say("weights " + digest(model.weights()));
  say("state " + digest(optimizer.variables()));
}

/// Sums and means of each dtype, and their derivatives.
void sums() {
  const auto own = static_cast<float>(distribution::rank() + 1);
  const auto both = jit([](const Value &x) { return std::array{distribution::sum(x), distribution::mean(x)}; });
  for (const DType dtype : {float32, float64, float16, bfloat16, int32, DType::bool_}) {
    const auto [sum, mean] = both(Tensor::full({2}, own, dtype));
    say(fmt::format("sum {} {} {} {} {}", name(dtype), name(sum.dtype()), sum.astype(float64).to_vector<double>().at(1),
                    name(mean.dtype()), mean.astype(float64).to_vector<double>().at(1)));
  }
  const auto [none, noMean] = both(Tensor::zeros({0, 3}));
  say(fmt::format("empty {} {}", none.shape().str(), noMean.shape().str()));
  const auto [overflowed, large] = both(Tensor::full({1}, 60000.0, float16)); // the sum exceeds float16
  say(fmt::format("large {} {}", std::isinf(overflowed.astype(float32).item<float>()),
                  large.astype(float32).item<float>()));
  const auto slope =
      jit([](const Value &x) { return gradients(ops::square(distribution::sum(x)), std::vector<Value>{x})[0]; });
  say(fmt::format("slope {}", slope(Tensor::full({}, own)).item<float>()));
  const auto meanSlope =
      jit([](const Value &x) { return gradients(distribution::mean(ops::square(x)), std::vector<Value>{x})[0]; });
  say(fmt::format("own slope {}", meanSlope(Tensor::full({}, own)).item<float>()));
}

/// Steps in some of which a gradient is infinite in the last process alone, before the mean and with clipping.
void skips() {
  const Variable weight(Tensor::ones({2}));
  const optimizers::LossScaleOptimizer optimizer(optimizers::SGD(0.5), {.initial_scale = 8.0});
  const auto step = jit([=](const Value &slope) {
    const std::vector<Value> own = optimizer.unscale({slope});
    optimizer.apply({distribution::mean(ops::clip(own[0], -1.0, 1.0))}, {weight}, {.unscaled = true});
  });
  const float inf = std::numeric_limits<float>::infinity();
  step(Tensor({8.0f, isLast() ? 8.0f : 0.0f}, {2}));
  step(Tensor({8.0f, isLast() ? inf : 0.0f}, {2}));
  say(fmt::format("weight {} scale {} skipped {}", weight.value().to_vector<float>(), optimizer.state().scale,
                  optimizer.state().skipped_steps));
}

std::string errorOf(const std::function<void()> &f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "none";
}

/// Errors after which the run continues.
void refusals() {
  const Sequential model = modelOf("float32");
  const Optimizer optimizer = optimizers::SGD(0.1);
  const auto alone = jit([=](const Value &x) {
    optimizer.minimize(ops::mean(model(x)) + model.losses()[0], model.trainable_variables());
  });
  say("alone " + errorOf([&] { alone(Tensor::ones({4, 3})); }));
  const auto step = sharedStep(model, optimizer);
  const int64_t other = isLast() ? 5 : 4;
  say("shapes " + errorOf([&] { step(Tensor::ones({other, 3}), Tensor::ones({other, 1})); }));
  say("after " + errorOf([&] { step(Tensor::ones({4, 3}), Tensor::ones({4, 1})); }));
  const Sequential differs = modelOf("float32", isLast() ? 2 : 1);
  say("weights " +
      errorOf([&] { sharedStep(differs, optimizers::SGD(0.1))(Tensor::ones({4, 3}), Tensor::ones({4, 1})); }));
  const auto byRank = jit([](const Value &x) {
    return distribution::rank() == 0 ? distribution::sum(x * 2.0) : distribution::sum(x * 3.0);
  });
  say("formula " + errorOf([&] { (void)byRank(Tensor::ones({2})); }));
  say("goes on " + errorOf([&] { step(Tensor::ones({4, 3}), Tensor::ones({4, 1})); }));
  say("weights " + digest(model.weights()));
}

/// Errors that end the run in all processes.
void ends(const std::string &how) {
  const Sequential model = modelOf("float32");
  const Optimizer optimizer = optimizers::SGD(0.1);
  const auto step = sharedStep(model, optimizer);
  step(Tensor::ones({4, 3}), Tensor::ones({4, 1}));
  if (how == "rate" && isLast())
    optimizer.set_learning_rate(0.25);
  const int64_t count = how == "shape" && isLast() ? 5 : 4;
  say("ended " + errorOf([&] {
        step(Tensor::ones({count, 3}), Tensor::ones({count, 1}));
        step(Tensor::ones({count, 3}), Tensor::ones({count, 1}));
      }));
}

/// A program compiled before set_distribution() is compiled again.
void later() {
  distribution::set_distribution(std::nullopt);
  const auto sum = jit([](const Value &x) { return distribution::sum(x); });
  const float alone = sum(Tensor::ones({})).item<float>();
  distribution::set_distribution(distribution::DataParallel());
  say(fmt::format("alone {}", alone));
  say(fmt::format("together {}", sum(Tensor::ones({})).item<float>()));
}

} // namespace

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "", more = argc > 2 ? argv[2] : "";
  if (what != "parts")
    distribution::set_distribution(distribution::DataParallel());
  const std::map<std::string, std::function<void()>> programs{{"train", [&] { train(more, 0); }},
                                                              {"parts", [&] { train(more, std::stoll(argv[3])); }},
                                                              {"sums", sums},
                                                              {"skips", skips},
                                                              {"refusals", refusals},
                                                              {"ends", [&] { ends(more); }},
                                                              {"later", later}};
  try {
    programs.at(what)();
    return 0;
  } catch (const std::exception &error) {
    say(std::string("error ") + error.what());
    return 1;
  }
}
