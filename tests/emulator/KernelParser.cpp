// Kernels: parameters, registers, shared variables, labels and statements.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Decoding.h"
#include "tests/emulator/Fault.h"
#include "tests/emulator/PtxTokens.h"
#include "tests/emulator/Requirements.h"
#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>

namespace halftone::emulator {

namespace {

constexpr uint64_t maxLocalBytes = 512 << 10; // per thread
constexpr uint32_t maxRegistersOfOneName = 1 << 20;

uint32_t alignUp(uint64_t value, uint32_t alignment) {
  return static_cast<uint32_t>((value + alignment - 1) & ~uint64_t(alignment - 1));
}

class KernelParser {
public:
  KernelParser(PtxTokens &tokens, const Module &module, const std::vector<Declaration> &shared)
      : tokens_(tokens), module_(module), names_(kernel_) {
    for (const Declaration &declaration : shared)
      addShared(declaration);
    names_.openScope();
  }

  Kernel parse() {
    kernel_.name = tokens_.expectWord("the name of a kernel");
    parseParameters();
    parseDirectives();
    tokens_.expect("{");
    while (!(names_.isBody() && tokens_.take("}")))
      parseBodyItem();
    resolveBranches();
    if (!labels_.back().branches.empty())
      failBranch(labels_.back().branches.front());
    placeOpenShared();
    kernel_.instructions.push_back(end());
    return std::move(kernel_);
  }

private:
  /// A reference to a label, to be replaced by the index of the instruction at the label: the target of a branch, or an
  /// element of Kernel::branchTargets. An indexed branch refers to a list of targets.
  struct Branch {
    enum class Kind : uint8_t { Direct, Indexed, Element };
    Kind kind;
    size_t place; ///< index of the instruction or of the element
    std::string label;
    uint32_t line;
  };

  /// The labels of one scope, and the branches in it and in the scopes inside it whose labels are not known yet.
  struct Labels {
    std::map<std::string, uint32_t, std::less<>> places;
    std::map<std::string, std::vector<Branch>, std::less<>> lists; ///< .branchtargets: elements without positions
    std::vector<Branch> branches;
  };

  /// Running off the end of the kernel means `ret`.
  Instruction end() const {
    Instruction made;
    made.flow = Flow::Exit;
    made.line = tokens_.peek().line;
    return made;
  }

  void parseParameters() {
    if (!tokens_.take("("))
      return;
    while (!tokens_.take(")")) {
      tokens_.expect(".param");
      Declaration declaration = parseDeclaration(tokens_);
      uint32_t offset = alignUp(kernel_.parameterBytes, declaration.alignment);
      kernel_.parameters.push_back({declaration.name, offset, static_cast<uint32_t>(declaration.bytes)});
      kernel_.parameterBytes = offset + declaration.bytes;
      declare(names_.declareSymbol(declaration.name, offset), declaration.name);
      if (!tokens_.at(")"))
        tokens_.expect(",");
    }
  }

  void parseThreads(std::array<uint32_t, 3> &threads) {
    threads = {1, 1, 1};
    for (uint32_t &count : threads) {
      count = tokens_.expectCount(1024);
      if (!tokens_.take(","))
        return;
    }
  }

  void parseDirectives() {
    while (!tokens_.at("{")) {
      if (tokens_.take(".maxntid"))
        parseThreads(kernel_.maxThreads);
      else if (tokens_.take(".reqntid"))
        parseThreads(kernel_.requiredThreads);
      else if (tokens_.take(".minnctapersm") || tokens_.take(".maxnreg"))
        tokens_.expectCount(1024);
      else if (!tokens_.take(".noreturn"))
        tokens_.fail(fmt::format("`{}`; the emulator does not take it before a kernel's body", tokens_.peek().text));
    }
  }

  void parseBodyItem() {
    const Token &token = tokens_.peek();
    if (token.kind == Token::Kind::End)
      tokens_.fail(fmt::format("the kernel {} ends without `}}`", kernel_.name));
    if (tokens_.take("{")) {
      names_.openScope();
      labels_.emplace_back();
    } else if (tokens_.take("}"))
      closeScope();
    else if (tokens_.take(".reg"))
      parseRegisters();
    else if (tokens_.take(".shared")) {
      addShared(parseDeclaration(tokens_));
      tokens_.expect(";");
    } else if (tokens_.take(".local")) {
      addLocal(parseDeclaration(tokens_));
      tokens_.expect(";");
    } else if (tokens_.take(".pragma")) {
      tokens_.next();
      tokens_.expect(";");
    } else if (token.text[0] == '.')
      tokens_.fail(fmt::format("`{}`; the emulator does not take it in a kernel", token.text));
    else if (token.kind == Token::Kind::Word && tokens_.peek(1).text == ":") {
      parseLabel();
    } else
      parseStatement();
  }

