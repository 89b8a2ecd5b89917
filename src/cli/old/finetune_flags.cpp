// SPDX-License-Identifier: MIT
#include "cli/finetune_flags.hpp"

namespace udv::cli {

void FinetuneFlags::add_to(CLI::App& command) {
  training.options.epochs = 20;
  training.batch = "128";
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text);
  };
  const CLI::Range count(Index{1}, Index{1} << 31);
  deep::FinetuneOptions& o = options;
  add("--data", data, "Folder of classes (PNG, JPEG), MNIST or CIFAR folder or file")->required();
  add("--backbone", o.backbone, "TorchScript file, images to features (default: built-in network)");
  command.add_flag("--trainable", o.trainable, "The backbone learns too (default: it is frozen)");
  add("--backbone-lr", o.backbone_rate, "Its learning rate (default: that of the head)")
      ->check(positive());
  add("--clip", o.clip, "Largest norm of the backbone's gradient")->check(positive());
  add("--device", o.device, "cpu or cuda")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpu", "cuda"}));
  add("--precision", o.precision, "single, bf16 or auto (bf16 on cuda)")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "single", "bf16"}));
  add("--image-size", o.image_size,
      "What the network sees (default: 224 with a backbone; else as the files are, folders 64)")
      ->check(CLI::Range(Index{1}, Index{4096}));
  add("--augment", augment, "flip, crop, both or none; not with a frozen backbone")
      ->capture_default_str();
  add("--replace", o.replace, "UDV blocks in place of layers of the built-in network: a pattern");
  add("--replace-variant", o.replace_variant, "Variant of these blocks")->capture_default_str();
  add("--replace-width", o.replace_width, "Neurons of these blocks at most (default: all)")
      ->check(count);
  add("--limit-train", limit_train, "Use the first so many pictures")->check(count);
  add("--limit-test", limit_test, "Test on the first so many pictures")->check(count);
  add("--test-share", images.test_share, "Test part, where the data have none")
      ->capture_default_str()
      ->check(positive());
  add("--split-seed", images.split_seed, "Seed of the split")
      ->capture_default_str()
      ->check(seed_number());
  add("--cache", cache, "Folder for features of a frozen backbone")->capture_default_str();
  add("--curves", curves, "Pruning curves: every epoch, the last one or none")
      ->capture_default_str()
      ->check(CLI::IsMember({"every", "last", "none"}));
  add("--load", load, "Start from the weights of an earlier run (or of udv prune)");
  command.add_flag("--evaluate", evaluate, "Only test the network that --load gives");
  training.add_to(command);
  common.add_to(command);
}

deep::FinetuneOptions FinetuneFlags::read() const {
  deep::FinetuneOptions used = options;
  used.training = training.read(common.seed);
  training.set_average(net::Task::kClassification, used.training);
  used.flip = false;
  used.crop = 0;
  for (const std::string& word : words(augment)) {
    if (word == "flip")
      used.flip = true;
    else if (word == "crop")
      used.crop = 1;
    else if (word != "none")
      throw CLI::ValidationError("--augment", "'" + word + "' found, flip, crop or none expected");
  }
  used.validate();
  return used;
}

std::map<std::string, io::Setting> FinetuneFlags::describe(
    const deep::FinetuneOptions& used) const {
  std::map<std::string, io::Setting> config;
  training.describe(config);
  for (const char* name : {"shrink", "shrink-tail", "shrink-every", "float64"}) config.erase(name);
  config["data"] = data;
  config["backbone"] = used.backbone.empty() ? std::string("built-in") : used.backbone;
  config["trainable"] = used.trainable;
  config["backbone-lr"] = used.backbone_rate;
  config["clip"] = used.clip;
  config["device"] = used.device;
  config["precision"] = used.precision;
  config["image-size"] = static_cast<std::int64_t>(used.image_size);
  config["augment"] = augment;
  config["limit-train"] = static_cast<std::int64_t>(limit_train);
  config["limit-test"] = static_cast<std::int64_t>(limit_test);
  config["test-share"] = images.test_share;
  config["split-seed"] = static_cast<std::int64_t>(images.split_seed);
  if (!load.empty()) config["load"] = load;
  if (!used.replace.empty()) {
    config["replace"] = used.replace;
    config["replace-variant"] = used.replace_variant;
    config["replace-width"] = static_cast<std::int64_t>(used.replace_width);
  }
  return config;
}

}  // namespace udv::cli
