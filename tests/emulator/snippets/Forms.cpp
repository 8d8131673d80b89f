// The forms of instructions that operate on the numbers of a single thread.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/snippets/Forms.h"
#include "tests/emulator/Ptx.h"
#include "tests/emulator/PtxStatement.h"
#include "tests/emulator/Requirements.h"
#include "tests/emulator/snippets/Catalogue.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end)
      parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// The instruction in one statement of a form's text, without its guard.
std::string_view instructionOf(std::string_view statement) {
  std::vector<std::string_view> words = split(statement, ' ');
  if (!words.empty() && words[0][0] == '@')
    words.erase(words.begin());
  if (!words.empty() && words[0].ends_with(':'))
    words.erase(words.begin());
  return words.empty() || words[0] == "{" || words[0] == "}" ? std::string_view() : words[0];
}

std::string textWith(std::string_view operation, size_t sources) {
  std::string text = fmt::format("{} %d", operation);
  for (size_t i = 0; i < sources; ++i)
    text += fmt::format(", %s{}", i);
  return text + ";";
}

constexpr Tolerance anyNan{0, 0, true};

/// `shape` lists the result and the sources: `t` is the operation's type, `W` a type of twice the bits, `w` a word, and
/// `h` a shift distance.
void addFamily(Catalogue &to, std::string_view operations, std::string_view shape, Tolerance tolerance = {}) {
  for (std::string_view operation : split(operations, ' ')) {
    const Source own = sourceOf(operation.substr(operation.rfind('.') + 1));
    auto source = [&](char letter) {
      return letter == 't'   ? own
             : letter == 'W' ? Source{uint8_t(2 * own.bits)}
             : letter == 'h' ? Source{32, Input::Bits, Range::Shift}
                             : Source{32};
    };
    Form form{std::string(operation), textWith(operation, shape.size() - 1), source(shape[0]).bits, 1, {}, tolerance};
    for (char letter : shape.substr(1))
      form.sources.push_back(source(letter));
    form.result = shape[0] == 't' ? own.input : Input::Bits;
    form.tolerance.anyNan |= form.result == Input::F64;
    to.add(std::move(form));
  }
}

void addIntegers(Catalogue &to) {
  addFamily(to,
            "abs.s16 abs.s32 abs.s64 neg.s16 neg.s32 neg.s64 not.b16 not.b32 not.b64 brev.b32 mov.b16 mov.b32 mov.b64 "
            "mov.u32",
            "tt");
  addFamily(to,
            "add.s16 add.s32 add.s64 add.u16 add.u32 add.u64 sub.s16 sub.s32 sub.s64 sub.u16 sub.u32 sub.u64 "
            "mul.lo.s16 mul.lo.s32 mul.lo.s64 mul.lo.u16 mul.lo.u32 mul.lo.u64 mul.hi.s16 mul.hi.u16 mul.hi.s32 "
            "mul.hi.u32 mul.hi.s64 mul.hi.u64 min.s16 min.s32 min.s64 min.u16 min.u32 min.u64 max.s16 max.s32 max.s64 "
            "max.u16 max.u32 max.u64 and.b16 and.b32 and.b64 or.b16 or.b32 or.b64 xor.b16 xor.b32 xor.b64",
            "ttt");
  addFamily(to, "mad.lo.s16 mad.lo.s32 mad.lo.s64 mad.lo.u32 prmt.b32", "tttt");
  addFamily(to, "mul.wide.s16 mul.wide.u16 mul.wide.s32 mul.wide.u32", "Wtt");
  addFamily(to, "mad.wide.s32 mad.wide.u32", "WttW");
  addFamily(to, "shl.b16 shl.b32 shl.b64 shr.s16 shr.s32 shr.s64 shr.u16 shr.u32 shr.u64", "tth");
  addFamily(to, "shf.l.wrap.b32 shf.r.wrap.b32 shf.l.clamp.b32 shf.r.clamp.b32", "ttth");
  addFamily(to, "bfe.u32 bfe.s32 bfe.u64 bfe.s64", "tthh");
  addFamily(to, "bfi.b32", "ttthh");
  addFamily(to, "popc.b32 popc.b64 clz.b32 clz.b64", "wt");
  to.add({"lop3.b32", "lop3.b32 %d, %s0, %s1, %s2, 0xca;", 32, 1, {{32}, {32}, {32}}});
  // The PTX ISA does not define the result of a division by zero.
  for (const char *operation : {"div", "rem"})
    for (const char *type : {"s16", "u16", "s32", "u32", "s64", "u64"}) {
      const Source own = sourceOf(type);
      to.add({fmt::format("{}.{}", operation, type),
              fmt::format("setp.eq.b{0} %p, %s1, 0; @%p mov.b{0} %s1, 3; {1}.{2} %d, %s0, %s1;", own.bits, operation,
                          type),
              own.bits,
              1,
              {own, own}});
    }
}

