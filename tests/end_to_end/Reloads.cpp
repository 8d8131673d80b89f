// Saves models of structs and of every class, and loads them in a new process in which automatic names differ.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "runtime/TensorAccess.h"
#include "tests/TemporaryFolder.h"
#include <CLI/CLI.hpp>
#include <cstring>
#include <fmt/format.h>
#include <random>
#include <spawn.h>
#include <sys/wait.h>

using namespace halftone;
using namespace halftone::layers;

extern char **environ;

namespace {

/// If true, this process creates the parts of a struct from last to first, as another version of a program may.
bool makesBackwards = false;

class Draw {
public:
  explicit Draw(int64_t seed) : random_(static_cast<uint64_t>(seed)) {}
  int64_t below(int64_t end) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(end)); }
  int64_t seed() { return below(int64_t{1} << 40); }

private:
  std::mt19937_64 random_;
};

Layer part(int64_t seed, int64_t depth, const std::string &name);

/// A user-given name, or "". Some resemble automatic names, some have blanks or letters beyond ASCII.
std::string drawnName(Draw &draw, size_t place) {
  switch (draw.below(6)) {
  case 0:
    return fmt::format("part{}", place);
  case 1:
    return fmt::format("Größe {}", place);
  case 2:
    return fmt::format("dense_{}", place + 100'000); // beyond all automatic names, which must differ within a graph
  default:
    return "";
  }
}

struct Parts {
  int64_t seed = 0, depth = 0;
  std::vector<Layer> parts;

  Parts(int64_t seed, int64_t depth) : seed(seed), depth(depth) {
    Draw draw(seed);
    const auto count = static_cast<size_t>(1 + draw.below(3));
    std::vector<std::function<Layer()>> makes;
    for (size_t i = 0; i < count; ++i)
      makes.emplace_back(
          [partSeed = draw.seed(), depth, name = drawnName(draw, i)] { return part(partSeed, depth, name); });
    std::vector<std::optional<Layer>> made(count);
    for (size_t i = 0; i < count; ++i) {
      const size_t place = makesBackwards ? count - 1 - i : i;
      made[place] = makes[place]();
    }
    for (std::optional<Layer> &each : made)
      parts.push_back(*each);
  }
  explicit Parts(std::vector<Layer> parts) : parts(std::move(parts)) {}
  void get_config(Config &config) const {
    config.set("seed", seed);
    config.set("depth", depth);
  }
};
template <class T> struct Made : Parts {
  using Parts::Parts;
  static T from_config(const Config &config) { return T(config.get_int("seed"), config.get_int("depth")); }
};

struct Chain : Made<Chain> {
  using Made::Made;
  Value call(Value x) const {
    for (const Layer &layer : parts)
      x = layer(x);
    return x;
  }
};
struct Backwards : Made<Backwards> {
  using Made::Made;
  Value call(Value x) const {
    for (auto layer = parts.rbegin(); layer != parts.rend(); ++layer)
      x = (*layer)(x);
    return x;
  }
};
struct Twice : Made<Twice> {
  using Made::Made;
  Value call(const Value &x) const { return parts.back()(parts.front()(parts.back()(x))) + x; }
};
struct Sum : Made<Sum> {
  using Made::Made;
  Value call(const Value &x) const {
    Value sum = x;
    for (const Layer &layer : parts)
      sum = sum + layer(x);
    return sum;
  }
};
struct Weighted : Made<Weighted> {
  using Made::Made;
  Variable scale{}, counter{};
  void build(BuildContext &context, const Shape &input) {
    scale = context.add_weight({.shape = {input[-1]}, .name = "scale"});
    counter = context.add_weight({.shape = {}, .initializer = "ones", .trainable = false, .name = "counter"});
  }
  Value call(const Value &x) const { return parts.front()(x * scale) * counter; }
};
/// Its config contains its layers, so that their names are those of the writer's process.
struct Kept : Parts {
  using Parts::Parts;
  Value call(Value x) const {
    for (const Layer &layer : parts)
      x = layer(x);
    return x;
  }
  void get_config(Config &config) const {
    for (size_t i = 0; i < parts.size(); ++i)
      config.set(fmt::format("part{}", i), serialize(parts[i]));
  }
  static Kept from_config(const Config &config) {
    std::vector<Layer> parts;
    for (size_t i = 0; config.contains(fmt::format("part{}", i)); ++i)
      parts.push_back(deserialize(config.get_object(fmt::format("part{}", i))));
    return Kept(std::move(parts));
  }
};

/// A layer from (None, 4, 8) to the same shape.
Layer plain(Draw &draw, const std::string &name) {
  switch (draw.below(15)) {
  case 0:
    return LayerNormalization({.name = name});
  case 1:
    return BatchNormalization({.name = name});
  case 2:
    return Conv1D(8, 3, {.padding = Padding::same, .name = name});
  case 3:
    return DepthwiseConv1D(3, {.padding = Padding::same, .name = name});
  case 4:
    return EinsumDense("abc,cd->abd", {-1, 8}, {.bias_axes = "d", .name = name});
  case 5:
    return Dropout(0.25, {.name = name});
  case 6:
    return PReLU({.name = name});
  case 7:
    return ReLU({.max_value = std::numeric_limits<double>::infinity(), .name = name});
  case 8:
    return RMSNormalization({.name = name});
  case 9:
    return Normalization(Axes(-1), {.mean = Tensor::full({8}, 0.5), .variance = Tensor::full({8}, 2.0), .name = name});
  default:
    return Dense(
        8, {.activation = draw.below(2) == 0 ? "relu" : "linear", .name = name}); // most frequent: they can be swapped
  }
}

struct Attending : Parts {
  MultiHeadAttention attention{2, 4};
  Dense before{8}, after{8};
  explicit Attending(int64_t seed) : Parts(std::vector<Layer>()) { this->seed = seed; }
  Value call(const Value &x) const { return after(attention({before(x), x})); }
  static Attending from_config(const Config &config) { return Attending(config.get_int("seed")); }
};

Layer part(int64_t seed, int64_t depth, const std::string &name) {
  Draw draw(seed);
  const LayerArgs args{.name = name};
  const int64_t inner = draw.seed();
  switch (depth == 0 ? 0 : draw.below(12)) {
  case 1:
    return Custom(Chain(inner, depth - 1), args);
  case 2:
    return Custom(Backwards(inner, depth - 1), args);
  case 3:
    return Custom(Twice(inner, depth - 1), args);
  case 4:
    return Custom(Sum(inner, depth - 1), args);
  case 5:
    return Custom(Weighted(inner, depth - 1), args);
  case 6:
    return Custom(Kept(inner, 0), args);
  case 7:
    return Custom(Attending(inner), args);
  case 8:
    return Sequential(Parts(inner, depth - 1).parts, {.name = name});
  case 9: {
    const Input x({4, 8});
    const std::vector<Layer> parts = Parts(inner, depth - 1).parts;
    return Model({x}, {parts.back()(parts.front()(x)) + x}, {.name = name});
  }
  default:
    return plain(draw, name);
  }
}

/// A model that predicts (4, 8) from (4, 8).
Model drawnModel(int64_t seed) {
  Draw draw(seed);
  const int64_t depth = 1 + draw.below(3), first = draw.seed(), second = draw.seed();
  const int64_t kind = draw.below(4);
  if (kind == 3)
    return draw.below(2) == 0 ? Model(Backwards(first, depth)) : Model(Twice(first, depth));
  const Layer a = makesBackwards ? part(second, depth, "") : part(first, depth, "");
  const Layer b = makesBackwards ? part(first, depth, "") : part(second, depth, "");
  const Layer &start = makesBackwards ? b : a, &end = makesBackwards ? a : b;
  if (kind == 0)
    return Sequential({Input({4, 8}), start, Dense(8), end});
  if (kind == 1)
    return Sequential({Input({4, 8}), Sequential({Dense(8), start}), Custom(Chain(first, depth)), end});
  const Input x({4, 8});
  return Model({x}, {end(start(x)) + Dense(8)(x)});
}

Tensor drawnTensor(int64_t seed, const Shape &shape, double from, double to) {
  std::mt19937 random(static_cast<uint32_t>(seed));
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (float &value : values)
    value = static_cast<float>(from + (to - from) * (random() / 4294967296.0));
  return Tensor(std::move(values), shape);
}

std::vector<std::byte> bytesOf(const Tensors &tensors) {
  std::vector<std::byte> bytes;
  for (const Tensor &tensor : tensors) {
    const Tensor host = TensorAccess::onHost(tensor);
    const std::byte *data = TensorAccess::data(host);
    bytes.insert(bytes.end(), data, data + TensorAccess::bytes(host));
  }
  return bytes;
}

/// A model, its inputs for a prediction, and whether the case trains it.
struct Case {
  Model model;
  Tensors x;
  bool trains = false;
};

Case drawnCase(int64_t seed) { return {drawnModel(seed), {drawnTensor(seed, {2, 4, 8}, -1, 1)}, seed % 4 == 0}; }

/// The layer of a config that Keras wrote, on the first inputs that it accepts; nullopt if it accepts none.
std::optional<Case> caseOfClass(const Config &config, int64_t seed) {
  const std::vector<std::vector<Shape>> candidates = {{{4, 8}},
                                                      {{8}},
                                                      {{6, 6, 4}},
                                                      {{4, 5, 5, 2}},
                                                      {{4, 8}, {4, 8}},
                                                      {{6, 4, 2}, {6, 4, 2}},
                                                      {{4, 8}, {4, 8}, {4, 8}},
                                                      {{2, 3, 4}},
                                                      {{4, 32}},
                                                      {{6}},
                                                      {{12, 5}},
                                                      {{3, 4, 5, 6}},
                                                      {{2, 3, 4, 5}},
                                                      {{2, 2}},
                                                      {{4, 2, 5, 5}},
                                                      {{2, 3, 4, 4, 2}},
                                                      {{8}, {3}}, // for cells: x and states
                                                      {{8}, {3}, {3}},
                                                      {{8}, {2}},
                                                      {{8}, {2}, {2}},
                                                      {{8}, {1}},
                                                      {{8}, {2}, {2}, {3}, {3}}};
  const Config arguments = config.get_object("config");
  std::optional<int64_t> batch;
  if (arguments.contains("stateful") && arguments.get_bool("stateful"))
    batch = 2;
  for (const std::vector<Shape> &shapes : candidates)
    for (const DType dtype : {DType::float32, DType::int32})
      try {
        std::vector<Value> inputs;
        std::vector<Tensor> x;
        for (const Shape &shape : shapes) {
          std::vector<int64_t> dims = shape.dims();
          inputs.push_back(Input(shape, {.batch_size = batch, .dtype = dtype}));
          dims.insert(dims.begin(), 2);
          x.push_back(drawnTensor(seed, Shape(dims), 0, 2).astype(dtype));
        }
        const Layer layer = deserialize(config);
        return Case{Model(Values(inputs), layer.outputs(Values(inputs))), Tensors(x)};
      } catch (const Error &) { // for these inputs; the caller reports a class without any
      }
  return std::nullopt;
}

std::vector<Config> configsOfClasses() {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/layer_configs.jsonl");
  std::vector<Config> configs;
  for (std::string line; std::getline(file, line);)
    if (Config config = Config::parse(line); config.get_string("class_name") != "InputLayer")
      configs.push_back(std::move(config));
  return configs;
}

struct Options {
  int64_t seed = 1, count = 20;
  bool classes = false, reads = false;
  std::string folder{};
};

/// Calls `f` with each case and its number. Prints each fault in one line.
template <class F> int64_t forEach(const Options &options, F f) {
  int64_t faults = 0;
  const auto run = [&](int64_t number, const std::string &what, const std::function<std::optional<Case>()> &make) {
    try {
      const std::optional<Case> made = make();
      if (!made)
        throw Error(ErrorKind::value_error, "takes none of the inputs of this test");
      f(*made, number);
    } catch (const std::exception &error) {
      ++faults;
      fmt::print("{} {}: {}\n", options.reads ? "read" : "write", what, error.what());
    }
  };
  if (options.classes) {
    const std::vector<Config> configs = configsOfClasses();
    for (int64_t i = options.seed; i < options.seed + options.count; ++i)
      run(i, fmt::format("--classes --seed {} --count 1 ({})", i, configs[i].get_string("class_name")),
          [&] { return caseOfClass(configs[i], i); });
    return faults;
  }
  for (int64_t seed = options.seed; seed < options.seed + options.count; ++seed)
    run(seed, fmt::format("--seed {} --count 1", seed), [&] { return drawnCase(seed); });
  return faults;
}

/// Compiles, and takes a step from the current state.
void step(const Case &each, bool compiles) {
  if (compiles)
    each.model.compile({.optimizer = "adam", .loss = "mse"});
  (void)each.model.train_on_batch(each.x, drawnTensor(7, {2, 4, 8}, -1, 1));
}

void build(const Case &each) {
  if (!each.model.built())
    (void)each.model.predict_on_batch(each.x);
}

std::string pathOf(const Options &options, int64_t number, const char *ending) {
  return fmt::format("{}/{}.{}", options.folder, number, ending);
}

void writeBytes(const std::string &path, const std::vector<std::byte> &bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(bytes.data()), std::ssize(bytes));
}
std::vector<std::byte> readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto *bytes = reinterpret_cast<const std::byte *>(text.data());
  return {bytes, bytes + text.size()};
}

