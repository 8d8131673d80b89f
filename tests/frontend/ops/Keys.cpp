// Keys of Values compared with NumPy and a plain loop: x[key], x.at(key).set(y) and .add(y), gradients and files.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/GetItem.h"
#include "tests/frontend/Slopes.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Json = nlohmann::ordered_json;
using List = std::vector<Value>;
using Row = std::vector<double>;
using Items = std::vector<Index>;

namespace {

struct Record {
  Shape shape, result, y, unknown;
  Json written;
  Items key;
  Row elements, set, add;
};
const std::vector<Record> &records() {
  static const auto &rows = *new std::vector<Record>([] {
    std::vector<Record> read;
    std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/keys.jsonl");
    for (std::string line; std::getline(file, line);) {
      const Json row = Json::parse(line);
      const auto shape = [&](const char *name) {
        std::vector<int64_t> dims;
        for (const Json &extent : row[name])
          dims.push_back(extent.is_null() ? -1 : extent.get<int64_t>());
        return Shape(dims);
      };
      read.push_back({shape("shape"), shape("result"), shape("y"), shape("unknown"), row["key"],
                      detail::keyOf(row["key"]), row["elements"].get<Row>(), row["set"].get<Row>(),
                      row["add"].get<Row>()});
    }
    return read;
  }());
  return rows;
}

/// Calls `f` with the key as a braced list.
template <class Function> auto braced(const Items &k, Function f) {
  switch (k.size()) {
  case 0:
    return f({});
  case 1:
    return f({k[0]});
  case 2:
    return f({k[0], k[1]});
  case 3:
    return f({k[0], k[1], k[2]});
  case 4:
    return f({k[0], k[1], k[2], k[3]});
  case 5:
    return f({k[0], k[1], k[2], k[3], k[4]});
  default:
    REQUIRE(k.size() == 6);
    return f({k[0], k[1], k[2], k[3], k[4], k[5]});
  }
}
template <class X> auto keyed(const X &x, const Items &key) {
  return braced(key, [&x](std::initializer_list<Index> items) { return x[items]; });
}
Part partOf(const Value &x, const Items &key) {
  return braced(key, [&x](std::initializer_list<Index> items) { return x.at(items); });
}
Tensor minus(const Shape &shape) { return -1 - counted(shape); }

/// The indices of one item, as Python's documentation defines slices.
std::vector<int64_t> loopOf(const Index &item, int64_t extent) {
  if (item.kind() == Index::Kind::place)
    return {item.place() < 0 ? item.place() + extent : item.place()};
  const Slice slice = item.slice();
  const int64_t step = slice.step().given() ? slice.step().place() : 1;
  const auto bound = [&](const Slice::Bound &given, int64_t otherwise) {
    if (!given.given())
      return otherwise;
    const int64_t place = given.place() < 0 ? given.place() + extent : given.place();
    return place < 0 ? (step < 0 ? -1 : 0) : std::min(place, step < 0 ? extent - 1 : extent);
  };
  std::vector<int64_t> places;
  for (int64_t i = bound(slice.start(), step < 0 ? extent - 1 : 0), stop = bound(slice.stop(), step < 0 ? -1 : extent);
       step < 0 ? i > stop : i < stop; i += step)
    places.push_back(i);
  return places;
}
/// The numbers of the elements that a key selects, in row-major order.
Row loopOver(const Items &key, const Shape &shape) {
  Items items;
  for (const Index &item : key)
    if (item.kind() == Index::Kind::ellipsis) {
      int64_t named = 0;
      for (const Index &other : key)
        named += other.kind() == Index::Kind::place || other.kind() == Index::Kind::slice ? 1 : 0;
      items.insert(items.end(), static_cast<size_t>(shape.rank() - named), Slice());
    } else if (item.kind() != Index::Kind::newaxis) {
      items.push_back(item);
    }
  items.resize(static_cast<size_t>(shape.rank()), Slice());
  Row places{0};
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    Row next;
    for (const double outer : places)
      for (const int64_t place : loopOf(items[static_cast<size_t>(axis)], shape[axis]))
        next.push_back(outer * static_cast<double>(shape[axis]) + static_cast<double>(place));
    places = std::move(next);
  }
  return places;
}

std::string refusal(const Shape &shape, const std::function<Value(const Value &)> &f, DType dtype = float32) {
  return errorOf([&] {
    (void)runOnce(Run::interpreted, {Tensor::zeros(shape, dtype)}, [&](const List &v) { return List{f(v[0])}; });
  });
}
Tensor result(const Tensor &x, const std::function<Value(const Value &)> &f, Run run = Run::compiled) {
  return runOnce(run, {x}, [&](const List &v) { return List{f(v[0])}; })[0];
}

} // namespace

