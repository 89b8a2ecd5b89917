// SPDX-License-Identifier: MIT
#include "udv/deep/finetune_job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/require.hpp"
#include "deep/epoch_tables.hpp"
#include "deep/finetune_features.hpp"
#include "deep/shared_session.hpp"
#include "jobs/training_files.hpp"
#include "udv/net/files/network_file.hpp"
#include "udv/net/head.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;
using net::TrainStop;

constexpr Index kBuiltInSize = 64;  // of pictures from folders
constexpr double kMost = 2147483648.0;

// ---- input

// A run with a backbone of its own continues with that one.
FinetuneJobOptions with_own_backbone(FinetuneJobOptions options) {
  const fs::path own = fs::path(options.load) / "backbone.pt";
  if (!options.load.empty() && options.tuning.backbone.empty() && fs::exists(own))
    options.tuning.backbone = own.string();
  return options;
}

deep::ImageData read_pictures(const FinetuneInput& input, const FinetuneJobOptions& options) {
  deep::ImageOptions how = options.images;
  const Index wanted = options.tuning.image_size;
  if (wanted > 0) how.size = wanted;
  if (wanted == 0 && options.tuning.backbone.empty()) how.size = kBuiltInSize;
  deep::ImageData data = read_images(input.data, how);
  data.training.limit(options.limit_train);
  data.test.limit(options.limit_test);
  return data;
}

// Weights of an earlier run, pruned or not.
void load_run(const FinetuneJobOptions& options, deep::Finetuner& tuner) {
  if (options.load.empty()) return;
  const fs::path folder = options.load;
  const auto model = net::read_model<float>(folder / "model.safetensors");
  try {
    tuner.set_head(model.network);
    if (!options.tuning.backbone.empty()) return;
    const net::NetworkFile file = net::read_network(folder / "network.safetensors");
    tuner.load_arrays(file.arrays, file.blocks);
  } catch (const InvalidArgument& error) {
    throw IoError(message(folder.string(), ": ", error.what()));
  }
}

net::Preprocessing preprocessing_of(const deep::ImageData& data, const net::Sizes& head) {
  net::Preprocessing how;
  how.task = net::Task::kClassification;
  how.inputs = head.inputs;
  how.outputs = head.outputs;
  how.classes = data.class_names;
  how.features.offset = Vector<double>::Zero(how.inputs);
  how.features.factor = Vector<double>::Ones(how.inputs);
  return how;
}

// ---- files that grow with every epoch

class EpochTables {
 public:
  EpochTables(RunFolder& folder, const FinetuneJobOptions& options, bool resume)
      : options_(options),
        spectra_(folder, "spectra.csv", "epoch,index,sigma", resume),
        curves_(folder, "curves.csv", "epoch,neurons,loss,accuracy", resume),
        blocks_(folder, "blocks.csv",
                "epoch,block,width,stable_rank,effective_rank,rank_90,rank_99", resume) {}

  void add(Index epoch, const net::Network<float>& head, const net::Dataset<float>& test,
           const std::vector<net::BlockInfo>& blocks) {
    spectra_.add(epoch, spectrum_lines(epoch, net::quick_spectrum(head)));
    const bool last = epoch == options_.tuning.training.epochs;
    const bool wanted = options_.curves == "every" || (options_.curves == "last" && last);
    if (wanted && head.variant().has_hidden()) curves_.add(epoch, curve_lines(epoch, head, test));
    std::string lines;
    for (const net::BlockInfo& block : blocks)
      lines += fmt::format("{},{},{},{:.6g},{:.6g},{},{}\n", epoch, block.name, block.width,
                           net::stable_rank(block.spectrum), net::effective_rank(block.spectrum),
                           net::energy_rank(block.spectrum, 0.9),
                           net::energy_rank(block.spectrum, 0.99));
    if (!lines.empty()) blocks_.add(epoch, lines);
  }

 private:
  const FinetuneJobOptions& options_;
  EpochTable spectra_, curves_, blocks_;
};

// ---- the job

class FinetuneJob {
 public:
  FinetuneJob(FinetuneInput input, const deep::ImageData& data, FinetuneJobOptions options,
              Session& session)
      : input_(std::move(input)),
        options_(std::move(options)),
        data_(data),
        session_(session),
        processes_(options_.tuning.placement.processes),
        tuner_(options_.tuning, data) {
    load_run(options_, tuner_);
  }

  FinetuneJobResult evaluate() {
    FinetuneJobResult result = facts();
    const net::Score score = tuner_.evaluate();
    result.test_loss = score.loss;
    result.test_accuracy = score.accuracy;
    return result;
  }

