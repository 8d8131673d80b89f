// A program that several processes run together; run.py starts it and compares their output.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelCache.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Sha256.h"
#include "runtime/devices/Registry.h"
#include "tests/distributed/Ranks.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <random>
#include <string>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::layers;

namespace {

using Words = std::map<std::string, std::string>; // the arguments NAME=VALUE

std::string word(const Words &words, const std::string &name, const std::string &otherwise) {
  const auto found = words.find(name);
  return found == words.end() ? otherwise : found->second;
}
int64_t number(const Words &words, const std::string &name, int64_t otherwise) {
  return std::stoll(word(words, name, std::to_string(otherwise)));
}

struct Data {
  Tensor x, y;
};
/// Rows of numbers from -1 to 1. The class is the index of the largest of the first five. `masked`: the last four
/// numbers of every second row and the last eight of every seventh are zeros.
Data dataOf(int64_t rows, int64_t width = 20, bool masked = false) {
  std::mt19937_64 engine(7);
  std::vector<float> x;
  std::vector<int32_t> y;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < width; ++i)
      x.push_back(static_cast<float>(engine() % 2001) / 1000.0f - 1.0f);
    const auto own = x.end() - width;
    y.push_back(static_cast<int32_t>(std::max_element(own, own + 5) - own));
    if (masked)
      std::fill(x.end() - (row % 7 == 0 ? 8 : row % 2 == 0 ? 4 : 0), x.end(), 0.0f);
  }
  return {Tensor(x, Shape({rows, width})), Tensor(y, Shape({rows}))};
}

/// Draws in training: from its own generator, and from a generator that it creates at the first draw.
struct Noisy {
  random::SeedGenerator generator{11};
  Value call(const Value &x, const CallContext &context) const {
    if (!context.training())
      return x;
    return x + random::normal(x.shape(), {.stddev = 0.1}) +
           random::uniform(x.shape(), {.maxval = 0.1, .seed = generator});
  }
};

