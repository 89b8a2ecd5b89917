// SPDX-License-Identifier: MIT
#include "udv/deep/finetune.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "cli/commands.hpp"
#include "cli/common.hpp"
#include "cli/epoch_tables.hpp"
#include "cli/interrupt.hpp"
#include "cli/live.hpp"
#include "cli/network_file.hpp"
#include "cli/training_flags.hpp"
#include "core/hash.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "udv/net/head.hpp"
#include "udv/net/run_folder.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

using net::TrainStop;
namespace fs = std::filesystem;

struct Flags {
  std::string data, cache = "udv-runs/features", curves = "every", load, augment = "flip,crop";
  Index limit_train = 0, limit_test = 0;
  bool evaluate = false;
  deep::FinetuneOptions options;
  deep::ImageOptions images;
  TrainFlags training;
  CommonFlags common;
};

constexpr Index kCachePart = 1024;  // pictures in one file of features

bool frozen(const Flags& flags) {
  return !flags.options.backbone.empty() && !flags.options.trainable;
}

deep::FinetuneOptions read_options(const Flags& flags, net::Task task) {
  deep::FinetuneOptions options = flags.options;
  options.training = flags.training.read(flags.common.seed);
  flags.training.set_average(task, options.training);
  options.flip = false;
  options.crop = 0;
  for (const std::string& word : words(flags.augment)) {
    if (word == "flip")
      options.flip = true;
    else if (word == "crop")
      options.crop = 1;
    else if (word != "none")
      throw CLI::ValidationError("--augment", "'" + word + "' found, flip, crop or none expected");
  }
  options.validate();
  return options;
}

// An eighth of the picture, 4 pixels of 32.
void set_crop(const deep::ImageData& data, deep::FinetuneOptions& options) {
  if (options.crop > 0) options.crop = std::max<Index>(1, data.training.height / 8);
}

std::map<std::string, io::Setting> describe(const Flags& flags,
                                            const deep::FinetuneOptions& options) {
  std::map<std::string, io::Setting> config;
  flags.training.describe(config);
  for (const char* name : {"shrink", "shrink-tail", "shrink-every", "float64"}) config.erase(name);
  config["data"] = flags.data;
  config["backbone"] = options.backbone.empty() ? std::string("built-in") : options.backbone;
  config["trainable"] = options.trainable;
  config["backbone-lr"] = options.backbone_rate;
  config["clip"] = options.clip;
  config["device"] = options.device;
  config["precision"] = options.precision;
  config["image-size"] = static_cast<std::int64_t>(options.image_size);
  config["augment"] = flags.augment;
  config["limit-train"] = static_cast<std::int64_t>(flags.limit_train);
  config["limit-test"] = static_cast<std::int64_t>(flags.limit_test);
  config["test-share"] = flags.images.test_share;
  config["split-seed"] = static_cast<std::int64_t>(flags.images.split_seed);
  if (!flags.load.empty()) config["load"] = flags.load;
  if (!options.replace.empty()) {
    config["replace"] = options.replace;
    config["replace-variant"] = options.replace_variant;
    config["replace-width"] = static_cast<std::int64_t>(options.replace_width);
  }
  return config;
}

std::uint64_t file_hash(const std::string& path) {
  if (path.empty()) return 0;
  const std::string bytes = io::read_bytes(path);
  return array_hash(bytes.data(), bytes.size());
}

// ---- features of a frozen backbone

// Which backbone made features of which pictures at which size.
std::string feature_key(const deep::FinetuneOptions& options, const deep::ImageSet& set) {
  std::uint64_t hash = file_hash(options.backbone);
  hash = array_hash(set.bytes.data(), set.bytes.size(), hash);
  hash = fnv_hash(message(options.image_size, " ", options.precision, " ", options.device), hash);
  return fmt::format("{:016x}", hash);
}

