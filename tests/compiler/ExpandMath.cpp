// The largest error of expanded math in ulp, over a million samples per function, against libm (f64: in long double).
// SPDX-License-Identifier: Apache-2.0
#include "CompiledFunction.h"
#include "compiler/kernels/MathFunctions.h"
#include "compiler/kernels/Steps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <random>
#include <set>

using namespace halftone;
using namespace halftone::compiler;

namespace {

/// y[i] = op(x[i], z[i]) for i in [begin, end), in steps of `lanes`; on vectors if lanes > 1.
std::string mathText(const std::string &op, const std::string &type, int lanes, bool binary, bool outlined = false) {
  const std::string value = lanes > 1 ? fmt::format("vector<{}x{}>", lanes, type) : type;
  const auto pointer = [&](int index) {
    return fmt::format("    %s{0} = llvm.getelementptr %buffers[{0}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n"
                       "    %b{0} = llvm.load %s{0} : !llvm.ptr -> !llvm.ptr\n"
                       "    %p{0} = llvm.getelementptr %b{0}[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {1}\n",
                       index, type);
  };
  std::string text =
      "func.func @kernel(%buffers: !llvm.ptr, %extents: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr) {\n";
  text += fmt::format("  %step = arith.constant {} : i64\n  scf.for %i = %begin to %end step %step : i64 {{\n", lanes);
  text += pointer(0) + pointer(1) + pointer(2);
  text += fmt::format("    %x = llvm.load %p0 {{alignment = 4 : i64}} : !llvm.ptr -> {0}\n    %z = llvm.load %p1 "
                      "{{alignment = 4 : i64}} : !llvm.ptr -> {0}\n",
                      value);
  text +=
      fmt::format("    %y = {} %x{}{} : {}\n", op, binary ? ", %z" : "", outlined ? " {halftone.outlined}" : "", value);
  return text +
         fmt::format("    llvm.store %y, %p2 {{alignment = 4 : i64}} : {}, !llvm.ptr\n  }}\n  return\n}}\n", value);
}

Loaded loadMath(const std::string &op, const std::string &type, int lanes, bool binary, const CpuTarget &cpu,
                bool outlined = false) {
  return loadEmitted(mathText(op, type, lanes, binary, outlined), cpu);
}

/// y[i] = buildExpOfDistance(x[i]).
Loaded loadExpOfDistance(int lanes, const CpuTarget &cpu) {
  KernelContext context;
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(mathText("math.exp", "f32", lanes, false), mlir::ParserConfig(&context));
  REQUIRE(module);
  module->walk([&](mlir::math::ExpOp op) {
    mlir::ImplicitLocOpBuilder builder(op.getLoc(), op);
    op.replaceAllUsesWith(buildExpOfDistance(MathTarget(cpu.math), Emitted(builder, op.getOperand())).value());
    op.erase();
  });
  return loadModule(*module, cpu);
}

template <class T> std::vector<T> evaluate(const Loaded &code, const std::vector<T> &x, const std::vector<T> &z) {
  std::vector<T> y(x.size());
  void *buffers[] = {const_cast<T *>(x.data()), const_cast<T *>(z.data()), y.data()};
  code.function(buffers, nullptr, 0, int64_t(x.size()), nullptr);
  return y;
}

/// The distance to the exact value in ulp of the result. 0 if both are NaN, the same infinity, or zeros of the same
/// sign.
template <class T, class Wide> double ulpError(T got, Wide exact) {
  const T nearest = T(exact);
  if (std::isnan(got) || std::isnan(nearest))
    return std::isnan(got) && std::isnan(nearest) ? 0 : INFINITY;
  if (got == nearest)
    return std::signbit(got) == std::signbit(nearest) || got != 0 ? 0 : INFINITY;
  if (std::isinf(got) || std::isinf(nearest)) {
    // Next to the overflow threshold either neighbour is accepted.
    const T finite = std::isinf(got) ? nearest : got;
    return std::fabs(finite) == std::numeric_limits<T>::max() ? 1 : INFINITY;
  }
  int exponent;
  std::frexp(std::fabs(nearest) < std::numeric_limits<T>::min() ? std::numeric_limits<T>::min() : nearest, &exponent);
  const Wide ulp = std::ldexp(Wide(1), exponent - std::numeric_limits<T>::digits);
  return double(std::fabs(Wide(got) - exact) / ulp);
}

template <class T> std::vector<T> specials() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           1,
                           2,
                           3,
                           T(0.5),
                           T(1.5),
                           T(2.5),
                           T(10),
                           T(88.72),
                           T(88.73),
                           T(103.9),
                           T(104.1),
                           T(709.7),
                           T(709.8),
                           T(745.2),
                           T(89.41),
                           T(89.42),
                           T(710.4),
                           T(710.5),
                           Limits::infinity(),
                           Limits::quiet_NaN(),
                           Limits::min(),
                           Limits::denorm_min(),
                           Limits::max(),
                           Limits::epsilon(),
                           T(1) + Limits::epsilon(),
                           T(1) - Limits::epsilon(),
                           T(0.7853981633974483),
                           T(1.5707963267948966),
                           T(3.14159265358979),
                           Limits::min() / 2,
                           T(1e-10),
                           T(1e10),
                           T(8388609),
                           T(16777215)};
  for (size_t i = values.size(); i-- > 0;)
    values.push_back(-values[i]);
  return values;
}