Sequential modelOf(const Words &words) {
  set_random_seed(number(words, "seed", 1));
  set_dtype_policy(word(words, "policy", "float32"));
  Sequential model({Input({number(words, "inputs", 20)})});
  if (word(words, "net", "mlp") == "cnn") {
    model.add(Reshape({5, 4, 1}));
    model.add(Conv2D(8, {3, 3}, {.padding = Padding::same, .activation = "relu"}));
    model.add(Flatten());
  }
  if (word(words, "net", "mlp") == "masked") { // five steps of four features
    model.add(Reshape({5, 4}));
    model.add(Masking(0));
  }
  if (const std::string kind = word(words, "normalization", "no"); kind != "no")
    model.add(BatchNormalization({.synchronized = kind == "synchronized"}));
  model.add(Dense(number(words, "units", 48), {.activation = "relu"}));
  if (word(words, "net", "mlp") == "masked")
    model.add(Flatten());
  if (word(words, "dropout", "no") == "yes")
    model.add(Dropout(0.25));
  if (word(words, "draws", "no") == "yes")
    model.add(Custom(Noisy{}));
  model.add(Dense(32, {.activation = "relu"}));
  model.add(Dense(5));
  optimizers::AdamArgs adam;
  if (const int64_t steps = number(words, "accumulate", 0))
    adam.gradient_accumulation_steps = steps;
  model.compile({.optimizer = optimizers::Adam(1e-2, adam),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"},
                 .weighted_metrics = {"accuracy"}});
  return model;
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

/// Each process prints its weights and its whole state.
void sayState(const Model &model) {
  std::vector<Variable> all = model.variables();
  for (const Variable &variable : model.optimizer().variables())
    all.push_back(variable);
  say("weights " + digest(model.weights()));
  say("state " + digest(all));
}

void sayLogs(const std::string &what, const Logs &logs) {
  for (const auto &[name, value] : logs)
    say(fmt::format("{} {} {:.9g}", what, name, value));
}

/// Ends or leaves the process at a step.
struct Ending : Callback {
  std::string how;
  int64_t left = 0;
  Ending(std::string how, int64_t steps) : how(std::move(how)), left(steps) {}
  void on_train_batch_end(int64_t, const Logs &) override {
    if (how.empty() || --left != 0)
      return;
    if (how == "die") {
      const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
      say(fmt::format("dying at {:.3f}", now.count()));
      (void)::raise(SIGKILL);
    }
    if (how == "stop")
      (void)::raise(SIGSTOP);
    if (how == "change") {
      const Variable variable = model().weights().at(2);
      variable.assign(Tensor::ones(variable.shape()));
      return;
    }
    if (how == "throw")
      throw Error(ErrorKind::runtime_error, "this process has enough");
  }
};

/// Runs fit(), evaluate() and predict() as the words specify.
void train(const Words &words) {
  const Data data =
      dataOf(number(words, "rows", 800), number(words, "inputs", 20), word(words, "net", "mlp") == "masked");
  const int64_t batch = number(words, "batch", 64), processes = number(words, "split", 1);
  const Sequential model = modelOf(words);
  FitArgs fit{.batch_size = batch / processes,
              .epochs = number(words, "epochs", 2),
              .verbose = static_cast<int>(number(words, "verbose", 0)),
              .callbacks = {Ending(word(words, "ending", ""), number(words, "steps", 1))},
              .shuffle = word(words, "shuffle", "yes") == "yes",
              .initial_epoch = number(words, "initial_epoch", 0)};
  if (const std::string folder = word(words, "backup", ""); !folder.empty())
    fit.callbacks.push_back(callbacks::BackupAndRestore(folder));
  if (const std::string file = word(words, "checkpoint", ""); !file.empty())
    fit.callbacks.push_back(callbacks::ModelCheckpoint(file));
  if (const std::string file = word(words, "csv", ""); !file.empty())
    fit.callbacks.push_back(callbacks::CSVLogger(file));
  if (const std::string file = word(words, "restore", ""); !file.empty()) {
    model.train_on_batch(data.x.slice(0, 8), data.y.slice(0, 8)); // creates the optimizer's variables
    (void)Checkpoint(model).restore(file);
    say("restored " + digest(model.weights()));
  }
  const bool isDataset = word(words, "dataset", "no") == "yes";
  const History history =
      isDataset ? model.fit(Dataset(data.x, data.y).batch(batch), fit) : model.fit(data.x, data.y, fit);
  for (const std::string &name : history.keys())
    for (double value : history[name])
      say(fmt::format("fit {} {:.9g}", name, value));
  sayState(model);
  sayLogs("evaluate", model.evaluate(data.x, data.y, {.batch_size = batch, .verbose = 0}));
  const Tensor predicted = model.predict(data.x, {.batch_size = batch, .verbose = 0});
  double sum = 0;
  for (float x : predicted.astype(DType::float32).to_vector<float>())
    sum += std::abs(x);
  say(fmt::format("predict {} {:.9g} {}", predicted.shape().str(), sum,
                  sha256({reinterpret_cast<const char *>(TensorAccess::data(predicted)),
                          static_cast<size_t>(TensorAccess::bytes(predicted))})));
}

/// In some steps values in the rows of one process, a different process each time, overflow float16.
void faults(const Words &words) {
  const int64_t steps = number(words, "steps", 400), rows = 24;
  const Sequential model = modelOf(words);
  const Data data = dataOf(rows);
  std::mt19937_64 engine(3);
  int64_t expected = 0;
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<float> x(reinterpret_cast<const float *>(TensorAccess::data(data.x)),
                         reinterpret_cast<const float *>(TensorAccess::data(data.x)) + data.x.size());
    const auto row = static_cast<size_t>(engine() % rows);
    const bool isFault = engine() % 2 == 0;
    if (isFault)
      x[row * 20] = 1e30f;
    expected += isFault;
    model.train_on_batch(Tensor(x, data.x.shape()), data.y);
  }
  const optimizers::LossScaleState state = model.loss_scale_optimizer()->state();
  say(fmt::format("skipped {} of {} faults, scale {}", state.skipped_steps, expected, state.scale));
  sayState(model);
}

/// Steps on a GPU: the number of host waits, and the device's graphs.
void steps(const Words &words) {
  const Sequential model = modelOf(words);
  const Data data = dataOf(number(words, "rows", 48));
  const auto counters = [] { return deviceRuntime(default_device()).valueOrThrow()->counters(); };
  DeviceCounters before;
  for (int64_t step = 0; step < 8; ++step) {
    if (step == 2) // the program is compiled, and its graphs exist
      before = counters();
    model.train_on_batch(data.x, data.y);
  }
  const DeviceCounters after = counters();
  say(fmt::format("waits {}", after.waits - before.waits));
  say(fmt::format("graphs {}", after.graphLaunches - before.graphLaunches));
  sayState(model);
}

/// Loads a checkpoint at the end of each epoch.
struct Loading : Callback {
  std::string file; // "{}" represents the epoch
  int64_t loaded = 0;
  void on_epoch_end(int64_t epoch, Logs &) override {
    (void)Checkpoint(model()).restore(fmt::format(fmt::runtime(file), epoch + 1));
    ++loaded;
  }
};

