// Linear algebra: results of real Keras (linalg.jsonl) in every kind of run; symbolic shapes, errors.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Linalg.h"
#include "halftone/Fourier.h"
#include "tests/frontend/RecordedJson.h"
#include "tests/frontend/Slopes.h"

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;
using Operands = std::vector<Value>;

namespace {

double numberOf(const Json &json) { return json.is_string() ? std::stod(json.get<std::string>()) : json.get<double>(); }
Row numbersOf(const Json &list) {
  Row numbers;
  for (const Json &each : list)
    numbers.push_back(numberOf(each));
  return numbers;
}
Shape shapeOf(const Json &json) { return Shape(json["shape"].get<std::vector<int64_t>>()); }

Operands eigh(const Value &x) {
  const auto [w, v] = ops::eigh(x);
  const Value weights = ops::cast(ops::arange(1, v.shape()[v.rank() - 1] + 1), v.dtype()) / 4.0;
  return {w, ops::matmul(v * weights, ops::swapaxes(v, -1, -2))};
}
Operands svd(const Value &x, const Json &args) {
  const bool isFull = args.value("full_matrices", true), hasVectors = args.value("compute_uv", true);
  const Values found = ops::svd(x, {.full_matrices = isFull, .compute_uv = hasVectors});
  if (!hasVectors)
    return {found[0]};
  const Value u = found[0], s = found[1], v = ops::swapaxes(found[2], -1, -2);
  const int64_t last = x.rank() - 1, k = s.shape()[s.rank() - 1];
  const auto columns = [&](const Value &y, int64_t begin, int64_t count) {
    std::vector<int64_t> dims = y.shape().dims();
    dims[static_cast<size_t>(last)] = count;
    std::vector<Operand> start(static_cast<size_t>(last), 0);
    start.emplace_back(begin);
    return ops::slice(y, Starts(start), Shape(dims));
  };
  const Value weights = ops::cast(ops::arange(1, k + 1), s.dtype()) / 4.0;
  Operands results{s, ops::matmul(columns(u, 0, k) * weights, ops::swapaxes(columns(v, 0, k), -1, -2))};
  const int64_t m = u.shape()[last], n = v.shape()[last];
  if (isFull && m != n) {
    const Value rest = m > k ? columns(u, k, m - k) : columns(v, k, n - k);
    results.push_back(ops::matmul(rest, ops::swapaxes(rest, -1, -2)));
  }
  return results;
}
Value norm(const Value &x, const Json &args) {
  ops::NormArgs norm;
  if (args.contains("ord") && (args["ord"] == "fro" || args["ord"] == "nuc"))
    norm.ord = MatrixNorm(choice<MatrixNorm>(args["ord"].get<std::string>()));
  else if (args.contains("ord") && !args["ord"].is_null())
    norm.ord = numberOf(args["ord"]);
  if (args.contains("axis"))
    norm.axis = Axes(args["axis"].is_array() ? args["axis"].get<std::vector<int64_t>>()
                                             : std::vector<int64_t>{args["axis"].get<int64_t>()});
  norm.keepdims = args.value("keepdims", false);
  return ops::norm(x, norm);
}
std::optional<double> maybe(const Json &args, const char *key) {
  return args.contains(key) ? std::optional(args[key].get<double>()) : std::nullopt;
}
std::optional<int64_t> maybeLength(const Json &args, const char *key) {
  return args.contains(key) ? std::optional(args[key].get<int64_t>()) : std::nullopt;
}
Window windowOf(const Json &args) {
  if (!args.contains("window"))
    return WindowKind::hann;
  if (args["window"].is_null())
    return std::nullopt;
  return WindowKind(choice<WindowKind>(args["window"].get<std::string>()));
}
Operands both(const std::array<Value, 2> &pair) { return {pair[0], pair[1]}; }

Operands call(const std::string &op, const Json &args, const Operands &x) {
  using Function = std::function<Operands()>;
  const std::map<std::string, Function> table{
      {"cholesky", [&] { return Operands{ops::cholesky(x[0], args.value("upper", false))}; }},
      {"cholesky_inverse", [&] { return Operands{ops::cholesky_inverse(x[0], args.value("upper", false))}; }},
      {"det", [&] { return Operands{ops::det(x[0])}; }},
      {"inv", [&] { return Operands{ops::inv(x[0])}; }},
      {"slogdet", [&] { return both(ops::slogdet(x[0])); }},
      {"logdet", [&] { return Operands{ops::logdet(x[0])}; }},
      {"eigh", [&] { return eigh(x[0]); }},
      {"lu_factor", [&] { return both(ops::lu_factor(x[0])); }},
      {"qr", [&] { return both(ops::qr(x[0], choice<QrMode>(args.value("mode", "reduced")))); }},
      {"solve", [&] { return Operands{ops::solve(x[0], x[1])}; }},
      {"solve_triangular", [&] { return Operands{ops::solve_triangular(x[0], x[1], args.value("lower", false))}; }},
      {"svd", [&] { return svd(x[0], args); }},
      {"lstsq", [&] { return Operands{ops::lstsq(x[0], x[1], maybe(args, "rcond"))}; }},
      {"matrix_rank", [&] { return Operands{ops::matrix_rank(x[0], maybe(args, "tol"))}; }},
      {"pinv", [&] { return Operands{ops::pinv(x[0], maybe(args, "rcond"))}; }},
      {"norm", [&] { return Operands{norm(x[0], args)}; }},
      {"fft", [&] { return both(ops::fft({x[0], x[1]})); }},
      {"fft2", [&] { return both(ops::fft2({x[0], x[1]})); }},
      {"ifft2", [&] { return both(ops::ifft2({x[0], x[1]})); }},
      {"rfft", [&] { return both(ops::rfft(x[0], maybeLength(args, "fft_length"))); }},
      {"irfft", [&] { return Operands{ops::irfft({x[0], x[1]}, maybeLength(args, "fft_length"))}; }},
      {"extract_sequences",
       [&] { return Operands{ops::extract_sequences(x[0], args["sequence_length"], args["sequence_stride"])}; }},
      {"stft",
       [&] {
         return both(ops::stft(x[0], args["sequence_length"], args["sequence_stride"], args["fft_length"],
                               {.window = windowOf(args), .center = args.value("center", true)}));
       }},
      {"istft",
       [&] {
         return Operands{ops::istft(
             {x[0], x[1]}, args["sequence_length"], args["sequence_stride"], args["fft_length"],
             {.length = maybeLength(args, "length"), .window = windowOf(args), .center = args.value("center", true)})};
       }},
  };
  return table.at(op)();
}

/// The largest error allowed in `dtype`, relative to the largest number: ten times Keras's own, plus a few ulp.
double toleranceOf(DType dtype, double error) {
  const double ulp = dtype == bfloat16  ? 0x1p-8
                     : dtype == float16 ? 0x1p-11
                     : dtype == float64 ? 0x1p-43
                                        : 0x1p-24; // the file has twelve digits
  return 64 * ulp + 10 * error;
}
void check(const Row &found, const Row &expected, double tolerance) {
  REQUIRE(found.size() == expected.size());
  double largest = 1;
  for (const double each : expected)
    largest = std::isfinite(each) ? std::max(largest, std::abs(each)) : largest;
  for (size_t i = 0; i < found.size(); ++i) {
    INFO("element " << i << " is " << found[i] << ", expected " << expected[i] << ", tolerance "
                    << tolerance * largest);
    const bool isSame = found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]));
    CHECK((isSame || std::abs(found[i] - expected[i]) <= tolerance * largest));
  }
}

