// Instructions with approximate results: the seed chooses an error within the bound of the PTX ISA.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Block.h"
#include "tests/emulator/Numbers.h"
#include "tests/emulator/instructions/Instructions.h"
#include "tests/emulator/instructions/Lanes.h"
#include <cmath>

namespace halftone::emulator {

namespace {

struct Exp2 {
  static double exact(double a) { return std::exp2(a); }
  static double bound(double, double) { return 0x1p-22; }
};
struct Reciprocal {
  static double exact(double a) { return 1 / a; }
  static double bound(double, double) { return 0x1p-23; }
};
struct ReciprocalRoot {
  static double exact(double a) { return 1 / std::sqrt(a); }
  static double bound(double, double) { return 0x1p-23; } // 2^-22.9
};
struct Root {
  static double exact(double a) { return std::sqrt(a); }
  static double bound(double, double) { return 0x1p-23; }
};
/// Absolute error 2^-22 for arguments from 0.5 to 2, relative error 2^-22 otherwise.
struct Log2 {
  static double exact(double a) { return std::log2(a); }
  static double bound(double a, double result) {
    return a > 0.5 && a < 2 && result != 0 ? 0x1p-22 / std::fabs(result) : 0x1p-22;
  }
};
/// Absolute error 2^-20.9 from -pi to pi.
struct Sine {
  static double exact(double a) { return std::sin(a); }
  static double bound(double, double result) { return result != 0 ? 0x1p-21 / std::fabs(result) : 0; }
};
struct Cosine {
  static double exact(double a) { return std::cos(a); }
  static double bound(double, double result) { return result != 0 ? 0x1p-21 / std::fabs(result) : 0; }
};
struct HyperbolicTangent {
  static double exact(double a) { return std::tanh(a); }
  static double bound(double, double) { return 0x1p-11; }
};

template <typename Function, bool flushes> void runUnary(Warp &warp, const Instruction &instruction, LaneMask active) {
  float *result = warp.lanes<float>(instruction.operands[0]);
  const float *source = warp.lanes<float>(instruction.operands[1]);
  uint64_t seed = warp.block().random().seed();
  eachLane(active, [&](int lane) {
    float value = flushes ? flushed(source[lane]) : source[lane];
    double exact = Function::exact(value);
    bool isPlain = value != 0 && std::isfinite(value);
    float moved = isPlain ? approximate(exact, Function::bound(value, exact), seed, std::bit_cast<uint32_t>(value))
                          : static_cast<float>(exact);
    result[lane] = canonical(flushes ? flushed(moved) : moved);
  });
}

/// Both divisions have an error of 2 ulp; .approx also returns 0 for divisors above 2^126.
template <bool flushes, bool full> void runQuotient(Warp &warp, const Instruction &instruction, LaneMask active) {
  float *result = warp.lanes<float>(instruction.operands[0]);
  const float *dividend = warp.lanes<float>(instruction.operands[1]),
              *divisor = warp.lanes<float>(instruction.operands[2]);
  uint64_t seed = warp.block().random().seed();
  eachLane(active, [&](int lane) {
    float a = dividend[lane], b = divisor[lane];
    if (flushes)
      a = flushed(a), b = flushed(b);
    double exact = static_cast<double>(a) / b;
    if (!full && std::isfinite(b) && std::fabs(b) > 0x1p126f)
      exact = std::isfinite(a) ? std::copysign(0.0, exact) : std::nan("");
    uint64_t key = uint64_t(std::bit_cast<uint32_t>(a)) << 32 | std::bit_cast<uint32_t>(b);
    float moved = approximate(exact, 0x1p-23, seed, key);
    result[lane] = canonical(flushes ? flushed(moved) : moved);
  });
}

template <typename Function> void decodeUnary(Decoding &decoding) {
  bool flushes = decoding.take("ftz");
  if (decoding.takeType() != Type{Type::Kind::Float, 32})
    decoding.fail("expected .f32");
  decoding.expectOperands(2);
  decoding.instruction.execute = flushes ? runUnary<Function, true> : runUnary<Function, false>;
  decoding.readAll(32);
}

template <typename Function> void decodeApproximateOnly(Decoding &decoding) {
  if (!decoding.take("approx"))
    decoding.fail("expected .approx");
  decodeUnary<Function>(decoding);
}

constexpr auto exactReciprocal = [](auto a) { return canonical(1 / a); };

} // namespace

void decodeEx2(Decoding &decoding) { decodeApproximateOnly<Exp2>(decoding); }
void decodeLg2(Decoding &decoding) { decodeApproximateOnly<Log2>(decoding); }
void decodeSin(Decoding &decoding) { decodeApproximateOnly<Sine>(decoding); }
void decodeCos(Decoding &decoding) { decodeApproximateOnly<Cosine>(decoding); }
void decodeTanh(Decoding &decoding) { decodeApproximateOnly<HyperbolicTangent>(decoding); }
void decodeRsqrt(Decoding &decoding) { decodeApproximateOnly<ReciprocalRoot>(decoding); }
void decodeSqrtApproximate(Decoding &decoding) { decodeUnary<Root>(decoding); }

void decodeRcp(Decoding &decoding) {
  if (decoding.takeOneOf({"approx", "rn"}) == 0)
    return decodeUnary<Reciprocal>(decoding);
  Type type = decoding.takeType();
  decoding.expectOperands(2);
  if (type.kind != Type::Kind::Float || type.bits < 32 || type.elements != 1)
    decoding.fail("expected .f32 or .f64");
  decoding.instruction.execute = type.bits == 32 ? Execute(mapLanes<exactReciprocal, float, float>)
                                                 : Execute(mapLanes<exactReciprocal, double, double>);
  decoding.readAll(type.bits);
}

void decodeDivApproximate(Decoding &decoding, bool full) {
  bool flushes = decoding.take("ftz");
  if (decoding.takeType() != Type{Type::Kind::Float, 32})
    decoding.fail("expected .f32");
  decoding.expectOperands(3);
  Execute exact = flushes ? runQuotient<true, true> : runQuotient<false, true>;
  Execute approximated = flushes ? runQuotient<true, false> : runQuotient<false, false>;
  decoding.instruction.execute = full ? exact : approximated;
  decoding.readAll(32);
}

} // namespace halftone::emulator
