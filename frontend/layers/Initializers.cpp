// keras.initializers: draws values on the host; a seed gives the same values on every machine.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ClassRegistry.h"
#include "frontend/base/RandomSeeds.h"
#include "halftone/Error.h"
#include "halftone/Model.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <mutex>
#include <numeric>
#include <random>

namespace halftone {
using namespace detail;
using initializers::Distribution;
using initializers::FanMode;

namespace {

constexpr double pi = 3.14159265358979323846;

std::mutex seedMutex;
std::optional<std::mt19937_64> seeds; // guarded by seedMutex

/// The seed sequence, initialized from the machine's entropy if it was not set.
std::mt19937_64 &openSeeds() {
  if (!seeds)
    seeds.emplace(std::random_device{}());
  return *seeds;
}

/// Draws uniform and normal samples with fixed formulas, since the standard library's distributions differ between
/// implementations.
class Draws {
public:
  explicit Draws(int64_t seed) : engine_(static_cast<uint64_t>(seed) * 0x9E3779B97F4A7C15ull + 0xD1B54A32D192ED03ull) {}
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; } // in [0, 1)
  double normal() { return std::sqrt(-2.0 * std::log(1.0 - uniform())) * std::cos(2.0 * pi * uniform()); }
  double truncatedNormal() { // within two standard deviations of 0
    for (;;)
      if (double x = normal(); std::abs(x) <= 2.0)
        return x;
  }

private:
  std::mt19937_64 engine_;
};

/// `preset` is a scaling whose parameters are fixed by its class.
enum class Kind { zeros, ones, constant, identity, uniform, normal, truncated, preset, scaling, orthogonal };

struct Rule {
  Kind kind = Kind::zeros;
  double a = 0, b = 0; // constant: the value; uniform: the bounds; normal: mean, stddev; scaling: scale; others: gain
  FanMode fan = FanMode::fan_in;
  Distribution distribution = Distribution::truncated_normal;
  std::optional<int64_t> seed{};
};

/// Calls f with the fields of a kind, in Keras's order.
template <class F> void withFields(Kind kind, F f) {
  const Field seed{"seed", &Rule::seed};
  if (kind == Kind::constant)
    f(std::tuple{Field{"value", &Rule::a}});
  else if (kind == Kind::uniform)
    f(std::tuple{seed, Field{"minval", &Rule::a}, Field{"maxval", &Rule::b}});
  else if (kind == Kind::normal || kind == Kind::truncated)
    f(std::tuple{seed, Field{"mean", &Rule::a}, Field{"stddev", &Rule::b}});
  else if (kind == Kind::preset)
    f(std::tuple{seed, FixedField{"input_axes", nullptr}, FixedField{"output_axes", nullptr}});
  else if (kind == Kind::scaling)
    f(std::tuple{seed, Field{"scale", &Rule::a}, Field{"mode", &Rule::fan}, Field{"distribution", &Rule::distribution},
                 FixedField{"input_axes", nullptr}, FixedField{"output_axes", nullptr}});
  else if (kind == Kind::orthogonal)
    f(std::tuple{seed, Field{"gain", &Rule::a}});
  else if (kind == Kind::identity)
    f(std::tuple{Field{"gain", &Rule::a}});
  else
    f(std::tuple<>());
}

} // namespace

struct Initializer::Rep : Rule {
  std::string className;
  Draw function{}; // of a user's class
  CustomObject object{};
  Rep(std::string name, const Rule &rule) : Rule(rule), className(std::move(name)) {}
};

namespace {

struct Named {
  const char *name, *className;
};
// The names that keras.initializers.get accepts: snake case and class names.
constexpr Named names[] = {{"zeros", "Zeros"},
                           {"zero", "Zeros"},
                           {"ones", "Ones"},
                           {"one", "Ones"},
                           {"identity", "Identity"},
                           {"IdentityInitializer", "Identity"},
                           {"orthogonal", "Orthogonal"},
                           {"OrthogonalInitializer", "Orthogonal"},
                           {"variance_scaling", "VarianceScaling"},
                           {"constant", "Constant"},
                           {"uniform", "RandomUniform"},
                           {"random_uniform", "RandomUniform"},
                           {"normal", "RandomNormal"},
                           {"random_normal", "RandomNormal"},
                           {"truncated_normal", "TruncatedNormal"},
                           {"glorot_uniform", "GlorotUniform"},
                           {"glorot_normal", "GlorotNormal"},
                           {"he_normal", "HeNormal"},
                           {"he_uniform", "HeUniform"},
                           {"lecun_normal", "LecunNormal"},
                           {"lecun_uniform", "LecunUniform"}};

/// The Glorot, He or Lecun scaling, uniform or truncated normal.
Rule presetOf(std::string_view cls, std::optional<int64_t> seed = {}) {
  return {.kind = Kind::preset,
          .a = cls.starts_with("He") ? 2.0 : 1.0,
          .fan = cls.starts_with("Glorot") ? FanMode::fan_avg : FanMode::fan_in,
          .distribution = cls.ends_with("Uniform") ? Distribution::uniform : Distribution::truncated_normal,
          .seed = seed};
}

struct Fans {
  double in, out;
};
Fans fansOf(const Shape &shape) {
  if (shape.rank() < 1)
    return {1, 1};
  if (shape.rank() == 1)
    return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double receptive = 1;
  for (int64_t i = 0; i + 2 < shape.rank(); ++i)
    receptive *= static_cast<double>(shape[i]);
  return {receptive * static_cast<double>(shape[-2]), receptive * static_cast<double>(shape[-1])};
}

} // namespace