// Features of one part; pieces that are on disk are not computed again. Nothing where Ctrl-C was
// pressed.
std::optional<net::Dataset<float>> cached_features(const Flags& flags,
                                                   const deep::FinetuneOptions& options,
                                                   deep::Finetuner& tuner,
                                                   const deep::ImageSet& set) {
  const fs::path folder = flags.cache;
  std::error_code failure;
  fs::create_directories(folder, failure);
  require<IoError>(!failure, folder.string(), ": cannot make this folder: ", failure.message());
  const std::string key = feature_key(options, set);
  net::Dataset<float> result;
  result.task = net::Task::kClassification;
  result.classes = set.classes;
  result.labels = set.labels;
  result.X.resize(set.count, tuner.num_features());
  ProgressBar progress({set.count}, flags.common.quiet, {"images", "features", "width"});
  const auto started = std::chrono::steady_clock::now();
  for (Index begin = 0; begin < set.count; begin += kCachePart) {
    if (interrupted()) return std::nullopt;
    const Index count = std::min(kCachePart, set.count - begin);
    const fs::path path = folder / fmt::format("{}-{:05}.npy", key, begin / kCachePart);
    if (fs::exists(path)) {
      const io::Array array = io::read_npy(path);
      require<IoError>(array.shape == std::vector<Index>{count, tuner.num_features()},
                       path.string(), ": features of shape ", io::shape_text(array.shape),
                       " found; remove this file");
      result.X.middleRows(begin, count) =
          Eigen::Map<const RowMatrix<double>>(array.values.data(), count, tuner.num_features())
              .cast<float>();
    } else {
      const RowMatrix<float> features = tuner.features(set, begin, count);
      require<IoError>(features.allFinite(), options.backbone, ": a feature is not finite");
      io::write_npy(path, features);
      result.X.middleRows(begin, count) = features;
    }
    IterationRecord record;
    record.iteration = begin + count;
    record.rank = tuner.num_features();
    record.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    progress.observer()(record);
  }
  return result;
}

// ---- one run

struct Session {
  const Flags& flags;
  const deep::FinetuneOptions& options;
  const deep::ImageData& data;
  deep::Finetuner& tuner;
  fs::path folder;
  std::string settings;
  EpochTable spectra, curves, blocks;

  fs::path checkpoint() const { return folder / "checkpoint.bin"; }

  void record_epoch(const net::EpochRecord& record, const net::Network<float>& head,
                    const net::Dataset<float>& test) {
    spectra.add(record.epoch, spectrum_lines(record.epoch, net::quick_spectrum(head)));
    const bool last = record.epoch == options.training.epochs;
    if (head.variant().has_hidden() &&
        (flags.curves == "every" || (flags.curves == "last" && last)))
      curves.add(record.epoch, curve_lines(record.epoch, head, test));
    std::string lines;
    for (const deep::BlockInfo& block : tuner.blocks())
      lines += fmt::format("{},{},{},{:.6g},{:.6g},{},{}\n", record.epoch, block.name, block.width,
                           net::stable_rank(block.spectrum), net::effective_rank(block.spectrum),
                           net::energy_rank(block.spectrum, 0.9),
                           net::energy_rank(block.spectrum, 0.99));
    if (!lines.empty()) blocks.add(record.epoch, lines);
  }
};

Observer observers(const Flags& flags, ProgressBar& progress, LiveFile& live, double before) {
  std::vector<Observer> all{progress.observer(), live.observer(), stop_on_interrupt()};
  if (flags.common.time_limit > 0) all.push_back(time_limit(flags.common.time_limit + before));
  return combine(std::move(all));
}

std::string checkpoint_bytes(const Session& session) {
  if (!session.flags.common.resume) return "";
  if (fs::exists(session.checkpoint())) return io::read_bytes(session.checkpoint());
  warn(session.checkpoint().string() + ": not there, starting anew");
  return "";
}

deep::FinetuneResult train_all(Session& session) {
  const Flags& flags = session.flags;
  const ProgressTotal total{session.options.training.epochs * session.data.training.count,
                            flags.common.time_limit};
  const ProgressWords words{"images", "loss", "width"};
  ProgressBar progress(total, flags.common.quiet, words);
  LiveFile live(session.folder, "finetune", total, words);
  deep::FinetuneHooks hooks;
  hooks.settings = session.settings;
  hooks.resume = checkpoint_bytes(session);
  hooks.observer = observers(flags, progress, live, 0);
  hooks.save = [&](const std::string& bytes) { io::write_atomically(session.checkpoint(), bytes); };
  hooks.epoch = [&](const auto& record, const auto& head, const auto& test) {
    session.record_epoch(record, head, test);
  };
  try {
    return session.tuner.train(hooks);
  } catch (const InvalidArgument& error) {
    if (hooks.resume.empty()) throw;
    throw IoError(message(session.checkpoint().string(), ": ", error.what()));
  }
}

