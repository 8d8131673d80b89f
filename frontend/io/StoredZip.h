// Zip archives whose members stand as they are, without compression, as Keras writes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/Status.h"
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone::detail {

/// Writes a zip with these members, by replaceFile(). io_error if the system refuses, or if a member has 4 GiB or more, which
/// this form of a zip cannot hold.
Status writeStoredZip(const std::string &path, const std::vector<std::pair<std::string, std::string_view>> &members);

} // namespace halftone::detail
