// Renames IR ops and types to the user's terms.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/UserWords.h"
#include "halftone/DType.h"
#include "halftone/Shape.h"
#include <fmt/format.h>
#include <map>
#include <regex>
#include <sstream>
#include <vector>

namespace halftone::detail {

std::string inUsersWords(const std::string &diagnostics) {
  static const auto &op = *new std::regex("'halftone\\.(\\w+)' op ");
  static const auto &tensor = *new std::regex("'?tensor<((?:\\d+x)*)(\\w+)>'?");
  static const auto &dtypes =
      *new std::map<std::string, DType>{{"i1", DType::bool_},          {"i8", DType::int8},
                                        {"i16", DType::int16},         {"i32", DType::int32},
                                        {"i64", DType::int64},         {"ui8", DType::uint8},
                                        {"ui16", DType::uint16},       {"ui32", DType::uint32},
                                        {"ui64", DType::uint64},       {"bf16", DType::bfloat16},
                                        {"f16", DType::float16},       {"f32", DType::float32},
                                        {"f64", DType::float64},       {"f8E4M3FN", DType::float8_e4m3fn},
                                        {"f8E5M2", DType::float8_e5m2}};
  std::string text = std::regex_replace(diagnostics, op, "$1: "), result;
  auto from = text.cbegin();
  for (std::sregex_iterator match(text.begin(), text.end(), tensor), end; match != end; ++match) {
    result.append(from, (*match)[0].first);
    from = (*match)[0].second;
    std::vector<int64_t> dims;
    std::istringstream extents((*match)[1].str());
    for (std::string extent; std::getline(extents, extent, 'x');)
      dims.push_back(std::stoll(extent));
    const auto dtype = dtypes.find((*match)[2].str());
    result += fmt::format("{} {}", dtype == dtypes.end() ? (*match)[2].str() : std::string(name(dtype->second)),
                          Shape(dims).str());
  }
  return result.append(from, text.cend());
}

} // namespace halftone::detail
