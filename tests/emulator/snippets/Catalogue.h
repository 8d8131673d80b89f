// The list of forms under construction, by families of instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/snippets/Forms.h"
#include <string_view>

namespace halftone::emulator {

struct Catalogue {
  std::vector<Form> forms;

  void add(Form form);
};

/// The source with this type name, such as "f16x2". Types of 8 bits have 16-bit registers.
Source sourceOf(std::string_view type);

// Collectives.cpp
void addMemory(Catalogue &to);
void addCollectives(Catalogue &to);
void addProducts(Catalogue &to);

} // namespace halftone::emulator
