// SPDX-License-Identifier: MIT
#include "udv/deep/language_model.hpp"

#include <cmath>
#include <numeric>
#include <sstream>

#include "core/require.hpp"
#include "deep/language_model_parts.hpp"
#include "udv/core/random.hpp"

namespace udv::deep {
namespace {

using text::LlamaConfig;
using text::Token;
using torch::Tensor;

constexpr Index kLongestDefault = 1024;
constexpr Index kMicroTokens = 8192, kMicroTokensOfCpu = 2048;  // what caches like

Tensor to_tensor(const std::vector<Token>& tokens, const torch::Device& device) {
  std::vector<std::int64_t> wide(tokens.begin(), tokens.end());
  return torch::tensor(wide, torch::kLong).unsqueeze(0).to(device);
}

void check_tokens(const std::vector<Token>& tokens, const LlamaConfig& config) {
  for (const Token token : tokens)
    require(token >= 0 && token < config.vocabulary, "token ", token, " found, 0 .. ",
            config.vocabulary - 1, " expected: tokenizer and model do not belong together");
}

// A token by its probability softmax(scores / temperature), or the likeliest one.
Token choose(const Tensor& scores, double temperature, Random& random) {
  const Tensor s = scores.to(torch::kCPU, torch::kFloat64);
  require(torch::isfinite(s).all().item<bool>(),
          "the model's scores are not finite: its weights, or those of an adapter, are damaged");
  if (temperature == 0) return static_cast<Token>(s.argmax().item<std::int64_t>());
  const Tensor p = torch::softmax((s - s.max()) / temperature, 0).contiguous();
  const double* const at = p.data_ptr<double>();
  double left = random.uniform();
  const auto last = static_cast<Token>(p.numel() - 1);
  for (Token token = 0; token < last; ++token)
    if ((left -= at[token]) < 0) return token;
  return last;
}

}  // namespace

Index sequence_length(const LlamaConfig& config, Index wanted) {
  require(wanted >= 0 && wanted <= config.context, "a sequence of ", wanted,
          " tokens found, the model takes up to ", config.context);
  return wanted > 0 ? wanted : std::min(kLongestDefault, config.context);
}

Index tokens_of_epoch(const std::vector<Token>& text, Index sequence) {
  const TextWindows windows(text, sequence, torch::kCPU);
  return windows.count() * windows.sequence();
}

Index micro_batch_size(Index wanted, Index sequence, const torch::Device& device) {
  const Index tokens = device.is_cpu() ? kMicroTokensOfCpu : kMicroTokens;
  return wanted > 0 ? wanted : std::max<Index>(1, tokens / sequence);
}

double LoraEpoch::perplexity() const {
  return std::exp(eval_loss);
}

// ---- windows

TextWindows::TextWindows(const std::vector<Token>& text, Index sequence,
                         const torch::Device& device)
    : text_(text), device_(device) {
  require(text.size() >= 2, "a text of ", text.size(), " tokens found, at least 2 expected");
  sequence_ = std::min(sequence, tokens());
  count_ = tokens() / sequence_;
}

TextWindows::Batch TextWindows::slices(const std::vector<Index>& begins, Index length) const {
  const auto rows = static_cast<std::int64_t>(begins.size());
  Tensor all = torch::empty({rows, length + 1}, torch::kLong);
  auto* to = all.data_ptr<std::int64_t>();
  for (const Index begin : begins) to = std::copy_n(text_.begin() + begin, length + 1, to);
  all = all.to(device_);
  return {all.narrow(1, 0, length), all.narrow(1, 1, length)};
}

TextWindows::Batch TextWindows::batch(const Index* windows, Index count) const {
  std::vector<Index> begins(windows, windows + count);
  for (Index& begin : begins) begin *= sequence_;
  return slices(begins, sequence_);
}

bool TextWindows::rest(Batch& batch) const {
  const Index begin = count_ * sequence_, length = tokens() - begin;
  if (length > 0) batch = slices({begin}, length);
  return length > 0;
}

double mean_loss(const Llama& model, const TextWindows& windows, Index micro_batch,
                 Processes* processes) {
  Tensor sum = torch::zeros({}, torch::TensorOptions(torch::kFloat64).device(model.device()));
  std::vector<Index> order(static_cast<size_t>(windows.count()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto [begin, end] =
      processes ? processes->share(0, windows.count()) : std::pair(Index{0}, windows.count());
  for (Index at = begin; at < end; at += micro_batch) {
    const auto batch = windows.batch(order.data() + at, std::min(micro_batch, end - at));
    sum.add_(model.loss(batch.inputs, batch.targets));
  }
  TextWindows::Batch rest;
  if ((!processes || processes->is_first()) && windows.rest(rest))
    sum.add_(model.loss(rest.inputs, rest.targets));
  if (processes) processes->group().sum(sum);
  return sum.item<double>() / static_cast<double>(windows.tokens());
}

// ---- the model

LanguageModel::LanguageModel(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
LanguageModel::~LanguageModel() = default;
LanguageModel::LanguageModel(LanguageModel&&) noexcept = default;

LanguageModel LanguageModel::random(const LlamaConfig& config, const Placement& placement,
                                    double deviation, std::uint64_t seed) {
  auto parts = std::make_unique<Parts>(config, placement);
  parts->model.randomise(deviation, seed);
  return LanguageModel(std::move(parts));
}

const std::shared_ptr<Processes>& LanguageModel::processes() const {
  return parts_->processes;
}

const LlamaConfig& LanguageModel::config() const {
  return parts_->model.config();
}

std::string LanguageModel::fingerprint() const {
  std::ostringstream text;
  text << std::hexfloat;
  for (const auto& [name, values] : parts_->model.arrays())
    text << values.sum(torch::kFloat64).item<double>() << ' '
         << values.flatten().narrow(0, 0, values.numel() / 2).sum(torch::kFloat64).item<double>()
         << '\n';
  return text.str();
}

void LanguageModel::add_adapters(const AdapterOptions& options, std::uint64_t seed) {
  parts_->model.add_adapters(options, seed);
}

void LanguageModel::check_adapters(const AdapterOptions& options) const {
  parts_->model.check_adapters(options);
}

net::Adapter LanguageModel::adapter() const {
  return parts_->model.adapter();
}

void LanguageModel::set_adapter(const net::Adapter& adapter) {
  parts_->model.set_adapter(adapter);
}

void LanguageModel::merge_adapters() {
  parts_->model.merge_adapters();
}

double LanguageModel::loss(const std::vector<Token>& text, Index sequence, Index micro_batch) {
  check_tokens(text, config());
  const BlasThreads threads;
  return guarded("language model", [&] {
    const TextWindows windows(text, sequence_length(config(), sequence), parts_->device);
    return mean_loss(parts_->model, windows,
                     micro_batch_size(micro_batch, windows.sequence(), parts_->device),
                     parts_->processes.get());
  });
}

namespace {

RowMatrix<double> mean_moments(const Tensor& sum, Index tokens) {
  const Tensor M = sum.to(torch::kCPU, torch::kFloat64).contiguous();
  return Eigen::Map<const RowMatrix<double>>(M.data_ptr<double>(), M.size(0), M.size(1)) /
         static_cast<double>(tokens);
}

// So many windows, evenly spread over all of them.
std::vector<Index> spread_windows(Index all, Index wanted) {
  const Index count = std::min(all, std::max<Index>(1, wanted));
  std::vector<Index> windows(static_cast<size_t>(count));
  for (Index i = 0; i < count; ++i) windows[static_cast<size_t>(i)] = i * all / count;
  return windows;
}

/// Layers with adapters add to their moments while this lives; no gradients stay behind.
class Recording {
 public:
  explicit Recording(Llama& model) : model_(model) {
    for (Llama::Layer& layer : model.layers())
      for (AdaptedLinear* linear : layer.linears())
        if (linear->adapter) linear->moments = std::make_shared<MomentSums>();
  }
  ~Recording() {
    for (Llama::Layer& layer : model_.layers())
      for (AdaptedLinear* linear : layer.linears()) linear->moments = nullptr;
    for (Tensor& values : model_.adapter_parameters()) values.mutable_grad() = Tensor();
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// The sums of all processes.
  void add_others(Processes& processes) const {
    for (const AdaptedLinear* linear : model_.adapted()) {
      MomentSums& sums = *linear->moments;
      const auto in = linear->weight.size(1), out = linear->weight.size(0);
      for (auto [values, rows, cols] :
           {std::tuple(&sums.inputs, in, in), std::tuple(&sums.gradients, out, out),
            std::tuple(&sums.slope, out, in)}) {
        if (!values->defined())  // no share of the text
          *values = torch::zeros({rows, cols}, linear->weight.options().dtype(torch::kFloat32));
        processes.group().sum(*values);
      }
      const torch::Tensor tokens = torch::tensor({static_cast<std::int64_t>(sums.tokens)});
      processes.group().sum(tokens);
      sums.tokens = tokens.item<std::int64_t>();
    }
  }

  net::Calibration calibration() const {
    net::Calibration all;
    for (const AdaptedLinear* linear : model_.adapted()) {
      const MomentSums& sums = *linear->moments;
      all[linear->name] = {mean_moments(sums.inputs, sums.tokens),
                           mean_moments(sums.gradients, sums.tokens),
                           mean_moments(sums.slope, sums.tokens)};
    }
    return all;
  }

 private:
  Llama& model_;
};

}  // namespace

net::Calibration LanguageModel::calibrate(const std::vector<Token>& text, Index sequences,
                                          Index sequence, Index micro_batch) {
  check_tokens(text, config());
  const BlasThreads threads;
  return guarded("language model", [&] {
    const TextWindows all(text, sequence_length(config(), sequence), parts_->device);
    const std::vector<Index> windows = spread_windows(all.count(), sequences);
    const auto count = static_cast<Index>(windows.size());
    const auto [begin, end] =
        parts_->processes ? parts_->processes->share(0, count) : std::pair(Index{0}, count);
    const Index at_a_time = micro_batch_size(micro_batch, all.sequence(), parts_->device);
    const Recording recording(parts_->model);
    for (Index at = begin; at < end; at += at_a_time) {
      const auto batch = all.batch(windows.data() + at, std::min(at_a_time, end - at));
      parts_->model.accumulate(batch.inputs, batch.targets, 1, false);
    }
    if (parts_->processes) recording.add_others(*parts_->processes);
    return recording.calibration();
  });
}

double LanguageModel::calibration_size() const {
  double numbers = 0;
  for (const AdaptedLinear* linear : parts_->model.adapted()) {
    const auto out = static_cast<double>(linear->weight.size(0)),
               in = static_cast<double>(linear->weight.size(1));
    numbers += out * out + in * in + out * in;
  }
  return numbers;
}

RowMatrix<float> LanguageModel::logits(const std::vector<Token>& tokens) {
  check_tokens(tokens, config());
  const BlasThreads threads;
  const torch::NoGradGuard no_grad;
  return guarded("language model", [&]() -> RowMatrix<float> {
    const Tensor scores =
        parts_->model.logits(to_tensor(tokens, parts_->device))[0].to(torch::kCPU).contiguous();
    return Eigen::Map<const RowMatrix<float>>(scores.data_ptr<float>(), scores.size(0),
                                              scores.size(1));
  });
}

std::vector<Token> LanguageModel::generate(const std::vector<Token>& prompt,
                                           const GenerateOptions& options,
                                           const std::function<bool(Token)>& look) {
  require(!prompt.empty(), "an empty prompt found, at least one token expected");
  require(options.temperature >= 0 && std::isfinite(options.temperature), "temperature ",
          options.temperature, " found, a number of at least 0 expected");
  check_tokens(prompt, config());
  const BlasThreads threads;
  const torch::NoGradGuard no_grad;
  return guarded("language model", [&] {
    Random random(options.seed);
    LlamaCache cache;
    std::vector<Token> all;
    Tensor scores = parts_->model.logits(to_tensor(prompt, parts_->device), &cache);
    while (static_cast<Index>(all.size()) < options.tokens) {
      const Token next = choose(scores[0][scores.size(1) - 1], options.temperature, random);
      if (next == config().end || next == config().begin) break;
      all.push_back(next);
      if (look && !look(next)) break;
      if (cache.length >= config().context) break;
      scores = parts_->model.logits(to_tensor({next}, parts_->device), &cache);
    }
    return all;
  });
}

}  // namespace udv::deep