  void closeScope() {
    resolveBranches();
    std::vector<Branch> open = std::move(labels_.back().branches);
    labels_.pop_back();
    names_.closeScope();
    std::ranges::move(open, std::back_inserter(labels_.back().branches));
  }

  void declare(bool isNew, const std::string &name) const {
    if (!isNew)
      tokens_.fail(fmt::format("{} is declared twice in one scope of {}", name, kernel_.name));
  }

  void parseLabel() {
    std::string name(tokens_.next().text);
    tokens_.next();
    Labels &labels = labels_.back();
    declare(!labels.places.contains(name) && !labels.lists.contains(name), name);
    if (tokens_.take(".branchtargets")) {
      std::vector<Branch> &targets = labels.lists[name];
      do {
        uint32_t line = tokens_.peek().line;
        targets.push_back({Branch::Kind::Element, 0, std::string(tokens_.expectWord("a label")), line});
      } while (tokens_.take(","));
      tokens_.expect(";");
    } else
      labels.places[name] = kernel_.instructions.size();
  }

  void parseRegisters() {
    std::string_view word = tokens_.expectWord("a type of registers");
    std::optional<Type> type = word[0] == '.' ? typeNamed(word.substr(1)) : std::nullopt;
    if (!type || type->bits == 8)
      tokens_.fail(fmt::format("`{}`; expected .pred or a type of 16, 32 or 64 bits", word));
    do {
      std::string name(tokens_.expectWord("the name of a register"));
      if (!tokens_.take("<")) {
        declare(names_.declareRegister(name, type->bits), name);
        continue;
      }
      uint32_t count = tokens_.expectCount(maxRegistersOfOneName);
      for (uint32_t i = 0; i < count; ++i)
        declare(names_.declareRegister(name + std::to_string(i), type->bits), name + std::to_string(i));
      tokens_.expect(">");
    } while (tokens_.take(","));
    tokens_.expect(";");
  }

  void addShared(const Declaration &declaration) {
    if (declaration.isOpen) {
      open_.push_back(declaration);
      return;
    }
    uint32_t address = alignUp(firstSharedAddress + kernel_.staticSharedBytes, declaration.alignment);
    if (address + declaration.bytes > (1 << 20))
      tokens_.fail(fmt::format("{} has {} bytes of shared memory", declaration.name, declaration.bytes));
    kernel_.staticSharedBytes = address + declaration.bytes - firstSharedAddress;
    declare(names_.declareSymbol(declaration.name, address), declaration.name);
  }

  void addLocal(const Declaration &declaration) {
    if (declaration.isOpen || declaration.bytes > maxLocalBytes)
      tokens_.fail(fmt::format("{}; expected at most {} bytes of local memory", declaration.name, maxLocalBytes));
    const uint32_t start = alignUp(kernel_.localBytes, declaration.alignment);
    kernel_.localBytes = start + static_cast<uint32_t>(declaration.bytes);
  }

  /// Shared memory whose size is given at launch follows all other shared memory: its address is known once the body
  /// has been read.
  void placeOpenShared() {
    for (const Declaration &declaration : open_)
      kernel_.staticSharedBytes =
          alignUp(kernel_.staticSharedBytes + firstSharedAddress, declaration.alignment) - firstSharedAddress;
    std::erase_if(kernel_.relocations, [&](const Relocation &relocation) {
      bool isOpen = std::ranges::any_of(open_, [&](const Declaration &d) { return d.name == relocation.symbol; });
      if (isOpen)
        fillRelocation(kernel_, relocation, firstSharedAddress + kernel_.staticSharedBytes);
      return isOpen;
    });
  }

  void parseStatement() {
    Statement statement;
    statement.line = tokens_.peek().line;
    if (tokens_.take("@")) {
      statement.guardNegated = tokens_.take("!");
      statement.guard = tokens_.expectWord("a predicate");
    }
    splitOpcode(tokens_.expectWord("an instruction"), statement);
    while (!tokens_.take(";")) {
      statement.operands.push_back(parseOperand());
      if (!tokens_.at(";"))
        tokens_.expect(",");
    }
    decode(statement);
  }

  OperandText parseOperand() {
    OperandText made;
    if (tokens_.take("{")) {
      made.kind = OperandText::Kind::Vector;
      do
        made.parts.push_back(parseOperand());
      while (tokens_.take(","));
      tokens_.expect("}");
    } else if (tokens_.take("[")) {
      made.kind = OperandText::Kind::Address;
      made.baseIsNumber = tokens_.peek().kind == Token::Kind::Number;
      made.text = tokens_.next().text;
      parseAddend(made);
      tokens_.expect("]");
    } else
      made = parseSimpleOperand();
    return made;
  }

  void parseAddend(OperandText &operand) {
    if (tokens_.take("+"))
      operand.addend = tokens_.expectInteger();
    else if (tokens_.at("-"))
      operand.addend = tokens_.expectInteger();
  }