  FinetuneJobResult train() {
    const bool frozen = options_.tuning.frozen();
    if (frozen && !make_features()) {
      FinetuneJobResult stopped = facts();
      stopped.outcome = Outcome::kInterrupted;
      stopped.stop = TrainStop::kInterrupted;
      stopped.folder = session_.options().out;
      return stopped;
    }
    if (frozen && processes_ && !processes_->is_first()) return facts();  // the head learns alone
    OptionTable table;
    describe(table, input_);
    describe(table, options_);
    Run run(session_, "finetune", table.config(),
            message(table.fingerprint(), "; bytes of the pictures ", data_.content_hash(),
                    "; bytes of the backbone ", file_hash(options_.tuning.backbone)));
    if (processes_) run.info().config["processes"] = static_cast<std::int64_t>(processes_->size());
    if (run.has_folder()) tables_.emplace(run.folder(), options_, session_.options().resume);
    const deep::FinetuneResult trained = features_ ? train_head(run) : train_all(run);
    run.stop_watching();
    FinetuneJobResult result = summary_of(trained, run);
    if (result.outcome == Outcome::kInterrupted || !run.has_folder()) return result;
    write(run, trained, result);
    if (result.stop != TrainStop::kTimeLimit) run.remove_checkpoint();
    return result;
  }

 private:
  struct Features {
    net::Dataset<float> training, test;
  };

  // False where the session is interrupted.
  bool make_features() {
    FeatureCache cache(options_.cache, options_.tuning, session_);
    auto training = cache.features(tuner_, data_.training);
    if (!training) return false;
    auto test = cache.features(tuner_, data_.test);
    if (!test) return false;
    features_ = Features{std::move(*training), std::move(*test)};
    if (processes_ && !processes_->is_first()) return true;  // it has none
    net::check_run(input_.data.empty() ? "finetune" : input_.data, features_->training,
                   features_->test, head_options());
    return true;
  }

  // Of a head that is trained alone.
  net::TrainOptions head_options() const {
    net::TrainOptions options = options_.tuning.with_steps(data_.training.count).training;
    const Index count = data_.training.count;
    options.batch = options.batch > 0 ? std::min(options.batch, count) : count;
    if (options.hidden == 0) options.hidden = tuner_.num_features();
    return options;
  }

  deep::FinetuneResult train_all(Run& run) {
    const deep::FinetuneHooks hooks{
        shared_hooks(
            run, processes_,
            {options_.tuning.training.epochs * data_.training.count, session_.options().time_limit},
            {"images", "loss", "width"}),
        [this](const auto& record, const auto& head, const auto& test) {
          record_epoch(record, head, test);
        }};
    return tuner_.train(hooks);
  }

  deep::FinetuneResult train_head(Run& run) {
    const net::TrainOptions options = head_options();
    const Index rows = features_->training.size();
    const net::TrainHooks<float> hooks{
        run.hooks({options.num_steps(rows), session_.options().time_limit},
                  {"step", "loss", "width"}),
        [this](const auto& record, const auto& head) {
          record_epoch(record, head, features_->test);
        }};
    auto result = net::train(features_->training, features_->test, options, hooks);
    const double images = static_cast<double>(result.history.size()) * static_cast<double>(rows);
    const double rate = images / std::max(result.seconds, 1e-9);
    return {std::move(result), rate};
  }

  void record_epoch(const net::EpochRecord& record, const net::Network<float>& head,
                    const net::Dataset<float>& test) {
    if (tables_) tables_->add(record.epoch, head, test, tuner_.blocks());
  }

  // What is known without a training.
  FinetuneJobResult facts() const {
    FinetuneJobResult result;
    result.variant = tuner_.head().variant().name;
    result.sizes = tuner_.head().sizes();
    result.backbone = options_.tuning.backbone;
    result.device = tuner_.device();
    result.training_images = data_.training.count;
    result.test_images = data_.test.count;
    result.classes = data_.training.classes;
    result.parameters = tuner_.num_parameters();
    return result;
  }

  FinetuneJobResult summary_of(const deep::FinetuneResult& trained, const Run& run) const {
    const net::TrainResult<float>& training = trained.training;
    FinetuneJobResult result = facts();
    result.outcome = outcome_of(training.stop);
    result.stop = training.stop;
    result.folder = run.path();
    result.head = net::Model<float>{training.network,
                                    preprocessing_of(data_, training.network.sizes()),
                                    {{"settings", run.fingerprint()}}};
    result.figures = net::figures_of(training.network);
    result.history = training.history;
    result.blocks = tuner_.blocks();
    result.variant = training.network.variant().name;
    result.sizes = training.network.sizes();
    result.averaged_epochs = options_.tuning.training.averaged_epochs(net::Task::kClassification);
    result.test_loss = training.test_loss;
    result.test_accuracy = training.test_accuracy;
    result.seconds = training.seconds;
    result.images_per_second = trained.images_per_second;
    return result;
  }