Tensor tensorOf(const Row &values, const Shape &shape, DType dtype) { return Tensor(values, shape).astype(dtype); }

/// The results of a case, each followed by its gradients.
std::vector<Tensor> resultsOf(const Json &recorded, Run run) {
  const DType dtype = standardize_dtype(recorded["dtype"].get<std::string>());
  std::vector<Tensor> feeds;
  for (const Json &each : recorded["in"])
    feeds.push_back(tensorOf(numbersOf(each["values"]), shapeOf(each), dtype));
  return runOnce(run, feeds, [&](const Operands &x) {
    Operands results = call(recorded["op"], recorded["args"], x);
    if (!recorded.contains("gradients"))
      return results;
    Value loss = ops::zeros({}, results[0].dtype());
    for (size_t i = 0; i < recorded["out"].size(); ++i)
      if (is_float(results[i].dtype()))
        loss = loss + ops::sum(results[i] * constant(tensorOf(numbersOf(recorded["cotangents"][i]), results[i].shape(),
                                                              results[i].dtype())));
    for (const Value &gradient : gradients(loss, x))
      results.push_back(gradient);
    return results;
  });
}

void checkCase(const Json &recorded, Run run) {
  INFO(recorded["op"] << " " << recorded["args"] << " of " << recorded["dtype"] << " " << recorded["in"][0]["shape"]);
  const std::vector<Tensor> found = resultsOf(recorded, run);
  auto next = found.begin();
  for (const Json &each : recorded["out"]) {
    CHECK(next->shape() == shapeOf(each));
    CHECK(is_float(next->dtype()) == each["dtype"].get<std::string>().starts_with("float"));
    check(numbers(*next), numbersOf(each["values"]), toleranceOf(next->dtype(), recorded["error"]));
    ++next;
  }
  if (recorded.contains("gradients"))
    for (const Json &each : recorded["gradients"]) {
      INFO("gradient");
      check(numbers(*next), numbersOf(each), toleranceOf(next->dtype(), recorded["gradient_error"]));
      ++next;
    }
}