TEST_CASE("300 random keys take what a plain loop and NumPy take, of Values and of Tensors") {
  REQUIRE(records().size() >= 300);
  for (const Record &row : records()) {
    INFO(row.written.dump() << " of " << row.shape.str());
    CHECK(loopOver(row.key, row.shape) == row.elements);
    const Tensor found = keyed(counted(row.shape), row.key);
    CHECK(found.shape() == row.result);
    CHECK(numbers(found) == row.elements);
  }
}

TEST_CASE("300 random keys of Values take and replace what NumPy's do, interpreted, compiled and strict") {
  constexpr size_t together = 25; // cases per compilation
  for (size_t first = 0; first < records().size(); first += together)
    for (const Run run : everyRun) {
      std::vector<Tensor> feeds;
      for (size_t i = first; i < first + together; ++i) {
        feeds.push_back(counted(records()[i].shape));
        feeds.push_back(minus(records()[i].y));
      }
      const std::vector<Tensor> found = runOnce(run, feeds, [first](const List &v) {
        List results;
        for (size_t i = 0; i < together; ++i) {
          const Items &key = records()[first + i].key;
          results.push_back(keyed(v[2 * i], key));
          results.push_back(partOf(v[2 * i], key).set(v[2 * i + 1]));
          results.push_back(partOf(v[2 * i], key).add(v[2 * i + 1]));
        }
        return results;
      });
      for (size_t i = 0; i < together; ++i) {
        const Record &row = records()[first + i];
        INFO(row.written.dump() << " of " << row.shape.str() << ", y of " << row.y.str());
        CHECK(found[3 * i].shape() == row.result);
        CHECK(numbers(found[3 * i]) == row.elements);
        CHECK(found[3 * i + 1].shape() == row.shape);
        CHECK(numbers(found[3 * i + 1]) == row.set);
        CHECK(numbers(found[3 * i + 2]) == row.add);
      }
    }
}

TEST_CASE("Keys between layers are recorded as Keras's GetItem, and read back", "[files]") {
  for (const Record &row : records()) {
    const std::vector<int64_t> dims = row.shape.dims();
    const Input unknown(Shape(std::vector<int64_t>(dims.begin() + 1, dims.end())));
    INFO(row.written.dump() << " of " << row.shape.str());
    const Value y = keyed<Value>(unknown, row.key);
    CHECK(y.shape() == row.unknown);
    const Model model({unknown}, {y});
    const std::string text = model.to_json();
    const Json member = Json::parse(text)["config"]["layers"].back();
    CHECK(member["class_name"] == "GetItem");
    CHECK(member["inbound_nodes"][0]["args"][1] == row.written);
    const Model again = Model::from_config(Config::parse(text));
    CHECK(again.to_json() == text);
    CHECK(again.outputs()[0].shape() == row.unknown);
  }
}

TEST_CASE("An axis of None has any place, and the extent of its slices is None", "[files]") {
  const Input x({3});
  CHECK(x[5000].shape() == Shape{3});
  CHECK(x[-5000].shape() == Shape{3});
  CHECK(x[Slice(0, 5)].shape() == Shape{none, 3});
  CHECK(x[{Slice(none, none, 2), 0}].shape() == Shape{none});
  CHECK(Input({1031, 2})[{Slice(), Slice(0, 5)}].shape() == Shape{none, 5, 2});
  CHECK(x[{ellipsis, newaxis}].shape() == Shape{none, 3, 1});
  CHECK_THAT(errorOf([&] { (void)x[{0, 3}]; }),
             Contains("ValueError: index 3 is out of bounds for axis 1 of shape (None, 3)"));
  CHECK_THAT(errorOf([&] { (void)x[{0, 0, 0}]; }), Contains("the shape (None, 3) has 2 axes"));
  const Model first({x}, {x[Slice(0, 2)]}), last({x}, {x[-1]});
  for (const int64_t batch : {1, 3}) {
    CHECK(first.predict_on_batch(counted({batch, 3})).shape() == Shape{std::min<int64_t>(batch, 2), 3});
    CHECK(numbers(last.predict_on_batch(counted({batch, 3}))) == numbers(counted({batch, 3})[-1]));
  }
  CHECK_THAT(errorOf([&] { (void)Model({x}, {x[4]}).predict_on_batch(counted({2, 3})); }),
             Contains("index 4 is out of bounds for axis 0 of shape (2, 3)"));
}

