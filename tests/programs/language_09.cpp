// Pipelines: map on threads, filter, zip, repeat, windows of a time series.
// SPDX-License-Identifier: Apache-2.0
#include "Check.h"
#include <iostream>
using namespace halftone;
using namespace halftone::layers;

int main() {
  Tensor data = Tensor::normal({10000, 3});
  auto windows = utils::timeseries_dataset_from_array(data, data[{Slice(120, none), 0}], 20,
                                                      {.sampling_rate = 6, .batch_size = 64});
  auto [train, test] = utils::split_dataset(windows, 0.8);
  Sequential forecast({Input({20, 3}), Flatten(), Dense(32, {.activation = "relu"}), Dense(1)});
  forecast.compile({.optimizer = "adam", .loss = "mae"});
  forecast.fit(train.cache().shuffle(100).prefetch(2), {.epochs = 2, .validation_data = test});

  Dataset images(Tensor::randint({500, 32, 32, 3}, 0, 256, {.dtype = uint8}));
  Dataset labels(utils::to_categorical(Tensor::randint({500}, 0, 10), 10));
  auto pipeline =
      Dataset::zip(images, labels)
          .filter([](const Batch &b) { return b.x[0][{0, 0, 0}].item() > 8; })
          .map([](Batch b) { return Batch{b.x[0].astype(float32) / 255.0, b.y}; }, {.num_parallel_calls = 4})
          .skip(10)
          .repeat()
          .batch(32);
  Sequential net({Input({32, 32, 3}), Conv2D(16, 3, {.padding = "same", .data_format = "channels_last"}), MaxPool2D(),
                  Flatten(), Dense(10, {.activation = "softmax"})});
  net.compile({.optimizer = "sgd", .loss = losses::CategoricalCrossentropy({.reduction = "sum"})});
  net.fit(pipeline, {.epochs = 2,
                     .callbacks = {callbacks::EarlyStopping({.monitor = "loss", .mode = "min"})},
                     .steps_per_epoch = 15});

  Tensor padded = utils::pad_sequences({{1, 2, 3}, {4}}, {.maxlen = 4, .padding = "post"});
  std::cout << padded << padded.shape() << DTypePolicy("mixed_bfloat16") << "\n";
  check(near(padded, {1, 2, 3, 0, 4, 0, 0, 0}), "padded sequences");
  check(train.cardinality() == 124 && test.cardinality() == 31, "the batches of both parts"); // from 9,880 windows
  check(net.optimizer().iterations() == 30, "the steps of both epochs");
  return wrong;
}
