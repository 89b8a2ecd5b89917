// SPDX-License-Identifier: MIT
#include "udv/deep/finetune.hpp"

#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>

#include "deep/image_batches.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/deep/optimizer.hpp"
#include "udv/deep/small_network.hpp"
#include "udv/deep/udv_linear.hpp"
#include "udv/net/head.hpp"
#include "udv/net/initialise.hpp"

// Debian's LibTorch multiplies by OpenBLAS, which net sets to one thread; others have none of it.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);

namespace udv::deep {
namespace {

using net::TrainStop;
using torch::Tensor;
using Clock = std::chrono::steady_clock;
using Tensors = std::vector<Tensor>;

constexpr double kLookSeconds = 0.2;  // on a GPU, where a look waits for it
constexpr Index kBackboneSize = 224;
constexpr Index kEvaluationBatch = 256;

// OpenBLAS has all threads for one scope, and one afterwards, as net wants it.
class BlasThreads {
 public:
  BlasThreads() { use_all(); }
  ~BlasThreads() {
    if (openblas_set_num_threads) openblas_set_num_threads(1);
  }
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

  static void use_all() {
    at::set_num_threads(num_threads());
    if (openblas_set_num_threads) openblas_set_num_threads(num_threads());
  }
};

std::string first_line(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

// What LibTorch throws, as one line.
template <typename Action>
auto guarded(const std::string& name, const Action& action) {
  try {
    return action();
  } catch (const c10::Error& error) {
    throw IoError(message(name, ": ", first_line(error)));
  }
}

torch::Device device_named(const std::string& name) {
  if (name == "cpu") return torch::kCPU;
  require(name == "cuda", "device '", name, "' found, cpu or cuda expected");
  require<IoError>(torch::cuda::is_available(),
                   "--device cuda: no CUDA device here that this LibTorch can use; --device cpu "
                   "works everywhere");
  return {torch::kCUDA, 0};
}

torch::Dtype type_named(const std::string& name, const torch::Device& device) {
  if (name == "bf16" || (name == "auto" && device.is_cuda())) return torch::kBFloat16;
  return torch::kFloat32;
}

bool is_norm(const torch::jit::Module& module) {
  return module.hasattr("running_mean");
}

// Values of half precision where the type asks for it; normalisations keep theirs.
void set_type(torch::jit::Module& script, torch::Dtype type) {
  if (type == torch::kFloat32) return;
  for (torch::jit::Module part : script.modules()) {
    if (is_norm(part)) continue;
    for (Tensor values : part.parameters(false)) values.set_data(values.to(type));
    for (Tensor values : part.buffers(false))
      if (values.is_floating_point()) values.set_data(values.to(type));
  }
}

void set_type(torch::nn::Module& network, torch::Dtype type) {
  if (type == torch::kFloat32) return;
  for (const auto& part : network.modules())
    if (dynamic_cast<ConvolutionImpl*>(part.get()) || dynamic_cast<DenseImpl*>(part.get()))
      for (Tensor values : part->parameters(false)) values.set_data(values.to(type));
}

void set_channels_last(const Tensors& parameters) {
  for (Tensor values : parameters)
    if (values.dim() == 4) values.set_data(values.contiguous(at::MemoryFormat::ChannelsLast));
}

}  // namespace

void FinetuneOptions::validate() const {
  training.validate();
  require(!training.shrink, "finetune: shrinking while training is part of udv train alone");
  require(backbone_rate >= 0 && std::isfinite(backbone_rate), "finetune: backbone rate is ",
          backbone_rate, ", a number of at least 0 expected");
  require(clip >= 0 && std::isfinite(clip), "finetune: clip is ", clip,
          ", a number of at least 0 expected");
  require(crop >= 0, "finetune: crop is ", crop, ", at least 0 expected");
  require(image_size >= 0, "finetune: image size is ", image_size, ", at least 0 expected");
  require(precision == "auto" || precision == "single" || precision == "bf16",
          "finetune: precision '", precision, "' found, one of auto, single, bf16 expected");
  require(replace.empty() || backbone.empty(),
          "finetune: blocks can be put into the built-in network, not into a TorchScript file");
  net::variant_named(replace_variant);
}

struct Finetuner::Parts {
  Parts(const FinetuneOptions& given, const ImageData& pictures)
      : options(given), data(pictures), device(device_named(given.device)) {}