  void write(Run& run, const deep::FinetuneResult& trained, const FinetuneJobResult& result) const {
    run.info().figures["images_per_second"] = result.images_per_second;
    run.info().figures["network_parameters"] = static_cast<std::int64_t>(result.parameters);
    if (options_.tuning.backbone.empty())
      net::write_network(run.folder().file("network.safetensors"),
                         {tuner_.arrays(), tuner_.blocks()});
    else if (options_.tuning.trainable)
      tuner_.save_backbone(run.folder().file("backbone.pt"));
    write_training<float>(run, {trained.training, *result.head,
                                options_.tuning.with_steps(data_.training.count).training,
                                result.figures, result.training_images, result.test_images});
  }

  FinetuneInput input_;
  FinetuneJobOptions options_;
  const deep::ImageData& data_;
  Session& session_;
  std::shared_ptr<deep::Processes> processes_;  // nullptr: this one alone
  deep::Finetuner tuner_;
  std::optional<Features> features_;
  std::optional<EpochTables> tables_;
};

// Of several processes the first one, where there is something to train.
bool is_writer(const FinetuneJobOptions& options) {
  const std::shared_ptr<deep::Processes>& processes = options.tuning.placement.processes;
  return !options.evaluate && (!processes || processes->is_first());
}

FinetuneJobResult run_job(FinetuneInput input, const deep::ImageData& data,
                          FinetuneJobOptions options, Session& session) {
  options.tuning.training.seed = session.seed();
  const bool evaluate = options.evaluate;
  const std::shared_ptr<deep::Processes> processes = options.tuning.placement.processes;
  SharedSession shared(session, processes);
  std::optional<FinetuneJob> job;
  run_on_all(processes,
             [&] { job.emplace(std::move(input), data, std::move(options), shared.session()); });
  check_same_input(processes, "pictures", data.content_hash());
  return evaluate ? job->evaluate() : job->train();
}

}  // namespace

void describe(OptionTable& table, FinetuneInput& input) {
  table.group("Pictures");
  table.add("data", input.data, "Folder of classes (PNG, JPEG), MNIST or CIFAR folder or file")
      .called("PATH")
      .must_be_given();
}

void describe(OptionTable& table, FinetuneJobOptions& options) {
  describe(table, options.images);
  table.add("limit-train", options.limit_train, "Learn from this many pictures, the first ones")
      .between(1, kMost)
      .default_is("all");
  table.add("limit-test", options.limit_test, "Test on this many pictures, the first ones")
      .between(1, kMost)
      .default_is("all");
  table.add("cache", options.cache, "Folder for features of a frozen backbone")
      .called("FOLDER")
      .keeps_numbers();
  describe(table, options.tuning);
  table.add("curves", options.curves, "Epochs whose pruning curve is written")
      .one_of({"every", "last", "none"})
      .keeps_numbers();
  table.add("load", options.load, "Run (also of prune) whose weights the training starts from")
      .called("FOLDER");
  table.add("evaluate", options.evaluate, "Only test the network of the loaded run")
      .keeps_numbers();
}

FinetuneJobResult finetune(const FinetuneInput& input, const FinetuneJobOptions& given,
                           Session& session) {
  const FinetuneJobOptions options = with_own_backbone(given);
  const std::shared_ptr<deep::Processes>& processes = options.tuning.placement.processes;
  FinetuneInput same_input = input;
  FinetuneJobOptions same = options;
  OptionTable table;
  describe(table, same_input);
  describe(table, same);
  check_processes(processes, table, options.tuning.training.batch);
  deep::ImageData data;
  std::optional<EarlyFolder> early;
  run_on_all(processes, [&] {
    options.tuning.validate();
    if (is_writer(options)) early.emplace(session);
    data = read_pictures(input, options);
  });
  return run_job(input, data, options, session);
}

FinetuneJobResult finetune(const deep::ImageData& data, const FinetuneJobOptions& options,
                           Session& session) {
  std::optional<EarlyFolder> early;
  run_on_all(options.tuning.placement.processes, [&] {
    if (is_writer(options)) early.emplace(session);
  });
  return run_job({}, data, with_own_backbone(options), session);
}

}  // namespace udv::jobs
