// Translates regular expressions from Python's grammar to PCRE2's.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/policy/PythonRegex.h"
#include "halftone/Error.h"
#include "runtime/policy/PythonText.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <vector>

using namespace halftone;

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isOctal(char c) { return c >= '0' && c <= '7'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isHex(char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool isBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// The translation of one literal, or of a class such as \d.
struct Escape {
  std::optional<char32_t> literal;
  std::string text; // in PCRE2's grammar
};

class Translator {
public:
  explicit Translator(std::string_view pattern) : source(pattern) {}
  TranslatedRegex run();

private:
  enum class Item : uint8_t { none, anchor, atom, repeated }; // the operand of a quantifier at this offset
  struct Group {
    size_t begin;
    int number; // 0: the group does not capture
    bool verboseOutside;
  };

  std::string_view source;
  size_t at = 0;
  TranslatedRegex result;
  std::vector<Group> open;
  std::vector<bool> closed{true}; // indexed by the number of the group
  std::map<std::string, int, std::less<>> names;
  Item item = Item::none;
  bool verbose = false, onlyFlagsSoFar = true;

  [[noreturn]] void fail(const std::string &what, size_t position) const {
    const std::string_view before = source.substr(0, std::min(position, source.size()));
    const auto characters = std::count_if(before.begin(), before.end(), [](char c) { return (c & 0xc0) != 0x80; });
    throw Error(ErrorKind::value_error, fmt::format("{} at position {}", what, characters));
  }
  bool more() const { return at < source.size(); }
  bool next(char c) const { return more() && source[at] == c; }
  bool take(char c) { return next(c) ? (++at, true) : false; }
  void emit(std::string_view text) { result.pattern += text; }
  void atom(std::string_view text) {
    emit(text);
    item = Item::atom;
  }

  std::string_view character();
  std::string_view upTo(char end, const char *what, size_t begin);
  static std::string literal(char32_t code);
  Escape commonEscape(size_t begin, char c);
  void escape();
  Escape classMember(bool &isEscape);
  void characterClass();
  void quantifier();
  bool bounds(std::string &text);
  void reference(int number, size_t begin);
  void openGroup(size_t begin, std::string_view text, int number);
  void extension(size_t begin);
  void namedExtension(size_t begin);
  void condition(size_t begin);
  void flags(size_t begin);
};

/// One UTF-8 character. PCRE2 validates it.
std::string_view Translator::character() {
  size_t end = at + 1;
  while (end < source.size() && (source[end] & 0xc0) == 0x80)
    ++end;
  const std::string_view text = source.substr(at, end - at);
  at = end;
  return text;
}

std::string_view Translator::upTo(char end, const char *what, size_t begin) {
  const size_t found = source.find(end, at);
  if (found == source.npos)
    fail(fmt::format("missing {}, unterminated name", end), begin);
  const std::string_view text = source.substr(at, found - at);
  if (text.empty())
    fail(fmt::format("missing {}", what), begin);
  at = found + 1;
  return text;
}

std::string Translator::literal(char32_t code) {
  if (code < 0x80 && code > 0x20 && code != 0x7f && !isDigit(char(code)) && !isLetter(char(code)) && code != '_')
    return {'\\', char(code)};
  if (code < 0x80 && code > 0x20 && code != 0x7f)
    return {char(code)};
  return fmt::format("\\x{{{:x}}}", uint32_t(code));
}

/// Translates the escape `\c` if it means the same inside and outside of character classes. For other escapes neither
/// field is set.
Escape Translator::commonEscape(size_t begin, char c) {
  const auto hex = [&](size_t digits) {
    const std::string_view text = source.substr(at, digits);
    const size_t good = std::find_if_not(text.begin(), text.end(), isHex) - text.begin();
    if (good < digits)
      fail(fmt::format("incomplete escape {}", source.substr(begin, at - begin + good)), begin);
    at += digits;
    uint32_t code = 0;
    std::from_chars(text.data(), text.data() + digits, code, 16);
    if (code > 0x10ffff)
      fail(fmt::format("bad escape {}", source.substr(begin, at - begin)), begin);
    return Escape{char32_t(code), ""};
  };
  constexpr std::string_view controls = "afnrtv";
  if (const size_t which = controls.find(c); which != controls.npos)
    return {char32_t("\a\f\n\r\t\v"[which]), ""};
  if (std::string_view("dDsSwW").find(c) != std::string_view::npos)
    return {std::nullopt, {'\\', c}};
  switch (c) {
  case 'x':
    return hex(2);
  case 'u':
    return hex(4);
  case 'U':
    return hex(8);
  case 'N':
    fail("\\N{...} is not supported here; write the character or \\uXXXX", begin);
  case '0': {
    char32_t code = 0;
    for (int digits = 0; digits < 2 && more() && isOctal(source[at]); ++digits)
      code = code * 8 + (source[at++] - '0');
    return {code, ""};
  }
  default:
    return {};
  }
}

void Translator::escape() {
  const size_t begin = at++;
  if (!more())
    fail("bad escape (end of pattern)", begin);
  const char c = source[at];
  if (c == 'A' || c == 'b' || c == 'B' || c == 'Z' || c == 'z') {
    ++at;
    emit(c == 'Z' ? std::string("\\z") : std::string{'\\', c});
    item = Item::anchor;
    return;
  }
  if (isDigit(c) && c != '0') {
    int number = source[at++] - '0';
    if (more() && isDigit(source[at])) {
      if (isOctal(c) && isOctal(source[at]) && at + 1 < source.size() && isOctal(source[at + 1])) {
        const int code = number * 64 + (source[at] - '0') * 8 + (source[at + 1] - '0');
        at += 2;
        if (code > 0377)
          fail(fmt::format("octal escape value {} outside of range 0-0o377", source.substr(begin, 4)), begin);
        return atom(literal(code));
      }
      number = number * 10 + (source[at++] - '0');
    }
    return reference(number, begin + 1);
  }
  if (c & 0x80)
    return atom(character());
  ++at;
  const Escape known = commonEscape(begin, c);
  if (known.literal)
    return atom(literal(*known.literal));
  if (!known.text.empty())
    return atom(known.text);
  if (isLetter(c))
    fail(fmt::format("bad escape \\{}", c), begin);
  atom(literal(static_cast<unsigned char>(c)));
}

void Translator::reference(int number, size_t begin) {
  if (size_t(number) >= closed.size())
    fail(fmt::format("invalid group reference {}", number), begin);
  if (!closed[number])
    fail("cannot refer to an open group", begin);
  atom(fmt::format("\\g{{{}}}", number));
}

/// One member of a character class; sets `isEscape` if it denotes several characters.
Escape Translator::classMember(bool &isEscape) {
  isEscape = false;
  const size_t begin = at;
  if (!next('\\')) {
    const std::string_view text = character();
    if (text.size() == 1 && !(text[0] & 0x80))
      return {char32_t(text[0]), literal(text[0])};
    char32_t code = text[0] & (0xff >> (text.size() + 1));
    for (char c : text.substr(1))
      code = code << 6 | (c & 0x3f);
    return {code, std::string(text)};
  }
  ++at;
  if (!more())
    fail("bad escape (end of pattern)", begin);
  const char c = source[at];
  if (c & 0x80)
    return classMember(isEscape);
  ++at;
  Escape known = commonEscape(begin, c);
  if (c == 'b')
    known.literal = U'\b';
  else if (isOctal(c) && c != '0') {
    int code = c - '0';
    for (int digits = 0; digits < 2 && more() && isOctal(source[at]); ++digits)
      code = code * 8 + (source[at++] - '0');
    if (code > 0377)
      fail(fmt::format("octal escape value {} outside of range 0-0o377", source.substr(begin, at - begin)), begin);
    known.literal = char32_t(code);
  }
  isEscape = !known.text.empty();
  if (isEscape)
    return known;
  if (!known.literal) {
    if (isLetter(c) || isDigit(c))
      fail(fmt::format("bad escape \\{}", c), begin);
    known.literal = char32_t(c);
  }
  known.text = literal(*known.literal);
  return known;
}

void Translator::characterClass() {
  const size_t begin = at++;
  std::string text = take('^') ? "[^" : "[";
  for (bool first = true;; first = false) {
    if (!more())
      fail("unterminated character set", begin);
    if (!first && take(']'))
      break;
    const size_t memberBegin = at;
    bool isEscape = false, endIsEscape = false;
    const Escape low = classMember(isEscape);
    text += low.text;
    if (!next('-'))
      continue;
    ++at;
    if (!more())
      fail("unterminated character set", begin);
    if (take(']')) {
      text += "\\-";
      break;
    }
    const Escape high = classMember(endIsEscape);
    if (isEscape || endIsEscape || *high.literal < *low.literal)
      fail(fmt::format("bad character range {}", source.substr(memberBegin, at - memberBegin)), memberBegin);
    text += "-" + high.text;
  }
  atom(text + "]");
}

/// Reads "{m}", "{m,}", "{,n}" or "{m,n}"; other text in braces is literal.
bool Translator::bounds(std::string &text) {
  size_t end = at + 1;
  const auto digits = [&] {
    const size_t begin = end;
    while (end < source.size() && isDigit(source[end]))
      ++end;
    return std::string(source.substr(begin, end - begin));
  };
  const std::string low = digits();
  const bool comma = end < source.size() && source[end] == ',';
  if (comma)
    ++end;
  const std::string high = comma ? digits() : low;
  if (end >= source.size() || source[end] != '}' || (!comma && low.empty()))
    return false;
  const auto number = [](const std::string &n) { return n.size() > 9 ? 1000000000L : std::stol(n); };
  if (!low.empty() && !high.empty() && number(high) < number(low))
    fail("min repeat greater than max repeat", at);
  text = !comma ? "{" + low + "}" : "{" + (low.empty() ? "0" : low) + "," + high + "}";
  at = end + 1;
  return true;
}

void Translator::quantifier() {
  const size_t begin = at;
  std::string text(1, source[at]);
  if (text == "{") {
    if (!bounds(text)) {
      ++at;
      return atom("\\{");
    }
  } else {
    ++at;
  }
  if (item == Item::none || item == Item::anchor)
    fail("nothing to repeat", begin);
  if (item == Item::repeated)
    fail("multiple repeat", begin);
  if (next('?') || next('+'))
    text += source[at++];
  emit(text);
  item = Item::repeated;
}

void Translator::openGroup(size_t begin, std::string_view text, int number) {
  open.push_back({begin, number, verbose});
  emit(text);
  item = Item::none;
}

void Translator::namedExtension(size_t begin) {
  if (take('=')) {
    const size_t nameAt = at;
    const std::string_view name = upTo(')', "group name", nameAt);
    const auto found = names.find(name);
    if (found == names.end())
      fail(fmt::format("unknown group name {}", pythonRepr(name)), nameAt);
    return reference(found->second, nameAt);
  }
  if (!take('<'))
    fail(more() ? fmt::format("unknown extension ?P{}", source[at]) : "unexpected end of pattern", begin + 1);
  const size_t nameAt = at;
  const std::string name(upTo('>', "group name", nameAt));
  const int number = int(closed.size());
  if (isDigit(name[0]) || std::any_of(name.begin(), name.end(),
                                      [](char c) { return !(c & 0x80) && !isLetter(c) && !isDigit(c) && c != '_'; }))
    fail(fmt::format("bad character in group name {}", pythonRepr(name)), nameAt);
  if (!names.emplace(name, number).second)
    fail(fmt::format("redefinition of group name {} as group {}; was group {}", pythonRepr(name), number,
                     names.at(name)),
         nameAt);
  closed.push_back(false);
  openGroup(begin, "(?P<" + name + ">", number);
}

void Translator::condition(size_t begin) {
  const size_t nameAt = at;
  const std::string_view name = upTo(')', "group name", nameAt);
  if (std::all_of(name.begin(), name.end(), isDigit)) {
    if (name.find_first_not_of('0') == name.npos)
      fail("bad group number", nameAt);
    openGroup(begin, fmt::format("(?({})", name), 0);
  } else {
    if (!names.count(name))
      fail(fmt::format("unknown group name {}", pythonRepr(name)), nameAt);
    openGroup(begin, fmt::format("(?(<{}>)", name), 0);
  }
}

/// Reads "(?i)" for the whole pattern or "(?i-s:" for a group.
void Translator::flags(size_t begin) {
  std::string on, off;
  bool removing = false;
  for (; more() && source[at] != ')' && source[at] != ':'; ++at) {
    const char c = source[at];
    if (c == '-' && !removing) {
      removing = true;
      continue;
    }
    if (c == 'L')
      fail("bad inline flags: cannot use 'L' flag with a str pattern", at);
    if (std::string_view(removing ? "imsx" : "aimsux").find(c) == std::string_view::npos)
      fail(isLetter(c) ? "unknown flag" : "missing -, : or )", at);
    (removing ? off : on) += c;
  }
  if (!more())
    fail("missing -, : or )", at);
  const bool whole = source[at] == ')';
  if (removing && (whole || off.empty()))
    fail(whole ? "missing :" : "missing flag", at);
  if (std::any_of(off.begin(), off.end(), [&](char c) { return on.find(c) != on.npos; }))
    fail("bad inline flags: flag turned on and off", at);
  if (whole && (!onlyFlagsSoFar || !open.empty()))
    fail("global flags not at the start of the expression", begin);
  const bool ascii = on.find('a') != on.npos, unicode = on.find('u') != on.npos;
  if (ascii && unicode)
    fail("bad inline flags: flags 'a', 'u' and 'L' are incompatible", at);
  if (!whole && (ascii || unicode))
    fail("the flags 'a' and 'u' are supported for the whole pattern only", at);
  ++at;
  const bool nowVerbose = (verbose || on.find('x') != on.npos) && off.find('x') == off.npos;
  for (std::string *kept : {&on, &off}) // the translator itself removes the whitespace and comments of verbose groups
    std::erase_if(*kept, [](char c) { return c == 'a' || c == 'u' || c == 'x'; });
  if (whole) {
    result.ascii |= ascii;
    verbose = nowVerbose;
    if (!on.empty())
      emit("(?" + on + ")");
  } else {
    openGroup(begin, "(?" + on + (off.empty() ? "" : "-" + off) + ":", 0);
    verbose = nowVerbose;
  }
}

/// Reads the rest of a group that begins with "(?".
void Translator::extension(size_t begin) {
  if (!more())
    fail("unexpected end of pattern", begin + 1);
  const char c = source[at++];
  switch (c) {
  case ':':
  case '=':
  case '!':
  case '>':
    return openGroup(begin, std::string{'(', '?', c}, 0);
  case '<':
    if (!next('=') && !next('!'))
      fail(more() ? fmt::format("unknown extension ?<{}", source[at]) : "unexpected end of pattern", begin + 1);
    return openGroup(begin, source[at++] == '=' ? "(?<=" : "(?<!", 0);
  case '#': {
    const size_t end = source.find(')', at);
    if (end == source.npos)
      fail("missing ), unterminated comment", begin);
    at = end + 1;
    return;
  }
  case 'P':
    return namedExtension(begin);
  case '(':
    return condition(begin);
  default:
    --at;
    if (c != '-' && !isLetter(c))
      fail(fmt::format("unknown extension ?{}", character()), begin + 1);
    return flags(begin);
  }
}

TranslatedRegex Translator::run() {
  while (more()) {
    const char c = source[at];
    const size_t begin = at;
    const size_t before = result.pattern.size();
    bool flagsOnly = false;
    if (verbose && isBlank(c)) {
      ++at;
    } else if (verbose && c == '#') {
      at = std::min(source.find('\n', at), source.size());
    } else if (c == '\\') {
      escape();
    } else if (c == '[') {
      characterClass();
    } else if (c == '*' || c == '+' || c == '?' || c == '{') {
      quantifier();
    } else if (c == '(') {
      ++at;
      if (take('?')) {
        const size_t depth = open.size();
        extension(begin);
        flagsOnly = open.size() == depth && item == Item::none;
      } else {
        closed.push_back(false);
        openGroup(begin, "(", int(closed.size()) - 1);
      }
    } else if (c == ')') {
      if (open.empty())
        fail("unbalanced parenthesis", at);
      ++at;
      const Group group = open.back();
      open.pop_back();
      if (group.number)
        closed[group.number] = true;
      verbose = group.verboseOutside;
      atom(")");
    } else if (c == '|') {
      ++at;
      emit("|");
      item = Item::none;
    } else if (c == '^' || c == '$') {
      ++at;
      emit({&c, 1});
      item = Item::anchor;
    } else if (c == '.') {
      ++at;
      atom(".");
    } else {
      const std::string_view text = character();
      atom(text.size() == 1 && !(c & 0x80) ? literal(c) : std::string(text));
    }
    if (result.pattern.size() != before && !flagsOnly)
      onlyFlagsSoFar = false;
  }
  if (!open.empty())
    fail("missing ), unterminated subpattern", open.back().begin);
  return result;
}

} // namespace

TranslatedRegex halftone::translatePythonRegex(std::string_view pattern) { return Translator(pattern).run(); }
