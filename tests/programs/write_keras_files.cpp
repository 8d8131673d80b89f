// Writes trained models as .keras files, with inputs, predictions, optimizer variables: for scripts/keras-opens-ours.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <fstream>
#include <halftone/Halftone.h>
#include <iostream>
using namespace halftone;
using namespace halftone::layers;

namespace {

Tensor ramp(const Shape &shape, int64_t period = 17) {
  std::vector<float> data(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(static_cast<int64_t>(i) % period) / 8.0f - 1.0f;
  return Tensor(std::move(data), shape);
}

struct Task {
  std::string name, policy;
  Model (*make)();
  std::vector<Tensor> x;
  Optimizer optimizer;
};

Model mlp() {
  return Sequential({Input({12}), Dense(16, {.activation = "relu", .kernel_regularizer = regularizers::L2(0.01)}),
                     Dropout(0.25, {.seed = 3}), LayerNormalization(), Dense(4, {.dtype = "float32"})},
                    {.name = "mlp"});
}
Model cnn() {
  return Sequential({Input({10, 10, 2}), Conv2D(4, 3, {.padding = Padding::same}), BatchNormalization(),
                     Activation("relu"), MaxPooling2D(2), Conv2D(6, 3, {.strides = 2}), GlobalAveragePooling2D(),
                     Dense(4, {.dtype = "float32"})},
                    {.name = "cnn"});
}
/// Adaptive pooling, layers that draw noise in training, an activity penalty.
Model pooled() {
  return Sequential({Input({10, 10, 2}), AdaptiveAveragePooling2D({5, 3}), AdaptiveMaxPooling2D(2), Flatten(),
                     Identity(), Dense(6, {.activation = "sparsemax"}), GaussianDropout(0.25),
                     AlphaDropout(0.25, {.seed = 3}), ActivityRegularization({.l1 = 0.01, .l2 = 0.02}),
                     Dense(4, {.dtype = "float32"})},
                    {.name = "pooled"});
}
/// Attention with scores and a causal mask, grouped heads, a layer and inner models that are called twice.
Model graph() {
  const Input left({6, 8}, {.name = "left"}), right({6, 8}, {.name = "right"});
  const Dense shared(8, {.activation = "tanh"});
  const Sequential inner({Input({6, 8}), Dense(8), LayerNormalization()}, {.name = "inner"});
  const Input innerInput({6, 8});
  const Model functional({innerInput}, {Dense(8)(innerInput)}, {.name = "functional"});
  const Value a = inner(shared(left)), b = functional(inner(shared(right)));
  const auto [attended, scores] = MultiHeadAttention(2, 4).with_scores(a, b, {.use_causal_mask = true});
  const Value grouped = GroupQueryAttention(4, 4, 2)(attended, b);
  const Value sum = Add()({functional(grouped), a, b});
  return Model({left, right}, {Dense(4, {.dtype = "float32"})(GlobalAveragePooling1D()(sum))}, {.name = "graph"});
}
/// Each elementwise merge, Dot, and the activation layers.
Model merges() {
  const Input left({12}), right({12});
  const Dense shared(6);
  const Value a = PReLU({.alpha_initializer = initializers::Constant(0.25)})(shared(left)), b = ELU(0.5)(shared(right));
  const Value merged = Concatenate()({Add()({a, b}), Subtract()({a, b}), Multiply()({a, b}), Average()({a, b}),
                                      Maximum()({a, b}), Minimum()({a, b}), Dot(1, {.normalize = true})({a, b})});
  return Model({left, right}, {Dense(4, {.dtype = "float32"})(LeakyReLU(0.1)(merged))}, {.name = "merges"});
}
/// A stack of cells, both directions, a layer applied to each step, and sequences whose end is masked.
Model recurrent() {
  return Sequential({Input({6, 8}), Masking(), Bidirectional(LSTM(3, {.return_sequences = true})),
                     RNN({LSTMCell(4), GRUCell(3)}, {.return_sequences = true}), TimeDistributed(Dense(5)),
                     GRU(4, {.recurrent_dropout = 0.25, .return_sequences = true, .reset_after = false}),
                     SimpleRNN(4, {.dropout = 0.25}), Dense(4, {.dtype = "float32"})},
                    {.name = "recurrent"});
}
/// States of one layer that initialize another layer, and convolutions over images in time.
Model translated() {
  const Input left({6, 8}, {.name = "left"}), right({6, 8}, {.name = "right"});
  const Values encoded = LSTM(4, {.return_state = true}).outputs(left);
  const Values decoded = LSTM(4, {.return_sequences = true, .return_state = true})
                             .outputs(right, {.initial_state = {encoded[1], encoded[2]}});
  const Values stacked =
      RNN({LSTMCell(4), GRUCell(4)}).outputs(decoded[0], {.initial_state = {decoded[1], decoded[2], encoded[0]}});
  const Value both = Bidirectional(GRU(2), {.merge_mode = "sum"})(decoded[0], {.training = true});
  const Value images = ConvLSTM2D(2, 2, {.padding = "same"})(Reshape({6, 2, 2, 2})(right));
  return Model({left, right}, {Dense(4, {.dtype = "float32"})(Concatenate()({stacked[0], both, Flatten()(images)}))},
               {.name = "translated"});
}

void write(const Task &task, const std::filesystem::path &parent) {
  const std::filesystem::path folder = parent / task.name;
  std::filesystem::create_directories(folder);
  const PolicyScope scope{DTypePolicy(task.policy)};
  const Model model = task.make();
  model.compile({.optimizer = task.optimizer,
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy", metrics::SparseTopKCategoricalAccuracy({.k = 2}),
                             metrics::MeanIoU(4, {.sparse_y_pred = false})}});
  const Tensors x(task.x);
  const Tensor y(std::vector<int32_t>{0, 1, 2, 3, 0, 1, 2, 3}, {8});
  for (int64_t step = 0; step < 3; ++step)
    (void)model.train_on_batch(x, y);
  const std::string file = folder / "model.keras";
  model.save(file);
  const Tensor predicted = model.predict(x, {.verbose = 0});
  const Model loaded = load_model(file);
  if (loaded.predict(x, {.verbose = 0}).str() != predicted.str() || loaded.to_json() != model.to_json())
    throw Error(ErrorKind::runtime_error, task.name + ": the file gives another model");
  for (size_t i = 0; i < task.x.size(); ++i)
    task.x[i].save_npy(folder / ("x_" + std::to_string(i) + ".npy"));
  y.save_npy(folder / "y.npy");
  predicted.save_npy(folder / "predict.npy");
  const std::vector<Variable> state = model.optimizer().variables();
  for (size_t i = 0; i < state.size(); ++i)
    state[i].value().astype(float32).save_npy(folder / ("optimizer_" + std::to_string(i) + ".npy"));
  Config facts;
  facts.set("policy", task.policy);
  facts.set("test_loss", double(model.test_on_batch(x, y)["loss"]));
  std::ofstream(folder / "facts.json") << facts.dump();
}

} // namespace