  FinetuneOptions options;
  const ImageData& data;
  torch::Device device;
  torch::Dtype type = torch::kFloat32;
  std::string name;  // of the device

  std::unique_ptr<torch::jit::Module> script;
  std::shared_ptr<ChainImpl> own;
  Index num_features = 0;
  std::unique_ptr<net::Network<float>> head_network;
  std::shared_ptr<UDVLinearImpl> head;
  std::unique_ptr<ImageBatches> training, test;
  std::unique_ptr<Optimizer> head_rule, body_rule;
  Projector projector;

  // Between two steps.
  net::TrainState<float> state;
  double learning_seconds = 0;
  Tensor loss_sum, last_loss;

  // ---- the network

  Tensor body(const Tensor& x) {
    const torch::jit::GraphOptimizerEnabledGuard rewriting(options.fuse);
    return (script ? script->forward({x}).toTensor() : own->forward(x)).to(torch::kFloat32);
  }
  Tensors body_parameters() const {
    if (!script) return own->parameters();
    Tensors all;
    for (const Tensor& values : script->parameters()) all.push_back(values);
    return all;
  }
  Tensors body_buffers() const {
    if (!script) return own->buffers();
    Tensors all;
    for (const Tensor& values : script->buffers()) all.push_back(values);
    return all;
  }
  void set_training(bool on) {
    if (script)
      on ? script->train() : script->eval();
    else
      own->train(on);
  }
  Index channels() const { return script ? 3 : data.training.channels; }

  void load_script() {
    const std::string& path = options.backbone;
    require<IoError>(std::filesystem::is_regular_file(path), path,
                     ": no such file, a TorchScript file expected");
    script = std::make_unique<torch::jit::Module>(guarded(path, [&] {
      try {
        return torch::jit::load(path, device);
      } catch (const c10::Error&) {
        throw IoError(message(path, ": not a TorchScript file that this LibTorch can read"));
      }
    }));
    set_type(*script, type);
    if (options.image_size == 0) options.image_size = kBackboneSize;
    check_script();
  }

  // Two pictures in, two rows of features out.
  void check_script() {
    const torch::NoGradGuard no_grad;
    const Index size = options.image_size;
    script->eval();
    const Tensor out = [&] {
      const torch::jit::GraphOptimizerEnabledGuard rewriting(false);
      torch::jit::IValue value;
      try {
        value = script->forward(
            {torch::zeros({2, 3, size, size}, torch::TensorOptions(type).device(device))});
      } catch (const std::exception& error) {
        const std::string text = error.what();
        throw IoError(message(options.backbone, ": does not take pictures of 3 x ", size, " x ",
                              size, ": ", last_words(text)));
      }
      require<IoError>(value.isTensor(), options.backbone,
                       ": its output is no tensor, N x d features expected");
      return value.toTensor();
    }();
    std::ostringstream shape;
    shape << out.sizes();
    require<IoError>(out.dim() == 2 && out.size(0) == 2 && out.size(1) > 0, options.backbone,
                     ": output of shape ", shape.str(),
                     " for 2 pictures found, N x d features expected");
    num_features = out.size(1);
  }

  // TorchScript's messages end with the reason, after lines of code.
  static std::string last_words(const std::string& text) {
    std::istringstream lines(text);
    std::string found;
    for (std::string line; std::getline(lines, line) && !line.starts_with("Exception raised");)
      if (line.find("Error: ") != line.npos) found = line;
    return found.empty() ? text.substr(0, text.find('\n')) : found;
  }