TEST_CASE("x[v] takes slices at places of a Value, is recorded as Keras's Take and takes integers alone", "[files]") {
  const Tensor x = counted({4, 3}), places = Tensor({{3, -1}, {0, 99}}, int32);
  const auto take = [](const List &v) { return List{v[0][v[1]]}; };
  const Tensor y = runOnce(Run::compiled, {x, places}, take)[0];
  CHECK(y.shape() == Shape{2, 2, 3});
  CHECK(numbers(runOnce(Run::compiled, {x, Tensor::scalar(int64_t(2))}, take)[0]) == Row{6, 7, 8});
  CHECK_THAT(errorOf([&] { (void)runOnce(Run::interpreted, {x, Tensor({1.0})}, take); }),
             Contains("TypeError: take needs integer indices, got float32"));
  CHECK_THAT(errorOf([&] { (void)runOnce(Run::interpreted, {x, Tensor({1}, bool_)}, take); }), Contains("got bool"));
  const Input table({3}), at({}, {.dtype = int32});
  const std::string text = Model({table, at}, {Value(table)[Value(at)]}).to_json();
  CHECK_THAT(text, Contains(R"("class_name":"Take")") && Contains(R"("axis":0)"));
  CHECK(Model::from_config(Config::parse(text)).to_json() == text);
}

TEST_CASE("Keys that do not fit a Value are value errors") {
  CHECK_THAT(refusal({2, 3}, [](const Value &x) { return x[2]; }),
             Contains("ValueError: index 2 is out of bounds for axis 0 of shape (2, 3)"));
  CHECK_THAT(refusal({2, 3}, [](const Value &x) { return x[{Slice(), -4}]; }), Contains("axis 1"));
  CHECK_THAT(refusal({2, 3}, [](const Value &x) { return x[{0, 0, 0}]; }), Contains("the key [0, 0, 0] has 3 items"));
  CHECK_THAT(refusal({2, 3}, [](const Value &x) { return x[{ellipsis, ellipsis}]; }),
             Contains("more than one ellipsis"));
  CHECK_THAT(refusal({2, 3}, [](const Value &x) { return x[Slice(none, none, 0)]; }),
             Contains("slice step cannot be zero"));
  CHECK_THAT(refusal({}, [](const Value &x) { return x[0]; }), Contains("the shape () has 0 axes"));
  CHECK_THAT(refusal({2, 3}, [](const Value &x) { return x.at(2).set(0); }), Contains("index 2 is out of bounds"));
  CHECK_THAT(refusal({2, 3}, [](const Value &x) { return x.at({0, 0, 0}).add(0); }), Contains("has 3 items"));
  CHECK_THAT(errorOf([] { (void)Value()[0]; }), Contains("ValueError: an undefined Value"));
  CHECK_THAT(errorOf([] { (void)Value().at(0).set(1); }), Contains("ValueError: an undefined Value"));
}

TEST_CASE("set and add cast y to the dtype of x, and refuse what does not broadcast or is not held") {
  const Tensor x = Tensor({{1, 2, 3}, {4, 5, 6}}, int8), halves = Tensor({0.5, 1.75, -2.5});
  const auto both = [](const List &v) { return List{v[0].at(1).set(v[1]), v[0].at(1).add(v[1])}; };
  const std::vector<Tensor> y = runOnce(Run::compiled, {x, halves}, both);
  CHECK(y[0].dtype() == int8);
  CHECK(numbers(y[0]) == Row{1, 2, 3, 0, 1, -2});
  CHECK(numbers(y[1]) == Row{1, 2, 3, 4, 6, 4});
  CHECK(numbers(result(x, [](const Value &v) { return v.at({Slice(), 0}).set(7.5); })) == Row{7, 2, 3, 7, 5, 6});
  CHECK(numbers(result(x, [](const Value &v) { return v.at({1, 2}).add(125); })) == Row{1, 2, 3, 4, 5, -125}); // wraps
  const Tensor flags = Tensor({1, 0, 0}, bool_);
  CHECK(numbers(result(flags, [](const Value &v) { return v.at(Slice(1, none)).add(true); })) == Row{1, 1, 1});
  CHECK(numbers(result(flags, [](const Value &v) { return v.at(0).set(false); })) == Row{0, 0, 0});
  const Tensor large = Tensor({60000, 1}, float16);
  CHECK(numbers(result(large, [](const Value &v) { return v.at(0).add(60000); })) == Row{INFINITY, 1});
  CHECK_THAT(
      refusal({2}, [](const Value &v) { return v.at(0).set(300); }, uint8), Contains("ValueError") && Contains("300"));
  CHECK_THAT(refusal({2, 3}, [](const Value &v) { return v.at(0).set(v); }),
             Contains("ValueError: x.at(key).set(y): the shape (2, 3) does not broadcast to (3,)"));
  CHECK_THAT(refusal({2, 3}, [](const Value &v) { return v.at({Slice(), Slice(0, 2)}).add(v[0]); }),
             Contains("the shape (3,) does not broadcast to (2, 2)"));
  CHECK_THAT(refusal({2, 3}, [](const Value &v) { return v.at(Slice(2, 2)).set(v); }),
             Contains("does not broadcast to (0, 3)"));
}