Initializer::Initializer() noexcept = default;
Initializer::Initializer(const Initializer &) = default;
Initializer::Initializer(Initializer &&) noexcept = default;
Initializer &Initializer::operator=(const Initializer &) & = default;
Initializer &Initializer::operator=(Initializer &&) & noexcept = default;
Initializer::~Initializer() = default;
Initializer::Initializer(const char *name) : Initializer(std::string(name)) {}
Initializer::Initializer(const std::string &name) {
  const Named *found = std::find_if(std::begin(names), std::end(names),
                                    [&](const Named &n) { return name == n.name || name == n.className; });
  if (found == std::end(names)) {
    std::string known;
    for (const Named &n : names)
      known += (known.empty() ? "" : ", ") + std::string(n.name);
    throw Error(ErrorKind::value_error,
                fmt::format("Could not interpret initializer identifier: {}. Known: {}", name, known));
  }
  std::string cls = found->className;
  if (cls == "Zeros" || cls == "Constant")
    rep_ = std::make_shared<Rep>(cls, Rule{cls == "Zeros" ? Kind::zeros : Kind::constant});
  else if (cls == "Ones")
    rep_ = std::make_shared<Rep>(cls, Rule{Kind::ones, 1.0});
  else if (cls == "RandomUniform")
    rep_ = std::make_shared<Rep>(cls, Rule{Kind::uniform, -0.05, 0.05});
  else if (cls == "RandomNormal" || cls == "TruncatedNormal")
    rep_ = std::make_shared<Rep>(cls, Rule{cls == "RandomNormal" ? Kind::normal : Kind::truncated, 0.0, 0.05});
  else if (cls == "Identity" || cls == "Orthogonal")
    rep_ = std::make_shared<Rep>(cls, Rule{cls == "Identity" ? Kind::identity : Kind::orthogonal, 1.0});
  else if (cls == "VarianceScaling")
    rep_ = std::make_shared<Rep>(cls, Rule{Kind::scaling, 1.0});
  else
    rep_ = std::make_shared<Rep>(cls, presetOf(cls));
}
Initializer::Initializer(Draw draw, CustomObject object) {
  if (!draw)
    throw Error(ErrorKind::value_error, "an initializer needs a function; received an empty one");
  Rep rep(object.class_name, Rule{});
  rep.function = std::move(draw);
  rep.object = std::move(object);
  rep_ = std::make_shared<Rep>(std::move(rep));
}
std::string Initializer::name() const { return rep_ ? rep_->className : ""; }
Config Initializer::get_config() const {
  Config config;
  if (rep_ && rep_->function)
    return customConfig(rep_->object, "An initializer");
  if (rep_)
    withFields(rep_->kind, [&](const auto &fields) { writeFields(config, static_cast<const Rule &>(*rep_), fields); });
  return config;
}

