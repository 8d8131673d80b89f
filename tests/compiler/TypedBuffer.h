// Buffers of a stored type with their values in double, and the scratch of a matmul, for the tests of its emitter.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "CompiledFunction.h"
#include "compiler/targets/cpu/Emitters.h"
#include "runtime/base/Half.h"
#include <cstring>
#include <random>

namespace halftone::compiler {

/// The elements of a type, as the kernel stores them and in double.
struct Buffer {
  std::vector<char> bytes;
  std::vector<double> values;
  char *data() { return aligned; }
  char *aligned = nullptr;
};

inline size_t widthOf(const std::string &type) {
  return type == "f64" ? 8 : type == "f32" || type == "i32" ? 4 : type == "f16" || type == "bf16" ? 2 : 1;
}

inline void allocate(Buffer &buffer, const std::string &type, int64_t count) {
  buffer.bytes.assign(size_t(count) * widthOf(type) + 192, char(0x7b)); // guard bytes on both sides
  buffer.aligned = buffer.bytes.data() + (64 - reinterpret_cast<uintptr_t>(buffer.bytes.data()) % 64);
  buffer.values.resize(size_t(count));
}

template <class T> void put(char *at, T value) { std::memcpy(at, &value, sizeof value); }

inline double encode(char *at, const std::string &type, double value) {
  if (type == "f64")
    return put(at, value), value;
  if (type == "f32")
    return put(at, float(value)), float(value);
  if (type == "i8")
    return put(at, int8_t(value)), int8_t(value);
  if (type == "i32")
    return put(at, int32_t(value)), int32_t(value);
  if (type == "f16")
    return put(at, Float16::encode(value)), Float16::decode(Float16::encode(value));
  if (type == "bf16")
    return put(at, Bfloat16::encode(value)), Bfloat16::decode(Bfloat16::encode(value));
  return put(at, Float8E4m3fn::encode(value)), Float8E4m3fn::decode(Float8E4m3fn::encode(value));
}

inline double decode(const char *at, const std::string &type) {
  const auto get = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  if (type == "f64")
    return get(double());
  if (type == "f32")
    return get(float());
  if (type == "i32")
    return get(int32_t());
  if (type == "f16")
    return Float16::decode(get(uint16_t()));
  if (type == "bf16")
    return Bfloat16::decode(get(uint16_t()));
  return Float8E4m3fn::decode(get(uint8_t()));
}

inline Buffer random(const std::string &type, int64_t count, unsigned seed) {
  Buffer buffer;
  allocate(buffer, type, count);
  std::mt19937 engine(seed);
  for (int64_t i = 0; i < count; ++i)
    buffer.values[size_t(i)] =
        encode(buffer.aligned + size_t(i) * widthOf(type), type,
               type == "i8" ? double(int(engine() % 256) - 128) : (engine() % 2001) / 1000.0 - 1);
  return buffer;
}

inline int64_t scratchOf(const std::string &text, const std::vector<int64_t> &extents, const CpuTarget &cpu) {
  KernelContext context;
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
  REQUIRE(module);
  return cpu.scratchBytes(*module->getOps<mlir::func::FuncOp>().begin(), extents);
}

} // namespace halftone::compiler