TEST_CASE("set and add of each pair of dtypes are those of Tensors that are cast and added") {
  constexpr DType dtypes[] = {bool_, uint8,   uint16,   uint32,  DType::uint64, int8,          int16,      int32,
                              int64, float16, bfloat16, float32, float64,       float8_e4m3fn, float8_e5m2};
  const Tensor samples({{1, -2, 300}, {0.3, 70000, -1e9}, {0, NAN, INFINITY}}, float64);
  const Items key{Slice(none, none, 2), Slice(none, none, -1)};
  for (const DType first : dtypes) {
    const Tensor x = (counted({3, 3}) * 20.0).astype(first);
    std::vector<Tensor> feeds{x};
    for (const DType second : dtypes)
      feeds.push_back(samples[Slice(0, 2)].astype(second));
    const std::vector<Tensor> found = runOnce(Run::strict, feeds, [&key](const List &v) {
      List results;
      for (size_t i = 1; i < v.size(); ++i) {
        results.push_back(partOf(v[0], key).set(v[i]));
        results.push_back(partOf(v[0], key).add(v[i]));
      }
      return results;
    });
    for (size_t i = 1; i < feeds.size(); ++i) {
      INFO(name(first) << ", y of " << name(feeds[i].dtype()));
      const Tensor y = feeds[i].astype(first);
      const auto expected = [&](const Tensor &rows) {
        return Tensor::stack({rows[{0, Slice(none, none, -1)}], x[1], rows[{1, Slice(none, none, -1)}]});
      };
      CHECK(found[2 * i - 2].str() == expected(y).str());
      CHECK(found[2 * i - 1].str() == expected(keyed(x, key) + y).str());
    }
  }
}

TEST_CASE("Elements outside of the key keep their bits: the sign of zeros and NaN stay") {
  const Tensor x({-0.0, NAN, -0.0, INFINITY});
  for (const Run run : everyRun)
    for (const bool adds : {false, true}) {
      const auto y =
          result(x, [adds](const Value &v) { return adds ? v.at(2).add(1) : v.at(2).set(1); }, run).to_vector<float>();
      CHECK(std::signbit(y[0]));
      CHECK(std::isnan(y[1]));
      CHECK(y[2] == 1);
      CHECK(std::isinf(y[3]));
    }
}

TEST_CASE("The gradients of keys and of updates are those of central differences") {
  const Tensor x = counted({3, 4}).astype(float64) * 0.1, column = Tensor({{0.3}, {-0.7}}, float64),
               row = Tensor({0.2, -0.4}, float64);
  const Items keys[] = {{1, Slice(none, none, 2)},
                        {Slice(none, none, -1), -1},
                        {newaxis, Slice(1, none), ellipsis},
                        {Slice(2, 2)},
                        {ellipsis, Slice(3, none, -2)}};
  for (const Items &key : keys)
    CHECK(slopeError({x}, [&key](const List &v) { return keyed(v[0], key); }) < 1e-6);
  const Items boxes[] = {
      {Slice(1, none), Slice(0, 2)}, {Slice(none, none, 2), Slice(3, none, -2)}, {Slice(2, none, -1), Slice(1, 3)}};
  for (const Items &key : boxes) {
    const bool fits = loopOver(key, x.shape()).size() == 4;
    for (const Tensor &y : fits ? std::vector{column, row} : std::vector{row}) {
      CHECK(slopeError({x, y}, [&key](const List &v) { return partOf(v[0], key).set(v[1]); }) < 1e-6);
      CHECK(slopeError({x, y}, [&key](const List &v) { return partOf(v[0], key).add(v[1]); }) < 1e-6);
    }
  }
  CHECK(slopeError({x, Tensor::scalar(0.5)}, [](const List &v) { return v[0].at({0, 1}).set(v[1]); }) < 1e-6);
  CHECK(slopeError({x, row}, [](const List &v) { return v[0].at({Slice(none, none, -1), Slice(1, 3)}).add(v[1]); }) <
        1e-6);
  CHECK(slopeError({x, row}, [](const List &v) { return v[0].at(Slice(1, 1)).set(ops::sum(v[1])); }) < 1e-6);
}

