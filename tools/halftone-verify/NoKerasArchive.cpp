// KerasArchive for programs linked without libzip, since Debian has no static libzip: rejects every file.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/KerasArchive.h"
#include "halftone/Error.h"
#include <fmt/format.h>

namespace halftone::detail {

KerasArchive::KerasArchive(const std::string &path, const char *kind, const char *)
    : path_(path), kind_(kind), file_(Descriptor::reading(path)) {
  fail("", "this program is linked without libzip");
}

// The constructor always throws, so these are unreachable.
bool KerasArchive::contains(const std::string &) const { return false; }
std::string KerasArchive::text(const std::string &member) const { fail(member, "no archive"); }
Config KerasArchive::json(const std::string &member) const { fail(member, "no archive"); }
FileRange KerasArchive::data(const std::string &member, int64_t) const { fail(member, "no archive"); }
void KerasArchive::Close::operator()(zip_t *) const {}

void KerasArchive::fail(const std::string &, const std::string &found) const {
  throw Error(ErrorKind::not_implemented_error, fmt::format("{}: the file cannot be read: {}", path_, found));
}

} // namespace halftone::detail