void addFloats(Catalogue &to) {
  addFamily(
      to, "abs.f16 abs.f16x2 abs.bf16 abs.bf16x2 abs.f32 abs.f64 neg.f16 neg.f16x2 neg.bf16 neg.bf16x2 neg.f32 neg.f64",
      "tt", anyNan);
  addFamily(to, "sqrt.rn.f32 sqrt.rn.f64 rcp.rn.f32 rcp.rn.f64", "tt");
  addFamily(to,
            "add.f16 add.f16x2 add.f32 add.f64 sub.f16 sub.f16x2 add.rn.f16 add.rn.f16x2 add.rn.f32 add.rn.f64 "
            "add.ftz.f32 sub.f32 sub.f64 sub.rn.f16 "
            "sub.rn.f16x2 sub.rn.f32 sub.rn.f64 mul.f16 mul.f16x2 mul.f32 mul.f64 mul.rn.f16 mul.rn.f16x2 mul.rn.f32 "
            "mul.rn.f64 mul.bf16 div.rn.f32 div.rn.f64 min.f16 min.f16x2 min.f32 min.f64 max.f16 max.f16x2 max.f32 "
            "max.f64 min.NaN.f16 min.NaN.f32 max.NaN.f16 max.NaN.f32 min.bf16 max.NaN.bf16x2",
            "ttt");
  addFamily(to, "copysign.f32 copysign.f64", "ttt", anyNan);
  addFamily(to,
            "fma.rn.f16 fma.rn.f16x2 fma.rn.bf16 fma.rn.bf16x2 fma.rn.f32 fma.rn.f64 fma.rn.relu.f16 "
            "fma.rn.relu.bf16x2",
            "tttt");
}

/// Operations with an error, from the tables of the PTX ISA.
void addApproximations(Catalogue &to) {
  addFamily(to, "ex2.approx.f32", "tt", {0x1p-22, 0});
  addFamily(to, "rcp.approx.f32 sqrt.approx.f32", "tt", {0x1p-23, 0});
  // The smallest normal number may become 0, and a number below it the smallest normal number.
  addFamily(to, "ex2.approx.ftz.f32", "tt", {0x1p-22, 0x1p-126});
  addFamily(to, "rcp.approx.ftz.f32", "tt", {0x1p-23, 0x1p-126});
  addFamily(to, "rsqrt.approx.f32", "tt", {0x1.2p-23, 0});
  addFamily(to, "lg2.approx.f32", "tt", {0x1p-22, 0x1p-22});
  addFamily(to, "tanh.approx.f32", "tt", {0x1p-11, 0});
  addFamily(to, "div.full.f32", "ttt", {0x1p-22, 0x1p-148}); // 2 ulp, also for subnormal results
  for (const char *operation : {"sin.approx.f32", "cos.approx.f32"})
    to.add({operation, textWith(operation, 1), 32, 1, {{32, Input::F32, Range::Unit}}, {0, 0x1.7p-21}});
}

