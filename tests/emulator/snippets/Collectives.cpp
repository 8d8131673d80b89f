// Forms that threads run together, or that access memory: loads, stores, copies, barriers, shuffles, votes, products.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/snippets/Catalogue.h"
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

/// %r7: the 16 bytes of `scratch` of this thread, %r6: those of the neighbouring thread.
std::string ownScratch() {
  return "shl.b32 %r7, %t, 4; mov.b32 %r6, scratch; add.s32 %r7, %r7, %r6; xor.b32 %r6, %r7, 16; ";
}

std::string listOf(std::string_view prefix, int count) {
  std::string list;
  for (int i = 0; i < count; ++i)
    list += fmt::format("{}{}{}", i ? ", " : "", prefix, count == 1 && prefix == "%d" ? "" : std::to_string(i));
  return count == 1 ? list : "{" + list + "}";
}

/// One access of `count` elements of `bits` bits: a load of the 16 bytes around the thread's word, and a store to
/// shared memory that another thread reads.
void addAccess(Catalogue &to, int count, int bits) {
  const std::string vector = count == 1 ? "" : fmt::format(".v{}", count);
  const int wide = std::max(bits, 16);
  auto named = [&](const char *operation, const char *space) {
    return fmt::format("{}.{}{}.b{}", operation, space, vector, bits);
  };
  to.add({named("ld", "global"),
          fmt::format("and.b64 %a0, %a0, -16; {} {}, [%a0];", named("ld", "global"), listOf("%d", count)),
          uint8_t(wide),
          uint8_t(count),
          {{32}}});
  const std::string source = bits == 64 ? "%x" : bits == 32 ? "%r" : "%h";
  std::string fill;
  for (int i = 0; i < count; ++i)
    fill += bits == 64   ? fmt::format("xor.b64 %x{0}, %s0, {0}; ", i)
            : bits == 32 ? fmt::format("cvt.u32.u64 %r{0}, %s0; xor.b32 %r{0}, %r{0}, {0}; ", i)
                         : fmt::format("cvt.u16.u64 %h{0}, %s0; xor.b16 %h{0}, %h{0}, {0}; ", i);
  const std::string list = count == 1 ? source + "0" : listOf(source, count);
  to.add({named("st", "shared"),
          ownScratch() + fill +
              fmt::format("{} [%r7], {}; bar.sync 0; {} {}, [%r6];", named("st", "shared"), list, named("ld", "shared"),
                          listOf("%d", count)),
          uint8_t(wide),
          uint8_t(count),
          {{64}}});
  Form global{named("st", "global"),
              fill + fmt::format("{} [%o], {};", named("st", "global"), list),
              uint8_t(bits),
              uint8_t(count),
              {{64}}};
  global.storesItself = true;
  to.add(std::move(global));
}

} // namespace

