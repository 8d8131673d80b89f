// A random program under construction: its values, and the text of ops on them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace halftone::test {

using RandomShape = std::vector<int64_t>;

/// A value of the program.
struct RandomItem {
  std::string name, dtype;
  RandomShape shape;
  std::string type() const;
  bool isFloat() const { return dtype == "f16" || dtype == "bf16" || dtype == "f32" || dtype == "f64"; }
  bool isFloat8() const { return dtype.starts_with("f8"); }
  bool isInteger() const { return !isFloat() && !isFloat8() && dtype != "i1"; }
  std::string wide() const { return dtype == "f64" ? dtype : "f32"; } // the dtype in which narrow floats accumulate
};

int64_t sizeOf(const RandomShape &shape);
/// The text of an array<i64> attribute.
std::string array(const std::vector<int64_t> &numbers);
std::vector<int64_t> upTo(size_t count, size_t from = 0);

class RandomProgram {
public:
  RandomProgram(uint32_t seed, bool degenerate, bool loops);
  std::string text(int ops);

private:
  static constexpr int64_t maxElements = 20000;

  // In RandomProgram.cpp: values, and the ops that callers request.
  int below(int count) { return int(random() % uint32_t(count)); }
  template <class T> T one(const std::vector<T> &of) { return of[size_t(below(int(of.size())))]; }
  int64_t extent(size_t among = 100);
  RandomShape anyShape();
  RandomItem argument(const std::string &dtype, const RandomShape &shape);
  RandomItem add(const std::string &dtype, const RandomShape &shape, const std::string &op);
  std::optional<RandomItem> pick(const std::function<bool(const RandomItem &)> &fits);
  RandomItem like(const RandomItem &x);
  RandomItem unary(const std::string &op, const RandomItem &x);
  RandomItem binary(const std::string &op, const RandomItem &x, const RandomItem &y);
  RandomItem splat(const RandomItem &x, const std::string &value);
  RandomItem cast(const RandomItem &x, const std::string &dtype);
  RandomItem moved(const std::string &op, const RandomItem &x, const std::string &attributes, const RandomShape &to);
  RandomItem broadcast(const RandomItem &x, const std::vector<int64_t> &axes, const RandomShape &to);
  RandomItem reduce(const std::string &kind, const RandomItem &x, const std::vector<int64_t> &axes,
                    const std::string &dtype);

  // In RandomOps.cpp: steps on floats.
  void step();
  void unaryStep(RandomItem x);
  void contract(RandomItem x);
  RandomItem factor(const std::string &dtype, const RandomShape &shape);
  void normalize(const RandomItem &x);
  void reshape(const RandomItem &x);
  void slice(const RandomItem &x);
  void concat(const RandomItem &x);
  void cumsum(const RandomItem &x);
  void sort(const RandomItem &x);
  RandomItem indices();
  void lookup(const RandomItem &x);
  void lookupInBatches(const RandomItem &x);
  void scatter(const std::string &dtype);
  void integerProduct();
  void dropout(const RandomItem &x);

  // In RandomConvolution.cpp.
  struct RandomSteps {
    std::string text; // attributes
    RandomShape places, taps;
  };
  RandomSteps windowSteps(int rank);
  void window(const RandomItem &x);
  void convolution(RandomItem x);
  RandomItem turned(const RandomItem &kernel); // with its last two axes swapped

  // In RandomAttention.cpp.
  void attention(RandomItem x);

  // In RandomOpsDegenerate.cpp: steps on any dtype, with the same value as several operands.
  void degenerateStep();
  void convert(const RandomItem &x);
  void arithmetic(const RandomItem &x);
  void choice(const RandomItem &x);
  void reduction(const RandomItem &x);
  void aboutAll(const RandomItem &x);
  void source();
  void axes(const RandomItem &x);
  void refold(const RandomItem &x);
  void join(const RandomItem &x);
  void square(const RandomItem &x);
  void byItself(const RandomItem &x);
  void branch(const RandomItem &x);

  // In RandomLoops.cpp.
  void scan(const RandomItem &x);
  RandomItem nextCarry(const RandomItem &x, size_t begin);
  void keepOutside(size_t begin);

  std::mt19937 random;
  bool degenerate; // extents 0 and 1 are as likely as others, and one value is often several operands
  bool loops;
  int depth = 0;          // loops around the step
  bool stateless = false; // no variables, so that the program is in stage graph
  std::vector<std::string> floats, lines;
  std::vector<RandomItem> arguments, variables, pool;
};

} // namespace halftone::test