  void make_own() {
    own = small_network(data.training.channels);
    if (!options.replace.empty()) {
      ReplaceOptions how;
      how.variant = options.replace_variant;
      how.width = options.replace_width;
      const auto replaced = replace_linears(*own, options.replace, how);
      std::string layers;
      for (const auto& item : own->named_parameters())
        if (item.key().ends_with(".weight") && item.value().dim() > 1)
          layers += (layers.empty() ? "" : ", ") + item.key().substr(0, item.key().size() - 7);
      require<IoError>(!replaced.empty(), "--replace: no dense layer or 1 x 1 convolution fits '",
                       options.replace, "'; there are ", layers);
    }
    num_features = 128;
    finish_own();
  }

  void finish_own() {
    own->to(device);
    set_type(*own, type);
  }

  void make_head() {
    net::TrainOptions& o = options.training;
    const net::Variant& variant = net::variant_named(o.variant);
    if (o.hidden == 0) o.hidden = num_features;
    if (!variant.has_hidden()) o.hidden = 0;
    head_network = std::make_unique<net::Network<float>>(
        variant, net::Sizes{num_features, o.hidden, data.training.classes}, o.bias);
    initialise(*head_network, o.initialisation, o.seed);
    put_head();
  }

  void put_head() {
    head = std::make_shared<UDVLinearImpl>(*head_network);
    head->to(device);
  }

  void make_batches() {
    BatchOptions how;
    how.device = device;
    how.type = type;
    how.channels = channels();
    how.size = options.image_size;
    how.channels_last = device.is_cuda();
    test = std::make_unique<ImageBatches>(data.test, how);
    how.flip = options.flip;
    how.crop = options.crop;
    training = std::make_unique<ImageBatches>(data.training, how);
  }

  void make_rules() {
    const Tensors parameters = body_parameters();
    if (device.is_cuda()) set_channels_last(parameters);
    for (Tensor values : parameters) values.requires_grad_(true);
    const net::TrainOptions& o = options.training;
    std::vector<std::shared_ptr<UDVLinearImpl>> blocks{head};
    if (own)
      for (const auto& [name, block] : udv_blocks(*own)) blocks.push_back(block);
    projector = Projector(blocks);
    head_rule = std::make_unique<Optimizer>(head->parameters(), o.optimizer, o.rule);
    body_rule = std::make_unique<Optimizer>(parameters, o.optimizer, o.rule);
  }

  // ---- checkpoints

  Tensors all_state() const {
    Tensors all;
    const auto add = [&](const Tensors& more) {
      for (const Tensor& values : more)
        all.push_back(values.detach().to(torch::kCPU).clone(at::MemoryFormat::Contiguous));
    };
    add(body_buffers());
    add(head_rule->state());
    add(body_rule->state());
    return all;
  }

  std::string checkpoint(const std::string& settings) const {
    torch::serialize::OutputArchive archive;
    archive.write("settings", torch::jit::IValue(settings));
    archive.write("numbers",
                  torch::tensor({static_cast<double>(state.epoch), static_cast<double>(state.batch),
                                 loss_sum.item<double>(), state.seconds, learning_seconds},
                                torch::kFloat64));
    Tensor history =
        torch::zeros({static_cast<std::int64_t>(state.history.size()), 8}, torch::kFloat64);
    for (size_t i = 0; i < state.history.size(); ++i) {
      const net::EpochRecord& r = state.history[i];
      history[static_cast<std::int64_t>(i)] = torch::tensor(
          {static_cast<double>(r.epoch), r.seconds, r.train_loss, r.test_loss, r.test_accuracy,
           r.learning_rate, static_cast<double>(r.live_width), r.effective_rank},
          torch::kFloat64);
    }
    archive.write("history", history);
    const Tensors all = all_state();
    for (size_t i = 0; i < all.size(); ++i) archive.write(message("t", i), all[i]);
    std::ostringstream bytes;
    archive.save_to(bytes);
    return bytes.str();
  }

