// SPDX-License-Identifier: MIT
// A LoRA-UDV adapter of a small random model learns that 1 follows 2 and 2 follows 1.
#include <iostream>
#include <udv/deep/lora_job.hpp>

int main() {
  // 2 layers of 16 values, 8 tokens
  const udv::text::LlamaConfig shape{16, 32, 2, 2, 2, 8, 8, 16, 1e-5, 1e4, {}, false, -1, -1};
  udv::deep::TextModel model{udv::deep::LanguageModel::random(shape, {}), nullptr, "random"};
  std::vector<udv::text::Token> text;
  for (int i = 0; i < 1024; ++i) text.push_back(1 + i % 2);

  udv::jobs::LoraJobOptions options;
  options.training.epochs = 10;
  options.ranks = {4};
  udv::jobs::Session session;
  const auto result = udv::jobs::lora(model, text, text, options, session);
  const udv::jobs::LoraTraining& training = result.trainings.front();
  std::cout << training.method << ", rank " << training.rank
            << ", perplexity is smaller: " << std::boolalpha
            << (training.perplexity < training.perplexity_before) << '\n';
}