/// Every `step`-th recorded case.
void checkCases(Run run, size_t step) {
  const std::vector<std::string> lines = recordedLines("linalg.jsonl");
  REQUIRE(lines.size() > 200);
  for (size_t i = 0; i < lines.size(); i += step)
    checkCase(Json::parse(lines[i]), run);
}

} // namespace

TEST_CASE("Linear algebra and Fourier transforms give what real Keras computes, with its gradients: interpreted") {
  checkCases(Run::interpreted, 1);
}
TEST_CASE("Linear algebra and Fourier transforms give what real Keras computes, with its gradients: compiled") {
  checkCases(Run::compiled, 1);
}
TEST_CASE("Linear algebra and Fourier transforms give what real Keras computes, with its gradients: strict") {
  checkCases(Run::strict, 3);
}

TEST_CASE("Factors of larger matrices multiply to the matrix") {
  const auto element = [](int64_t i, int64_t j) { return std::cos(static_cast<double>(7 * i * i + 3 * j)); };
  Row values;
  for (int64_t i = 0; i < 40; ++i)
    for (int64_t j = 0; j < 25; ++j)
      values.push_back(element(i, j));
  const Tensor a(values, {40, 25});
  const std::vector<Tensor> found = runOnce(Run::compiled, {a}, [](const Operands &v) {
    const Value x = v[0], square = ops::matmul(ops::transpose(x), x) + ops::eye(25, {}, 0, float64);
    const auto [q, r] = ops::qr(x, "complete");
    const Values svd = ops::svd(x, {.full_matrices = false});
    const auto [w, u] = ops::eigh(square);
    const Value l = ops::cholesky(square), identity = ops::eye(25, {}, 0, float64);
    return Operands{ops::matmul(q, r) - x,
                    ops::matmul(ops::transpose(q), q) - ops::eye(40, {}, 0, float64),
                    ops::matmul(svd[0] * svd[1], svd[2]) - x,
                    ops::matmul(square, u) - u * w,
                    ops::matmul(ops::transpose(u), u) - identity,
                    ops::matmul(l, ops::transpose(l)) - square,
                    ops::matmul(square, ops::inv(square)) - identity,
                    ops::matmul(x, ops::matmul(ops::pinv(x), x)) - x};
  });
  for (size_t i = 0; i < found.size(); ++i) {
    INFO("product " << i);
    CHECK(near(numbers(found[i]), Row(static_cast<size_t>(found[i].shape().elements()), 0), 1e-11));
  }
}