void write(const Options &options, const Case &each, int64_t number) {
  build(each);
  int64_t seed = number * 1000;
  for (const Variable &variable : each.model.weights())
    if (is_float(variable.dtype()))
      variable.assign(drawnTensor(++seed, variable.shape(), 0.05, 0.25).astype(variable.dtype()));
  if (each.trains)
    step(each, true);
  each.model.save(pathOf(options, number, "keras"));
  each.model.save_weights(pathOf(options, number, "weights.h5"));
  each.model.save_weights(pathOf(options, number, "safetensors"));
  Checkpoint(each.model).save(pathOf(options, number, "ckpt"));
  writeBytes(pathOf(options, number, "prediction"), bytesOf(each.model.predict_all(each.x, {.verbose = 0})));
  if (!each.trains)
    return;
  step(each, false);
  writeBytes(pathOf(options, number, "after"), bytesOf(Tensors(each.model.get_weights())));
}

void requireSame(const char *what, const std::vector<std::byte> &found, const std::vector<std::byte> &expected) {
  if (expected.empty() || found != expected)
    throw std::logic_error(fmt::format("{}: other numbers", what));
}

void read(const Options &options, const Case &each, int64_t number) {
  const std::vector<std::byte> expected = readBytes(pathOf(options, number, "prediction"));
  const auto check = [&](const Model &model, const char *what) {
    requireSame(what, bytesOf(model.predict_all(each.x, {.verbose = 0})), expected);
  };
  check(load_model(pathOf(options, number, "keras")), "keras");
  for (const char *ending : {"weights.h5", "safetensors"}) {
    const Case other =
        options.classes ? *caseOfClass(configsOfClasses().at(static_cast<size_t>(number)), number) : drawnCase(number);
    build(other);
    other.model.load_weights(pathOf(options, number, ending));
    check(other.model, ending);
  }
  build(each);
  if (each.trains)
    each.model.compile({.optimizer = "adam", .loss = "mse"});
  (void)Checkpoint(each.model).restore(pathOf(options, number, "ckpt"));
  check(each.model, "ckpt");
  if (!each.trains)
    return;
  step(each, false);
  requireSame("a step from a checkpoint", bytesOf(Tensors(each.model.get_weights())),
              readBytes(pathOf(options, number, "after")));
}