TEST_CASE("Derivatives of derivatives flow through keys and updates") {
  const Tensor x = counted({3, 4}).astype(float64), y = Tensor({{0.5, -2}, {3, 1}}, float64);
  for (const Items &key : {Items{Slice(none, none, 2), Slice(3, none, -2)}, Items{Slice(1, none), Slice(0, 2)}}) {
    const std::vector<Tensor> found = runOnce(Run::compiled, {x, y}, [&key](const List &v) {
      const Value z = partOf(v[0], key).set(v[1]), cubes = ops::sum(z * z * z);
      const Value slope = gradients(cubes, {v[1]})[0];
      return List{gradients(ops::sum(slope * slope), {v[1]})[0], gradients(ops::sum(keyed(z, key)), {v[0]})[0]};
    });
    CHECK(near(numbers(found[0]), Row{36 * 0.125, 36 * -8.0, 36 * 27.0, 36})); // gradient of (3 y^2)^2
    CHECK(numbers(found[1]) == Row(12, 0.0));
  }
}

TEST_CASE("An update is one kernel, whatever the key and however y broadcasts") {
  const Input x({6, 8});
  const Items keys[] = {{Slice(), 2},
                        {Slice(), Slice(1, 4), Slice(2, 6)},
                        {Slice(), Slice(none, none, 2), Slice(none, none, -1)},
                        {Slice(), newaxis, Slice(none, none, -3), 7},
                        {ellipsis, Slice(none, -1)}};
  for (const Items &key : keys) {
    std::vector<int64_t> dims = keyed<Value>(x, key).shape().dims();
    dims.erase(dims.begin());
    const Input whole{Shape(dims)};
    dims.back() = 1;
    const Input column{Shape(dims)};
    for (const Value &updated : {partOf(x, key).set(whole), partOf(x, key).add(whole), partOf(x, key).set(column),
                                 partOf(x, key).add(column), partOf(x, key).set(0.5)}) {
      const Model model({x, whole, column}, {updated});
      const std::string text = model.ir(Stage::kernel, {.program = Program::predict, .batch_size = 4});
      size_t kernels = 0;
      for (size_t at = text.find("halftone.launch"); at != std::string::npos; at = text.find("halftone.launch", at + 1))
        ++kernels;
      INFO(text);
      CHECK(kernels == 1);
    }
  }
}

TEST_CASE("Keys and updates work under jit, in layers that train, and beside policies of narrow floats") {
  const auto shift =
      jit([](const Value &x) { return x.at({Slice(), Slice(1, none)}).set(x[{Slice(), Slice(none, -1)}]); });
  CHECK(numbers(shift(counted({2, 3}))) == Row{0, 0, 1, 3, 3, 4});
  CHECK(numbers(shift(counted({1, 1}))) == Row{0});
  CHECK(numbers(shift(counted({2, 0}))).empty());
  const Input x({4});
  for (const char *policy : {"float32", "mixed_bfloat16"}) {
    const layers::Dense dense(4, {.use_bias = false, .dtype = policy});
    const Value y = dense(x);
    const Model model({x}, {y.at({Slice(), 0}).set(0)});
    model.compile({.optimizer = "sgd", .loss = "mse"});
    const std::vector<double> before = numbers(dense.get_weights()[0]);
    model.train_on_batch(Tensor::ones({2, 4}), Tensor::ones({2, 4}) * 5.0);
    const std::vector<double> after = numbers(dense.get_weights()[0]);
    for (size_t i = 0; i < before.size(); ++i)
      CHECK((before[i] == after[i]) == (i % 4 == 0)); // no gradient flows to the column that is replaced
  }
}

TEST_CASE("A file refuses an update between layers, by name", "[files]") {
  const Input x({4});
  CHECK_THAT(errorOf([&] { (void)Model({x}, {x.at(0).set(1)}).to_json(); }),
             Contains("'x.at(key).set(y)' between layers"));
}
