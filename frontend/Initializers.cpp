// keras.initializers: draws values on the host; a seed gives the same values on every machine.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ConfigFields.h"
#include "frontend/RandomSeeds.h"
#include "halftone/Error.h"
#include "halftone/Model.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <mutex>
#include <random>

namespace halftone {
using namespace detail;

namespace {

constexpr double pi = 3.14159265358979323846;

std::mutex seedMutex;
std::optional<std::mt19937_64> seeds; // guarded by seedMutex

/// The sequence of seeds, from the machine's entropy if nobody set it.
std::mt19937_64 &openSeeds() {
  if (!seeds)
    seeds.emplace(std::random_device{}());
  return *seeds;
}

/// Draws uniform and normal samples by fixed formulas, since the standard library's distributions differ between
/// libraries.
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

enum class Kind { zeros, ones, constant, uniform, normal, truncated, scaling };
enum class Fan { in, average };

struct Draw {
  Kind kind = Kind::zeros;
  double a = 0, b = 0; // constant: the value; uniform: the bounds; normal: mean, stddev; scaling: scale
  Fan fan = Fan::in;
  bool uniformScaling = false;
  std::optional<int64_t> seed{};
};

/// Calls f with the fields of a kind, in Keras's order.
template <class F> void withFields(Kind kind, F f) {
  const Field seed{"seed", &Draw::seed};
  if (kind == Kind::constant)
    f(std::tuple{Field{"value", &Draw::a}});
  else if (kind == Kind::uniform)
    f(std::tuple{seed, Field{"minval", &Draw::a}, Field{"maxval", &Draw::b}});
  else if (kind == Kind::normal || kind == Kind::truncated)
    f(std::tuple{seed, Field{"mean", &Draw::a}, Field{"stddev", &Draw::b}});
  else if (kind == Kind::scaling)
    f(std::tuple{seed, FixedField{"input_axes", nullptr}, FixedField{"output_axes", nullptr}});
  else
    f(std::tuple<>());
}

} // namespace

struct Initializer::Rep : Draw {
  std::string className;
  Rep(std::string name, const Draw &draw) : Draw(draw), className(std::move(name)) {}
};

namespace {

struct Named {
  const char *name, *className;
};
// The names of keras.initializers.get: snake case and class names.
constexpr Named names[] = {{"zeros", "Zeros"},
                           {"ones", "Ones"},
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
    rep_ = std::make_shared<Rep>(cls, Draw{cls == "Zeros" ? Kind::zeros : Kind::constant});
  else if (cls == "Ones")
    rep_ = std::make_shared<Rep>(cls, Draw{Kind::ones, 1.0});
  else if (cls == "RandomUniform")
    rep_ = std::make_shared<Rep>(cls, Draw{Kind::uniform, -0.05, 0.05});
  else if (cls == "RandomNormal" || cls == "TruncatedNormal")
    rep_ = std::make_shared<Rep>(cls, Draw{cls == "RandomNormal" ? Kind::normal : Kind::truncated, 0.0, 0.05});
  else {
    bool he = cls.rfind("He", 0) == 0, glorot = cls.rfind("Glorot", 0) == 0;
    rep_ = std::make_shared<Rep>(cls, Draw{Kind::scaling, he ? 2.0 : 1.0, 0.0, glorot ? Fan::average : Fan::in,
                                           cls.find("Uniform") != std::string::npos});
  }
}
std::string Initializer::name() const { return rep_ ? rep_->className : ""; }
Config Initializer::get_config() const {
  Config config;
  if (rep_)
    withFields(rep_->kind, [&](const auto &fields) { writeFields(config, static_cast<const Draw &>(*rep_), fields); });
  return config;
}

Tensor Initializer::operator()(const Shape &shape, DType dtype, int64_t seed) const {
  if (!rep_)
    throw Error(ErrorKind::value_error, "no initializer");
  if (rep_->kind <= Kind::constant)
    return Tensor::full(shape, rep_->a, dtype);
  Draws draws(rep_->seed.value_or(seed));
  double scale = rep_->a;
  if (rep_->kind == Kind::scaling) {
    Fans fans = fansOf(shape);
    scale /= std::max(1.0, rep_->fan == Fan::in ? fans.in : (fans.in + fans.out) / 2.0);
  }
  auto draw = [&]() -> double {
    switch (rep_->kind) {
    case Kind::uniform:
      return rep_->a + (rep_->b - rep_->a) * draws.uniform();
    case Kind::normal:
      return rep_->a + rep_->b * draws.normal();
    case Kind::truncated:
      return rep_->a + rep_->b * draws.truncatedNormal();
    default: // scaling; the constant makes up for the variance that truncation removes
      return rep_->uniformScaling ? std::sqrt(3.0 * scale) * (2.0 * draws.uniform() - 1.0)
                                  : std::sqrt(scale) / 0.87962566103423978 * draws.truncatedNormal();
    }
  };
  Tensor drawn = TensorAccess::allocate(dtype == DType::float64 ? dtype : DType::float32, shape);
  if (dtype == DType::float64)
    std::ranges::generate(drawn.mutable_span<double>(), draw);
  else
    std::ranges::generate(drawn.mutable_span<float>(), [&] { return static_cast<float>(draw()); });
  return dtype == drawn.dtype() ? drawn : drawn.astype(dtype);
}

namespace initializers {
Zeros::Zeros() : Initializer("zeros") {}
Ones::Ones() : Initializer("ones") {}
Constant::Constant(double value) { rep_ = std::make_shared<Rep>("Constant", Draw{Kind::constant, value}); }
RandomNormal::RandomNormal(RandomArgs args) {
  rep_ = std::make_shared<Rep>("RandomNormal", Draw{Kind::normal, args.mean, args.stddev, Fan::in, false, args.seed});
}
TruncatedNormal::TruncatedNormal(RandomArgs args) {
  rep_ = std::make_shared<Rep>("TruncatedNormal",
                               Draw{Kind::truncated, args.mean, args.stddev, Fan::in, false, args.seed});
}
GlorotUniform::GlorotUniform(SeedArgs args) {
  rep_ = std::make_shared<Rep>("GlorotUniform", Draw{Kind::scaling, 1.0, 0.0, Fan::average, true, args.seed});
}
GlorotNormal::GlorotNormal(SeedArgs args) {
  rep_ = std::make_shared<Rep>("GlorotNormal", Draw{Kind::scaling, 1.0, 0.0, Fan::average, false, args.seed});
}
HeNormal::HeNormal(SeedArgs args) {
  rep_ = std::make_shared<Rep>("HeNormal", Draw{Kind::scaling, 2.0, 0.0, Fan::in, false, args.seed});
}
HeUniform::HeUniform(SeedArgs args) {
  rep_ = std::make_shared<Rep>("HeUniform", Draw{Kind::scaling, 2.0, 0.0, Fan::in, true, args.seed});
}

Config serialize(const Initializer &initializer) {
  return serializedObject("keras.initializers", initializer.name(), initializer.get_config());
}

namespace {
class Saved : public Initializer {
public:
  explicit Saved(SavedObject saved) : Initializer(saved.className) {
    Rep rep = *rep_;
    withFields(rep.kind, [&](const auto &fields) { saved.fields.read(static_cast<Draw &>(rep), fields); });
    saved.fields.requireNothingLeft(rep.className);
    rep_ = std::make_shared<Rep>(std::move(rep));
  }
};
} // namespace
Initializer deserialize(const Config &config) { return Saved(savedObject(config)); }

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
