// Instructions as the kernels use them, each with the inputs for which two devices are compared.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace halftone::emulator {

/// The kind of numbers in a source: integers of any sign, or floats, two of which fit into 32 bits if they are narrow.
enum class Input : uint8_t { Bits, F16, BF16, F32, F64 };
/// Their range: all, with the edge cases of the kind; floats up to 2; integral floats up to 8, whose products have
/// exact sums; or integers from 0 to 70 and a few larger ones, for shifts.
enum class Range : uint8_t { All, Unit, Small, Shift };

/// The permitted difference between the results of two devices.
struct Tolerance {
  double relative = 0; ///< the PTX ISA's error, for f32 results
  double absolute = 0;
  bool anyNan = false; ///< the payload and the sign of a NaN are unspecified

  bool isExact() const { return relative == 0 && absolute == 0; }
};

struct Source {
  uint8_t bits;
  Input input = Input::Bits;
  Range range = Range::All;
};

/// Statements that each thread runs on its own row of sources.
///
/// They read %s0, %s1, ... and leave their result in %d, or in %d0, %d1, ... if it has several words. %a0 holds the global address of the
/// first source, %o that of the result, %t the thread in its block of 64, and %i its row. `scratch` names 4096 bytes of shared memory,
/// `table` four constants of 32 bits. %p, %q are
/// predicates, %h0 to %h7 registers of 16 bits, %r0 to %r7 of 32, and %x0 to %x3 of 64.
struct Form {
  std::string name; ///< the operation: "add.rn.f32"
  std::string text;
  uint8_t resultBits = 32;
  uint8_t resultWords = 1;
  std::vector<Source> sources;
  Tolerance tolerance{};
  Input result = Input::Bits; ///< the kind of the result
  bool storesItself = false;  ///< the form's text writes to [%o]

  /// The module with the kernel `test`, whose parameters are the result and the sources.
  std::string ptx() const;
  /// The target that its instructions need: 80 for sm_80.
  uint32_t target() const;
};

/// All forms, without duplicates.
const std::vector<Form> &allForms();

/// The instructions without operands that the forms use, such as "ld.global.v4.b32".
const std::set<std::string> &allInstructions();

/// The rows of sources on which a form is run, by source. Their number is a multiple of 64.
std::vector<std::vector<uint64_t>> rowsOf(const Form &form);

} // namespace halftone::emulator
