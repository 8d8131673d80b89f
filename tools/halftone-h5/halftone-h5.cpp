// halftone-h5: lists the datasets of an HDF5 file, creates a file, or prints values, with reduced privileges.
// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone-h5/Image.h"
#include "tools/halftone-h5/Layout.h"
#include "tools/halftone-h5/Types.h"
#include "tools/shell/Confine.h"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <string_view>
#include <unistd.h>

using namespace halftone::h5;
using namespace halftone::tools;

namespace {

constexpr const char *usage = R"(usage: halftone-h5 list OFFSET BYTES | read OFFSET BYTES DATASET | layout

The library starts this program; the file is descriptor 3. `list` prints the table of the datasets of the HDF5 file in a
range of it, `read` prints the numbers of one dataset, `layout` creates the objects that the lines of stdin name and prints
their table. A table ends with the line "end"; a line "error ..." gives the reason if there is no table. Exit: 0, 1 for a file
that cannot be read, 2 for usage.
)";

/// Ends the process with an error if the file exceeds the file size limit. libhdf5 would continue and crash.
void refuseSize(int) {
  constexpr std::string_view text = "error File too large\n";
  _exit(::write(STDOUT_FILENO, text.data(), text.size()) < 0 ? 2 : 1);
}

/// Creates a file from the lines of stdin and prints its table. Returns "" or an error.
std::string make() {
  if (!confine(0, 2)) // libhdf5 opens a file twice to create it
    return refusedLimits;
  std::signal(SIGXFSZ, refuseSize); // the limit applies to in-memory files too
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_stdio(access); // the default driver opens links by name, which an in-memory file does not have
  const Handle file(H5Fcreate("/proc/self/fd/3", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
  if (file < 0)
    return "cannot create an HDF5 file";
  if (const std::string error = layOut(file, std::cin); !error.empty())
    return error;
  return H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ? "cannot write the HDF5 file" : list(file);
}

/// Prints the table of the file in this range, or the values of `dataset`. Returns "" or an error.
std::string answer(const char *offset, const char *bytes, const char *dataset) {
  const Image image(offset, bytes);
  if (!confine(image.mappedBytes(), 0))
    return refusedLimits;
  const Handle file(image.open(), H5Fclose);
  if (file < 0)
    return "no HDF5 file";
  return dataset ? printNumbers(file, dataset) : list(file);
}

} // namespace

int main(int argc, char **argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  const int expected = command == "list" ? 4 : command == "read" ? 5 : command == "layout" ? 2 : 0;
  if (argc != expected) {
    std::fputs(usage, command == "--help" ? stdout : stderr);
    return command == "--help" ? 0 : 2;
  }
  // Disables plugins, and file locking, which some file systems do not support.
  setenv("HDF5_PLUGIN_PRELOAD", "::", 1);
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const std::string error =
      command == "layout" ? make() : answer(argv[2], argv[3], command == "read" ? argv[4] : nullptr);
  if (!error.empty())
    fmt::print("{}error {}\n", command == "read" ? "\n" : "", error);
  else if (command != "read")
    fmt::print("end\n");
  return error.empty() && std::fflush(stdout) == 0 ? 0 : 1;
}
