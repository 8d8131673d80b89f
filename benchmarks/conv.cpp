// Convolutions (forward, gradients by image and by kernel) beside oneDNN and PyTorch's copy of it; pooling beside copies.
// SPDX-License-Identifier: Apache-2.0
#include "Operand.h"
#include "Peer.h"
#include "Race.h"
#include "Table.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <halftone/Halftone.h>
#include <map>
#include <sched.h>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

struct Convolution {
  const char *family;
  int64_t size, channels, filters, taps, stride, groups;
  DType dtype = float32;

  int64_t places() const { return (size + stride - 1) / stride; }
  bool isGrouped() const { return groups > 1 && groups < channels; }
  std::string text(int64_t batch) const {
    return fmt::format("{} {}x{}/{} {}^2x{}->{}{} batch {}", family, taps, taps, stride, size, channels, filters,
                       isGrouped() ? fmt::format(" in {} groups", groups) : "", batch);
  }
  double work(int64_t batch) const {
    return 2.0 * static_cast<double>(batch * places() * places() * filters * (channels / groups) * taps * taps);
  }
};

const std::vector<Convolution> convolutions = {{"3x3", 56, 64, 64, 3, 1, 1},
                                               {"3x3", 28, 128, 128, 3, 1, 1},
                                               {"3x3", 14, 256, 256, 3, 1, 1},
                                               {"3x3", 7, 512, 512, 3, 1, 1},
                                               {"1x1", 56, 64, 256, 1, 1, 1},
                                               {"1x1", 28, 512, 128, 1, 1, 1},
                                               {"1x1", 14, 1024, 256, 1, 1, 1},
                                               {"1x1", 28, 512, 128, 1, 2, 1},
                                               {"first", 224, 3, 64, 7, 2, 1},
                                               {"first", 28, 1, 32, 3, 1, 1},
                                               {"first", 28, 1, 32, 5, 1, 1},
                                               {"strided", 56, 128, 128, 3, 2, 1},
                                               {"strided", 28, 256, 256, 3, 2, 1},
                                               {"depthwise", 112, 32, 32, 3, 1, 32},
                                               {"depthwise", 56, 128, 128, 3, 1, 128},
                                               {"depthwise", 14, 512, 512, 3, 1, 512},
                                               {"grouped", 28, 128, 128, 3, 1, 2},
                                               {"grouped", 28, 128, 128, 3, 1, 4},
                                               {"grouped", 28, 128, 128, 3, 1, 32},
                                               {"few channels", 56, 128, 128, 3, 1, 32},
                                               {"few channels", 56, 128, 128, 3, 2, 32},
                                               {"few channels", 28, 256, 256, 3, 1, 32},
                                               {"few channels", 28, 256, 256, 3, 2, 32},
                                               {"few channels", 14, 512, 512, 3, 1, 32},
                                               {"bfloat16 few channels", 56, 128, 128, 3, 1, 32, bfloat16},
                                               {"bfloat16 few channels", 28, 256, 256, 3, 1, 32, bfloat16},
                                               {"bfloat16 few channels", 14, 512, 512, 3, 1, 32, bfloat16},
                                               {"bfloat16 3x3", 56, 64, 64, 3, 1, 1, bfloat16},
                                               {"bfloat16 3x3", 28, 128, 128, 3, 1, 1, bfloat16},
                                               {"bfloat16 3x3", 14, 256, 256, 3, 1, 1, bfloat16},
                                               {"bfloat16 3x3", 7, 512, 512, 3, 1, 1, bfloat16}};

const std::string besideFloat32 = " beside own float32";

