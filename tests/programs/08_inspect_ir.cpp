// Inspection: the policy columns of the summary, IR at every stage, the cast ledger and a cast budget.
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
#include <iostream>
using namespace halftone;
using namespace halftone::layers;

int main() {
  PolicyScope scope("mixed_bfloat16");
  Sequential model({Input({784}), Dense(128, {.activation = "relu"}), Dense(10, {.dtype = "float32"})});
  model.compile({.optimizer = "adam", .loss = "mse", .max_standalone_casts = 0});

  const std::string cast = model.ir(Stage::cast);
  const std::string kernel = model.ir(Stage::kernel, {.program = Program::predict, .batch_size = 64});
  std::cout << model.summary({.expand_nested = true}) << cast << kernel;
  model.dump_ir("ir", {.locations = true});

  CastLedger ledger = model.cast_ledger();
  std::cout << ledger;
  int alone = 0;
  for (const CastLedger::Row &row : ledger.rows)
    if (!row.fused) {
      std::cout << row.path << ": " << name(row.from) << " -> " << name(row.to) << " by " << row.rule << "\n";
      ++alone;
    }
  std::cout << ledger.json().size() << "\n";
  const bool casts = cast.find("halftone.cast") != std::string::npos;
  const bool launches = kernel.find("halftone.launch") != std::string::npos;
  return casts && launches && !ledger.rows.empty() && alone == 0 ? 0 : 1;
}