/// Each process loads each file of rank 0 as soon as its existence is reported.
void files(const Words &words) {
  const std::string what = word(words, "what", ""), folder = word(words, "folder", "");
  constexpr int64_t times = 8;
  const Sequential model = modelOf(words);
  const Data data = dataOf(48);
  Loading loading;
  FitArgs fit{.batch_size = 48, .epochs = times, .verbose = 0};
  if (what == "checkpoint") {
    loading.file = folder + "/{}.ckpt";
    fit.callbacks = {callbacks::ModelCheckpoint(folder + "/{epoch}.ckpt"), &loading};
  } else if (what == "backup") {
    loading.file = folder + "/latest.ckpt";
    fit.callbacks = {callbacks::BackupAndRestore(folder), &loading};
  }
  if (!fit.callbacks.empty())
    (void)model.fit(data.x, data.y, fit);
  for (; what == "save" && loading.loaded < times; ++loading.loaded) {
    const std::string file = fmt::format("{}/{}.weights.h5", folder, loading.loaded);
    if (distribution::rank() == 0) {
      std::filesystem::create_directories(folder);
      model.save_weights(file);
    }
    distribution::barrier();
    model.load_weights(file);
  }
  say(fmt::format("loaded {}", loading.loaded));
}

/// The begin of the first exchange of a step, and the end of the last kernel that computes values of the last exchange.
void timeline(const Words &) {
  set_random_seed(1);
  Sequential model({Input({512})});
  for (int layer = 0; layer < 3; ++layer)
    model.add(Dense(512, {.activation = "relu"}));
  model.add(Dense(5));
  model.compile(
      {.optimizer = optimizers::Adam(1e-3), .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  const Data data = dataOf(64, 512);
  model.train_on_batch(data.x, data.y);
  const StepTimeline times = step_timeline(model);
  double first = -1, begun = 0, last = 0;
  int kernels = 0, exchanges = 0;
  std::map<std::string, int64_t> bytes;             // by kind of collective
  for (const StepTimeline::Row &row : times.rows) { // ordered by their begin
    kernels += row.kind == StepTimeline::Kind::kernel;
    if (row.kind == StepTimeline::Kind::kernel)
      begun = row.end;
    if (row.kind != StepTimeline::Kind::exchange)
      continue;
    first = exchanges++ == 0 ? row.begin : first;
    bytes[row.name.substr(row.name.find(", ") + 2)] += row.bytes;
    last = begun; // the step starts an exchange directly after the kernel that computes the last of its values
  }
  say(fmt::format("first {:.9f}", first));
  say(fmt::format("last {:.9f}", last));
  say(fmt::format("exchanges {}", exchanges));
  int64_t weights = 0;
  for (const Variable &variable : model.trainable_variables())
    weights += 4 * variable.shape().elements();
  say(fmt::format("bytes of weights: {}", weights));
  for (const auto &[kind, sent] : bytes)
    say(fmt::format("bytes of {}: {}", kind, sent));
  say(fmt::format("kernels {}", kernels));
  const std::string json = times.json();
  int events = 0;
  for (size_t at = json.find("\"ph\":\"X\""); at != json.npos; at = json.find("\"ph\":\"X\"", at + 1))
    ++events;
  say(fmt::format("events {}", events));
}

/// Selected by the first argument; train() otherwise.
const std::map<std::string, void (*)(const Words &)> programs{
    {"faults", faults}, {"steps", steps}, {"timeline", timeline}, {"files", files}};

int run(int argc, char **argv) {
  const std::string what = argv[1];
  if (what != "alone" && what != "build")
    distribution::set_distribution(distribution::DataParallel({.check_weights_every = what == "checked" ? 1 : 0}));
  if (what == "build") {
    say("build " + compiler::buildId());
    return 0;
  }
  Words words;
  for (int i = 2; i < argc; ++i) { // NAME=VALUE, or RANK:NAME=VALUE for one process
    std::string given = argv[i];
    if (const size_t colon = given.find(':'); colon < given.find('=')) {
      if (std::stoll(given.substr(0, colon)) != distribution::rank())
        continue;
      given = given.substr(colon + 1);
    }
    words[given.substr(0, given.find('='))] = given.substr(given.find('=') + 1);
  }
  if (word(words, "shard", "no") == "yes")
    distribution::set_distribution(distribution::DataParallel({.shard_optimizer_state = true}));
  try {
    const auto program = programs.find(what);
    program == programs.end() ? train(words) : program->second(words);
  } catch (const Error &error) {
    say(std::string("error ") + error.what());
    return 3;
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
