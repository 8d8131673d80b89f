// The decoders of all opcodes, by family. `Opcodes.cpp` has their table.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/Decoding.h"

namespace halftone::emulator {

// Integer.cpp, Bits.cpp. `decodeAdd` and similar decoders accept float types too and forward them to the float family.
void decodeAdd(Decoding &);
void decodeSub(Decoding &);
void decodeMul(Decoding &);
void decodeMad(Decoding &);
void decodeDiv(Decoding &);
void decodeRem(Decoding &);
void decodeMin(Decoding &);
void decodeMax(Decoding &);
void decodeAbs(Decoding &);
void decodeNeg(Decoding &);
void decodeAnd(Decoding &);
void decodeOr(Decoding &);
void decodeXor(Decoding &);
void decodeNot(Decoding &);
void decodeShl(Decoding &);
void decodeShr(Decoding &);
void decodeShf(Decoding &);
void decodeBfe(Decoding &);
void decodeBfi(Decoding &);
void decodePopc(Decoding &);
void decodeClz(Decoding &);
void decodeBrev(Decoding &);
void decodePrmt(Decoding &);
void decodeLop3(Decoding &);

// Floats.cpp
enum class FloatOp : uint8_t { Add, Sub, Mul, Div, Min, Max, Abs, Neg };
void decodeFloat(Decoding &, FloatOp op, Type type);
void decodeFma(Decoding &);
void decodeSqrt(Decoding &);
void decodeCopysign(Decoding &);
// Approximations.cpp
void decodeDivApproximate(Decoding &, bool full);
void decodeSqrtApproximate(Decoding &);
void decodeRcp(Decoding &);
void decodeRsqrt(Decoding &);
void decodeEx2(Decoding &);
void decodeLg2(Decoding &);
void decodeSin(Decoding &);
void decodeCos(Decoding &);
void decodeTanh(Decoding &);
// NarrowFloats.cpp
void decodeNarrowFloat(Decoding &, FloatOp op, Type type);
void decodeNarrowFma(Decoding &, Type type);

// Compare.cpp
void decodeSetp(Decoding &);
void decodeSelp(Decoding &);
void decodePredicateLogic(Decoding &, char op);
// Convert.cpp
void decodeCvt(Decoding &);
// Move.cpp
void decodeMov(Decoding &);
void decodeCvta(Decoding &);
// MemoryAccess.cpp
void decodeLd(Decoding &);
void decodeSt(Decoding &);
void decodeFence(Decoding &);
void decodePrefetch(Decoding &);
void decodeAtomic(Decoding &);
// Collective.cpp
void decodeBar(Decoding &);
void decodeShfl(Decoding &);
void decodeVote(Decoding &);
void decodeRedux(Decoding &);
void decodeActivemask(Decoding &);
void decodeTrap(Decoding &);
// Async.cpp
void decodeCp(Decoding &);
// Matrix.cpp
void decodeLdmatrix(Decoding &);
void decodeMma(Decoding &);

} // namespace halftone::emulator
