// The order of the files of a folder, and NumPy's shuffle.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/ImageFolder.h"
#include "halftone/Error.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <fstream>

using namespace halftone;
using namespace halftone::detail;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

struct Tree : TemporaryFolder {
  explicit Tree(const std::vector<std::string> &files) {
    for (const std::string &file : files) {
      fs::create_directories((path / file).parent_path());
      std::ofstream(path / file) << file;
    }
  }
  std::vector<std::string> relative(const ImageFolder &folder) const {
    std::vector<std::string> names;
    for (const std::string &file : folder.files)
      names.push_back(file.substr(path.string().size() + 1));
    return names;
  }
};

} // namespace

TEST_CASE("Files are listed in the order of the folders' paths, then of their names") {
  const Tree tree(
      {"b/2.png", "b/10.jpg", "a/x/1.PNG", "a/x-y/0.jpeg", "a/z.png", "a/notes.txt", ".hidden/1.png", "top.png"});
  const ImageFolder byClass = filesByClass(tree.path.string() + "/", {}, false);
  CHECK(byClass.classNames == std::vector<std::string>{"a", "b"});
  CHECK(tree.relative(byClass) ==
        std::vector<std::string>{"a/z.png", "a/x/1.PNG", "a/x-y/0.jpeg", "b/10.jpg", "b/2.png"});
  CHECK(byClass.labels == std::vector<int64_t>{0, 0, 0, 1, 1});
  const ImageFolder chosen = filesByClass(tree.path.string(), {"b"}, false);
  CHECK(chosen.files.size() == 2);
  CHECK(chosen.labels == std::vector<int64_t>{0, 0});
  const ImageFolder all = filesOf(tree.path.string(), false);
  CHECK(tree.relative(all).front() == "top.png");
  CHECK(all.files.size() == 7);
  CHECK_THROWS_WITH(filesByClass(tree.path.string(), {"c"}, false), Contains("Expected: [a, b] (or a subset of it)"));
  CHECK_THROWS_WITH(filesOf((tree.path / "absent").string(), false), Contains("Cannot read the folder"));
}

TEST_CASE("Links lead into folders only if they are followed, and never in a circle") {
  const Tree tree({"a/1.png", "other/2.png"});
  fs::create_directory_symlink(tree.path / "other", tree.path / "a" / "link");
  fs::create_directory_symlink(tree.path / "a", tree.path / "a" / "self");
  const auto count = [&](bool follows) { return filesOf((tree.path / "a").string(), follows).files.size(); };
  CHECK(count(false) == 1);
  CHECK(count(true) == 2);
}

TEST_CASE("A GIF or BMP file is refused by name") {
  const Tree tree({"a/1.png", "a/2.gif"});
  CHECK_THROWS_WITH(filesByClass(tree.path.string(), {}, false), Contains("2.gif' is neither a PNG nor a JPEG file"));
}

TEST_CASE("The shuffle is that of numpy.random.RandomState") {
  CHECK(shuffledAsInNumPy(10, 0) == std::vector<int64_t>{2, 8, 4, 9, 1, 6, 7, 3, 0, 5});
  CHECK(shuffledAsInNumPy(7, 123) == std::vector<int64_t>{1, 3, 4, 0, 2, 5, 6});
  CHECK(shuffledAsInNumPy(17, 4294967295) ==
        std::vector<int64_t>{8, 1, 5, 14, 10, 15, 16, 13, 11, 9, 6, 0, 4, 7, 12, 2, 3});
  CHECK(shuffledAsInNumPy(1, 5) == std::vector<int64_t>{0});
  CHECK(shuffledAsInNumPy(0, 5).empty());
}