/// Special values, then half random bit patterns, half numbers between -width and width.
template <class T> std::vector<T> samples(size_t count, double limit, double width = 20) {
  std::vector<T> x;
  for (T value : specials<T>())
    if (!(std::fabs(value) > limit) || std::isinf(value))
      x.push_back(value);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> moderate(-width, width);
  while (x.size() < count) {
    T value;
    if (random() & 1)
      value = T(moderate(random));
    else if constexpr (sizeof(T) == 4)
      value = std::bit_cast<T>(uint32_t(random()));
    else
      value = std::bit_cast<T>(random());
    if (!(std::fabs(value) > limit))
      x.push_back(value);
  }
  x.resize(count / 16 * 16);
  return x;
}

struct Function {
  const char *op;
  double (*exact)(double);
  long double (*exactLong)(long double);
  double width = 20;       // of the samples that are not random bit patterns
  double limit = INFINITY; // of the arguments in f64
};
const Function functions[] = {
    {"math.exp", std::exp, std::exp},
    {"math.exp2", std::exp2, std::exp2, 160},
    {"math.expm1", std::expm1, std::expm1},
    {"math.log", std::log, std::log},
    {"math.log2", std::log2, std::log2},
    {"math.log10", std::log10, std::log10},
    {"math.log1p", std::log1p, std::log1p},
    {"math.cbrt", std::cbrt, std::cbrt},
    {"math.tanh", std::tanh, std::tanh},
    {"math.sinh", std::sinh, std::sinh, 100},
    {"math.cosh", std::cosh, std::cosh, 100},
    {"math.erf", std::erf, std::erf},
    {"math.sin", std::sin, std::sin, 20, 0x1p20},
    {"math.cos", std::cos, std::cos, 20, 0x1p20},
    {"math.tan", std::tan, std::tan, 20, 0x1p20},
    {"math.asin", std::asin, std::asin, 1.1},
    {"math.acos", std::acos, std::acos, 1.1},
    {"math.atan", std::atan, std::atan},
    {"math.asinh", std::asinh, std::asinh},
    {"math.acosh", std::acosh, std::acosh},
    {"math.atanh", std::atanh, std::atanh, 1.1},
    {"math.rsqrt", [](double x) { return 1 / std::sqrt(x); }, [](long double x) { return 1 / std::sqrt(x); }},
    {"math.sqrt", std::sqrt, std::sqrt},
    {"math.floor", std::floor, std::floor},
    {"math.ceil", std::ceil, std::ceil},
    {"math.trunc", std::trunc, std::trunc},
    {"math.roundeven", std::nearbyint, std::nearbyint},
};

/// The error bound in the table row of the function.
template <class T> double allowedUlps(const char *op) {
  const MathFunction *function = mathFunction(op);
  REQUIRE(function);
  return sizeof(T) == 4 ? function->f32 : function->f64;
}

template <class T, class Wide>
void check(const Function &function, const std::string &target, int lanes, Wide (*exact)(Wide),
           const std::vector<T> &x) {
  const Loaded code = loadMath(function.op, sizeof(T) == 4 ? "f32" : "f64", lanes, false, targetNamed(target));
  const std::vector<T> y = evaluate(code, x, x);
  double worst = 0;
  T where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = ulpError(y[i], exact(Wide(x[i])));
    if (!(error <= worst))
      worst = error, where = x[i];
  }
  fmt::print("  {:16} f{} x{:<2} {:10} {:.3f} ulp at {}\n", function.op, sizeof(T) * 8, lanes, target, worst, where);
  INFO(function.op << " at " << where << " on " << target);
  CHECK(worst <= allowedUlps<T>(function.op));
}

} // namespace

