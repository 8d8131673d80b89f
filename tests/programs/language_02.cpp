// Data: nested braces, vectors of each type, draws, rows, keys, arithmetic on the host, printing.
// SPDX-License-Identifier: Apache-2.0
#include "Check.h"
#include <sstream>
using namespace halftone;

static void made() {
  const Tensor x({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), y({0, 1, 1, 0}, int32);
  check(x.shape() == Shape({4, 2}) && x.dtype() == float32, "float32, whatever the numbers in braces");
  check(y.shape() == Shape({4}) && y.dtype() == int32, "a dtype after the braces");
  const std::vector<uint32_t> ids = {7, 8, 9};
  const std::vector<bool> seen = {true, false, true};
  const std::vector<size_t> counts = {1, 2, 3};
  const Tensor a(ids), b(seen), c(counts), d(std::vector<int16_t>{1, 2, 3, 4}, {2, 2});
  check(a.dtype() == uint32 && near(a, {7, 8, 9}), "a vector of uint32_t");
  check(b.dtype() == bool_ && near(b, {1, 0, 1}), "a vector of bool");
  check(c.dtype() == uint64 && near(c, {1, 2, 3}), "a vector of size_t");
  check(d.dtype() == int16 && d.shape() == Shape({2, 2}), "a vector and a shape");
}

static void drawn() {
  const Tensor noise = Tensor::normal({4, 2}, {.stddev = 0.1, .seed = 7}), u = Tensor::uniform({64}),
               k = Tensor::randint({64}, 0, 10);
  check(near(noise - Tensor::normal({4, 2}, {.stddev = 0.1, .seed = 7}), std::vector<double>(8)), "a seed repeats");
  bool inside = true;
  for (int64_t i = 0; i < 64; ++i)
    inside = inside && u[i].item() >= 0 && u[i].item() < 1 && k[i].item() >= 0 && k[i].item() < 10;
  check(inside, "bounds of draws");
  check(k.dtype() == int32, "the dtype of randint");
}

static void computed() {
  const Tensor x({{0, 0}, {0, 1}, {1, 0}, {1, 1}}), noise({{1, 2}, {3, 4}, {5, 6}, {7, 8}});
  Tensor z = (x - 0.5) * 2 + noise; // immediately, on the host
  z /= 1.0 + noise * noise;
  z = -z;
  const Tensor row = z[0], column = z[{Slice(), 1}], rest = z[Slice(1, none)];
  check(near(row, {0, -0.2}), "arithmetic, and the first row");
  check(near(column, {-0.2, -5.0 / 17, -5.0 / 37, -9.0 / 65}), "a column");
  check(rest.shape() == Shape({3, 2}), "a slice of rows");
  double sum = 0;
  for (const Tensor &sample : z)
    sum += sample[0].item();
  check(std::abs(sum - (0 - 0.2 - 6.0 / 26 - 8.0 / 50)) < 1e-6, "rows in a loop");
  for (float &v : z.mutable_span<float>())
    v = v > -0.15F ? -0.15F : v;
  check(near(z[0], {-0.15, -0.2}), "elements by their span");
  const Tensor all = Tensor::concatenate({x, noise}, 1), pair = Tensor::stack({x, noise});
  check(near(all[3], {1, 1, 7, 8}) && pair.shape() == Shape({2, 4, 2}), "concatenate and stack");
  std::ostringstream text;
  text << all << pair.shape() << all.dtype();
  check(text.str() == all.str() + "(2, 4, 2)float32", "printed as str()");
}

int main() {
  set_random_seed(1);
  made();
  drawn();
  computed();
  // Ops on data are compiled: jit of a lambda, or of an op itself.
  check(near(jit(ops::softmax)(Tensor({{0, 0}, {2, 2}}), -1), {0.5, 0.5, 0.5, 0.5}), "jit(ops::softmax)");
  check(near(jit(ops::maximum)(Tensor({-1, 2}), 0.5), {0.5, 2}), "jit(ops::maximum) with a number");
  return wrong;
}
