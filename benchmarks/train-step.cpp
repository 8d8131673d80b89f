// How long a training step of the multilayer perceptron takes beside PyTorch, JAX and Keras; losses must be equal.
// SPDX-License-Identifier: Apache-2.0
#include "Mlp.h"
#include "Peer.h"
#include "Race.h"
#include "Table.h"
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <sched.h>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

constexpr int checkedSteps = 5;

/// A folder for the tensors from which peers start; it is removed at the end.
struct Exchange {
  std::filesystem::path path;
  Exchange() {
    std::string pattern = (std::filesystem::temp_directory_path() / "halftone-train-step-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw std::runtime_error("cannot make " + pattern);
    path = pattern;
  }
  ~Exchange() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  void put(const std::string &name, const Tensor &tensor) const { tensor.save_npy((path / (name + ".npy")).string()); }
};

/// The largest relative difference between the losses of the first steps.
double difference(const std::vector<double> &ours, const std::vector<double> &theirs) {
  double largest = ours.size() == theirs.size() ? 0 : INFINITY;
  for (size_t i = 0; i < ours.size() && i < theirs.size(); ++i)
    largest = std::max(largest, std::abs(ours[i] - theirs[i]) / std::max(std::abs(ours[i]), 1e-3));
  return largest;
}

void compare(Table &table, std::vector<std::unique_ptr<Peer>> &peers, const std::string &policy, int64_t batch) {
  const std::string what = fmt::format("MLP train step, batch {}, {}", batch, policy);
  if (!table.wants(what))
    return;
  Exchange exchange;
  const Batch data = images(batch);
  const Tensor x = data.x[0], y = data.y[0];
  Sequential model = mlp(policy, {.learning_rate = 1e-3});
  exchange.put("x", x);
  exchange.put("y", y);
  const std::vector<Tensor> weights = model.get_weights();
  for (size_t i = 0; i < weights.size(); ++i)
    exchange.put(fmt::format("w{}", i), weights[i]);
  std::vector<double> losses;
  for (int step = 0; step < checkedSteps; ++step)
    losses.push_back(model.train_on_batch(x, y)["loss"]);

  model = mlp(policy);
  model.set_weights(weights);
  std::vector<Contestant> field = {contestant("ours", [&] { model.train_on_batch(x, y); })};
  // PyTorch's Adam adds epsilon after the bias correction, all others before: the third digit of losses differs.
  const double tolerance = policy == "float32" ? 5e-3 : 3e-2;
  std::vector<std::pair<Peer *, std::string>> absent;
  std::vector<Peer *> running;
  for (std::unique_ptr<Peer> &peer : peers) {
    std::string reason = peer->missing();
    if (reason.empty())
      try {
        const std::vector<double> theirs =
            peer->askNumbers(fmt::format("prepare {} {} {}", policy, checkedSteps, exchange.path.string()));
        if (const double off = difference(losses, theirs); off > tolerance)
          reason = fmt::format("its losses differ by {:.1e}", off);
      } catch (const std::runtime_error &error) {
        reason = error.what();
      }
    if (!reason.empty()) {
      absent.emplace_back(peer.get(), reason);
      continue;
    }
    running.push_back(peer.get());
    field.push_back({peer->name(), [peer = peer.get()](int times) {
                       return peer->askNumbers(fmt::format("steps {}", times)).at(0);
                     }});
  }
  const std::vector<double> seconds = race(field, 7, 0.15);
  for (size_t i = 0; i < running.size(); ++i) {
    const bool eager = running[i]->name() == "PyTorch eager";
    const bool counts = policy != "mixed_float16" && running[i]->name() != "Keras on JAX";
    Row row{what, milliseconds(seconds[0]), running[i]->name() + " " + milliseconds(seconds[i + 1]),
            seconds[i + 1] / seconds[0]};
    if (counts) {
      row.bar = eager ? 2.0 : 1.2;
      row.stretch = eager ? 3.0 : 1.5;
    }
    table.add(std::move(row));
  }
  for (const auto &[peer, reason] : absent)
    table.add({what, milliseconds(seconds[0]), peer->name() + " missing", {}, {}, {}, false, reason});
}

void run(Table &table) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof cores, &cores);
  const std::string threads = std::to_string(CPU_COUNT(&cores)); // the threads that Halftone's plans use
  std::vector<std::unique_ptr<Peer>> peers;
  for (const char *name : {"PyTorch eager", "torch.compile", "JAX jit", "Keras on JAX"}) {
    peers.push_back(std::make_unique<Peer>(name, "train_step", std::vector<std::string>{name, threads}));
    table.version(name,
                  peers.back()->missing().empty() ? peers.back()->version() : "missing: " + peers.back()->missing());
  }
  for (const char *policy : {"float32", "mixed_bfloat16", "mixed_float16"})
    for (int64_t batch : {32, 128, 512})
      compare(table, peers, policy, batch);
}

} // namespace

int main() { return runProgram("train-step", "one step of 784-512-512-10 with Adam", run); }
