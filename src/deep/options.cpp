// SPDX-License-Identifier: MIT
// The tables of settings of the LibTorch component.
#include "udv/core/options.hpp"

#include "core/require.hpp"
#include "udv/deep/finetune.hpp"
#include "udv/deep/image_set.hpp"
#include "udv/deep/language_model.hpp"
#include "udv/deep/text_model.hpp"

namespace udv::deep {
namespace {

constexpr double kMost = 2147483648.0;
constexpr double kLargestSide = 4096;  // of pictures
constexpr double kLargestDecay = 1e6, kLargestTemperature = 1e6;
constexpr const char* kBuiltIn = "built-in";

void describe_backbone(OptionTable& table, FinetuneOptions& o) {
  std::string* const backbone = &o.backbone;
  table
      .add_custom(
          "backbone",
          [backbone](const std::string& text) { *backbone = text == kBuiltIn ? "" : text; },
          [backbone]() -> Setting { return backbone->empty() ? kBuiltIn : *backbone; },
          "TorchScript file that turns pictures into features, or the built-in network")
      .called("FILE");
  table.add("trainable", o.trainable, "Train the backbone as well instead of freezing it");
  table.add("backbone-lr", o.backbone_rate, "Learning rate of the backbone")
      .positive()
      .default_is("0.001 with relative steps, else that of the head");
  table.add("clip", o.clip, "Largest norm of the gradient of the backbone")
      .positive()
      .default_is("none");
  table.add("fuse", o.fuse,
            "Let TorchScript rewrite the backbone: faster, with different last digits");
}

// Those of net, without steps that need balls.
std::string plain_optimizers() {
  std::string names = net::optimizer_names();
  constexpr std::string_view kRelative = "relative, ";
  if (names.starts_with(kRelative)) names.erase(0, kRelative.size());
  return names;
}

void describe_augmentation(OptionTable& table, FinetuneOptions& o) {
  FinetuneOptions* const at = &o;
  const auto set = [at](const std::string& text) {
    at->flip = at->crop = false;
    for (const std::string& word : comma_words(text)) {
      require(word == "flip" || word == "crop" || word == "none", "'", word,
              "' found, flip, crop or none expected");
      at->flip = at->flip || word == "flip";
      at->crop = at->crop || word == "crop";
    }
  };
  const auto get = [at]() -> Setting {
    if (at->flip && at->crop) return "flip,crop";
    return at->flip ? "flip" : at->crop ? "crop" : "none";
  };
  table
      .add_custom("augment", set, get,
                  "Changes of the pictures to learn from: flip, crop, both or none; not with a "
                  "frozen backbone")
      .called("WORDS");
}

}  // namespace

void describe(OptionTable& table, Placement& placement) {
  table.group("Device");
  table.add("device", placement.device, "Device to run on").one_of({"cpu", "cuda"});
  table.add("precision", placement.precision, "Precision of the numbers; auto: bf16 on cuda")
      .one_of({"auto", "single", "bf16"});
}

void describe_processes(OptionTable& table, Placement& placement) {
  table
      .add("process-timeout", placement.process_timeout,
           "With torchrun: time without an answer until a process counts as lost")
      .positive()
      .measured_in("seconds")
      .keeps_numbers();
}

void describe(OptionTable& table, FinetuneOptions& o) {
  table.group("Network");
  describe_backbone(table, o);
  table
      .add("image-size", o.image_size,
           "Side of the pictures that the network sees, 224 with a backbone")
      .between(1, kLargestSide)
      .measured_in("pixels")
      .default_is("as the files are; 64 for folders");
  describe_augmentation(table, o);
  table
      .add("replace", o.replace,
           "Layers of the built-in network to replace by UDV blocks: a pattern")
      .called("PATTERN");
  table.add("replace-variant", o.replace_variant, "Variant of these blocks");
  table.add("replace-width", o.replace_width, "Most neurons of these blocks")
      .between(1, kMost)
      .default_is("all");
  describe(table, o.placement);
  describe_processes(table, o.placement);
  describe(table, o.training);
  table.remove({"shrink", "shrink-tail", "shrink-every", "preset", "average", "label-smoothing",
                "balance", "metric", "max-steps"});
  table
      .add("preset", o.preset,
           "paper: the paper's training, Adam at 0.001 with a cosine over the epochs")
      .one_of({"auto", "paper"});
  table.find("lr")->word("auto", 0).help =
      "Learning rate of the head; auto: 2.3 / sqrt(steps) for relative, else 0.001";
  table.find("optimizer")->help = "auto, relative, " + plain_optimizers() +
                                  "; auto: relative where the variant has balls, else adam";
  table.find("schedule")->help = "auto, cosine-step, " + net::schedule_names();
}

void describe(OptionTable& table, ImageOptions& options) {
  table.group("Pictures");
  table.add("test-share", options.test_share, "Test part, where the data have none").positive();
  table.add("split-seed", options.split_seed, "Seed of the split");
}

void describe(OptionTable& table, TextModelFiles& files) {
  table.group("Model");
  table
      .add("model", files.model,
           "Folder of a LLaMA model in Hugging Face's layout, or file of llama2.c")
      .called("PATH")
      .must_be_given();
  table.add("tokenizer", files.tokenizer, "tokenizer.json, tokenizer.model or llama2.c's .bin")
      .called("FILE")
      .default_is("the one in the folder of the model");
  table.add("adapter", files.adapter, "Folder of a PEFT adapter, or of a run of lora or prune")
      .called("FOLDER");
  describe(table, files.placement);
}

void describe(OptionTable& table, LoraOptions& o) {
  table.group("Training");
  table
      .add("preset", o.preset,
           "paper: all settings of the paper (mbgd at 0.001, cosine over the epochs, q and v, A "
           "normal with init-std 0.1, d = 1)")
      .one_of({"auto", "paper"});
  table
      .add("modules", o.adapter.modules,
           "Matrices that get adapters: all, attention (q, k, v, o), or some of q, k, v, o, gate, "
           "up, down")
      .default_is("all; preset paper: q,v");
  table.add("optimizer", o.optimizer,
            "auto, relative, " + plain_optimizers() + "; auto: relative for lora-udv, else adam");
  table
      .add("lr", o.learning_rate,
           "Learning rate; auto: 7 / sqrt(steps) for relative, whatever the rank, else 0.003")
      .positive()
      .word("auto", 0);
  table.add("alpha", o.adapter.alpha, "lora: the change is alpha / rank B A, as in PEFT")
      .positive()
      .default_is("the rank");
  table.add("init-rank", o.adapter.first_rank, "adalora: rank of every block at the start")
      .between(1, kMost)
      .default_is("1.5 times the rank");
  table.add("weight-decay", o.rule.weight_decay, "Weight decay").between(0, kLargestDecay);
  table
      .add(
          "schedule", o.schedule.name,
          "Learning rate over the training; cosine-step: falls with every step; cosine: with every "
          "epoch; auto: cosine-step")
      .one_of({"auto", "cosine-step", "cosine", "constant"});
  table.add("epochs", o.epochs, "Passes over the text").between(1, kMost);
  table.add("batch", o.batch, "Sequences of one step").between(1, kMost);
  table
      .add("micro-batch", o.micro_batch,
           "Sequences that are computed at a time; gradients of a step add up")
      .between(1, kMost)
      .default_is("8192 tokens, 2048 on the CPU");
  table.add("sequence", o.sequence, "Tokens of a sequence")
      .between(1, kMost)
      .default_is("the limit of the model, up to 1024");
  table.add("clip", o.clip, "Largest norm of the gradient").positive().default_is("none");
  table
      .add("init-std", o.adapter.deviation,
           "Standard deviation of A at the start, where steps are not relative")
      .positive()
      .default_is("lora: uniform as in PEFT; else 0.1");
  table
      .add("checkpointing", o.checkpointing,
           "Save memory: keep only the inputs of layers and compute each layer twice")
      .as_switch_word();
}

void describe(OptionTable& table, GenerateOptions& options) {
  table.group("Text");
  table.add("tokens", options.tokens, "Most tokens to generate").between(1, kMost);
  table.add("temperature", options.temperature, "0 takes the likeliest token each time")
      .between(0, kLargestTemperature);
}

}  // namespace udv::deep
