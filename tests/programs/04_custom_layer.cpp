// A custom layer is a struct with call(), and so is a custom model. There is nothing to inherit or to register.
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
#include <iostream>
using namespace halftone;
using namespace halftone::layers;

struct LowRank {
  int64_t units = 0;
  int64_t rank = 8;
  Variable down{}, up{};
  void build(BuildContext &context, const Shape &input) {
    down = context.add_weight({.shape = {input[-1], rank}, .initializer = "he_normal", .name = "down"});
    up = context.add_weight({.shape = {rank, units}, .name = "up"});
  }
  Value call(const Value &x) const { return ops::matmul(ops::matmul(x, down), up); }
  void get_config(Config &config) const {
    config.set("units", units);
    config.set("rank", rank);
  }
  static LowRank from_config(const Config &c) { return {.units = c.get_int("units"), .rank = c.get_int("rank")}; }
};
using LowRankDense = Custom<LowRank>;

struct Residual { // member layers become children when they are called
  Dense inner;
  Dropout dropout{0.1};
  Value call(const Value &x, const CallContext &context) const {
    Value y = ops::relu(inner(x));
    if (context.training())
      y = dropout(y);
    return x + y;
  }
};

struct TwoTowers { // in Keras a subclass of Model: several inputs, several layers
  LowRankDense user{{.units = 32}}, item{{.units = 32, .rank = 4}, {.dtype = "bfloat16"}};
  Dense score{1};
  Value call(const Values &in) const { return score(Concatenate()({user(in[0]), item(in[1])})); }
};
struct Tower {
  std::vector<Layer> blocks{Custom(LowRank{.units = 32}), Custom(Residual{Dense(32)}), Dense(1)};
  Value call(Value x) const {
    for (const Layer &block : blocks)
      x = block(x);
    return x;
  }
};

int main() {
  Input x({64});
  LowRankDense first({.units = 16}, {.dtype = "mixed_bfloat16", .name = "first"});
  Value y = Custom(LowRank{.units = 4, .rank = 2})(first(x));
  std::cout << first.path() << " " << name(y.dtype()) << y.shape().str() << " rank " << first.self().rank << " "
            << first.get_config().dump() << "\n";

  Model tower(Tower{}, {.name = "tower"});
  tower.compile(
      {.optimizer = "sgd", .loss = [](const Value &t, const Value &p) { return ops::mean(ops::square(t - p)); }});
  tower.fit(Tensor::zeros({8, 64}), Tensor::zeros({8, 1}), {.verbose = 0});
  for (const Layer &child : tower.layers())
    std::cout << child.path() << " " << child.class_name() << " " << child.count_params() << "\n";

  Model towers{TwoTowers{}, {.name = "towers"}};
  Tensor scores = towers.predict({Tensor::ones({2, 64}), Tensor::ones({2, 64})}, {.verbose = 0});
  std::cout << scores.shape().str() << "\n";
  return scores.shape() == Shape{2, 1} && y.dtype() == float32 && tower.layers().size() == 3 ? 0 : 1;
}