void addMemory(Catalogue &to) {
  for (int bits : {8, 16, 32, 64})
    for (int count : {1, 2, 4})
      if (bits * count <= 128)
        addAccess(to, count, bits);
  for (const char *type : {"s8", "s16", "s32", "u8", "u16", "u32"})
    to.add({fmt::format("ld.global.{}", type), fmt::format("ld.global.{} %d, [%a0];", type), 64, 1, {{32}}});
  to.add({"ld.global.nc.b32", "ld.global.nc.b32 %d, [%a0];", 32, 1, {{32}}});
  to.add({"ld.shared.s8", ownScratch() + "st.shared.b32 [%r7], %s0; ld.shared.s8 %d, [%r7];", 32, 1, {{32}}});
  to.add({"ld.param.b32",
          "ld.param.b32 %r0, [source0+4]; ld.param.b64 %x0, [source0]; cvt.u32.u64 %r1, %x0; "
          "mov.b64 %x1, {%r1, %r0}; sub.s64 %x0, %x1, %x0; cvt.u32.u64 %d, %x0;",
          32,
          1,
          {{32}}});
  to.add({"ld.const.b32",
          "and.b32 %r0, %s0, 3; mul.wide.u32 %x0, %r0, 4; mov.b64 %x1, table; add.s64 %x0, %x0, %x1; ld.const.b32 %d, "
          "[%x0];",
          32,
          1,
          {{32}}});
  to.add({"cvta.param",
          "mov.b64 %x0, source0; cvta.param.u64 %x0, %x0; ld.b64 %x1, [%x0]; mad.wide.u32 %x1, %i, 4, %x1; ld.b32 %d, "
          "[%x1];",
          32,
          1,
          {{32}}});
  to.add({"cvta",
          ownScratch() + "cvt.u64.u32 %x0, %r7; cvta.shared.u64 %x0, %x0; st.b32 [%x0], %s0; "
                         "cvta.to.shared.u64 %x1, %x0; ld.shared.b32 %r0, [%x1]; ld.b32 %r1, [%a0]; "
                         "xor.b32 %d, %r0, %r1; or.b32 %d, %d, %r0;",
          32,
          1,
          {{32}}});
  const std::string copied = " bar.sync 0; ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%r6];";
  to.add({"cp.async.cg",
          ownScratch() +
              "and.b64 %a0, %a0, -16; cp.async.cg.shared.global [%r7], [%a0], 16; "
              "cp.async.commit_group; cp.async.wait_group 0;" +
              copied,
          32,
          4,
          {{32}}});
  to.add({"cp.async.cg of fewer bytes",
          ownScratch() +
              "and.b64 %a0, %a0, -16; and.b32 %r0, %t, 16; cp.async.cg.shared.global [%r7], [%a0], 16, %r0; "
              "cp.async.commit_group; cp.async.wait_group 0;" +
              copied,
          32,
          4,
          {{32}}});
  to.add({"cp.async.ca",
          ownScratch() +
              "cp.async.ca.shared.global [%r7], [%a0], 4; cp.async.ca.shared.global [%r7+4], [%a0], 4, 2; "
              "cp.async.ca.shared.global [%r7+8], [%a0], 4, 0; cp.async.ca.shared.global [%r7+12], [%a0], 4; "
              "cp.async.wait_all;" +
              copied,
          32,
          4,
          {{32}}});
}

void addCollectives(Catalogue &to) {
  const auto shuffle = [&](const std::string &name, const std::string &operation, const std::string &operands) {
    to.add({name,
            fmt::format("and.b32 %s1, %s1, 31; {} %d|%p, %s0, {}, -1; @!%p xor.b32 %d, %d, -1;", operation, operands),
            32,
            1,
            {{32}, {32}}});
  };
  for (const char *kind : {"up", "down", "bfly", "idx"}) {
    const std::string operation = fmt::format("shfl.sync.{}.b32", kind);
    const bool isUp = operation.find("up") != std::string::npos;
    for (int distance : {1, 2, 4, 8, 16, 31})
      shuffle(fmt::format("{} by {}", operation, distance), operation, fmt::format("{}, {}", distance, isUp ? 0 : 31));
    shuffle(operation + " in segments", operation, fmt::format("3, {:#x}", isUp ? 0x1800 : 0x1807));
  }
  shuffle("shfl.sync.idx.b32 by lane", "shfl.sync.idx.b32", "%s1, 31");
  for (const char *kind : {"ballot.b32 %d", "any.pred %p", "all.pred %p", "uni.pred %p"}) {
    const std::string operation = fmt::format("vote.sync.{}", kind);
    const std::string name = operation.substr(0, operation.find(' '));
    to.add({name,
            fmt::format("setp.lt.s32 %p, %s0, 0; {}, %p, -1;{}", operation,
                        name.ends_with("pred") ? " selp.b32 %d, 1, 0, %p;" : ""),
            32,
            1,
            {{32}}});
  }
  for (const char *operation : {"add.s32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32"})
    to.add(
        {fmt::format("redux.sync.{}", operation), fmt::format("redux.sync.{} %d, %s0, -1;", operation), 32, 1, {{32}}});
  to.add({"bar.warp.sync",
          ownScratch() + "st.shared.b32 [%r7], %s0; bar.warp.sync -1; ld.shared.b32 %d, [%r6];",
          32,
          1,
          {{32}}});
  to.add({"special registers",
          "mov.u32 %r0, %ntid.x; mov.u32 %r1, %nctaid.y; mov.u32 %r2, %laneid; mov.u32 %r3, %lanemask_lt; "
          "mad.lo.s32 %d, %r0, %r1, %r2; xor.b32 %d, %d, %r3; mov.u32 %r0, %ctaid.x; add.s32 %d, %d, %r0;",
          32,
          1,
          {{32}}});
  to.add({"activemask.b32", "activemask.b32 %d;", 32, 1, {{32}}});
  // Lanes take four paths, two of which diverge again, and some repeat a loop more often than others.
  to.add({"brx.idx",
          "and.b32 %r0, %s0, 3; $list: .branchtargets $a, $b, $a, $c; brx.idx %r0, $list; $a: setp.lt.s32 %p, %s0, 0; "
          "@%p bra $b; "
          "mov.b32 %d, 1; bra $join; $b: mov.b32 %d, 2; bra $join; $c: mov.b32 %d, 3; $join: shr.u32 %r1, %s0, 29; "
          "$loop: mad.lo.u32 %d, %d, 3, %r1; setp.eq.u32 %p, %r1, 0; sub.u32 %r1, %r1, 1; @!%p bra $loop;",
          32,
          1,
          {{32}}});
  to.add({"bra",
          "setp.lt.s32 %p, %s0, 0; @%p bra $less; add.s32 %d, %s0, 7; bra.uni $end; $less: sub.s32 %d, %s0, 9; $end:",
          32,
          1,
          {{32}}});
}

