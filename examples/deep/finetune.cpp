// SPDX-License-Identifier: MIT
// The built-in network learns to tell dark pictures from bright ones.
#include <iostream>
#include <udv/deep/finetune_job.hpp>

udv::deep::ImageSet pictures(int count) {
  udv::deep::ImageSet set{count, 1, 16, 16, "", {}, 2};
  for (int i = 0; i < count; ++i) {
    set.bytes += std::string(16 * 16, static_cast<char>(i % 2 == 0 ? 20 : 120));
    set.labels.push_back(i % 2);
  }
  return set;
}

int main() {
  const udv::deep::ImageData data{pictures(64), pictures(16), {}};
  udv::jobs::FinetuneJobOptions options;
  options.tuning.training.epochs = 5;
  options.tuning.training.batch = 16;
  udv::jobs::Session session;
  const auto result = udv::jobs::finetune(data, options, session);
  std::cout << result.training_images << " pictures to learn from, " << result.test_images
            << " to test, " << result.classes << " classes\n";
}