TEST_CASE("The exponential of a distance is as exact as any other", "[math]") {
  std::vector<float> x;
  for (const float value : samples<float>(1 << 18, INFINITY, 110))
    x.push_back(value > 0 ? -value : value);
  for (const std::string &target : targetsOfMath()) {
    const CpuTarget cpu = targetNamed(target);
    const std::vector<float> y = evaluate(loadExpOfDistance(int(cpu.vectorBytes / 4), cpu), x, x);
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i)
      worst = std::max(worst, ulpError(y[i], std::exp(double(x[i]))));
    INFO(target);
    CHECK(worst <= allowedUlps<float>("math.exp"));
  }
}

TEST_CASE("f32 math stays within its ulp", "[math]") {
  for (const Function &function : functions) {
    const std::vector<float> many = samples<float>(1 << 20, INFINITY, function.width),
                             few = samples<float>(1 << 16, INFINITY, function.width);
    for (const std::string &target : targetsOfMath())
      check<float, double>(function, target, int(targetNamed(target).vectorBytes / 4), function.exact,
                           target == "host" || target == "x86-64-v2" ? many : few);
  }
}

TEST_CASE("f64 math stays within its ulp", "[math]") {
  for (const Function &function : functions) {
    const std::vector<double> x = samples<double>(1 << 17, function.limit, function.width);
    for (const std::string &target : targetsOfMath())
      check<double, long double>(function, target, int(targetNamed(target).vectorBytes / 8), function.exactLong, x);
  }
}

TEST_CASE("math functions are right on scalars and on a CPU without rounding instructions", "[math]") {
  for (const Function &function : functions) {
    const std::vector<float> x = samples<float>(1 << 14, INFINITY, function.width);
    const std::vector<double> wide = samples<double>(1 << 14, 0x1p20, function.width);
    for (const char *target : {"x86_64-unknown-linux-gnu", "x86-64-v3"}) {
      check<float, double>(function, target, 1, function.exact, x);
      check<double, long double>(function, target, 1, function.exactLong, wide);
      check<float, double>(function, target, 4, function.exact, x);
    }
  }
}

TEST_CASE("Each function in the tables of math is compared with an exact one", "[math]") {
  // atan2 and pow have their own tests; the others become instructions.
  std::set<std::string> compared = {"math.atan2", "math.powf", "math.absf", "math.absi", "math.copysign",
                                    "math.fma",   "math.ctlz", "math.cttz", "math.ctpop"};
  for (const Function &function : functions)
    compared.insert(function.op);
  for (llvm::ArrayRef<MathFunction> table :
       {basicFunctions(), exponentials(), logarithms(), trigonometricFunctions(), inverseFunctions()})
    for (const MathFunction &function : table) {
      INFO(function.op.str());
      CHECK(compared.contains(function.op.str()));
    }
}

/// The number of ops to which `op` on vectors expands, without constants.
int64_t opsOfExpansion(const std::string &op, const std::string &type, int lanes, bool binary, const CpuTarget &cpu) {
  KernelContext context;
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(mathText(op, type, lanes, binary), mlir::ParserConfig(&context));
  REQUIRE(module);
  const auto count = [&] {
    int64_t ops = 0;
    module->walk([&](mlir::Operation *each) { ops += !mlir::isa<mlir::arith::ConstantOp>(each); });
    return ops;
  };
  const int64_t others = count() - 1;
  std::vector<Core> cores;
  REQUIRE(mlir::succeeded(expandMath(*module, cpu.math, cores)));
  CHECK(cores.empty());
  return count() - others;
}

TEST_CASE("A function's code size is that of its arithmetic", "[math]") {
  const CpuTarget cpu = targetNamed("x86-64-v4");
  for (llvm::ArrayRef<MathFunction> table :
       {basicFunctions(), exponentials(), logarithms(), trigonometricFunctions(), inverseFunctions()})
    for (const MathFunction &function : table) {
      const std::string op = function.op.str();
      const bool ofIntegers = op == "math.absi" || op == "math.ctlz" || op == "math.cttz" || op == "math.ctpop";
      if (op == "math.fma" || ofIntegers) {
        CHECK(function.codeSize == 1);
        continue;
      }
      const bool binary = op == "math.atan2" || op == "math.powf" || op == "math.copysign";
      INFO(op);
      CHECK(function.codeSize == opsOfExpansion(op, "f32", 16, binary, cpu));
    }
}