// The head alone, by the native engine.
std::optional<deep::FinetuneResult> train_head(Session& session) {
  const Flags& flags = session.flags;
  const auto training =
      cached_features(flags, session.options, session.tuner, session.data.training);
  if (!training) return std::nullopt;
  const auto test = cached_features(flags, session.options, session.tuner, session.data.test);
  if (!test) return std::nullopt;
  net::TrainOptions options = session.options.training;
  if (options.hidden == 0) options.hidden = session.tuner.num_features();
  net::check_run(flags.data, *training, *test, options);
  std::optional<net::TrainState<float>> state;
  if (const std::string bytes = checkpoint_bytes(session); !bytes.empty()) try {
      state = net::train_state_from_bytes<float>(bytes);
      require(state->settings == session.settings,
              "made by a run of another model or with other settings (", state->settings, ")");
    } catch (const InvalidArgument& error) {
      throw IoError(message(session.checkpoint().string(), ": ", error.what()));
    }
  const Index steps = options.epochs * ((training->size() + options.batch - 1) / options.batch);
  const ProgressTotal total{steps, flags.common.time_limit};
  const ProgressWords words{"step", "loss", "width"};
  ProgressBar progress(total, flags.common.quiet, words);
  LiveFile live(session.folder, "finetune", total, words);
  net::TrainHooks<float> hooks;
  hooks.observer = observers(flags, progress, live, state ? state->seconds : 0);
  hooks.resume = state ? &*state : nullptr;
  hooks.save = [&](const net::TrainState<float>& now) {
    net::TrainState<float> named = now;
    named.settings = session.settings;
    io::write_atomically(session.checkpoint(), to_bytes(named));
  };
  hooks.epoch = [&](const net::EpochRecord& record, const net::Network<float>& head) {
    session.record_epoch(record, head, *test);
  };
  auto result = net::train(*training, *test, options, hooks);
  const double images = static_cast<double>(result.history.size() * training->X.rows());
  return deep::FinetuneResult{std::move(result), images / std::max(result.seconds, 1e-9)};
}

net::Preprocessing preprocessing_of(const Session& session, const net::Network<float>& head) {
  net::Preprocessing how;
  how.task = net::Task::kClassification;
  how.inputs = head.sizes().inputs;
  how.outputs = head.sizes().outputs;
  how.classes = session.data.class_names;
  how.features.offset = Vector<double>::Zero(how.inputs);
  how.features.factor = Vector<double>::Ones(how.inputs);
  return how;
}

void write_results(Session& session, const deep::FinetuneResult& result, io::RunInfo info,
                   const net::TrainFigures& figures) {
  const net::TrainResult<float>& trained = result.training;
  const net::Model<float> model{trained.network,
                                preprocessing_of(session, trained.network),
                                {{"settings", session.settings}}};
  info.config["threads"] = static_cast<std::int64_t>(num_threads());
  info.figures["images_per_second"] = result.images_per_second;
  info.figures["network_parameters"] = static_cast<std::int64_t>(session.tuner.num_parameters());
  net::TrainOptions options = session.options.training;
  net::write_run<float>(
      session.folder,
      {trained, model, options, figures, session.data.training.count, session.data.test.count},
      info);
  if (session.options.backbone.empty())
    write_network(session.folder / "network.safetensors",
                  {session.tuner.arrays(), session.tuner.blocks()});
  else if (session.options.trainable)
    session.tuner.save_backbone(session.folder / "backbone.pt");
  leave_report(session.flags.common, "finetune", session.folder);
}

void print_row(const char* name, const std::string& value) {
  fmt::print("  {:<14} {}\n", name, value);
}

void print_summary(const Session& session, const deep::FinetuneResult& result,
                   const net::TrainFigures& figures) {
  const net::TrainResult<float>& trained = result.training;
  const net::TrainOptions& o = session.options.training;
  print_row("data", fmt::format("{} pictures to learn from, {} to test, {} classes",
                                session.data.training.count, session.data.test.count,
                                session.data.training.classes));
  print_row("network",
            fmt::format("{}{}, head {} {}, {} parameters in all",
                        session.options.backbone.empty() ? std::string("built-in network")
                                                         : session.options.backbone,
                        frozen(session.flags) ? " (frozen)" : "", o.variant,
                        to_string(trained.network.sizes()), session.tuner.num_parameters()));
  print_row("training",
            fmt::format("{}, learning rate {}, {} epochs, {}, {:.0f} images/s on {}", o.optimizer,
                        o.learning_rate, trained.history.size(), report::duration(trained.seconds),
                        result.images_per_second, session.tuner.device()));
  print_row("test accuracy",
            fmt::format("{:.2f} %  (mean of the last {} epochs)", 100 * trained.test_accuracy,
                        std::min(static_cast<size_t>(o.average_last), trained.history.size())));
  print_row("spectrum", report::spectrum_text(figures.spectrum));
  print_row("rank",
            fmt::format("{} / {} / {} carry 90 / 99 / 99.9 % of the energy, stable rank {:.3g}",
                        figures.rank_90, figures.rank_99, figures.rank_999, figures.stable_rank));
  for (const deep::BlockInfo& block : session.tuner.blocks())
    print_row("block", fmt::format("{}: {} neurons, {} carry 99 % of the energy", block.name,
                                   block.width, net::energy_rank(block.spectrum, 0.99)));
  if (trained.stop != TrainStop::kDone) print_row("stopped", std::string(to_string(trained.stop)));
  print_row("results", session.folder.string());
}

