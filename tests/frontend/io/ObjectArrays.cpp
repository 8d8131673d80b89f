// Pickled arrays of lists: protocols, shared lists, and pickles that are rejected.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/ObjectArrays.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <random>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using namespace std::string_literals;

namespace {

using Lists = std::vector<std::vector<int64_t>>;

std::string npy(const std::string &pickle, const std::string &descr = "|O") {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (2,), }";
  header.resize(117, ' ');
  return "\x93NUMPY\x01\x00v\x00"s + header + "\n" + pickle;
}
/// The pickle of an array of `count` elements. The opcodes `lists` push them as one list.
std::string array(const std::string &lists, char count = 2) {
  return "\x80\x02"
         "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01"
         "b\x87R(K\x01K"s +
         count +
         "\x85"
         "cnumpy\ndtype\nU\x02O8K\x00K\x01\x87R\x89"s +
         lists + "tb.";
}
Lists lists(const std::string &file) {
  return detail::readIntegerLists("a file", {reinterpret_cast<const std::byte *>(file.data()), file.size()});
}
std::string error(const std::string &file) {
  return errorOf([&] { (void)lists(file); });
}

} // namespace

TEST_CASE("Lists of integers are read from a pickle, whatever its opcodes") {
  CHECK(lists(npy(array("](](K\x01M\x00\x01J\xff\xff\xff\xff"
                        "e]e"s))) == Lists{{1, 256, -1}, {}});
  CHECK(lists(npy(array("](]K\x05"
                        "a]\x8a\x03\x00\x00\x80"
                        "ae"s))) == Lists{{5}, {-8388608}});
  CHECK(lists(npy(array("](]q\x07K\x09"
                        "ah\x07"
                        "e"s))) == Lists{{9}, {9}}); // the same list, twice
  CHECK(lists(npy(array("]", 0))) == Lists{});
  CHECK(lists(npy(array("](]\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"
                        "a]\x8a\x00"
                        "ae"s))) == Lists{{INT64_MIN}, {0}});
}

TEST_CASE("A pickle of something else, or one that calls functions, is an IOError") {
  CHECK_THAT(error(npy(array("](]K\x05"
                             "a]Nae"s))),
             Contains("IOError") && Contains("a list with a value other than an integer"));
  CHECK_THAT(error(npy(array("](]K\x05"
                             "aK\x05"
                             "e"s))),
             Contains("an element that is not a list"));
  CHECK_THAT(error(npy(array("](]e"s))), Contains("found another object")); // one list, but a shape of two
  CHECK_THAT(error(npy("\x80\x02"
                       "cos\nsystem\nU\x02ls\x85R."s)),
             Contains("expected a pickled array of lists of integers, found an object of os.system"));
  CHECK_THAT(error(npy("\x80\x04\x8c\x02os\x8c\x06system\x93."s)), Contains("an object of os.system"));
  CHECK_THAT(error(npy("\x80\x02\x81."s)), Contains("the opcode 0x81"));
  CHECK_THAT(error(npy("\x80\x02]."s)), Contains("found another object"));
  CHECK_THAT(error(npy(array("](]\x8a\x09"s + std::string(9, 'x') + "ae"))), Contains("integers of at most 64 bits"));
  for (const char *stack : {".", "e", "a", "t", "R", "b", "\x85", "h\x05", "(.",
                            "]K\x01"
                            "b",
                            "K\x01R", "(a"})
    CHECK_THAT(error(npy(stack)), Contains("IOError"));
  CHECK_THAT(error(npy(array("]", 0), "<i8")), Contains("an array of another dtype"));
  CHECK_THAT(error("short"), Contains("expected the .npy data of an array of objects, found other data"));
  CHECK_THAT(error(npy(array("]", 0)).substr(0, 60)), Contains("an unterminated header"));
}

TEST_CASE(
    "A pickle that is cut off anywhere, or that nests deeply, is refused or read, and never overflows the stack") {
  const std::string whole = array("](](K\x01M\x00\x01"
                                  "e]K\x02"
                                  "ae"s);
  for (size_t size = 0; size + 1 < whole.size(); ++size)
    CHECK_THAT(error(npy(whole.substr(0, size))), Contains("IOError"));
  CHECK_THAT(error(npy("\x80\x02"s + std::string(1 << 20, ']') + std::string((1 << 20) - 1, 'a') + ".")),
             Contains("another object"));
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = whole;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    const std::string found = error(npy(bytes));
    CHECK((found.empty() || found.starts_with("IOError")));
  }
}
