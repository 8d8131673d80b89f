// Starts halftone-h5 and reads its output.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/H5Process.h"
#include "halftone/Error.h"
#include "runtime/base/ChildProgram.h"
#include <span>

namespace halftone::detail {

int runH5(const Descriptor &file, const std::vector<std::string> &arguments, const std::string &input,
          const std::function<void(std::string_view)> &take, const std::string &name) {
  ChildProgram reader{"halftone-h5", "HALFTONE_H5", "reads and lays out HDF5 files"};
  if (arguments.front() == "layout")
    reader.reason = "the file exceeds the limits on memory and time";
  const Descriptor stdinFile = Descriptor::memory(name);
  stdinFile.writeAt(0, std::as_bytes(std::span(input)), name);
  const auto pass = [&](std::string_view chunk) {
    take(chunk);
    return Status::ok();
  };
  return runChildProgram(reader, arguments, file.number(), stdinFile.number(), pass, name).valueOrThrow();
}

} // namespace halftone::detail