  void restore(const std::string& bytes, const std::string& settings) {
    torch::serialize::InputArchive archive;
    std::istringstream stream(bytes);
    torch::jit::IValue found;
    Tensor numbers, history;
    try {
      archive.load_from(stream);
      archive.read("settings", found);
      archive.read("numbers", numbers);
      archive.read("history", history);
    } catch (const c10::Error&) {
      throw InvalidArgument("not a checkpoint of udv finetune, or damaged");
    }
    require(found.isString() && found.toStringRef() == settings,
            "made by a run of another model or with other settings (",
            found.isString() ? found.toStringRef() : "", ")");
    Tensors all = all_state();
    for (size_t i = 0; i < all.size(); ++i) {
      Tensor values;
      require(archive.try_read(message("t", i), values) && values.sizes() == all[i].sizes(),
              "array ", i, " of another model");
      all[i] = values;
    }
    auto take = [at = all.begin()](size_t count) mutable {
      Tensors part(at, at + static_cast<std::ptrdiff_t>(count));
      at += static_cast<std::ptrdiff_t>(count);
      return part;
    };
    const Tensors buffers = body_buffers(), loaded = take(buffers.size());
    const torch::NoGradGuard no_grad;
    for (size_t i = 0; i < buffers.size(); ++i) buffers[i].detach().copy_(loaded[i]);
    head_rule->load_state(take(head_rule->state().size()));
    body_rule->load_state(take(body_rule->state().size()));
    const auto number = [&](int i) { return numbers[i].item<double>(); };
    state.epoch = static_cast<Index>(number(0));
    state.batch = static_cast<Index>(number(1));
    loss_sum.fill_(number(2));
    state.seconds = number(3);
    learning_seconds = number(4);
    for (std::int64_t i = 0; i < history.size(0); ++i) {
      const auto at = [&](int k) { return history[i][k].item<double>(); };
      state.history.push_back({static_cast<Index>(at(0)), at(1), at(2), at(3), at(4), at(5),
                               static_cast<Index>(at(6)), at(7)});
    }
  }

  // ---- steps

  void step(Index begin, Index end, double rate) {
    torch::manual_seed(options.training.seed * 1000003 +
                       static_cast<std::uint64_t>(head_rule->steps()));  // dropout in the backbone
    const auto [x, labels] = training->training(begin, end);
    const Tensor loss = torch::cross_entropy_loss(head->forward(body(x)), labels);
    head_rule->zero_grad();
    body_rule->zero_grad();
    loss.backward();
    if (options.clip > 0) body_rule->clip_gradients(options.clip);
    const double share =
        options.backbone_rate > 0 ? options.backbone_rate / options.training.learning_rate : 1;
    head_rule->step(rate);
    body_rule->step(rate * share);
    projector.project();
    loss_sum.add_(loss.detach().to(torch::kFloat64) * static_cast<double>(end - begin));
    last_loss = loss.detach();
  }

  Tensor features(const ImageBatches& batches, Index first, Index count) {
    const torch::NoGradGuard no_grad;
    set_training(false);
    Tensors pieces;
    for (Index at = first; at < first + count; at += kEvaluationBatch)
      pieces.push_back(body(batches.plain(at, std::min(first + count, at + kEvaluationBatch))));
    return torch::cat(pieces);
  }

  net::Score score(const Tensor& seen) const {
    const torch::NoGradGuard no_grad;
    const Tensor outputs = head->forward(seen);
    const Tensor right = (outputs.argmax(1) == test->labels()).sum();
    return {torch::cross_entropy_loss(outputs, test->labels()).item<double>(),
            static_cast<double>(right.item<std::int64_t>()) / static_cast<double>(test->size())};
  }