// Weights of an earlier run, pruned or not.
void load_run(const Flags& flags, deep::Finetuner& tuner) {
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

ExitCode run_finetune(Flags flags) {
  set_num_threads(flags.common.threads);
  deep::FinetuneOptions options = read_options(flags, net::Task::kClassification);
  if (options.image_size > 0) flags.images.size = options.image_size;
  if (options.image_size == 0 && options.backbone.empty()) flags.images.size = 64;
  deep::ImageData data = read_images(flags.data, flags.images);
  data.training.limit(flags.limit_train);
  data.test.limit(flags.limit_test);
  options.training.batch = options.training.batch > 0
                               ? std::min(options.training.batch, data.training.count)
                               : data.training.count;
  set_crop(data, options);
  // A run with a backbone of its own goes on with that one.
  const fs::path own = fs::path(flags.load) / "backbone.pt";
  if (!flags.load.empty() && options.backbone.empty() && fs::exists(own))
    options.backbone = flags.options.backbone = own.string();
  deep::Finetuner tuner(options, data);
  load_run(flags, tuner);
  if (flags.evaluate) {
    const net::Score score = tuner.evaluate();
    fmt::print("  test loss      {:.6g}\n  test accuracy  {:.4f}\n", score.loss, score.accuracy);
    return kDone;
  }
  io::RunInfo info;
  info.command = "finetune";
  info.seed = flags.common.seed;
  info.config = describe(flags, options);
  const fs::path folder = make_run_folder(flags.common, "finetune");
  const bool resume = flags.common.resume;
  Session session{flags,
                  options,
                  data,
                  tuner,
                  folder,
                  message("seed ", flags.common.seed, "; ", settings_text(info.config),
                          "; bytes of the pictures ", data.content_hash(), ", of the backbone ",
                          file_hash(options.backbone)),
                  {folder / "spectra.csv", "epoch,index,sigma", resume},
                  {folder / "curves.csv", "epoch,neurons,loss,accuracy", resume},
                  {folder / "blocks.csv",
                   "epoch,block,width,stable_rank,effective_rank,rank_90,rank_99", resume}};
  catch_interrupts();
  const auto result = frozen(flags) ? train_head(session) : std::optional(train_all(session));
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
  const auto flags = std::make_shared<Flags>();
  flags->training.options.epochs = 20;
  flags->training.batch = "128";
  CLI::App* const command = program.add_subcommand(
      "finetune", "Trains a head on a pretrained backbone, or a small network, on pictures");
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command->add_option(name, value, text);
  };
  const CLI::Range count(Index{1}, Index{1} << 31);
  deep::FinetuneOptions& o = flags->options;
  add("--data", flags->data, "Folder of classes (PNG, JPEG), MNIST or CIFAR folder or file")
      ->required();
  add("--backbone", o.backbone, "TorchScript file, images to features (default: built-in network)");
  command->add_flag("--trainable", o.trainable, "The backbone learns too (default: it is frozen)");
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
  add("--augment", flags->augment, "flip, crop, both or none; not with a frozen backbone")
      ->capture_default_str();
  add("--replace", o.replace, "UDV blocks in place of layers of the built-in network: a pattern");
  add("--replace-variant", o.replace_variant, "Variant of these blocks")->capture_default_str();
  add("--replace-width", o.replace_width, "Neurons of these blocks at most (default: all)")
      ->check(count);
  add("--limit-train", flags->limit_train, "Use the first so many pictures")->check(count);
  add("--limit-test", flags->limit_test, "Test on the first so many pictures")->check(count);
  add("--test-share", flags->images.test_share, "Test part, where the data have none")
      ->capture_default_str()
      ->check(positive());
  add("--split-seed", flags->images.split_seed, "Seed of the split")
      ->capture_default_str()
      ->check(seed_number());
  add("--cache", flags->cache, "Folder for features of a frozen backbone")->capture_default_str();
  add("--curves", flags->curves, "Pruning curves: every epoch, the last one or none")
      ->capture_default_str()
      ->check(CLI::IsMember({"every", "last", "none"}));
  add("--load", flags->load, "Start from the weights of an earlier run (or of udv prune)");
  command->add_flag("--evaluate", flags->evaluate, "Only test the network that --load gives");
  flags->training.add_to(*command);
  flags->common.add_to(*command);
  return [flags] { return run_finetune(*flags); };
}

}  // namespace udv::cli
