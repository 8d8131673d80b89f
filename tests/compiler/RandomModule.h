// Random modules in stage pure, to check that passes and plans preserve semantics.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

/// A module with the feeds x0, x1: HxWxf32, s: f32, p, q: i1, the variables @v0 @v1 @v2: HxWxf32 and @u: f32, and up to
/// 5 fetches. It has elementwise ops, casts, constants, reductions, contractions, transposes, reshapes and `when`s,
/// some of them nested. Fetches and new values are drawn from feeds, old values and computed values, some of them
/// twice.
std::string randomModule(uint32_t seed, int64_t height, int64_t width);
/// Like randomModule(), with `scan`s over the rows of a value and `while`s of few steps, nested in each other and in
/// `when`s too.
std::string randomLoops(uint32_t seed, int64_t height, int64_t width);
/// Like randomModule(), in stage graph: variables are read at the start and assigned at the end.
std::string randomGraph(uint32_t seed, int64_t height, int64_t width);
