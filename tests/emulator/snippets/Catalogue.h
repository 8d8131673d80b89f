// The list of forms while it is built, by the families of instructions.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/snippets/Forms.h"
#include <string_view>

namespace halftone::emulator {

struct Catalogue {
  std::vector<Form> forms;

  void add(Form form);
};

/// The source that a type's name spells, as "f16x2"; types of 8 bits have registers of 16.
Source sourceOf(std::string_view type);

// Collectives.cpp
void addMemory(Catalogue &to);
void addCollectives(Catalogue &to);
void addProducts(Catalogue &to);

} // namespace halftone::emulator
