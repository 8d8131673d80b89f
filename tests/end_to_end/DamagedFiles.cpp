// Reads randomly damaged files: each must load or give an error that names the file, in bounded time and memory.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/CheckpointFile.h"
#include "frontend/io/KerasArchive.h"
#include "frontend/io/StoredZip.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Halftone.h"
#include "runtime/TensorAccess.h"
#include "tests/end_to_end/Damage.h"
#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <span>
#include <stdexcept>
#include <sys/resource.h>
#include <unistd.h>

using namespace halftone;
using namespace halftone::test;
namespace fs = std::filesystem;

namespace {

struct Kind {
  const char *name;
  std::string file; // its name
  std::function<std::string(Damage &)> damaged;
  std::function<void(const std::string &path)> load;
};

std::string contentsOf(const fs::path &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Damages the header or the data of a safetensors file. Three of four files keep a valid header length, so that the
/// reader gets further.
std::string damagedSafetensors(const std::string &whole, Damage &damage) {
  uint64_t length = 0;
  std::memcpy(&length, whole.data(), sizeof length);
  std::string header = whole.substr(8, length), data = whole.substr(8 + length);
  if (damage.below(4) == 0)
    return damage(whole);
  header = damage(header);
  if (damage.below(4) == 0)
    data = damage(data);
  if (damage.below(4) != 0)
    length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof length) + header + data;
}

/// Changes the contents of a checkpoint and writes them with valid checksums.
std::string damagedCheckpoint(const std::string &path, Damage &damage) {
  detail::CheckpointFile file = detail::readCheckpointFile(path);
  auto &tensors = file.contents.tensors;
  auto &[name, tensor] = tensors[damage.below(tensors.size())];
  switch (damage.below(7)) {
  case 0:
    name = damage(name);
    break;
  case 1:
    tensor = Tensor::zeros({static_cast<int64_t>(damage.below(4)), 0, int64_t{1} << 40}, tensor.dtype());
    break;
  case 2:
    tensor = tensor.astype(damage.below(2) == 0 ? DType::int32 : DType::float8_e5m2);
    break;
  case 3:
    tensors.erase(tensors.begin() + static_cast<int64_t>(damage.below(tensors.size())));
    break;
  case 4:
    tensors.emplace_back("more", tensor);
    break;
  case 5:
    for (auto &[key, text] : file.contents.metadata)
      if ((key.starts_with("class_path:") || key.starts_with("place:")) && damage.below(2) == 0)
        text = damage(text);
    break;
  default:
    tensor = tensor.reshape({tensor.size()});
  }
  const std::string target = path + ".damaged";
  try {
    detail::writeCheckpointFile(target, std::move(file));
  } catch (const Error &) { // a name that no file can have
    return contentsOf(path);
  }
  return contentsOf(target);
}

/// A .keras file with one damaged member, or damaged as a whole. A damaged member has a valid checksum.
std::string damagedArchive(const fs::path &path, const std::string &member, Damage &damage) {
  const detail::KerasArchive archive(path);
  std::vector<std::pair<std::string, std::string>> members;
  for (const char *name : {"metadata.json", "config.json", "model.weights.h5"}) {
    const detail::FileRange data = archive.data(name, 1 << 24);
    std::string bytes(static_cast<size_t>(data.bytes), ' ');
    data.file.readAt(data.offset, std::as_writable_bytes(std::span(bytes)), name);
    members.emplace_back(name, name == member ? damage(bytes) : bytes);
  }
  std::vector<detail::ZipMember> views;
  for (const auto &[name, bytes] : members)
    views.push_back({name, {bytes}});
  const std::string target = path.string() + ".damaged";
  detail::writeStoredZip(target, views).orThrow();
  return contentsOf(target);
}

/// Several kinds of layers, called in several ways.
Model graph() {
  const layers::Input x({4, 6}, {.name = "x"});
  const layers::Dense shared(6);
  const Sequential inner({layers::Input({4, 6}), layers::Dense(6, {.activation = "relu"})});
  const Value attended = layers::MultiHeadAttention(2, 3)(shared(x), inner(x), {.use_causal_mask = true});
  const Model model({x}, {layers::Dense(1)(shared(inner(attended)) * 2.0 + ops::mean(attended, -1, true))});
  model.compile({.optimizer = "adam",
                 .loss = losses::Tversky({.axis = 1}),
                 .metrics = {"mae", metrics::AUC({.thresholds = {0.25}, .label_weights = {1}}),
                             metrics::PrecisionAtRecall(0.5), metrics::MeanIoU(2)}});
  (void)model.train_on_batch(Tensor::ones({2, 4, 6}), Tensor::ones({2, 4, 1}));
  return model;
}

Sequential trained() {
  set_random_seed(3);
  Sequential model({layers::Input({2}), layers::Dense(3, {.name = "a"}), layers::Dropout(0.5, {.name = "d"}),
                    layers::Dense(1, {.name = "b"})},
                   {.name = "net"});
  model.compile({.optimizer = optimizers::LossScaleOptimizer("adam"), .loss = "mse"});
  (void)model.fit(Tensor::ones({8, 2}), Tensor::ones({8, 1}), {.verbose = 0});
  return model;
}

/// The versions of all variables, which increase with each write.
std::vector<uint64_t> versionsOf(const Model &model) {
  std::vector<uint64_t> versions;
  for (const auto &variables : {model.variables(), model.optimizer().impl()->allVariables()})
    for (const Variable &variable : variables)
      versions.push_back(variable.impl()->memory->version());
  return versions;
}
/// Calls `load`. If it throws, it must not have written any variable.
void loadOrKeep(const Model &model, const std::function<void()> &load) {
  const std::vector<uint64_t> before = versionsOf(model);
  try {
    load();
  } catch (const Error &) {
    if (versionsOf(model) != before)
      throw std::logic_error("an error after a variable was written");
    throw;
  }
}

std::vector<Kind> kinds(const fs::path &folder) {
  const Sequential model = trained();
  const auto whole = [&](const char *name) { return (folder / name).string(); };
  const std::string checkpoint = whole("whole.ckpt"), tensors = whole("whole.safetensors"), npy = whole("whole.npy");
  Checkpoint(model).save(checkpoint);
  save_safetensors(tensors, {{"flag", Tensor::zeros({3}, DType::bool_)},
                             {"w", Tensor::ones({4, 5})},
                             {"empty", Tensor::zeros({0, 7}, bfloat16)},
                             {"scalar", Tensor::scalar<int64_t>(9)}});
  Tensor::ones({3, 4}).save_npy(npy);
  const std::string archive = whole("whole.keras"), h5 = whole("whole.weights.h5");
  graph().save(archive);
  model.save_weights(h5);
  const auto member = [archive](const char *name) {
    return [archive, name](Damage &damage) { return damagedArchive(archive, name, damage); };
  };
  const auto loadModel = [](const std::string &path) { (void)load_model(path); };
  const std::string idx = std::string("\0\0\x0d\2\0\0\0\2\0\0\0\3", 12) + std::string(24, '\1');
  const auto restore = [model](const std::string &path) {
    loadOrKeep(model, [&] { (void)Checkpoint(model).restore(path); });
  };
  const auto bytesOf = [](const std::string &bytes) { return [bytes](Damage &damage) { return damage(bytes); }; };
  return {
      {"safetensors", "damaged.safetensors",
       [bytes = contentsOf(tensors)](Damage &damage) { return damagedSafetensors(bytes, damage); },
       [](const std::string &path) { (void)load_safetensors(path); }},
      {"weights", "damaged.safetensors",
       [bytes = contentsOf(checkpoint)](Damage &damage) { return damagedSafetensors(bytes, damage); },
       [model](const std::string &path) { loadOrKeep(model, [&] { model.load_weights(path); }); }},
      {"checkpoint", "damaged.ckpt",
       [bytes = contentsOf(checkpoint)](Damage &damage) { return damagedSafetensors(bytes, damage); }, restore},
      {"checkpoint-contents", "damaged.ckpt",
       [checkpoint](Damage &damage) { return damagedCheckpoint(checkpoint, damage); }, restore},
      {"keras", "damaged.keras", bytesOf(contentsOf(archive)), loadModel},
      {"keras-config", "damaged.keras", member("config.json"), loadModel},
      {"keras-weights", "damaged.keras", member("model.weights.h5"), loadModel},
      {"h5", "damaged.weights.h5", bytesOf(contentsOf(h5)),
       [model](const std::string &path) { model.load_weights(path); }},
      {"npy", "damaged.npy", bytesOf(contentsOf(npy)), [](const std::string &path) { (void)Tensor::load_npy(path); }},
      {"idx", "damaged.idx", bytesOf(idx), [](const std::string &path) { (void)datasets::load_idx(path); }}};
}

struct Options {
  std::string kind;
  uint64_t seed = 1;
  int64_t first = 0, count = 2000, mostMib = 1024;
  double maxSeconds = 5.0;
};

/// "" if the file loads or its error names it; otherwise a description of what happened.
std::string faultOf(const Kind &kind, const std::string &path, const Options &options, int64_t &loaded) {
  const auto start = std::chrono::steady_clock::now();
  std::string fault;
  try {
    kind.load(path);
    ++loaded;
  } catch (const Error &error) {
    if (error.message().find(path) == std::string::npos)
      fault = fmt::format("an error that does not name the file: {}", error.message());
    else if (error.message().size() > 4000)
      fault = fmt::format("an error of {} bytes", error.message().size());
  } catch (const std::exception &error) {
    fault = fmt::format("an exception that is no halftone::Error: {}", error.what());
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  rusage usage{};
  (void)::getrusage(RUSAGE_SELF, &usage);
  if (seconds > options.maxSeconds)
    fault = fmt::format("{:.1f} seconds", seconds);
  if (usage.ru_maxrss > options.mostMib * 1024)
    fault = fmt::format("{} MiB of memory", usage.ru_maxrss / 1024);
  return fault;
}

/// Reads the damaged files of one kind. A file that causes a fault or a crash remains in the folder.
bool passes(const Kind &kind, const fs::path &folder, const Options &options) {
  const std::string path = (folder / kind.file).string();
  int64_t loaded = 0;
  for (int64_t number = options.first; number < options.first + options.count; ++number) {
    Damage damage(options.seed, number);
    std::ofstream(path, std::ios::binary) << kind.damaged(damage);
    if (const std::string fault = faultOf(kind, path, options, loaded); !fault.empty()) {
      fmt::print("{}: {}\n  again: damaged_files --kind {} --seed {} --first {} --count 1\n", path, fault, kind.name,
                 options.seed, number);
      return false;
    }
  }
  fmt::print("{}: {} files, {} of them load\n", kind.name, options.count, loaded);
  std::fflush(stdout);
  return true;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Reads files that chance has damaged");
  app.add_option("--kind", options.kind, "one kind only");
  app.add_option("--seed", options.seed, "of the damage");
  app.add_option("--first", options.first, "the number of the first file");
  app.add_option("--count", options.count, "files of each kind");
  app.add_option("--most-mib", options.mostMib, "memory of the whole process");
  app.add_option("--most-seconds", options.maxSeconds, "for one file");
  CLI11_PARSE(app, argc, argv);
  set_output([](std::string_view) {});
  const fs::path memory = "/dev/shm"; // where writes do not wait for a disk
  const fs::path folder = (fs::is_directory(memory) ? memory : fs::temp_directory_path()) /
                          fmt::format("halftone-damaged-files-{}", ::getpid());
  fs::create_directories(folder);
  int64_t read = 0;
  for (const Kind &kind : kinds(folder))
    if (options.kind.empty() || options.kind == kind.name) {
      ++read;
      if (!passes(kind, folder, options))
        return 1;
    }
  fs::remove_all(folder);
  if (read == 0)
    fmt::print("no kind is called {}\n", options.kind);
  return read == 0 ? 2 : 0;
}