TEST_CASE("Gradients of factors without a closed form, and gradients of gradients, are slopes") {
  const Tensor wide({3, 1, 0.5, 1, 2, -1}, {2, 3}), tall({3, 1, 0.5, 1, 2, -1}, {3, 2}),
      square({3, 1, 0.5, 1, 4, -1, 0, 2, 5}, {3, 3}), b({1, -2, 0.5}, {3});
  const auto sumOfSquares = [](const std::array<Value, 2> &y) {
    return ops::sum(y[0] * y[0] * y[0]) + ops::sum(y[1] * y[1]);
  };
  CHECK(slopeError({wide}, [&](const Operands &v) { return sumOfSquares(ops::qr(v[0])); }) < 1e-5);
  CHECK(slopeError({tall}, [&](const Operands &v) { return sumOfSquares(ops::qr(v[0], "complete")); }) < 1e-5);
  const auto ofGradient = [&](const std::function<Value(const Operands &)> &f, const std::vector<Tensor> &at) {
    return slopeError(at, [&](const Operands &v) { return gradients(ops::sum(f(v)), v)[0]; });
  };
  CHECK(ofGradient([](const Operands &v) { return ops::square(ops::solve(v[0], v[1])); }, {square, b}) < 1e-5);
  CHECK(ofGradient([](const Operands &v) { return ops::square(ops::det(v[0])); }, {square}) < 1e-5);
  CHECK(ofGradient([](const Operands &v) { return ops::cholesky(ops::matmul(v[0], ops::transpose(v[0]))); }, {square}) <
        1e-5);
  CHECK(ofGradient([](const Operands &v) { return ops::square(ops::fft({v[0], v[0] * v[0]})[1]); }, {square}) < 1e-5);
}

TEST_CASE("Gradients of gradients of loops of rotations are what real Keras computes") {
  const auto weighted = [](const Value &x) {
    const Value places = ops::cast(ops::arange(1, x.shape().elements() + 1), x.dtype());
    return ops::sum(x * ops::reshape(ops::sin(places), x.shape()));
  };
  const std::vector<std::string> lines = recordedLines("linalg_second.jsonl");
  REQUIRE(lines.size() == 22);
  for (const std::string &line : lines) {
    const Json recorded = Json::parse(line);
    INFO(recorded["op"] << " " << recorded["args"] << " of " << recorded["in"]["shape"]);
    Json args = recorded["args"];
    if (recorded["op"] == "svd")
      args["full_matrices"] = false;
    const auto slope = [&](const Value &x) {
      Value loss = ops::zeros({}, x.dtype());
      for (const Value &y : call(recorded["op"], args, {x}))
        loss = loss + weighted(y);
      return gradient(weighted(gradient(loss, x)), x);
    };
    const Tensor x = tensorOf(numbersOf(recorded["in"]["values"]), shapeOf(recorded["in"]), float64);
    const double tolerance = recorded["op"] == "norm" ? 1e-6 : 1e-8; // Keras computes norms in float32
    for (const Run run : {Run::interpreted, Run::compiled, Run::strict})
      check(numbers(runOnce(run, {x}, [&](const Operands &v) { return Operands{slope(v[0])}; })[0]),
            numbersOf(recorded["second"]), tolerance);
  }
}

