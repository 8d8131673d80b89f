// halftone-h5: lists the datasets of an HDF5 file, makes such a file, or prints numbers, with few rights of its own.
// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone-h5/Confine.h"
#include "tools/halftone-h5/Layout.h"
#include "tools/halftone-h5/Types.h"
#include <cstdio>
#include <fmt/format.h>
#include <iostream>
#include <string_view>

using namespace halftone::h5;

namespace {

constexpr const char *usage = R"(usage: halftone-h5 list | layout | read DATASET

The library starts this program; the file is descriptor 3. `list` prints the table of its datasets, `layout` makes the
objects that the lines of stdin name and prints their table, `read` prints the numbers of one dataset. A table ends with
the line "end"; a line "error ..." says why there is none. Exit: 0, 1 for a file that cannot be read, 2 for usage.
)";

const char *path() { return "/proc/self/fd/3"; }

/// Prints the table, or the numbers of `dataset`. Returns "" or an error.
std::string answer(std::string_view command, const std::string &dataset) {
  const bool makes = command == "layout";
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_stdio(access); // the usual driver follows links by name, and a file in memory has none
  const Handle file(makes ? H5Fcreate(path(), H5F_ACC_TRUNC, H5P_DEFAULT, access)
                          : H5Fopen(path(), H5F_ACC_RDONLY, access),
                    H5Fclose);
  if (file < 0)
    return makes ? "cannot make an HDF5 file" : "no HDF5 file";
  if (command == "read")
    return printNumbers(file, dataset);
  if (makes)
    if (std::string error = layOut(file, std::cin); !error.empty())
      return error;
  return list(file);
}

} // namespace

int main(int argc, char **argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (argc != (command == "read" ? 3 : 2) || (command != "list" && command != "layout" && command != "read")) {
    std::fputs(usage, command == "--help" ? stdout : stderr);
    return command == "--help" ? 0 : 2;
  }
  if (!confine(command == "layout" ? 2 : 1)) {
    fmt::print("error the system refuses limits\n");
    return 1;
  }
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const std::string error = answer(command, argc > 2 ? argv[2] : "");
  if (!error.empty())
    fmt::print("{}error {}\n", command == "read" ? "\n" : "", error);
  else if (command != "read")
    fmt::print("end\n");
  return error.empty() && std::fflush(stdout) == 0 ? 0 : 1;
}
