// A kernel built into the device, as PTX text: copies and fills under predicates, single or batched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace halftone::cuda {

inline constexpr int copyThreads = 256;    // threads per block
inline constexpr int copyThreadBytes = 16; // bytes copied per thread

/// Parameters, in this order: u64 to, u64 from (0: zeros), u64 bytes, u64 predicate (address of a byte, or 0), u32
/// negated, u64 table, u32 parts. Nothing is copied if the byte is 0 (if negated: is not 0). Thread i copies 16 bytes
/// from 16 * i on: with one access if both addresses are multiples of 16, otherwise byte by byte. If `table` is not 0,
/// it holds `parts` copies that may run concurrently, and each block reads its own copy there: for each part the index
/// of its first block, then the parameters before `table`, six u64 in all.
inline constexpr const char *copyPtx = R"(.version 8.0
.target sm_80
.address_size 64

.visible .entry halftone_copy(.param .u64 to, .param .u64 from, .param .u64 bytes, .param .u64 predicate, .param .u32 negated,
                             .param .u64 table, .param .u32 parts)
.maxntid 256, 1, 1
{
  .reg .pred %stop, %zeros, %ragged;
  .reg .b16 %byte;
  .reg .b32 %block, %threads, %thread, %holds, %negated, %parts, %first, %a, %b, %c, %d;
  .reg .b64 %to, %from, %bytes, %predicate, %part, %at, %end, %low;

  mov.u32 %block, %ctaid.x;
  ld.param.u64 %part, [table];
  setp.ne.u64 %stop, %part, 0;
  @%stop bra $find;
  ld.param.u64 %to, [to];
  ld.param.u64 %from, [from];
  ld.param.u64 %bytes, [bytes];
  ld.param.u64 %predicate, [predicate];
  ld.param.u32 %negated, [negated];
  bra $test;

$find:
  ld.param.u32 %parts, [parts];
$later:
  sub.s32 %parts, %parts, 1;
  setp.eq.s32 %stop, %parts, 0;
  @%stop bra $found;
  ld.global.u32 %first, [%part+48];
  setp.gt.u32 %stop, %first, %block;
  @%stop bra $found;
  add.s64 %part, %part, 48;
  bra $later;
$found:
  ld.global.u32 %first, [%part];
  sub.s32 %block, %block, %first;
  ld.global.u64 %to, [%part+8];
  ld.global.u64 %from, [%part+16];
  ld.global.u64 %bytes, [%part+24];
  ld.global.u64 %predicate, [%part+32];
  ld.global.u32 %negated, [%part+40];

$test:
  setp.eq.u64 %stop, %predicate, 0;
  @%stop bra $copy;
  ld.global.u8 %byte, [%predicate];
  setp.ne.u16 %stop, %byte, 0;
  selp.u32 %holds, 1, 0, %stop;
  setp.eq.u32 %stop, %holds, %negated;
  @%stop ret;

$copy:
  mov.u32 %threads, %ntid.x;
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %at, %block, %threads;
  cvt.u64.u32 %low, %thread;
  add.s64 %at, %at, %low;
  shl.b64 %at, %at, 4;
  setp.ge.u64 %stop, %at, %bytes;
  @%stop ret;
  setp.eq.u64 %zeros, %from, 0;
  add.s64 %end, %at, 16;
  setp.gt.u64 %ragged, %end, %bytes;
  or.b64 %low, %to, %from;
  and.b64 %low, %low, 15;
  setp.ne.u64 %stop, %low, 0;
  add.s64 %to, %to, %at;
  add.s64 %from, %from, %at;
  @%ragged bra $bytes;
  @%stop bra $bytes;
  mov.u32 %a, 0;
  mov.u32 %b, 0;
  mov.u32 %c, 0;
  mov.u32 %d, 0;
  @%zeros bra $store;
  ld.global.v4.u32 {%a, %b, %c, %d}, [%from];
$store:
  st.global.v4.u32 [%to], {%a, %b, %c, %d};
  ret;

$bytes:
  min.u64 %end, %end, %bytes;
$next:
  mov.u16 %byte, 0;
  @%zeros bra $put;
  ld.global.u8 %byte, [%from];
$put:
  st.global.u8 [%to], %byte;
  add.s64 %to, %to, 1;
  add.s64 %from, %from, 1;
  add.s64 %at, %at, 1;
  setp.lt.u64 %stop, %at, %end;
  @%stop bra $next;
  ret;
}
)";

} // namespace halftone::cuda