/// The bars of a family: forward, gradient by the image, gradient by the kernel.
struct Bars {
  std::string family;
  double forward, byX, byW;
};
const std::vector<Bars> bars = {{"3x3", 0.90, 0.85, 0.80},          {"1x1", 0.95, 0.90, 0.85},
                                {"first", 0.60, 0.0, 0.50},         {"strided", 0.85, 0.70, 0.70},
                                {"depthwise", 0.60, 0.60, 0.40},    {"grouped", 0.0, 0.0, 0.0},
                                {"few channels", 0.60, 0.60, 0.60}, {"bfloat16 few channels", 0.60, 0.60, 0.60},
                                {"bfloat16 3x3", 0.90, 0.80, 0.80}, {"bfloat16 3x3" + besideFloat32, 1.5, 0.0, 0.0}};
using Ratios = std::map<std::string, std::vector<double>>;

std::string gigaflops(double work, double seconds) {
  return fmt::format("{:.0f} us {:.0f} GF/s", seconds * 1e6, work / seconds * 1e-9);
}

/// The computation of one direction as a function of two operands: the image and the kernel, or one of them and the
/// cotangent.
std::function<Tensor()> workOf(const std::string &way, const Convolution &c, int64_t batch) {
  const Tensor x = operand({batch, c.size, c.size, c.channels}, 13).astype(c.dtype),
               w = operand({c.taps, c.taps, c.channels / c.groups, c.filters}, 11).astype(c.dtype),
               dy = operand({batch, c.places(), c.places(), c.filters}, 7).astype(c.dtype);
  const auto conv = [c](const Value &image, const Value &kernel) {
    return ops::conv(image, kernel, {.strides = {c.stride}, .padding = "same"});
  };
  if (way == "forward") {
    auto f = jit(conv);
    return [=]() mutable { return f(x, w); };
  }
  const bool byX = way == "by_x";
  auto f = jit([=](const Value &image, const Value &kernel, const Value &cotangent) {
    return gradients(ops::sum(conv(image, kernel) * cotangent), {byX ? image : kernel})[0];
  });
  return [=]() mutable { return f(x, w, dy); };
}

using Peers = std::vector<std::unique_ptr<Peer>>;

/// Adds one row. Appends the ratio to the fastest peer to those of the family, and for a narrow dtype also the ratio to
/// the same convolution in float32.
void compare(Table &table, const Peers &peers, const std::string &way, const Convolution &c, int64_t batch,
             Ratios &ratios) {
  const std::string what = fmt::format("{} {}", way, c.text(batch));
  if (!table.wants(what))
    return;
  const std::function<Tensor()> work = workOf(way, c, batch);
  const double sum = sumOf(work());
  std::vector<Contestant> field{contestant("ours", [&] { (void)work(); })};
  for (const std::unique_ptr<Peer> &each : peers) {
    Peer &peer = *each;
    if (!peer.missing().empty())
      continue;
    double theirs = 0;
    try {
      theirs = peer.askNumbers(fmt::format("prepare {} {} {} {} {} {} {} {} {}", way, name(c.dtype), batch, c.size,
                                           c.channels, c.filters, c.taps, c.stride, c.groups))
                   .at(0);
    } catch (const std::runtime_error &) {
      continue; // omitted from the row
    }
    const double scale = std::sqrt(c.work(batch)) * 1e-2 + 1;
    if (std::abs(theirs - sum) > scale)
      throw std::runtime_error(
          fmt::format("{}: the sum of {}'s result is {}, ours {}", what, peer.name(), theirs, sum));
    field.push_back({peer.name(), [&](int times) { return peer.askNumbers(fmt::format("calls {}", times)).at(0); }});
  }
  const size_t answered = field.size() - 1;
  if (c.dtype != float32) {
    Convolution wide = c;
    wide.dtype = float32;
    field.push_back(contestant("own float32", [same = workOf(way, wide, batch)] { (void)same(); }));
  }
  const std::vector<double> seconds = race(field, 5, 0.02);
  Row row{what, gigaflops(c.work(batch), seconds[0]), answered ? "" : "missing"};
  for (size_t i = 1; i <= answered; ++i)
    row.peer += fmt::format("{}{} {}", i > 1 ? ", " : "", field[i].name, gigaflops(c.work(batch), seconds[i]));
  if (answered) {
    row.ratio =
        *std::min_element(seconds.begin() + 1, seconds.begin() + 1 + static_cast<ptrdiff_t>(answered)) / seconds[0];
    ratios[c.family].push_back(*row.ratio);
  }
  if (c.dtype != float32) {
    row.peer += ", own float32 " + gigaflops(c.work(batch), seconds.back());
    ratios[c.family + besideFloat32].push_back(seconds.back() / seconds[0]);
  }
  table.add(row);
}