namespace {

/// Draws one element; for a scaling, `a` is the variance.
double drawn(const Rule &rule, Draws &draws) {
  switch (rule.kind) {
  case Kind::uniform:
    return rule.a + (rule.b - rule.a) * draws.uniform();
  case Kind::normal:
    return rule.a + rule.b * draws.normal();
  case Kind::truncated:
    return rule.a + rule.b * draws.truncatedNormal();
  default:
    break;
  }
  switch (rule.distribution) {
  case Distribution::uniform:
    return std::sqrt(3.0 * rule.a) * (2.0 * draws.uniform() - 1.0);
  case Distribution::untruncated_normal:
    return std::sqrt(rule.a) * draws.normal();
  default: // the constant compensates for the variance that truncation removes
    return std::sqrt(rule.a) / 0.87962566103423978 * draws.truncatedNormal();
  }
}

/// A tensor computed in float64 for float64 and otherwise in float32, rounded to `dtype`; `next` returns the elements
/// in order.
template <class F> Tensor filled(const Shape &shape, DType dtype, F next) {
  Tensor made = TensorAccess::allocate(dtype == DType::float64 ? dtype : DType::float32, shape);
  if (dtype == DType::float64)
    std::ranges::generate(made.mutable_span<double>(), next);
  else
    std::ranges::generate(made.mutable_span<float>(), [&] { return static_cast<float>(next()); });
  return dtype == made.dtype() ? made : made.astype(dtype);
}

Tensor identity(const Shape &shape, DType dtype, double gain) {
  if (shape.rank() != 2)
    throw Error(
        ErrorKind::value_error,
        fmt::format("Identity matrix initializer can only be used for 2D matrices. Received: shape={} of rank {}.",
                    shape.str(), shape.rank()));
  const int64_t columns = shape[1];
  return filled(shape, dtype, [&, index = int64_t{0}]() mutable {
    const int64_t row = index / columns, column = index++ % columns;
    return row == column ? gain : 0.0;
  });
}

/// `count` orthonormal vectors of `length` elements in random directions, by the Gram-Schmidt process, applied twice to
/// each vector because rounding degrades the first pass.
std::vector<std::vector<double>> orthonormal(int64_t count, int64_t length, Draws &draws) {
  std::vector<std::vector<double>> vectors;
  while (static_cast<int64_t>(vectors.size()) < count) {
    std::vector<double> next(static_cast<size_t>(length));
    std::ranges::generate(next, [&] { return draws.normal(); });
    for (int pass = 0; pass < 2; ++pass)
      for (const std::vector<double> &before : vectors) {
        const double along = std::inner_product(next.begin(), next.end(), before.begin(), 0.0);
        std::ranges::transform(next, before, next.begin(), [&](double x, double b) { return x - along * b; });
      }
    const double norm = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
    if (norm < 1e-9) // linearly dependent on the others; another one is drawn
      continue;
    for (double &each : next)
      each /= norm;
    vectors.push_back(std::move(next));
  }
  return vectors;
}

/// With all axes but the last collapsed to rows: orthonormal columns, or rows if there are fewer of them, times the
/// gain.
Tensor orthogonal(const Shape &shape, DType dtype, double gain, Draws &draws) {
  if (shape.rank() < 2)
    throw Error(ErrorKind::value_error,
                fmt::format("The tensor to initialize must be at least two-dimensional. Received: shape={} of rank {}.",
                            shape.str(), shape.rank()));
  const int64_t columns = shape[-1], rows = columns == 0 ? 0 : shape.elements() / columns;
  const auto vectors = orthonormal(std::min(rows, columns), std::max(rows, columns), draws);
  return filled(shape, dtype, [&, index = int64_t{0}]() mutable {
    const auto row = static_cast<size_t>(index / columns), column = static_cast<size_t>(index % columns);
    ++index;
    return gain * (rows < columns ? vectors[row][column] : vectors[column][row]);
  });
}

/// The tensor of a user's function. value_error unless it has the requested shape and dtype.
Tensor drawnBy(const Initializer::Draw &draw, const std::string &name, const Shape &shape, DType dtype, int64_t seed) {
  Tensor drawn = draw(shape, dtype, seed);
  if (!drawn.defined() || drawn.shape() != shape || drawn.dtype() != dtype)
    throw Error(ErrorKind::value_error,
                fmt::format("The initializer {} must give a tensor of shape {} and dtype {}. Received: {}", name,
                            shape.str(), halftone::name(dtype),
                            drawn.defined() ? fmt::format("shape {} and dtype {}", drawn.shape().str(),
                                                          halftone::name(drawn.dtype()))
                                            : std::string("an undefined tensor")));
  return drawn;
}

} // namespace

Tensor Initializer::operator()(const Shape &shape, DType dtype, int64_t seed) const {
  if (!rep_)
    throw Error(ErrorKind::value_error, "no initializer");
  const FloatMode mode;
  if (rep_->function)
    return drawnBy(rep_->function, rep_->className, shape, dtype, seed);
  if (rep_->kind <= Kind::constant)
    return Tensor::full(shape, rep_->a, dtype);
  if (rep_->kind == Kind::identity)
    return identity(shape, dtype, rep_->a);
  Draws draws(rep_->seed.value_or(seed));
  if (rep_->kind == Kind::orthogonal)
    return orthogonal(shape, dtype, rep_->a, draws);
  Rule rule = *rep_;
  if (rule.kind == Kind::preset || rule.kind == Kind::scaling) {
    const Fans fans = fansOf(shape);
    const double fan = rule.fan == FanMode::fan_in    ? fans.in
                       : rule.fan == FanMode::fan_out ? fans.out
                                                      : (fans.in + fans.out) / 2.0;
    rule.a /= std::max(1.0, fan);
  }
  return filled(shape, dtype, [&] { return drawn(rule, draws); });
}

