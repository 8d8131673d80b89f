// Reads pickled arrays of lists: a stack machine with a memo, for the opcodes of protocols 2 to 5 that NumPy writes.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/ObjectArrays.h"
#include "frontend/base/RefuseFile.h"
#include "runtime/base/FreeMemory.h"
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace halftone::detail {

namespace {

struct Node;
/// A value: an integer, or a node for all others.
struct Item {
  enum class Kind : uint8_t { other, integer, list, tuple, global, object, mark };
  Kind kind = Kind::other; // other: None, bools and texts, whose values are ignored
  int64_t number = 0;
  Node *node = nullptr;
};
struct Node {
  std::string name;        // of a global; of an object, the global that created it
  std::vector<Item> items; // of a list or a tuple; the state of an object
};

/// The machine owns all nodes, so nested lists are freed without recursion.
class Unpickler {
public:
  Unpickler(const std::string &path, std::string_view text) : path_(path), text_(text) {}

  Item run() {
    for (;;) {
      const auto code = static_cast<uint8_t>(take(1)[0]);
      if (code == '.')
        return pop();
      if (!constant(code) && !collection(code) && !memory(code) && !object(code))
        fail("a pickled array of lists of integers", fmt::format("the opcode 0x{:02x}", code));
    }
  }

  [[noreturn]] void fail(const std::string &expected, const std::string &found) const {
    refuseFile(path_, expected, found);
  }

private:
  std::string_view take(uint64_t count) {
    if (count > text_.size() - at_)
      fail("a complete pickle", fmt::format("the end of the data after {} bytes", at_));
    return text_.substr(std::exchange(at_, at_ + count), count);
  }
  /// Reads a little-endian unsigned integer of `bytes` bytes.
  uint64_t number(size_t bytes) {
    const std::string_view digits = take(bytes);
    uint64_t value = 0;
    std::memcpy(&value, digits.data(), bytes);
    return value;
  }
  std::string line() {
    const size_t end = text_.find('\n', at_);
    if (end == text_.npos)
      fail("a complete pickle", "an unterminated line");
    const std::string text(text_.substr(at_, end - at_));
    at_ = end + 1;
    return text;
  }
  Item pop() {
    if (stack_.empty())
      fail("a complete pickle", "an empty stack");
    const Item item = stack_.back();
    stack_.pop_back();
    return item;
  }
  Item make(Item::Kind kind, std::vector<Item> items = {}, std::string name = {}) {
    nodes_.push_back(std::make_unique<Node>(Node{std::move(name), std::move(items)}));
    return {.kind = kind, .number = 0, .node = nodes_.back().get()};
  }
  /// Pops the items above the last mark, and the mark.
  std::vector<Item> aboveMark() {
    const auto mark =
        std::find_if(stack_.rbegin(), stack_.rend(), [](const Item &item) { return item.kind == Item::Kind::mark; });
    if (mark == stack_.rend())
      fail("a complete pickle", "no mark");
    std::vector<Item> items(mark.base(), stack_.end());
    stack_.erase(mark.base() - 1, stack_.end());
    return items;
  }
  void integer(int64_t value) { stack_.push_back({.kind = Item::Kind::integer, .number = value, .node = nullptr}); }
  void text(uint64_t bytes) {
    stack_.push_back(make(Item::Kind::other, {}, std::string(take(bytes)))); // STACK_GLOBAL reads names
  }

  bool constant(uint8_t code) {
    switch (code) {
    case 0x80: // PROTO
      (void)take(1);
      return true;
    case 0x95: // FRAME
      (void)take(8);
      return true;
    case 'N':
    case 0x88: // NEWTRUE
    case 0x89: // NEWFALSE
      stack_.push_back({});
      return true;
    case 'K':
      integer(static_cast<int64_t>(number(1)));
      return true;
    case 'M':
      integer(static_cast<int64_t>(number(2)));
      return true;
    case 'J':
      integer(static_cast<int32_t>(number(4)));
      return true;
    case 0x8a: { // LONG1
      const size_t bytes = number(1);
      if (bytes > 8)
        fail("integers of at most 64 bits", fmt::format("one of {} bytes", bytes));
      const uint64_t value = number(bytes);
      const bool isNegative = bytes > 0 && bytes < 8 && value >> (8 * bytes - 1);
      integer(static_cast<int64_t>(isNegative ? value | ~uint64_t{0} << (8 * bytes) : value));
      return true;
    }
    case 'C':  // SHORT_BINBYTES
    case 'U':  // SHORT_BINSTRING
    case 0x8c: // SHORT_BINUNICODE
      text(number(1));
      return true;
    case 'B':
    case 'T':
    case 'X':
      text(number(4));
      return true;
    default:
      return false;
    }
  }

  bool collection(uint8_t code) {
    switch (code) {
    case '(':
      stack_.push_back({.kind = Item::Kind::mark, .number = 0, .node = nullptr});
      return true;
    case ']':
      stack_.push_back(make(Item::Kind::list));
      return true;
    case ')':
      stack_.push_back(make(Item::Kind::tuple));
      return true;
    case 't':
      stack_.push_back(make(Item::Kind::tuple, aboveMark()));
      return true;
    case 0x85: // TUPLE1 to TUPLE3
    case 0x86:
    case 0x87: {
      std::vector<Item> items;
      for (int i = 0; i < code - 0x84; ++i)
        items.insert(items.begin(), pop());
      stack_.push_back(make(Item::Kind::tuple, std::move(items)));
      return true;
    }
    case 'a':
      extend({pop()});
      return true;
    case 'e':
      extend(aboveMark());
      return true;
    default:
      return false;
    }
  }
  void extend(const std::vector<Item> &items) {
    if (stack_.empty() || stack_.back().kind != Item::Kind::list)
      fail("a complete pickle", "an append to something other than a list");
    std::vector<Item> &list = stack_.back().node->items;
    list.insert(list.end(), items.begin(), items.end());
  }

  bool memory(uint8_t code) {
    switch (code) {
    case 'q':
      keep(number(1));
      return true;
    case 'r':
      keep(number(4));
      return true;
    case 0x94: // MEMOIZE
      keep(memo_.size());
      return true;
    case 'h':
      recall(number(1));
      return true;
    case 'j':
      recall(number(4));
      return true;
    default:
      return false;
    }
  }
  void keep(uint64_t index) {
    const Item item = pop();
    stack_.push_back(item);
    memo_[index] = item;
  }
  void recall(uint64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end())
      fail("a complete pickle", "a reference to a missing memo");
    stack_.push_back(found->second);
  }

  bool object(uint8_t code) {
    switch (code) {
    case 'c': {
      const std::string module = line();
      stack_.push_back(global(module + "." + line()));
      return true;
    }
    case 0x93: { // STACK_GLOBAL
      const Item name = pop(), module = pop();
      if (!name.node || !module.node)
        fail("a complete pickle", "a name that is not text");
      stack_.push_back(global(module.node->name + "." + name.node->name));
      return true;
    }
    case 'R': {
      (void)pop(); // arguments
      const Item function = pop();
      if (function.kind != Item::Kind::global)
        fail("a complete pickle", "a call of something other than a function");
      stack_.push_back(make(Item::Kind::object, {}, function.node->name));
      return true;
    }
    case 'b': {
      const Item state = pop();
      if (stack_.empty() || stack_.back().kind != Item::Kind::object)
        fail("a complete pickle", "a state without an object");
      stack_.back().node->items = {state};
      return true;
    }
    default:
      return false;
    }
  }
  Item global(const std::string &name) {
    static constexpr std::string_view known[] = {"numpy.core.multiarray._reconstruct",
                                                 "numpy._core.multiarray._reconstruct", "numpy.ndarray", "numpy.dtype",
                                                 "_codecs.encode"};
    if (std::ranges::find(known, name) == std::end(known))
      fail("a pickled array of lists of integers", fmt::format("an object of {}", name));
    return make(Item::Kind::global, {}, name);
  }

  const std::string &path_;
  std::string_view text_;
  size_t at_ = 0;
  std::vector<Item> stack_;
  std::unordered_map<uint64_t, Item> memo_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

/// The pickle after the header of a .npy file.
std::string_view pickleIn(const std::string &name, std::string_view file) {
  const auto refuse = [&](const std::string &found) {
    refuseFile(name, "the .npy data of an array of objects", found);
  };
  if (!file.starts_with("\x93NUMPY") || file.size() < 12)
    refuse("other data");
  const bool isShort = file[6] == 1;
  uint32_t length = 0;
  std::memcpy(&length, file.data() + 8, isShort ? 2 : 4);
  file.remove_prefix(isShort ? 10 : 12);
  if (length > file.size())
    refuse("an unterminated header");
  if (const std::string_view header = file.substr(0, length); header.find("'|O'") == header.npos)
    refuse("an array of another dtype");
  return file.substr(length);
}

/// The lists of a rebuilt one-dimensional array. They are the last part of its state; the second part is the shape.
const std::vector<Item> *listsOf(const Item &array) {
  if (array.kind != Item::Kind::object || !array.node->name.ends_with("_reconstruct") || array.node->items.size() != 1)
    return nullptr;
  const Item &state = array.node->items[0];
  if (state.kind != Item::Kind::tuple || state.node->items.size() != 5)
    return nullptr;
  const Item &shape = state.node->items[1], &lists = state.node->items[4];
  if (shape.kind != Item::Kind::tuple || shape.node->items.size() != 1 || lists.kind != Item::Kind::list ||
      shape.node->items[0].number != std::ssize(lists.node->items))
    return nullptr;
  return &lists.node->items;
}

} // namespace

std::vector<std::vector<int64_t>> readIntegerLists(const std::string &name, std::span<const std::byte> bytes) {
  const std::string_view file(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  const auto requireRoom = [&](uint64_t items, uint64_t each) {
    const auto needed = static_cast<int64_t>(std::min<uint64_t>(items, INT64_MAX / each) * each);
    if (!fitsMemory(needed))
      refuseFile(name, "enough memory for its lists", memoryShortage(needed));
  };
  requireRoom(bytes.size(), 16); // an opcode creates at most one value
  Unpickler unpickler(name, pickleIn(name, file));
  const Item array = unpickler.run();
  const std::vector<Item> *lists = listsOf(array);
  const auto refuse = [&](const char *found) { refuseFile(name, "an array of lists of integers", found); };
  if (!lists)
    refuse("another object");
  uint64_t count = 0; // a list may be referenced many times
  for (const Item &list : *lists) {
    if (list.kind != Item::Kind::list)
      refuse("an element that is not a list");
    count += list.node->items.size() + 3;
    requireRoom(count, sizeof(int64_t));
  }
  std::vector<std::vector<int64_t>> result;
  for (const Item &list : *lists) {
    std::vector<int64_t> &numbers = result.emplace_back();
    for (const Item &item : list.node->items) {
      if (item.kind != Item::Kind::integer)
        refuse("a list with a value other than an integer");
      numbers.push_back(item.number);
    }
  }
  return result;
}

} // namespace halftone::detail
