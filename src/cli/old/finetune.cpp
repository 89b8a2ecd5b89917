// SPDX-License-Identifier: MIT
#include "udv/deep/finetune.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/finetune_features.hpp"
#include "cli/finetune_results.hpp"
#include "cli/finetune_session.hpp"
#include "cli/interrupt.hpp"
#include "cli/network_file.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"

namespace udv::cli {
namespace {

using net::TrainStop;
namespace fs = std::filesystem;

constexpr Index kBuiltInSize = 64;  // of pictures from folders

// Weights of an earlier run, pruned or not.
void load_run(const FinetuneFlags& flags, deep::Finetuner& tuner) {
  if (flags.load.empty()) return;
  const fs::path folder = flags.load;
  const auto model = net::read_model<float>(folder / "model.safetensors");
  try {
    tuner.set_head(model.network);
    if (!flags.options.backbone.empty()) return;
    const NetworkFile file = read_network(folder / "network.safetensors");
    tuner.load_arrays(file.arrays, file.blocks);
  } catch (const InvalidArgument& error) {
    throw IoError(message(folder.string(), ": ", error.what()));
  }
}

// A run with a backbone of its own goes on with that one.
void take_own_backbone(FinetuneFlags& flags) {
  const fs::path own = fs::path(flags.load) / "backbone.pt";
  if (!flags.load.empty() && flags.options.backbone.empty() && fs::exists(own))
    flags.options.backbone = own.string();
}

deep::ImageData read_pictures(const FinetuneFlags& flags) {
  deep::ImageOptions how = flags.images;
  const Index wanted = flags.options.image_size;
  if (wanted > 0) how.size = wanted;
  if (wanted == 0 && flags.options.backbone.empty()) how.size = kBuiltInSize;
  deep::ImageData data = read_images(flags.data, how);
  data.training.limit(flags.limit_train);
  data.test.limit(flags.limit_test);
  return data;
}

// What depends on the pictures: batches of all of them at most; moves by an eighth, 4 pixels of 32.
void fit_to(const deep::ImageData& data, deep::FinetuneOptions& options) {
  Index& batch = options.training.batch;
  batch = batch > 0 ? std::min(batch, data.training.count) : data.training.count;
  if (options.crop > 0) options.crop = std::max<Index>(1, data.training.height / 8);
}

ExitCode print_score(deep::Finetuner& tuner) {
  const net::Score score = tuner.evaluate();
  fmt::print("  test loss      {:.6g}\n  test accuracy  {:.4f}\n", score.loss, score.accuracy);
  return kDone;
}

io::RunInfo info_of(const FinetuneFlags& flags, const deep::FinetuneOptions& options) {
  io::RunInfo info;
  info.command = "finetune";
  info.seed = flags.common.seed;
  info.config = flags.describe(options);
  return info;
}

// All that fixes the numbers of a run.
std::string settings_of(const io::RunInfo& info, const deep::ImageData& data,
                        const std::string& backbone) {
  return message("seed ", info.seed, "; ", settings_text(info.config), "; bytes of the pictures ",
                 data.content_hash(), ", of the backbone ", file_hash(backbone));
}

ExitCode run_finetune(FinetuneFlags flags) {
  set_num_threads(flags.common.threads);
  take_own_backbone(flags);
  deep::FinetuneOptions options = flags.read();
  const deep::ImageData data = read_pictures(flags);
  fit_to(data, options);
  deep::Finetuner tuner(options, data);
  load_run(flags, tuner);
  if (flags.evaluate) return print_score(tuner);
  const io::RunInfo info = info_of(flags, options);
  const fs::path folder = make_run_folder(flags.common, "finetune");
  const bool resume = flags.common.resume;
  FinetuneSession session{flags,
                          options,
                          data,
                          tuner,
                          folder,
                          settings_of(info, data, options.backbone),
                          {folder / "spectra.csv", "epoch,index,sigma", resume},
                          {folder / "curves.csv", "epoch,neurons,loss,accuracy", resume},
                          {folder / "blocks.csv",
                           "epoch,block,width,stable_rank,effective_rank,rank_90,rank_99", resume}};
  catch_interrupts();
  const auto result = session.train();
  if (!result || result->training.stop == TrainStop::kInterrupted) {
    say_interrupted(folder);
    return kInterrupted;
  }
  const net::TrainFigures figures = net::figures_of(result->training.network);
  write_results(session, *result, info, figures);
  if (result->training.stop != TrainStop::kTimeLimit) remove_file(session.checkpoint());
  if (!flags.common.quiet) print_summary(session, *result, figures);
  return result->training.stop == TrainStop::kDone ? kDone : kNotConverged;
}

}  // namespace

Run setup_finetune(CLI::App& program) {
  const auto flags = std::make_shared<FinetuneFlags>();
  CLI::App* const command = program.add_subcommand(
      "finetune", "Trains a head on a pretrained backbone, or a small network, on pictures");
  flags->add_to(*command);
  return [flags] { return run_finetune(*flags); };
}

}  // namespace udv::cli