TEST_CASE("Powers of two and whole exponents are exact", "[math]") {
  std::vector<double> exponents, powers;
  for (int n = -1074; n <= 1023; ++n)
    exponents.push_back(n), powers.push_back(std::ldexp(1.0, n));
  exponents.resize(exponents.size() / 8 * 8);
  powers.resize(exponents.size());
  for (const std::string &target : targetsOfMath()) {
    INFO(target);
    const int lanes = int(targetNamed(target).vectorBytes / 8);
    CHECK(evaluate(loadMath("math.exp2", "f64", lanes, false, targetNamed(target)), exponents, exponents) == powers);
    CHECK(evaluate(loadMath("math.log2", "f64", lanes, false, targetNamed(target)), powers, powers) == exponents);
  }
}

TEST_CASE("atan2 stays within its ulp in every quadrant", "[math]") {
  std::vector<float> y, x;
  for (float a : specials<float>())
    for (float b : specials<float>())
      y.push_back(a), x.push_back(b);
  std::mt19937_64 random(11);
  std::uniform_real_distribution<float> near(-3, 3);
  while (y.size() < 1 << 16) {
    const bool bits = random() & 1;
    for (std::vector<float> *side : {&y, &x})
      side->push_back(bits ? std::bit_cast<float>(uint32_t(random())) : near(random));
  }
  y.resize(1 << 16), x.resize(1 << 16);
  std::vector<double> wideY(y.begin(), y.end()), wideX(x.begin(), x.end());
  for (size_t i = wideY.size() / 2; i < wideY.size(); ++i) // beyond the range of f32
    wideY[i] *= std::ldexp(1.0, int(random() % 1800) - 900), wideX[i] *= std::ldexp(1.0, int(random() % 1800) - 900);
  for (const std::string &target : targetsOfMath()) {
    const CpuTarget cpu = targetNamed(target);
    const std::vector<float> z = evaluate(loadMath("math.atan2", "f32", int(cpu.vectorBytes / 4), true, cpu), y, x);
    const std::vector<double> wide =
        evaluate(loadMath("math.atan2", "f64", int(cpu.vectorBytes / 8), true, cpu), wideY, wideX);
    double worst = 0, worstWide = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      worst = std::max(worst, ulpError(z[i], std::atan2(double(y[i]), double(x[i]))));
      worstWide = std::max(worstWide, ulpError(wide[i], std::atan2((long double)wideY[i], (long double)wideX[i])));
    }
    fmt::print("  math.atan2       {:10} f32 {:.3f} ulp, f64 {:.3f} ulp\n", target, worst, worstWide);
    INFO(target);
    CHECK(worst <= allowedUlps<float>("math.atan2"));
    CHECK(worstWide <= allowedUlps<double>("math.atan2"));
  }
}

TEST_CASE("pow has its values at special operands", "[math]") {
  std::vector<float> x, y;
  for (float a : specials<float>())
    for (float b : specials<float>())
      x.push_back(a), y.push_back(b);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<float> base(-4, 20), exponent(-30, 30);
  while (x.size() < 1 << 18) {
    x.push_back(random() % 4 ? std::fabs(base(random)) : base(random));
    y.push_back(random() % 4 ? exponent(random) : std::nearbyint(exponent(random)));
  }
  const std::vector<double> wideX(x.begin(), x.end());
  std::vector<double> wideY(y.begin(), y.end());
  for (size_t i = wideY.size() / 2; i < wideY.size(); ++i)
    wideY[i] *= 8; // up to the limits of the range of f64
  for (const std::string &target : targetsOfMath()) {
    const CpuTarget cpu = targetNamed(target);
    const std::vector<float> z = evaluate(loadMath("math.powf", "f32", int(cpu.vectorBytes / 4), true, cpu), x, y);
    const std::vector<double> wideZ =
        evaluate(loadMath("math.powf", "f64", int(cpu.vectorBytes / 8), true, cpu), wideX, wideY);
    double worst = 0, worstWide = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = ulpError(z[i], std::pow(double(x[i]), double(y[i])));
      if (!(error <= 1)) {
        INFO(x[i] << " ^ " << y[i] << " = " << z[i] << " on " << target);
        CHECK(error <= 1);
      }
      worst = std::max(worst, error);
      const long double exact = std::pow((long double)(wideX[i]), (long double)(wideY[i]));
      const double allowed = 6;
      const double wideError = ulpError(wideZ[i], exact);
      if (!(wideError <= allowed) && !(std::isinf(wideZ[i]) && exact > 1.79e308L)) {
        INFO(wideX[i] << " ^ " << wideY[i] << " = " << wideZ[i] << " on " << target);
        CHECK(wideError <= allowed);
      }
      if (std::isfinite(wideError))
        worstWide = std::max(worstWide, wideError);
    }
    fmt::print("  math.powf        {:10} f32 {:.3f} ulp, f64 {:.1f} ulp\n", target, worst, worstWide);
  }
}