int main(int argc, char **argv) try {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " FOLDER\n";
    return 2;
  }
  const std::vector<Tensor> one{ramp({8, 12})}, images{ramp({8, 10, 10, 2})}, two{ramp({8, 6, 8}), ramp({8, 6, 8}, 13)},
      pair{ramp({8, 12}), ramp({8, 12}, 13)};
  using namespace optimizers;
  const std::vector<Task> tasks{
      {"mlp", "float32", mlp, one, Adam(0.01)},
      {"mlp_schedule", "float32", mlp, one, Nadam(schedules::CosineDecay(0.01, 100), {.clipnorm = 1.0})},
      {"mlp_mixed_float16", "mixed_float16", mlp, one, Adam(0.01)},
      {"mlp_mixed_bfloat16", "mixed_bfloat16", mlp, one, AdamW(0.01)},
      {"mlp_bfloat16", "bfloat16", mlp, one, SGD(0.01, {.momentum = 0.9})},
      {"cnn", "float32", cnn, images, RMSprop(0.01)},
      {"cnn_mixed_float16", "mixed_float16", cnn, images, Lion(0.001)},
      {"pooled", "float32", pooled, images, RMSprop(0.01)},
      {"graph", "float32", graph, two, Adafactor(0.01)},
      {"merges_muon", "float32", merges, pair, Muon(0.01)},
      {"merges_schedule_free", "float32", merges, pair, ScheduleFreeAdamW(0.01, {.warmup_steps = 2})},
      {"merges_mixed_float16", "mixed_float16", merges, pair, Adam(0.01)},
      {"recurrent", "float32", recurrent, {two[0]}, Adam(0.01)},
      {"recurrent_mixed_float16", "mixed_float16", recurrent, {two[0]}, Adam(0.01)},
      {"translated", "float32", translated, two, Adam(0.01)},
      {"graph_mixed_bfloat16", "mixed_bfloat16", graph, two, Adam(0.01, {.use_ema = true})},
  };
  for (const Task &task : tasks)
    write(task, argv[1]);
  std::cout << tasks.size() << " models in " << argv[1] << "\n";
} catch (const Error &error) {
  std::cerr << error.what() << "\n";
  return 1;
}
