// Sorting and top-k of rows, beside PyTorch and JAX.
// SPDX-License-Identifier: Apache-2.0
#include "Peer.h"
#include "Race.h"
#include "Table.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <halftone/Halftone.h>
#include <random>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

/// The first `count` elements of each of `rows` rows, in ascending order, or the largest in descending order.
struct Case {
  int64_t rows, columns, count;
  double bar;
  bool isWhole() const { return count == columns; }
  std::string title() const {
    return isWhole() ? fmt::format("sort of {} x {} float32", rows, columns)
                     : fmt::format("top_k({}) of {} x {} float32", count, rows, columns);
  }
};

/// The noise that peers/sort.py generates.
Tensor noise(const Shape &shape) {
  Tensor tensor = Tensor::zeros(shape);
  std::mt19937 random(3);
  for (float &value : tensor.mutable_span<float>())
    value = static_cast<float>(random() >> 8) / 8388608.0f - 1.0f;
  return tensor;
}

/// A checksum of the order within rows: the sum of the elements, each times its index modulo 7.
double weighedSum(const Tensor &sorted) {
  const int64_t columns = sorted.shape()[-1];
  double sum = 0;
  int64_t at = 0;
  for (float value : sorted.span<float>())
    sum += static_cast<double>(value) * static_cast<double>(at++ % columns % 7);
  return sum;
}

class Rounds {
public:
  explicit Rounds(Table &table) : table(table) {
    for (const char *name : {"PyTorch eager", "JAX jit"}) {
      peers.push_back(
          std::make_unique<Peer>(name, "sort", std::vector<std::string>{name, std::to_string(coreCount())}));
      table.peer(*peers.back());
    }
  }

  void compare(const Case &each) {
    if (!table.wants(each.title()))
      return;
    const Tensor x = noise({each.rows, each.columns});
    auto step = jit([&](const Value &x) -> Values {
      if (each.isWhole())
        return {ops::sort(x), ops::argsort(x)};
      const auto [values, indices] = ops::top_k(x, each.count);
      return {values, indices};
    });
    const double sum = weighedSum(step(x)[0]);
    std::vector<Contestant> field = {contestant("ours", [&] { (void)step(x); })};
    std::string missing;
    for (const std::unique_ptr<Peer> &peer : peers) {
      const std::string reason = join(*peer, each, sum, field);
      if (!reason.empty())
        missing += fmt::format("{}{} missing: {}", missing.empty() ? "" : "; ", peer->name(), reason);
    }
    const std::vector<double> seconds = race(field, 11, 0.05);
    Row row{each.title(), milliseconds(seconds[0]), ""};
    for (size_t i = 1; i < field.size(); ++i)
      row.peer += fmt::format("{}{} {}", i > 1 ? ", " : "", field[i].name, milliseconds(seconds[i]));
    if (field.size() > 1) {
      row.ratio = *std::min_element(seconds.begin() + 1, seconds.end()) / seconds[0];
      row.bar = each.bar;
    }
    row.note = missing;
    table.add(std::move(row));
  }

private:
  /// Adds a peer to the field; returns the reason why it cannot take part.
  static std::string join(Peer &peer, const Case &each, double sum, std::vector<Contestant> &field) {
    if (!peer.missing().empty())
      return peer.missing();
    try {
      const double theirs = peer.askNumbers(fmt::format("prepare {} {} {}", each.rows, each.columns, each.count)).at(0);
      if (!(std::abs(sum - theirs) <= 1e-6 * std::abs(sum)))
        return fmt::format("its weighted sum is {}, ours is {}", theirs, sum);
    } catch (const std::runtime_error &error) {
      return error.what();
    }
    field.push_back(
        {peer.name(), [&peer](int times) { return peer.askNumbers(fmt::format("calls {}", times)).at(0); }});
    return "";
  }

  Table &table;
  std::vector<std::unique_ptr<Peer>> peers;
};

void run(Table &table) {
  Rounds rounds(table);
  for (const Case &each : {Case{4096, 1024, 1024, 1.0}, Case{65536, 64, 64, 1.0}, Case{64, 65536, 65536, 1.0},
                           Case{4096, 50257, 8, 2.0}, Case{4096, 1024, 64, 1.0}})
    rounds.compare(each);
}

} // namespace

int main() { return runProgram("sort", "sorts and the largest elements of rows beside other libraries", run); }