void addFamilies(Table &table, const std::string &way, const Ratios &ratios) {
  for (const Bars &bar : bars) {
    const auto found = ratios.find(bar.family);
    const double least = way == "forward" ? bar.forward : way == "by_x" ? bar.byX : bar.byW;
    if (found == ratios.end())
      continue;
    Row row{fmt::format("{} {}, geometric mean", way, bar.family), "", "", geometricMean(found->second)};
    if (least > 0)
      row.bar = least;
    table.add(std::move(row));
  }
}

/// Max pooling compared with copying the bytes that it must move.
void pools(Table &table) {
  struct Pool {
    int64_t size, channels, taps, stride;
  };
  for (const Pool &p : {Pool{112, 64, 2, 2}, Pool{112, 64, 3, 2}, Pool{28, 256, 2, 2}})
    for (const bool backward : {false, true}) {
      const std::string what = fmt::format("max_pool {}x{}/{} {}^2x{} batch 8{}", p.taps, p.taps, p.stride, p.size,
                                           p.channels, backward ? ", with its gradient" : "");
      if (!table.wants(what))
        continue;
      const Tensor x = operand({8, p.size, p.size, p.channels}, 13);
      const auto pool = [p](const Value &image) {
        return ops::max_pool(image, {p.taps, p.taps}, {.strides = {{p.stride}}, .padding = "same"});
      };
      auto forward = jit(pool);
      const Tensor y = forward(x);
      auto both = jit([pool](const Value &image, const Value &cotangent) {
        return gradients(ops::sum(pool(image) * cotangent), {image})[0];
      });
      // Forward reads x and writes y; the gradient reads both and dy, and writes dx.
      const auto elements = static_cast<size_t>(x.span<float>().size() + y.span<float>().size());
      const size_t bytes = 4 * (backward ? 2 * elements : elements);
      std::vector<char> from(bytes / 2, 1), to(bytes / 2);
      const std::vector<double> seconds =
          race({contestant("ours", [&] { backward ? (void)both(x, y) : (void)forward(x); }),
                contestant("copy", [&] { std::memcpy(to.data(), from.data(), from.size()); })},
               5, 0.02);
      table.add({what, milliseconds(seconds[0]), "copy " + milliseconds(seconds[1]), seconds[1] / seconds[0], 0.5});
    }
}

void body(Table &table) {
  cpu_set_t cpus;
  const int threads = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  Peers peers;
  for (const char *name : {"oneDNN", "oneDNN of PyTorch"}) {
    peers.push_back(std::make_unique<Peer>(name, "conv", std::vector<std::string>{name, std::to_string(threads)}));
    table.peer(*peers.back());
  }
  for (const std::string way : {"forward", "by_x", "by_w"}) {
    Ratios ratios;
    for (const Convolution &c : convolutions)
      for (const int64_t batch : {1, 8, 32}) {
        const bool small = c.work(batch) < 3e9 || batch == 8; // larger batches of large images are redundant
        if (!small || (way == "by_x" && std::string(c.family) == "first"))
          continue;
        compare(table, peers, way, c, batch, ratios);
      }
    addFamilies(table, way, ratios);
  }
  pools(table);
}

} // namespace

int main() { return runProgram("conv", "Convolutions and pooling", body); }