void addProducts(Catalogue &to) {
  for (const char *kind : {"x1", "x2", "x4", "x1.trans", "x2.trans", "x4.trans"}) {
    const std::string name = fmt::format("ldmatrix.sync.aligned.m8n8.{}.shared.b16", kind);
    const int count = kind[1] - '0';
    const std::string results = count == 1 ? "{%d}" : listOf("%d", count);
    to.add({name,
            ownScratch() +
                fmt::format("st.shared.v4.b32 [%r7], {{%s0, %s1, %s2, %s3}}; bar.sync 0; {} {}, [%r6];", name, results),
            32,
            uint8_t(count),
            {{32}, {32}, {32}, {32}}});
  }
  struct Product {
    const char *operation;
    int words; ///< words of A; half as many of B
    Source a;
    Source sum;
    int depth;
  };
  const Source half{32, Input::F16, Range::Unit}, bfloat{32, Input::BF16, Range::Unit},
      single{32, Input::F32, Range::Unit}, whole{32};
  for (const Product &product : {Product{"m16n8k16.row.col.f32.f16.f16.f32", 4, half, single, 16},
                                 Product{"m16n8k16.row.col.f32.bf16.bf16.f32", 4, bfloat, single, 16},
                                 Product{"m16n8k8.row.col.f32.f16.f16.f32", 2, half, single, 8},
                                 Product{"m16n8k8.row.col.f32.tf32.tf32.f32", 4, single, single, 8},
                                 Product{"m16n8k16.row.col.s32.s8.s8.s32", 2, whole, whole, 16},
                                 Product{"m16n8k32.row.col.s32.s8.s8.s32", 4, whole, whole, 32},
                                 Product{"m16n8k32.row.col.s32.u8.s8.s32", 4, whole, whole, 32}})
    for (Range range : {Range::Small, Range::Unit}) {
      const bool isWhole = product.a.input == Input::Bits;
      if (isWhole && range == Range::Small)
        continue;
      Form form;
      const std::string operation = fmt::format("mma.sync.aligned.{}", product.operation);
      form.name = operation + (isWhole ? "" : range == Range::Small ? " of whole numbers" : " of fractions");
      form.resultWords = 4;
      const int all = product.words + product.words / 2;
      for (int i = 0; i < all + 4; ++i) {
        form.sources.push_back(i < all ? product.a : product.sum);
        if (!isWhole)
          form.sources.back().range = range;
      }
      auto words = [&](int first, int count) {
        std::string list;
        for (int i = first; i < first + count; ++i)
          list += fmt::format("{}%s{}", i == first ? "" : ", ", i);
        return list;
      };
      form.text = fmt::format("{} {{%d0, %d1, %d2, %d3}}, {{{}}}, {{{}}}, {{{}}};", operation, words(0, product.words),
                              words(product.words, product.words / 2), words(all, 4));
      // Each sum has at least single precision, in an unspecified order and with unspecified roundings: `depth`
      // roundings of at most the sum of all magnitudes.
      if (!isWhole && range == Range::Unit)
        form.tolerance.absolute = (product.depth + 1) * (4.0 * product.depth + 2) * 0x1p-23;
      to.add(std::move(form));
    }
}

} // namespace halftone::emulator