TEST_CASE("The float remainder is exact", "[math]") {
  std::vector<float> x, y;
  for (float a : specials<float>())
    for (float b : specials<float>())
      x.push_back(a), y.push_back(b);
  std::mt19937_64 random(5);
  while (x.size() < 1 << 14) {
    x.push_back(std::bit_cast<float>(uint32_t(random())));
    y.push_back(std::bit_cast<float>(uint32_t(random())));
  }
  const std::vector<double> wideX(x.begin(), x.end()), wideY(y.begin(), y.end());
  for (const std::string &target : targetsOfMath()) {
    const CpuTarget cpu = targetNamed(target);
    const std::vector<float> z = evaluate(loadMath("arith.remf", "f32", int(cpu.vectorBytes / 4), true, cpu), x, y);
    const std::vector<double> wideZ = evaluate(loadMath("arith.remf", "f64", 1, true, cpu), wideX, wideY);
    size_t wrong = 0;
    for (size_t i = 0; i < x.size(); ++i)
      wrong += ulpError(z[i], double(std::fmod(x[i], y[i]))) != 0 ||
               ulpError(wideZ[i], (long double)std::fmod(wideX[i], wideY[i])) != 0;
    INFO(target);
    CHECK(wrong == 0);
  }
}

TEST_CASE("Math that has no expansion is refused by name", "[math]") {
  KernelContext context;
  const DiagnosticText diagnostics(&context);
  for (const char *body : {"%y = math.erfc %x : f32", "%h = arith.truncf %x : f32 to f16\n%y = math.exp %h : f16"}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(fmt::format("func.func @f(%x: f32) {{\n{}\nreturn\n}}", body),
                                                          mlir::ParserConfig(&context));
    REQUIRE(module);
    const CpuTarget cpu = targetNamed("host");
    std::vector<Core> cores;
    auto object = lowerToCode(*module, cpu, **cpu.machine(), diagnostics, cores);
    REQUIRE_FALSE(object.isOk());
    CHECK_THAT(object.status().diagnostics(),
               Catch::Contains("'math.erfc' has no expansion") || Catch::Contains("math on 'f16'"));
  }
}

namespace {

/// Checks that a call of the core of `op` gives the bits of its expansion in place.
template <class T>
void checkCore(const std::string &op, bool binary, int lanes, const CpuTarget &cpu, const std::vector<T> &x,
               const std::vector<T> &z) {
  CAPTURE(op, lanes, cpu.name);
  const std::string type = sizeof(T) == 4 ? "f32" : "f64";
  const std::vector<T> inPlace = evaluate(loadMath(op, type, lanes, binary, cpu), x, z),
                       called = evaluate(loadMath(op, type, lanes, binary, cpu, /*outlined=*/true), x, z);
  CHECK(std::memcmp(called.data(), inPlace.data(), x.size() * sizeof(T)) == 0);
}

} // namespace

TEST_CASE("A call of a function's core gives the bits of the function in place", "[math]") {
  const std::vector<float> x = samples<float>(1 << 10, 0x1p20), z(x.rbegin(), x.rend());
  const std::vector<double> wideX = samples<double>(1 << 10, 0x1p20), wideZ(wideX.rbegin(), wideX.rend());
  for (const std::string &target : targetsOfMath()) {
    const CpuTarget cpu = targetNamed(target);
    const int lanes = int(cpu.vectorBytes / 4);
    for (llvm::ArrayRef<MathFunction> table :
         {exponentials(), logarithms(), trigonometricFunctions(), inverseFunctions()})
      for (const MathFunction &function : table) {
        const bool binary = function.op == "math.atan2" || function.op == "math.powf";
        checkCore(function.op.str(), binary, lanes, cpu, x, z);
        checkCore(function.op.str(), binary, lanes / 2, cpu, wideX, wideZ);
      }
    checkCore("arith.remf", true, lanes, cpu, x, z);
    checkCore("math.sin", false, 1, cpu, x, z); // scalar
    checkCore("math.sin", false, 2 * lanes, cpu, x, z);
  }
}