  OperandText parseSimpleOperand() {
    OperandText made;
    made.negated = tokens_.take("!") || tokens_.take("-");
    Token token = tokens_.next();
    made.text = token.text;
    if (token.kind == Token::Kind::Number) {
      made.kind = OperandText::Kind::Number;
      return made;
    }
    if (token.kind != Token::Kind::Word)
      throw PtxError(token.line, fmt::format("`{}`; expected an operand", token.text));
    if (token.text == "_")
      made.kind = OperandText::Kind::Sink;
    if (tokens_.take("|")) {
      OperandText pair;
      pair.kind = OperandText::Kind::Pair;
      pair.text = made.text;
      pair.parts = {made, parseSimpleOperand()};
      return pair;
    }
    parseAddend(made);
    return made;
  }

  void decode(const Statement &statement) {
    Instruction made;
    made.line = statement.line;
    Decoding decoding(statement, names_, made);
    if (const Requirement least = requirementOf(statement);
        least.version > module_.version || least.target > module_.target)
      decoding.fail(fmt::format("the module has .version {} and .target sm_{}; expected at least {} and sm_{}",
                                versionText(module_.version), module_.target, versionText(least.version),
                                least.target));
    if (!statement.guard.empty()) {
      OperandText guard;
      guard.text = statement.guard;
      made.guard = decoding.read(guard, 1);
      made.guardNegated = statement.guardNegated;
    }
    if (statement.opcode == "brx")
      noteIndexedBranch(statement, decoding, made);
    else if (statement.opcode == "bra")
      noteBranch(statement, decoding, made);
    else if (statement.opcode == "ret" || statement.opcode == "exit") {
      decoding.take("uni");
      decoding.expectOperands(0);
      made.flow = Flow::Exit;
    } else if (Decode decoder = findDecoder(statement.opcode))
      decoder(decoding);
    else
      decoding.fail(fmt::format("the emulator does not know the opcode {}", statement.opcode));
    decoding.finish();
    kernel_.instructions.push_back(made);
  }

  void noteBranch(const Statement &statement, Decoding &decoding, Instruction &made) {
    decoding.take("uni");
    decoding.expectOperands(1);
    made.flow = Flow::Branch;
    labels_.back().branches.push_back(
        {Branch::Kind::Direct, kernel_.instructions.size(), std::string(statement.operands[0].text), statement.line});
  }

  void noteIndexedBranch(const Statement &statement, Decoding &decoding, Instruction &made) {
    decoding.take("idx");
    decoding.take("uni");
    decoding.expectOperands(2);
    made.flow = Flow::IndexedBranch;
    made.operands[0] = decoding.read(0, 32);
    labels_.back().branches.push_back(
        {Branch::Kind::Indexed, kernel_.instructions.size(), std::string(statement.operands[1].text), statement.line});
  }

  [[noreturn]] void failBranch(const Branch &branch) const {
    throw PtxError(branch.line,
                   fmt::format("a branch to {}; expected {} of {} in its scope or around it", branch.label,
                               branch.kind == Branch::Kind::Indexed ? ".branchtargets" : "a label", kernel_.name));
  }

  /// Resolves the branches of the innermost scope, which ends, to its labels; branches to other labels remain. Elements
  /// of a list are resolved from the scope that declares the list.
  void resolveBranches() {
    Labels &labels = labels_.back();
    std::vector<Branch> elements;
    std::erase_if(labels.branches, [&](const Branch &branch) {
      auto list = labels.lists.find(branch.label);
      if (branch.kind != Branch::Kind::Indexed || list == labels.lists.end())
        return false;
      Instruction &made = kernel_.instructions[branch.place];
      made.target = kernel_.branchTargets.size();
      made.mode = list->second.size();
      for (Branch &element : list->second) {
        element.place = kernel_.branchTargets.size();
        kernel_.branchTargets.push_back(0);
        elements.push_back(element);
      }
      return true;
    });
    std::ranges::move(elements, std::back_inserter(labels.branches));
    std::erase_if(labels.branches, [&](const Branch &branch) {
      auto label = labels.places.find(branch.label);
      if (branch.kind == Branch::Kind::Indexed || label == labels.places.end())
        return false;
      bool isElement = branch.kind == Branch::Kind::Element;
      (isElement ? kernel_.branchTargets[branch.place] : kernel_.instructions[branch.place].target) = label->second;
      return true;
    });
  }

  PtxTokens &tokens_;
  const Module &module_;
  Kernel kernel_;
  KernelNames names_;
  std::vector<Labels> labels_{1}; ///< one per scope, the innermost last
  std::vector<Declaration> open_;
};

} // namespace

Kernel parseKernel(PtxTokens &tokens, const Module &module, const std::vector<Declaration> &shared) {
  return KernelParser(tokens, module, shared).parse();
}

} // namespace halftone::emulator
