// Lists that users give by name and by count.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/NameList.h"
#include "halftone/Error.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using detail::NameList;

namespace {

using Names = std::vector<std::string>;

/// The entries for each position, as letters: "a" for the first entry, "-" for none.
std::string found(const NameList &list, const Names &names, size_t count) {
  std::string text;
  for (const std::optional<size_t> &entry : detail::entriesOf(list, "y", names, count))
    text += entry ? static_cast<char>('a' + *entry) : '-';
  return text;
}
std::string found(const NameList &list, const Names &names) { return found(list, names, names.size()); }

const NameList three{.owner = "'net'", .path = "net", .names = {"p", "q", "r"}};
const NameList part{.owner = "'net'", .path = "net", .names = {"p", "q", "r"}, .needed = {true, false, true}};

} // namespace

TEST_CASE("Entries find their positions by name in any order, and by count") {
  CHECK(found(three, {}, 3) == "abc");
  CHECK(found(three, {"r", "p", "q"}) == "bca");
  CHECK(found(three, {"[2]", "p", "[1]"}) == "bca");
  CHECK(found(part, {"r", "p", "q"}) == "bca");
  CHECK(found(part, {"r", "p"}) == "b-a");
  CHECK(found(part, {}, 2) == "a-b");
  CHECK(found(part, {}, 3) == "abc");
}

TEST_CASE("A name that several outputs have stands for all of them, as in Keras") {
  const NameList twice{.names = {"p", "q", "p"}};
  CHECK(found(twice, {"q", "p"}) == "bab");
  CHECK(found(twice, {"[2]", "q", "[0]"}) == "cba");
  CHECK_THAT(errorOf([&] { found(twice, {"p", "q", "[2]"}); }), Contains("`y` has two entries for the output 'p'"));
}

TEST_CASE("A list with an entry too few, too many, twice or under an unknown name is refused") {
  const auto refused = [](const NameList &list, const Names &names, size_t count) {
    return errorOf([&] { found(list, names, count); });
  };
  CHECK_THAT(refused(three, {}, 2), Contains("ValueError: `y` has 2 entries, but 'net' expects 3 outputs: [p, q, r]"));
  CHECK_THAT(refused(three, {}, 4), Contains("ValueError: `y` has 4 entries"));
  CHECK_THAT(refused(three, {}, 0), Contains("ValueError: `y` has 0 entries"));
  CHECK_THAT(refused(part, {}, 1),
             Contains("`y` has 1 entry, but 'net' expects 3 outputs: [p, q, r], or an entry for each of the 2 outputs: "
                      "[p, r] with a loss or a metric"));
  CHECK_THAT(refused(three, {"p", "q", "typo"}, 3),
             Contains("ValueError: `y` names the output 'typo'; the outputs are [p, q, r]"));
  CHECK_THAT(refused(three, {"p", "q", "r", "typo"}, 4), Contains("names the output 'typo'"));
  CHECK_THAT(refused(three, {"p", "q", "[3]"}, 3), Contains("names the output '[3]'"));
  CHECK_THAT(refused(three, {"p", "q", "r", "q"}, 4), Contains("ValueError: `y` has two entries for the output 'q'"));
  CHECK_THAT(refused(three, {"p", "r"}, 2),
             Contains("ValueError: `y` has no entry for the output 'q': it has [p, r], and 'net' expects 3 outputs: "
                      "[p, q, r]"));
  CHECK_THAT(refused(part, {"p", "q"}, 2), Contains("no entry for the output 'r'"));
  CHECK_THROWS_WITH(found(three, {"typo"}), Contains("layer: net"));
}

TEST_CASE("Tensors are put in order, and have no names where the inputs have none") {
  const Tensor one = Tensor::ones({1}), two = Tensor::ones({2});
  const std::vector<Tensor> ordered = detail::inOrder(part, "y", {{"r", two}, {"p", one}});
  REQUIRE(ordered.size() == 3);
  CHECK(ordered[0].shape() == Shape{1});
  CHECK(!ordered[1].defined());
  CHECK(ordered[2].shape() == Shape{2});
  const NameList unnamed{.kind = "input", .owner = "'dense'"};
  CHECK(detail::inOrder(unnamed, "inputs", {one, two}).size() == 2);
  CHECK_THAT(errorOf([&] { (void)detail::inOrder(unnamed, "inputs", {{"r", two}, {"p", one}}); }),
             Contains("ValueError: `inputs` names the inputs [r, p], but the inputs of 'dense' have no names: give the "
                      "tensors in order"));
}
