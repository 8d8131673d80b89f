// NumPy's broadcasting of shapes.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Broadcast.h"
#include "runtime/base/Status.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone {

Shape broadcastShape(std::string_view op, const Shape &a, const Shape &b) {
  const int64_t rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int64_t i = 1; i <= rank; ++i) {
    const int64_t da = i <= a.rank() ? a[-i] : 1, db = i <= b.rank() ? b[-i] : 1;
    if (da != db && da != 1 && db != 1)
      throw Error(ErrorKind::value_error,
                  fmt::format("{} of shapes {} and {}, which cannot be broadcast together", op, a.str(), b.str()));
    dims[static_cast<size_t>(rank - i)] = da == 1 ? db : da;
  }
  return Shape(std::move(dims));
}

} // namespace halftone