  net::Dataset<float> dataset(const Tensor& seen, const ImageSet& set) const {
    const Tensor here = seen.to(torch::kCPU).contiguous();
    net::Dataset<float> part;
    part.task = net::Task::kClassification;
    part.classes = set.classes;
    part.labels = set.labels;
    part.X = Eigen::Map<const RowMatrix<float>>(here.data_ptr<float>(), here.size(0), here.size(1));
    return part;
  }
};

namespace {

void check_data(const ImageData& data) {
  require(data.training.count > 0 && data.test.count > 0, "finetune: ", data.training.count,
          " pictures to learn from and ", data.test.count,
          " to test found, at least one each expected");
  require(data.training.classes > 1, "finetune: ", data.training.classes,
          " class found, at least two expected");
}

// A run of all epochs.
template <typename Parts>
class Run {
 public:
  Run(Parts& parts, const FinetuneHooks& hooks) : p_(parts), hooks_(hooks) {}

  FinetuneResult run() {
    const net::TrainOptions& o = p_.options.training;
    p_.state = {};
    p_.learning_seconds = 0;
    p_.loss_sum = torch::zeros({}, torch::TensorOptions(torch::kFloat64).device(p_.device));
    p_.make_rules();
    p_.projector.project();
    if (!hooks_.resume.empty()) p_.restore(hooks_.resume, hooks_.settings);
    before_ = p_.state.seconds;
    batches_ = (p_.training->size() + o.batch - 1) / o.batch;
    while (stop_ == TrainStop::kDone && p_.state.epoch < o.epochs) run_epoch();
    p_.state.seconds = seconds();
    const bool stopped = stop_ == TrainStop::kInterrupted || stop_ == TrainStop::kTimeLimit;
    if (stopped) save();
    *p_.head_network = p_.head->to_network();
    FinetuneResult result{{*p_.head_network, p_.state.history, stop_}, 0};
    average(result.training);
    result.training.seconds = p_.state.seconds;
    result.training.steps = p_.head_rule->steps();
    result.images_per_second = timed_images_ / std::max(p_.learning_seconds, 1e-9);
    return result;
  }

 private:
  void run_epoch() {
    const net::TrainOptions& o = p_.options.training;
    p_.training->start_epoch(o.seed, p_.state.epoch);
    rate_ = o.schedule.rate(o.learning_rate, p_.state.epoch, o.epochs);
    const auto began = Clock::now();
    p_.set_training(true);
    while (stop_ == TrainStop::kDone && p_.state.batch < batches_) {
      const Index begin = p_.state.batch * o.batch;
      const Index end = std::min(p_.training->size(), begin + o.batch);
      p_.step(begin, end, rate_);
      ++p_.state.batch;
      timed_images_ += static_cast<double>(end - begin);
      look();
    }
    const double sum = p_.loss_sum.template item<double>();  // waits for the device
    p_.learning_seconds += std::chrono::duration<double>(Clock::now() - began).count();
    // Libraries are loaded and kernels chosen in the first epoch: it does not count for the rate.
    if (++epochs_here_ == 1 && p_.state.epoch + 1 < o.epochs)
      timed_images_ = p_.learning_seconds = 0;
    if (!std::isfinite(sum)) stop_ = TrainStop::kDiverged;
    if (stop_ == TrainStop::kDone || stop_ == TrainStop::kDiverged) end_epoch(sum);
  }

  void look() {
    const double interval = p_.device.is_cuda() ? kLookSeconds : 0;
    if (!hooks_.observer || seconds() - last_look_ < interval) return;
    IterationRecord record;
    record.iteration =
        p_.state.epoch * p_.training->size() + p_.state.batch * p_.options.training.batch;
    record.objective = p_.last_loss.template item<double>();
    record.seconds = last_look_ = seconds();
    record.rank = p_.options.training.hidden;
    record.step = rate_;
    if (!std::isfinite(record.objective)) stop_ = TrainStop::kDiverged;
    const Verdict verdict = hooks_.observer(record);
    if (verdict == Verdict::kInterrupt) stop_ = TrainStop::kInterrupted;
    if (verdict == Verdict::kTimeLimit) stop_ = TrainStop::kTimeLimit;
  }

