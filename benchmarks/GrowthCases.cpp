// Nested and flat models, graphs, policy maps, configs and programs of a given size.
// SPDX-License-Identifier: Apache-2.0
#include "GrowthCases.h"
#include "halftone/Halftone.h"
#include <filesystem>
#include <fmt/format.h>
#include <sys/resource.h>

using namespace halftone;
using namespace halftone::benchmarks;
using namespace halftone::layers;

double halftone::benchmarks::cpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

namespace {

/// `file` in the folder of this process, which the parent has made its working directory.
std::string path(const char *file) { return (std::filesystem::current_path() / file).string(); }

Layer nested(int64_t count, bool known) {
  Layer layer = known ? Layer(Sequential({Input({4}), Dense(4)})) : Layer(Dense(4));
  for (int64_t i = 0; i < count; ++i)
    layer = Sequential({layer});
  return layer;
}

Model nestedGraphs(int64_t count) {
  Value in = Input({4});
  Model model(in, Dense(4)(in));
  for (int64_t i = 0; i < count; ++i) {
    Value outer = Input({4});
    model = Model(outer, model(outer));
  }
  return model;
}

Sequential flat(int64_t count) {
  std::vector<Layer> stack{Input({4})};
  for (int64_t i = 0; i < count; ++i)
    stack.push_back(Activation("relu"));
  return Sequential(stack);
}

/// Dense layers of equal shape, each with a kernel and a bias.
Sequential dense(int64_t count) {
  std::vector<Layer> stack{Input({2})};
  for (int64_t i = 0; i < count; ++i)
    stack.push_back(Dense(2));
  return Sequential(stack);
}

Model residual(int64_t count) {
  Value in = Input({4}), x = in;
  for (int64_t i = 0; i < count; ++i)
    x = Add()(Values{x, Activation("relu")(x)});
  return {in, x};
}

Model branches(int64_t count, bool added) {
  Value in = Input({4});
  std::vector<Value> ends;
  for (int64_t i = 0; i < count; ++i)
    ends.push_back(Activation("relu")(in));
  return {in, added ? Add()(Values(ends)) : Concatenate()(Values(ends))};
}

/// A model with `count` operations in one layer.
Model chain(int64_t count) {
  return Sequential({Input({4}), Lambda([count](const Value &x) {
                       Value y = x;
                       for (int64_t i = 0; i < count; ++i)
                         y = i % 2 ? y * 0.5 : ops::relu(y);
                       return y;
                     })});
}

DTypePolicyMap mapOf(int64_t count) {
  DTypePolicyMap map;
  for (int64_t i = 0; i < count; ++i)
    map.insert(fmt::format("net/k{}", i), "float16");
  return map;
}

std::string jsonOfFields(int64_t count) {
  std::string text = "{";
  for (int64_t i = 0; i < count; ++i)
    text += fmt::format("{}\"field{}\": {{\"a\": [1, 2.5, \"text\"]}}", i ? ", " : "", i);
  return text + "}";
}

/// A custom layer whose struct holds another custom layer, recursively.
struct Inside {
  Layer inner;
  Value call(const Value &x, const CallContext &) { return inner(x); }
};

/// Times `act` on a model created by `make`.
template <class Make, class Act> auto onModel(Make make, Act act) {
  return [make, act](int64_t n, CpuClock &clock) {
    const Model model = make(n);
    clock.begin();
    act(model);
  };
}

std::vector<GrowthCase> nestedCases() {
  return {
      {"nested Sequentials, called", 200, [](int64_t n, CpuClock &) { (void)nested(n, false)(Tensor::ones({2, 4})); }},
      {"nested Sequentials with an Input, made", 200, [](int64_t n, CpuClock &) { (void)nested(n, true); }},
      {"nested Sequentials by add(), made", 200,
       [](int64_t n, CpuClock &) {
         Layer layer = Sequential({Input({4}), Dense(4)});
         for (int64_t i = 0; i < n; ++i) {
           Sequential outer;
           outer.add(layer);
           layer = outer;
         }
       }},
      {"nested functional models, made", 200, [](int64_t n, CpuClock &) { (void)nestedGraphs(n); }},
      {"nested functional models, predict", 200,
       onModel(nestedGraphs, [](const Model &model) { (void)model.predict(Tensor::ones({2, 4}), {.verbose = 0}); })},
      {"nested custom layers, called", 100,
       [](int64_t n, CpuClock &) {
         Layer layer = Dense(4);
         for (int64_t i = 0; i < n; ++i)
           layer = Custom(Inside{layer});
         (void)layer(Tensor::ones({2, 4}));
       }},
      {"nested models, summary", 100,
       onModel(nestedGraphs,
               [](const Model &model) {
                 (void)model.summary({.expand_nested = true}); // text() indents each row by its depth
               })},
      {"nested models, to_json", 100, onModel(nestedGraphs, [](const Model &model) { (void)model.to_json(); })},
      {"nested models, clone", 100, onModel(nestedGraphs, [](const Model &model) { (void)clone_model(model); })},
      {"nested models, weights", 200,
       onModel(nestedGraphs,
               [](const Model &model) {
                 for (int i = 0; i < 20; ++i)
                   model.set_weights(model.get_weights());
               })},
      {"nested models, plotted", 50,
       onModel(nestedGraphs, [](const Model &model) { plot_model(model, path("plot.svg"), {.expand_nested = true}); })},
  };
}

std::vector<GrowthCase> flatCases() {
  return {
      {"layers, made", 5000, [](int64_t n, CpuClock &) { (void)flat(n); }},
      {"layers, by add()", 5000,
       [](int64_t n, CpuClock &) {
         Sequential model({Input({4})});
         for (int64_t i = 0; i < n; ++i)
           model.add(Activation("relu"));
       }},
      {"layers, saved", 5000, onModel(flat, [](const Model &model) { model.save(path("model.keras")); })},
      {"layers, loaded", 5000,
       [](int64_t n, CpuClock &clock) {
         flat(n).save(path("model.keras"));
         clock.begin();
         (void)load_model(path("model.keras"));
       }},
      {"layers, cloned", 5000, onModel(flat, [](const Model &model) { (void)clone_model(model); })},
      {"layers, summarized", 5000, onModel(flat, [](const Model &model) { (void)model.summary().text(); })},
      {"layers, plotted", 4000, onModel(flat, [](const Model &model) { plot_model(model, path("plot.svg")); })},
      {"layers, reported", 500, onModel(dense, [](const Model &model) { model.report(path("report.html")); })},
      {"layers, predict", 1000,
       onModel(flat, [](const Model &model) { (void)model.predict(Tensor::ones({2, 4}), {.verbose = 0}); })},
  };
}

std::vector<GrowthCase> variableCases() {
  return {
      {"variables, made", 1250, [](int64_t n, CpuClock &) { (void)dense(n); }},
      {"variables, get and set", 1250,
       onModel(dense,
               [](const Model &model) {
                 for (int i = 0; i < 20; ++i)
                   model.set_weights(model.get_weights());
               })},
      {"variables, saved", 1250, onModel(dense, [](const Model &model) { model.save(path("model.keras")); })},
      {"variables, loaded", 1250,
       [](int64_t n, CpuClock &clock) {
         dense(n).save(path("model.keras"));
         clock.begin();
         (void)load_model(path("model.keras"));
       }},
      {"tensors of a .safetensors, both ways", 1250,
       onModel(dense,
               [](const Model &model) {
                 for (int i = 0; i < 5; ++i) {
                   model.save_weights(path("w.safetensors"));
                   model.load_weights(path("w.safetensors"));
                 }
               })},
      {"tensors of a checkpoint, both ways", 1250,
       [](int64_t n, CpuClock &clock) {
         const Model model = dense(n);
         model.compile({.optimizer = optimizers::Adam(), .loss = "mean_squared_error"});
         const Checkpoint checkpoint(model);
         clock.begin();
         for (int i = 0; i < 3; ++i) {
           checkpoint.save(path("w.ckpt"));
           checkpoint.restore(path("w.ckpt"));
         }
       }},
      {"layers, to_json", 5000, onModel(flat, [](const Model &model) { (void)model.to_json(); })},
      {"layers, counted", 2500,
       onModel(flat,
               [](const Model &model) {
                 (void)model.layers();
                 for (int i = 0; i < 100; ++i)
                   (void)model.count_params();
               })},
      {"layers, policy applied", 1250,
       onModel(dense, [](const Model &model) { (void)model.apply_policy(DTypePolicyMap("mixed_bfloat16", {})); })},
  };
}

std::vector<GrowthCase> graphCases() {
  return {
      {"residual chain, made", 1250, [](int64_t n, CpuClock &) { (void)residual(n); }},
      {"residual chain, saved", 1250, onModel(residual, [](const Model &model) { model.save(path("model.keras")); })},
      {"residual chain, loaded", 1250,
       [](int64_t n, CpuClock &clock) {
         residual(n).save(path("model.keras"));
         clock.begin();
         (void)load_model(path("model.keras"));
       }},
      {"residual chain, summarized", 1250, onModel(residual, [](const Model &model) { (void)model.summary().text(); })},
      {"residual chain, plotted", 500,
       onModel(residual, [](const Model &model) { plot_model(model, path("plot.svg")); })},
      {"residual chain, stage pure", 500, onModel(residual, [](const Model &model) { (void)model.ir(Stage::pure); })},
  };
}

std::vector<GrowthCase> branchCases() {
  return {
      {"branches added, made", 250, [](int64_t n, CpuClock &) { (void)branches(n, true); }},
      {"branches joined, made", 250, [](int64_t n, CpuClock &) { (void)branches(n, false); }},
      {"branches added, stage pure", 250,
       [](int64_t n, CpuClock &clock) {
         const Model model = branches(n, true);
         clock.begin();
         (void)model.ir(Stage::pure);
       }},
      {"branches joined, stage pure", 250,
       [](int64_t n, CpuClock &clock) {
         const Model model = branches(n, false);
         clock.begin();
         (void)model.ir(Stage::pure);
       }},
      {"branches joined, saved and loaded", 250,
       [](int64_t n, CpuClock &clock) {
         const Model model = branches(n, false);
         clock.begin();
         model.save(path("model.keras"));
         (void)load_model(path("model.keras"));
       }},
      {"branches joined, plotted", 250,
       [](int64_t n, CpuClock &clock) {
         const Model model = branches(n, false);
         clock.begin();
         plot_model(model, path("plot.svg"));
       }},
  };
}

std::vector<GrowthCase> endCases() {
  return {
      {"inputs and outputs, made", 500,
       [](int64_t n, CpuClock &) {
         std::vector<Value> inputs, outputs;
         for (int64_t i = 0; i < n; ++i) {
           inputs.push_back(Input({2}));
           outputs.push_back(Activation("relu")(inputs.back()));
         }
         const Model model{Values(inputs), Values(outputs)};
       }},
      {"inputs and outputs, trained to stage graph", 100,
       [](int64_t n, CpuClock &clock) {
         std::vector<Value> inputs, outputs;
         for (int64_t i = 0; i < n; ++i) {
           inputs.push_back(Input({2}));
           outputs.push_back(Dense(1)(inputs.back()));
         }
         const Model model{Values(inputs), Values(outputs)};
         clock.begin();
         model.compile({.optimizer = "sgd", .loss = "mean_squared_error"});
         (void)model.ir(Stage::graph, {.program = Program::train});
       }},
      {"metrics, to stage graph", 100,
       [](int64_t n, CpuClock &clock) {
         const Model model = dense(1);
         std::vector<Metric> all;
         for (int64_t i = 0; i < n; ++i)
           all.push_back(metrics::MeanSquaredError({.name = fmt::format("m{}", i)}));
         clock.begin();
         model.compile({.optimizer = "sgd", .loss = "mean_squared_error", .metrics = all});
         (void)model.ir(Stage::graph, {.program = Program::train});
       }},
      {"ops of a Lambda, to stage graph", 5000, [](int64_t n, CpuClock &) { (void)chain(n).ir(Stage::graph); }},
      {"ops of a Lambda, to stage pure", 2500, [](int64_t n, CpuClock &) { (void)chain(n).ir(Stage::pure); }},
  };
}

std::vector<GrowthCase> configCases() {
  return {
      {"keys of a policy map, inserted", 10000, [](int64_t n, CpuClock &) { (void)mapOf(n); }},
      {"keys of a policy map, saved", 10000,
       [](int64_t n, CpuClock &clock) {
         const DTypePolicyMap map = mapOf(n);
         clock.begin();
         map.save(path("map.json"));
       }},
      {"keys of a policy map, loaded", 10000,
       [](int64_t n, CpuClock &clock) {
         mapOf(n).save(path("map.json"));
         clock.begin();
         (void)DTypePolicyMap::load(path("map.json"));
       }},
      {"keys of a policy map, to_json", 10000,
       [](int64_t n, CpuClock &clock) {
         const DTypePolicyMap map = mapOf(n);
         clock.begin();
         (void)DTypePolicyMap::from_config(map.get_config());
       }},
      {"keys of a policy map, erased", 5000,
       [](int64_t n, CpuClock &clock) {
         const DTypePolicyMap map = mapOf(n);
         clock.begin();
         for (int64_t i = 0; i < n; ++i)
           map.erase(fmt::format("net/k{}", i));
       }},
  };
}

std::vector<GrowthCase> fieldCases() {
  return {
      {"keys of a Config, set and read", 10000,
       [](int64_t n, CpuClock &) {
         Config config;
         for (int64_t i = 0; i < n; ++i)
           config.set(fmt::format("field{}", i), i);
         for (int64_t i = 0; i < n; ++i)
           (void)config.get_int(fmt::format("field{}", i));
       }},
      {"fields of a JSON text, read and written", 50000,
       [](int64_t n, CpuClock &clock) {
         const std::string text = jsonOfFields(n);
         clock.begin();
         (void)Config::parse(text).dump(2);
       }},
      {"unread fields of a layer", 10000,
       [](int64_t n, CpuClock &clock) {
         std::string text = jsonOfFields(n);
         text =
             R"({"module": "keras.layers", "class_name": "Dense", "registered_name": null, "config": {"units": 2, )" +
             text.substr(1) + "}";
         const Config config = Config::parse(text);
         clock.begin();
         try {
           (void)layers::deserialize(config);
         } catch (const Error &) {
         }
       }},
      {"lengths of jit, twice", 64,
       [](int64_t n, CpuClock &clock) {
         const auto f = jit([](const Value &x) { return x * 2.0; });
         clock.begin();
         for (int pass = 0; pass < 2; ++pass)
           for (int64_t i = 1; i <= n; ++i)
             (void)f(Tensor::ones({i}));
       }},
  };
}

} // namespace

std::vector<GrowthCase> halftone::benchmarks::growthCases() {
  std::vector<GrowthCase> all;
  for (std::vector<GrowthCase> part : {nestedCases(), flatCases(), variableCases(), graphCases(), branchCases(),
                                       endCases(), configCases(), fieldCases()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}