void addComparisons(Catalogue &to) {
  auto compare = [&](const std::string &operation) {
    const std::string type = operation.substr(operation.rfind('.') + 1);
    const Source own = sourceOf(type);
    const bool isPair = type == "f16x2";
    to.add({operation,
            operation + (isPair ? " %p|%q, %s0, %s1; selp.b32 %d, 1, 0, %p; selp.b32 %r0, 2, 0, %q; or.b32 %d, %d, %r0;"
                                : " %p, %s0, %s1; selp.b32 %d, 1, 0, %p;"),
            32,
            1,
            {own, own}});
  };
  for (const char *type : {"b16", "b32", "b64"})
    for (const char *comparison : {"eq", "ne"})
      compare(fmt::format("setp.{}.{}", comparison, type));
  for (const char *type : {"s16", "s32", "s64", "u16", "u32", "u64"})
    for (const char *comparison : {"lt", "le", "gt", "ge"})
      compare(fmt::format("setp.{}.{}", comparison, type));
  for (const char *type : {"f16", "f16x2", "f32", "f64"})
    for (const char *comparison :
         {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"})
      compare(fmt::format("setp.{}.{}", comparison, type));
  for (const char *type : {"b16", "b32", "b64", "f32", "f64"}) {
    const Source own{sourceOf(type).bits};
    to.add({fmt::format("selp.{}", type),
            fmt::format("setp.lt.s32 %p, %s2, 0; selp.{} %d, %s0, %s1, %p;", type),
            own.bits,
            1,
            {own, own, {32}}});
  }
  for (const char *operation : {"and", "or", "xor"})
    to.add({fmt::format("{}.pred", operation),
            fmt::format("setp.lt.s32 %p, %s0, 0; setp.lt.s32 %q, %s1, 0; {}.pred %p, %p, %q; selp.b32 %d, 1, 0, %p;",
                        operation),
            32,
            1,
            {{32}, {32}}});
  to.add(
      {"not.pred", "setp.lt.s32 %p, %s0, 0; not.pred %q, %p; mov.pred %p, %q; selp.b32 %d, 1, 0, %p;", 32, 1, {{32}}});
  to.add({"setp.and",
          "setp.lt.s32 %q, %s1, 0; setp.gt.and.s32 %p, %s0, 5, !%q; selp.b32 %d, 1, 0, %p;",
          32,
          1,
          {{32}, {32}}});
}

/// cvt with its roundings, the type of the result and the type of the source.
void addConversions(Catalogue &to) {
  for (std::string_view operation : split(
           "cvt.rmi.f16.f16 cvt.rni.f16.f16 cvt.rpi.f16.f16 cvt.rzi.f16.f16 cvt.rn.f16.u32 cvt.rn.f16.s64 "
           "cvt.rn.f16.u64 cvt.f32.f16 cvt.f64.f16 cvt.f64.f32 cvt.rmi.f32.f32 cvt.rmi.f64.f64 cvt.rni.f32.f32 "
           "cvt.rni.f64.f64 "
           "cvt.rpi.f32.f32 cvt.rpi.f64.f64 cvt.rzi.f32.f32 cvt.rzi.f64.f64 cvt.rn.bf16.f32 cvt.rz.bf16.f32 "
           "cvt.rn.f16.f32 cvt.rz.f16.f32 cvt.rm.f16.f32 cvt.rp.f16.f32 cvt.rn.f16.f64 cvt.rn.f32.f64 cvt.rz.f32.f64 "
           "cvt.rna.tf32.f32 cvt.sat.f32.f32 cvt.f32.bf16 cvt.rn.f16.s16 cvt.rn.f16.u16 cvt.rn.f16.s32 cvt.rn.f32.s16 "
           "cvt.rn.f32.s32 cvt.rn.f32.s64 cvt.rn.f32.u16 cvt.rn.f32.u32 cvt.rn.f32.u64 cvt.rz.f32.s32 cvt.rn.f64.s16 "
           "cvt.rn.f64.s32 cvt.rn.f64.s64 cvt.rn.f64.u16 cvt.rn.f64.u32 cvt.rn.f64.u64 cvt.rzi.s16.f16 cvt.rzi.s16.f32 "
           "cvt.rzi.s16.f64 cvt.rzi.s32.f16 cvt.rzi.s32.f32 cvt.rzi.s32.f64 cvt.rzi.s64.f16 cvt.rzi.s64.f32 "
           "cvt.rzi.s64.f64 cvt.rzi.u16.f16 cvt.rzi.u16.f32 cvt.rzi.u16.f64 cvt.rzi.u32.f16 cvt.rzi.u32.f32 "
           "cvt.rzi.u32.f64 cvt.rzi.u64.f16 cvt.rzi.u64.f32 cvt.rzi.u64.f64 cvt.rni.s32.f32 cvt.rmi.s64.f32 "
           "cvt.rni.s64.f32 cvt.s32.s16 cvt.s64.s16 cvt.s64.s32 cvt.u16.u32 cvt.u16.u64 cvt.u32.u16 cvt.u32.u64 "
           "cvt.u64.u16 cvt.u64.u32 cvt.s16.s8 cvt.s32.s8 cvt.s64.s8 cvt.u32.u8 cvt.s8.s32 cvt.sat.s8.s32 "
           "cvt.sat.s16.s32",
           ' ')) {
    const size_t last = operation.rfind('.'), before = operation.rfind('.', last - 1);
    const Source result = sourceOf(operation.substr(before + 1, last - before - 1)),
                 from = sourceOf(operation.substr(last + 1));
    Form form{std::string(operation), textWith(operation, 1), result.bits, 1, {from}};
    if (operation == "cvt.s8.s32" || operation == "cvt.sat.s8.s32")
      form.resultBits = 32;
    // Only f16 and bf16 have a unique NaN.
    form.result = operation.find("tf32") == std::string::npos ? result.input : Input::F32;
    form.tolerance.anyNan = form.result == Input::F32 || form.result == Input::F64;
    to.add(std::move(form));
  }
  for (const char *operation : {"cvt.rn.f16x2.f32", "cvt.rn.bf16x2.f32", "cvt.rn.relu.bf16x2.f32"})
    to.add({operation, textWith(operation, 2), 32, 1, {sourceOf("f32"), sourceOf("f32")}});
  to.add({"mov.b32 of two", "mov.b32 {%h0, %h1}, %s0; mov.b32 %d, {%h1, %h0};", 32, 1, {{32}}});
  to.add({"mov.b64 of two",
          "mov.b64 {%r0, %r1}, %s0; mov.b64 {_, %r2}, %s0; xor.b32 %r2, %r2, %r0; "
          "mov.b64 %d, {%r1, %r2};",
          64,
          1,
          {{64}}});
}

} // namespace

// Catalogue

Source sourceOf(std::string_view type) {
  const std::optional<Type> named = typeNamed(type);
  if (!named)
    throw std::logic_error(fmt::format("no type .{}", type));
  const uint8_t bits = std::max<uint8_t>(named->bits, 16);
  if (named->isInteger() || named->kind == Type::Kind::TFloat)
    return {bits};
  return {bits, named->kind == Type::Kind::BFloat    ? Input::BF16
                : bits == 64                         ? Input::F64
                : bits == 16 || named->elements == 2 ? Input::F16
                                                     : Input::F32};
}

void Catalogue::add(Form form) {
  if (std::ranges::find(forms, form.name, &Form::name) != forms.end())
    throw std::logic_error("the form " + form.name + " is there twice");
  forms.push_back(std::move(form));
}

const std::vector<Form> &allForms() {
  static const auto &forms = *new std::vector<Form>([] {
    Catalogue made;
    addIntegers(made);
    addFloats(made);
    addApproximations(made);
    addComparisons(made);
    addConversions(made);
    addMemory(made);
    addCollectives(made);
    addProducts(made);
    return std::move(made.forms);
  }());
  return forms;
}

const std::set<std::string> &allInstructions() {
  static const auto &instructions = *new std::set<std::string>([] {
    std::set<std::string> found;
    for (const Form &form : allForms()) {
      const std::string ptx = form.ptx();
      for (std::string_view statement : split(ptx, ';'))
        for (std::string_view line : split(statement, '\n'))
          if (std::string_view instruction = instructionOf(line); !instruction.empty() && instruction[0] != '.')
            found.emplace(instruction);
    }
    return found;
  }());
  return instructions;
}

uint32_t Form::target() const {
  uint32_t target = 80;
  for (std::string_view statement : split(text, ';')) {
    Statement parts;
    splitOpcode(instructionOf(statement), parts);
    target = std::max(target, requirementOf(parts).target);
  }
  return target;
}

std::string Form::ptx() const {
  const auto widthOf = [](const Source &source) { return fmt::format("b{}", source.bits); };
  std::string parameters = ".param .u64 result", body, names;
  for (size_t i = 0; i < sources.size(); ++i) {
    parameters += fmt::format(", .param .u64 source{}", i);
    body += fmt::format(".reg .{0} %s{1}; ld.param.u64 %a{1}, [source{1}]; mad.wide.u32 %a{1}, %i, {2}, %a{1}; "
                        "ld.global.{0} %s{1}, [%a{1}];\n",
                        widthOf(sources[i]), i, sources[i].bits / 8);
  }
  for (int word = 0; word < resultWords; ++word)
    names += fmt::format("{}%d{}", word ? ", " : "", resultWords == 1 ? "" : std::to_string(word));
  const int resultBytes = resultBits / 8 * resultWords;
  std::string store;
  if (!storesItself)
    store = resultWords == 1 ? fmt::format("st.global.b{} [%o], %d;", resultBits)
                             : fmt::format("st.global.v{}.b{} [%o], {{{}}};", resultWords, resultBits, names);
  return fmt::format(
      ".version 8.0\n.target sm_{}\n.address_size 64\n.shared .align 16 .b8 scratch[4096];\n.const .align 4 "
      ".b32 table[4] = {{10, 20, 30, 40}};\n"
      ".visible .entry test({})\n{{\n.reg .pred %p, %q; .reg .b16 %h<8>; .reg .b32 %i, %n, %t, %r<8>; "
      ".reg .b64 %o, %x<4>, %a<{}>; .reg .b{} {};\nmov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x; "
      "mad.lo.s32 %i, %n, 64, %t; ld.param.u64 %o, [result]; mad.wide.u32 %o, %i, {}, %o;\n{}{}\n{}\n"
      "ret;\n}}\n",
      target(), parameters, sources.size() + 1, std::max<int>(resultBits, 16), names, resultBytes, body, text, store);
}

} // namespace halftone::emulator