  void end_epoch(double sum) {
    const Tensor seen = p_.features(*p_.test, 0, p_.test->size());
    const net::Score score = p_.score(seen);
    net::Network<float> head = p_.head->to_network();
    net::EpochRecord record;
    record.epoch = ++p_.state.epoch;
    record.train_loss = sum / static_cast<double>(p_.training->size());
    record.test_loss = score.loss;
    record.test_accuracy = score.accuracy;
    record.learning_rate = rate_;
    record.live_width = net::live_width(head);
    record.effective_rank = net::effective_rank(net::quick_spectrum(head));
    record.seconds = seconds();
    p_.state.history.push_back(record);
    p_.state.batch = 0;
    p_.loss_sum.zero_();
    if (!std::isfinite(score.loss)) stop_ = TrainStop::kDiverged;
    if (hooks_.epoch && stop_ == TrainStop::kDone)
      hooks_.epoch(record, head, p_.dataset(seen, p_.data.test));
    p_.state.seconds = seconds();
    if (stop_ == TrainStop::kDone && p_.state.epoch < p_.options.training.epochs) save();
    BlasThreads::use_all();  // the hooks may have used net
  }

  void save() const {
    if (hooks_.save) hooks_.save(p_.checkpoint(hooks_.settings));
  }

  void average(net::TrainResult<float>& result) const {
    const auto& history = result.history;
    if (history.empty())
      result.test_loss = result.test_accuracy = std::numeric_limits<double>::quiet_NaN();
    const size_t count =
        std::min(static_cast<size_t>(p_.options.training.average_last), history.size());
    for (size_t i = history.size() - count; i < history.size(); ++i) {
      result.test_loss += history[i].test_loss / static_cast<double>(count);
      result.test_accuracy += history[i].test_accuracy / static_cast<double>(count);
    }
  }

  double seconds() const {
    return before_ + std::chrono::duration<double>(Clock::now() - started_).count();
  }

