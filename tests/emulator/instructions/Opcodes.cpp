// The table of opcodes.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/instructions/Instructions.h"
#include <algorithm>

namespace halftone::emulator {

namespace {

struct Opcode {
  std::string_view name;
  Decode decode;
};

constexpr Opcode opcodes[] = {{"abs", decodeAbs},      {"activemask", decodeActivemask},
                              {"add", decodeAdd},      {"and", decodeAnd},
                              {"atom", decodeAtomic},  {"bar", decodeBar},
                              {"barrier", decodeBar},  {"bfe", decodeBfe},
                              {"bfi", decodeBfi},      {"brev", decodeBrev},
                              {"clz", decodeClz},      {"copysign", decodeCopysign},
                              {"cos", decodeCos},      {"cp", decodeCp},
                              {"cvt", decodeCvt},      {"cvta", decodeCvta},
                              {"div", decodeDiv},      {"ex2", decodeEx2},
                              {"fence", decodeFence},  {"fma", decodeFma},
                              {"ld", decodeLd},        {"ldmatrix", decodeLdmatrix},
                              {"lg2", decodeLg2},      {"lop3", decodeLop3},
                              {"mad", decodeMad},      {"max", decodeMax},
                              {"membar", decodeFence}, {"min", decodeMin},
                              {"mma", decodeMma},      {"mov", decodeMov},
                              {"mul", decodeMul},      {"neg", decodeNeg},
                              {"not", decodeNot},      {"or", decodeOr},
                              {"popc", decodePopc},    {"prefetch", decodePrefetch},
                              {"prmt", decodePrmt},    {"rcp", decodeRcp},
                              {"red", decodeAtomic},   {"redux", decodeRedux},
                              {"rem", decodeRem},      {"rsqrt", decodeRsqrt},
                              {"selp", decodeSelp},    {"setp", decodeSetp},
                              {"shf", decodeShf},      {"shfl", decodeShfl},
                              {"shl", decodeShl},      {"shr", decodeShr},
                              {"sin", decodeSin},      {"sqrt", decodeSqrt},
                              {"st", decodeSt},        {"sub", decodeSub},
                              {"tanh", decodeTanh},    {"trap", decodeTrap},
                              {"vote", decodeVote},    {"xor", decodeXor}};
static_assert(std::ranges::is_sorted(opcodes, {}, &Opcode::name));

} // namespace

Decode findDecoder(std::string_view opcode) {
  const Opcode *found = std::ranges::lower_bound(opcodes, opcode, {}, &Opcode::name);
  return found != std::end(opcodes) && found->name == opcode ? found->decode : nullptr;
}

} // namespace halftone::emulator