namespace initializers {
Zeros::Zeros() : Initializer("zeros") {}
Ones::Ones() : Initializer("ones") {}
Constant::Constant(double value) { rep_ = std::make_shared<Rep>("Constant", Rule{Kind::constant, value}); }
Identity::Identity(double gain) { rep_ = std::make_shared<Rep>("Identity", Rule{Kind::identity, gain}); }
RandomUniform::RandomUniform(UniformArgs args) {
  rep_ = std::make_shared<Rep>("RandomUniform",
                               Rule{.kind = Kind::uniform, .a = args.minval, .b = args.maxval, .seed = args.seed});
}
RandomNormal::RandomNormal(RandomArgs args) {
  rep_ = std::make_shared<Rep>("RandomNormal",
                               Rule{.kind = Kind::normal, .a = args.mean, .b = args.stddev, .seed = args.seed});
}
TruncatedNormal::TruncatedNormal(RandomArgs args) {
  rep_ = std::make_shared<Rep>("TruncatedNormal",
                               Rule{.kind = Kind::truncated, .a = args.mean, .b = args.stddev, .seed = args.seed});
}
static void requirePositive(double scale) {
  if (!(scale > 0))
    throw Error(ErrorKind::value_error,
                fmt::format("Argument `scale` must be positive float. Received: scale={}", scale));
}
VarianceScaling::VarianceScaling(VarianceScalingArgs args) {
  requirePositive(args.scale);
  rep_ = std::make_shared<Rep>("VarianceScaling", Rule{.kind = Kind::scaling,
                                                       .a = args.scale,
                                                       .fan = args.mode,
                                                       .distribution = args.distribution,
                                                       .seed = args.seed});
}
Orthogonal::Orthogonal(OrthogonalArgs args) {
  rep_ = std::make_shared<Rep>("Orthogonal", Rule{.kind = Kind::orthogonal, .a = args.gain, .seed = args.seed});
}
GlorotUniform::GlorotUniform(SeedArgs args) {
  rep_ = std::make_shared<Rep>("GlorotUniform", presetOf("GlorotUniform", args.seed));
}
GlorotNormal::GlorotNormal(SeedArgs args) {
  rep_ = std::make_shared<Rep>("GlorotNormal", presetOf("GlorotNormal", args.seed));
}
HeNormal::HeNormal(SeedArgs args) { rep_ = std::make_shared<Rep>("HeNormal", presetOf("HeNormal", args.seed)); }
HeUniform::HeUniform(SeedArgs args) { rep_ = std::make_shared<Rep>("HeUniform", presetOf("HeUniform", args.seed)); }
LecunNormal::LecunNormal(SeedArgs args) {
  rep_ = std::make_shared<Rep>("LecunNormal", presetOf("LecunNormal", args.seed));
}
LecunUniform::LecunUniform(SeedArgs args) {
  rep_ = std::make_shared<Rep>("LecunUniform", presetOf("LecunUniform", args.seed));
}

namespace {
class Saved : public Initializer {
public:
  explicit Saved(SavedObject saved) : Initializer(saved.className) {
    Rep rep = *rep_;
    withFields(rep.kind, [&](const auto &fields) { saved.fields.read(static_cast<Rule &>(rep), fields); });
    saved.fields.requireNothingLeft(rep.className);
    if (rep.kind == Kind::scaling)
      requirePositive(rep.a);
    rep_ = std::make_shared<Rep>(std::move(rep));
  }
  explicit Saved(const Initializer &initializer) : Initializer(initializer) {}
  bool isCustom() const { return rep_ && rep_->function; }
};
} // namespace

Config serialize(const Initializer &initializer) {
  return savedAs(initializer, "keras.initializers", Saved(initializer).isCustom());
}
Initializer deserialize(const Config &config) {
  if (std::optional<Initializer> registered = registeredObject<Initializer>(config))
    return *std::move(registered);
  return Saved(savedObject(config));
}

} // namespace initializers

namespace detail {
int64_t nextSeed() {
  const ForkSafeLock lock(seedMutex);
  return static_cast<int64_t>(openSeeds()() >> 1);
}
std::mt19937_64 seedSequence() {
  const ForkSafeLock lock(seedMutex);
  return openSeeds();
}
void setSeedSequence(const std::mt19937_64 &state) {
  const ForkSafeLock lock(seedMutex);
  seeds = state;
}
} // namespace detail

void set_random_seed(int64_t seed) {
  const ForkSafeLock lock(seedMutex);
  seeds.emplace(static_cast<uint64_t>(seed));
}

} // namespace halftone