  Parts& p_;
  const FinetuneHooks& hooks_;
  Index batches_ = 0, epochs_here_ = 0;
  double rate_ = 0, last_look_ = 0, before_ = 0, timed_images_ = 0;
  TrainStop stop_ = TrainStop::kDone;
  Clock::time_point started_ = Clock::now();
};

}  // namespace

Finetuner::Finetuner(const FinetuneOptions& options, const ImageData& data) {
  options.validate();
  check_data(data);
  parts_ = std::make_unique<Parts>(options, data);
  Parts& p = *parts_;
  p.name = options.device;
  p.type = type_named(options.precision, p.device);
  torch::manual_seed(options.training.seed);
  if (options.backbone.empty())
    p.make_own();
  else
    p.load_script();
  p.make_head();
  p.make_batches();
}

Finetuner::~Finetuner() = default;
Finetuner::Finetuner(Finetuner&&) noexcept = default;

Index Finetuner::num_features() const {
  return parts_->num_features;
}

Index Finetuner::num_parameters() const {
  Index count = 0;
  for (const Tensor& values : parts_->body_parameters()) count += values.numel();
  for (const Tensor& values : parts_->head->parameters()) count += values.numel();
  return count;
}

const std::string& Finetuner::device() const {
  return parts_->name;
}

RowMatrix<float> Finetuner::features(const ImageSet& set, Index first, Index count) {
  const BlasThreads threads;
  return guarded("finetune", [&] {
    const ImageBatches& batches = &set == &parts_->data.test ? *parts_->test : *parts_->training;
    return parts_->dataset(parts_->features(batches, first, count), set).X;
  });
}

FinetuneResult Finetuner::train(const FinetuneHooks& hooks) {
  require(parts_->own || parts_->options.trainable,
          "finetune: a frozen backbone gives features, its head is trained by net");
  const BlasThreads threads;
  return guarded("finetune", [&] { return Run<Parts>(*parts_, hooks).run(); });
}

net::Score Finetuner::evaluate() {
  const BlasThreads threads;
  return guarded("finetune", [&] {
    return parts_->score(parts_->features(*parts_->test, 0, parts_->test->size()));
  });
}

const net::Network<float>& Finetuner::head() const {
  return *parts_->head_network;
}

void Finetuner::set_head(const net::Network<float>& head) {
  require(head.sizes().inputs == parts_->num_features &&
              head.sizes().outputs == parts_->data.training.classes,
          "a head of ", to_string(head.sizes()), " found, ", parts_->num_features, " inputs and ",
          parts_->data.training.classes, " outputs expected");
  *parts_->head_network = head;
  parts_->options.training.variant = head.variant().name;
  parts_->options.training.hidden = head.sizes().hidden;
  parts_->put_head();
}

std::vector<NamedArray> Finetuner::arrays() const {
  std::vector<NamedArray> all;
  if (!parts_->own) return all;
  const auto add = [&](const std::string& name, const Tensor& values) {
    const Tensor here = values.detach().to(torch::kCPU, torch::kFloat32).contiguous();
    const float* const data = here.data_ptr<float>();
    all.push_back({name, {here.sizes().begin(), here.sizes().end()}, {data, data + here.numel()}});
  };
  size_t i = 0;
  for (const auto& item : parts_->own->named_parameters()) {
    add(item.key(), parts_->body_rule ? parts_->body_rule->master(i) : item.value());
    ++i;
  }
  for (const auto& item : parts_->own->named_buffers()) add(item.key(), item.value());
  return all;
}

void Finetuner::load_arrays(const std::vector<NamedArray>& arrays,
                            const std::vector<BlockInfo>& blocks) {
  require(parts_->own != nullptr, "weights of the built-in network found, but there is a backbone");
  const torch::NoGradGuard no_grad;
  parts_->own = small_network(parts_->data.training.channels);
  for (const BlockInfo& info : blocks) {
    ReplaceOptions how;
    how.variant = info.variant;
    how.width = info.width;
    require(replace_linears(*parts_->own, info.name, how).size() == 1, "block '", info.name,
            "' is no layer of the built-in network");
  }
  const auto load = [&](const std::string& name, const Tensor& values) {
    for (const NamedArray& array : arrays) {
      if (array.name != name) continue;
      require(std::equal(array.shape.begin(), array.shape.end(), values.sizes().begin(),
                         values.sizes().end()),
              "array '", name, "' has another shape than the network");
      values.detach().copy_(
          torch::from_blob(const_cast<float*>(array.values.data()), values.sizes()));
      return;
    }
    throw InvalidArgument(message("no array '", name, "'"));
  };
  for (const auto& item : parts_->own->named_parameters()) load(item.key(), item.value());
  for (const auto& item : parts_->own->named_buffers()) load(item.key(), item.value());
  parts_->finish_own();
}

std::vector<BlockInfo> Finetuner::blocks() const {
  std::vector<BlockInfo> all;
  if (!parts_->own) return all;
  for (const auto& [name, block] : udv_blocks(*parts_->own)) {
    const UDVLinearOptions& o = block->options();
    all.push_back({name, o.variant, o.inputs, o.width, o.outputs, o.stride, o.bias, o.pixels,
                   net::spectrum(block->to_network())});
  }
  return all;
}

void Finetuner::save_backbone(const std::string& path) const {
  require(parts_->script != nullptr, "save: the built-in network is no TorchScript file");
  const torch::NoGradGuard no_grad;
  torch::jit::Module copy = parts_->script->deepcopy();
  copy.to(torch::kFloat32);
  copy.to(torch::kCPU);
  copy.eval();
  size_t i = 0;
  for (Tensor values : copy.parameters()) {
    const Tensor full = parts_->body_rule ? parts_->body_rule->master(i) : values;
    values.set_data(full.detach().to(torch::kCPU).contiguous().clone());
    ++i;
  }
  guarded(path, [&] {
    copy.save(path + ".tmp");
    return 0;
  });
  std::error_code failure;
  std::filesystem::rename(path + ".tmp", path, failure);
  require<IoError>(!failure, path, ": cannot be written: ", failure.message());
}

}  // namespace udv::deep