/// Creates layers, so that automatic names have other numbers than in the process that wrote the files.
void shiftNames(int64_t seed) {
  Draw draw(seed);
  for (int64_t i = draw.below(4) + 1; i > 0; --i) {
    (void)Dense(1);
    (void)Sequential();
    (void)Attending(0);
    (void)Parts(seed + i, 3);
  }
}

int readInNewProcess(const std::string &program, const Options &options) {
  std::vector<std::string> words = {program,    "--read",
                                    "--folder", options.folder,
                                    "--seed",   std::to_string(options.seed),
                                    "--count",  std::to_string(options.count)};
  if (options.classes)
    words.emplace_back("--classes");
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  if (::posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ) != 0 ||
      ::waitpid(child, &status, 0) != child)
    return 1;
  return status;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Saves models and reads them in a new process");
  app.add_option("--seed", options.seed, "of the first model");
  app.add_option("--count", options.count, "models");
  app.add_flag(
      "--classes", options.classes,
      "models of the recorded configs of all classes, from the one with the number --seed on, in place of random ones");
  app.add_flag("--read", options.reads, "the part of the new process");
  app.add_option("--folder", options.folder, "of the files, for --read");
  CLI11_PARSE(app, argc, argv);
  set_output([](std::string_view) {});
  register_custom<Chain>("tests");
  register_custom<Backwards>("tests");
  register_custom<Twice>("tests");
  register_custom<Sum>("tests");
  register_custom<Weighted>("tests");
  register_custom<Kept>("tests");
  register_custom<Attending>();
  if (options.reads) {
    shiftNames(options.seed);
    makesBackwards = options.seed % 2 == 1;
    return forEach(options, [&](const Case &each, int64_t number) { read(options, each, number); }) == 0 ? 0 : 1;
  }
  const TemporaryFolder folder;
  options.folder = folder.path;
  const int64_t last = options.classes ? std::ssize(configsOfClasses()) : options.seed + options.count;
  options.count = std::clamp<int64_t>(last - options.seed, 0, options.count);
  const int64_t faults = forEach(options, [&](const Case &each, int64_t number) { write(options, each, number); });
  const bool reads = readInNewProcess(argv[0], options) == 0;
  fmt::print("{} models\n", options.count);
  return faults == 0 && reads ? 0 : 1;
}