TEST_CASE("Eigenvalues and singular values may be differentiated three times, and not more often") {
  const Tensor tall({3, 1, 0.5, 1, 2, -1}, {3, 2}), square({3, 1, 1, 4}, {2, 2});
  const auto cubes = [](const Value &y) { return ops::sum(y * y * y); };
  const auto twice = [&](const Value &y, const Value &x) { return gradient(cubes(gradient(cubes(y), x)), x); };
  CHECK(slopeError({square}, [&](const Operands &v) { return ops::sum(twice(ops::eigh(v[0])[0], v[0])); }) < 1e-4);
  CHECK(slopeError({tall}, [&](const Operands &v) {
          return ops::sum(twice(ops::svd(v[0], {.compute_uv = false})[0], v[0]));
        }) < 1e-4);
  CHECK_THAT(errorOf([&] {
               (void)runOnce(Run::interpreted, {square}, [&](const Operands &v) {
                 return Operands{gradient(cubes(gradient(cubes(twice(ops::eigh(v[0])[0], v[0])), v[0])), v[0])};
               });
             }),
             Contains("no gradient"));
}

TEST_CASE("The further singular vectors have no gradient") {
  const Tensor tall({3, 1, 0.5, 1, 2, -1}, {3, 2});
  const auto refused = [&](const std::function<Value(const Operands &)> &f) {
    return errorOf(
        [&] { (void)runOnce(Run::interpreted, {tall}, [&](const Operands &v) { return gradients(f(v), v); }); });
  };
  CHECK_THAT(refused([](const Operands &v) { return ops::sum(ops::svd(v[0])[0]); }), Contains("no gradient"));
  CHECK(refused([](const Operands &v) { return ops::sum(ops::svd(v[0])[1]); }).empty());
}

TEST_CASE("A matrix without a result gives NaN alone in its batch") {
  const Tensor x({2, 1, 1, 2, 1, 2, 2, 1, NAN, 0, 0, 1}, {3, 2, 2});
  const std::vector<Tensor> y = runOnce(Run::compiled, {x}, [](const Operands &v) {
    return Operands{ops::cholesky(v[0]), ops::eigh(v[0])[0], ops::svd(v[0], {.compute_uv = false})[0]};
  });
  const auto isNan = [&](size_t result, size_t begin, size_t count) {
    const Row all = numbers(y[result]);
    return std::all_of(all.begin() + static_cast<int64_t>(begin), all.begin() + static_cast<int64_t>(begin + count),
                       [](double each) { return std::isnan(each); });
  };
  CHECK(isNan(0, 6, 2)); // on and below the diagonal
  CHECK(isNan(0, 10, 2));
  CHECK(numbers(y[0])[0] == Approx(std::sqrt(2.0)));
  CHECK(numbers(y[1])[2] == Approx(-1));
  CHECK(isNan(1, 4, 2));
  CHECK(numbers(y[2])[3] == Approx(1));
  CHECK(isNan(2, 4, 2));
}

TEST_CASE("Linear algebra on symbolic Values has Keras's shapes, and goes through a config") {
  const Value x = Input({4, 3}), s = Input({3, 3}), b = Input({3}), signal = Input({10});
  const auto [q, r] = ops::qr(x, "complete");
  CHECK(q.shape() == Shape({none, 4, 4}));
  CHECK(r.shape() == Shape({none, 4, 3}));
  const Values svd = ops::svd(x);
  CHECK(svd[0].shape() == Shape({none, 4, 4}));
  CHECK(svd[1].shape() == Shape({none, 3}));
  CHECK(ops::lu_factor(x)[1].dtype() == int32);
  CHECK(ops::norm(x, {.ord = INFINITY, .axis = {1, 2}}).shape() == Shape({none}));
  const auto [re, im] = ops::stft(signal, 4, 2, 4);
  CHECK(re.shape() == Shape({none, 6, 3}));
  const Model model(Values{x, s, b, signal},
                    Values{q, svd[1], ops::inv(s), ops::eigh(s)[0], ops::solve(s, b), ops::det(s), ops::pinv(x, 0.1),
                           ops::norm(x, {.ord = "nuc", .axis = {1, 2}}), ops::norm(x), ops::matrix_rank(x, 0.5), im,
                           ops::istft({re, im}, 4, 2, 4, {.length = 10}), ops::fft({x, x})[1], ops::slogdet(s)[1],
                           ops::solve_triangular(s, b, true), ops::irfft(ops::rfft(signal, 12), 9)});
  const Model read = Model::from_config(Config::parse(model.to_json()));
  CHECK(read.to_json() == model.to_json());
  const Tensors feeds{counted({1, 4, 3}), Tensor({4, 1, 2, 1, 5, 3, 2, 3, 6}, {1, 3, 3}), Tensor({1, 2, 3}, {1, 3}),
                      counted({1, 10})};
  const Tensors expected = model.predict_all(feeds, {.verbose = 0}), found = read.predict_all(feeds, {.verbose = 0});
  for (size_t i = 0; i < expected.size(); ++i)
    CHECK(numbers(found[i]) == numbers(expected[i]));
  CHECK(near(numbers(expected[5]), {70}, 1e-5));
  CHECK(near(numbers(expected[11]), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 1e-5)); // istft inverts stft
}

