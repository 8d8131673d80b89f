// The overhead of dynamic loss scaling in a training step under mixed_float16.
// SPDX-License-Identifier: Apache-2.0
#include "Mlp.h"
#include "Race.h"
#include "Table.h"
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

void run(Table &table) {
  for (int64_t batch : {32, 128, 512}) {
    const Batch data = images(batch);
    Sequential scaled = mlp("mixed_float16"), plain = mlp("mixed_float16", {.scale_loss = false});
    const std::vector<double> seconds = race({contestant("scaled", [&] { scaled.train_on_batch(data.x, data.y); }),
                                              contestant("plain", [&] { plain.train_on_batch(data.x, data.y); })},
                                             15, 0.2);
    table.add({fmt::format("dynamic loss scale, MLP train step, batch {}, mixed_float16", batch),
               milliseconds(seconds[0]), "without " + milliseconds(seconds[1]), seconds[0] / seconds[1], 1.02, 1.01,
               true});
  }
}

} // namespace

int main() { return runProgram("loss-scaling", "a step with a dynamic loss scale against one without", run); }