TEST_CASE("Linear algebra and Fourier transforms refuse shapes, dtypes and arguments that do not fit") {
  const Tensor x = counted({2, 3}), vector = counted({3}), square = counted({2, 2});
  const auto refused = [&](const std::function<Operands(const Operands &)> &f) {
    return errorOf([&] { (void)runOnce(Run::interpreted, {x, vector, square}, f); });
  };
  CHECK_THAT(refused([](const Operands &v) { return Operands{ops::inv(v[0])}; }),
             Contains("ValueError: Expected a square matrix. Received non-square input with shape (2, 3)"));
  CHECK_THAT(refused([](const Operands &v) { return Operands{ops::cholesky(v[1])}; }),
             Contains("ValueError: Expected input to have rank >= 2. Received input with shape (3,)"));
  CHECK_THAT(refused([](const Operands &v) { return Operands{ops::solve(v[2], v[1])}; }),
             Contains("Expected `a.shape[-1] == b.shape[-1]`. Received: a.shape=(2, 2), b.shape=(3,)"));
  CHECK_THAT(refused([](const Operands &v) { return Operands{ops::lstsq(v[0], v[1])}; }),
             Contains("Expected b.shape[0] to be equal to a.shape[0]"));
  CHECK_THAT(refused([](const Operands &v) { return Operands{ops::norm(v[1], {.ord = "fro", .axis = 0})}; }),
             Contains("ValueError: Invalid `ord` argument for vector norm. Received: ord=fro"));
  CHECK_THAT(refused([](const Operands &v) { return Operands{ops::norm(v[0], {.ord = 3, .axis = {0, 1}})}; }),
             Contains("Invalid `ord` argument for matrix norm. Received: ord=3"));
  CHECK_THAT(refused([](const Operands &v) { return both(ops::fft({v[0], v[1]})); }),
             Contains("ValueError: fft: real and imaginary parts should have the same shape and dtype"));
  CHECK_THAT(refused([](const Operands &v) { return both(ops::fft2({v[1], v[1]})); }), Contains("at least 2 axes"));
  CHECK_THAT(refused([](const Operands &v) { return both(ops::rfft(v[1], 0)); }), Contains("at least one element"));
  CHECK_THAT(refused([](const Operands &v) { return both(ops::stft(v[1], 4, 1, 3)); }),
             Contains("`fft_length` must equal or larger than `sequence_length`"));
  CHECK_THAT(refused([](const Operands &v) { return both(ops::stft(v[1], 4, 0, 4)); }), Contains("must be positive"));
  CHECK_THAT(refused([](const Operands &v) { return both(ops::stft(ops::cast(v[1], float16), 2, 1, 2)); }),
             Contains("TypeError: Invalid input type. Expected `float32` or `float64`. Received: input type=float16"));
  CHECK_THAT(refused([](const Operands &v) { return both(ops::stft(v[1], 2, 1, 2, {.window = v[0]})); }),
             Contains("The shape of `window` must be equal to [sequence_length]"));
  CHECK_THAT(refused([](const Operands &v) { return Operands{ops::extract_sequences(v[1], 4, 1)}; }),
             Contains("extract_sequences: expected a positive length and stride"));
}
