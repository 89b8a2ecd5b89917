// SPDX-License-Identifier: MIT
// UDVLinear beside two plain Linears, and whole trainings; needs LibTorch, Eigen and OpenBLAS
// alone.
// usage: bench_deep modules cpu|cuda
//        bench_deep processes cpu|cuda     the built-in network on planted pictures, in the
//                                          processes of RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT
//        bench_deep train KEY=VALUE...     data=FOLDER (CIFAR-10) backbone=FILE variant=UDV
//        epochs=5
//                                          batch=512 lr=0 (auto) backbone_lr=1e-4 device=cuda
//                                          size=224 out=FILE.json optimizer=auto train=0 test=0
//                                          clip=1 fuse=0 seed=0 curve_every=1 (epochs)
//                                          low_rank=default (or strong)
//        bench_deep frozen KEY=VALUE...    the same; the backbone gives features, net trains the
//        head
#include <torch/torch.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>

#include "arguments.hpp"
#include "core/require.hpp"
#include "udv/core/random.hpp"
#include "udv/deep/finetune.hpp"
#include "udv/deep/processes.hpp"
#include "udv/deep/udv_linear.hpp"
#include "udv/net/head.hpp"
#include "udv/net/prune_curve.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;
using Clock = std::chrono::steady_clock;

double now() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

void wait(const torch::Device& device) {
  if (device.is_cuda()) torch::cuda::synchronize();
}

// Milliseconds of one call: median over rounds of many calls, each round waited for.
double milliseconds(const torch::Device& device, const std::function<void()>& action, int calls,
                    int rounds = 9) {
  std::vector<double> times;
  for (int i = 0; i < 3; ++i) action();
  for (int r = 0; r < rounds; ++r) {
    wait(device);
    const double begin = now();
    for (int i = 0; i < calls; ++i) action();
    wait(device);
    times.push_back(1e3 * (now() - begin) / calls);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Milliseconds until the work of one call is handed to the device.
double launch_milliseconds(const torch::Device& device, const std::function<void()>& action) {
  constexpr int kCalls = 20;  // less than what the device's queue takes
  wait(device);
  const double begin = now();
  for (int i = 0; i < kCalls; ++i) action();
  const double took = now() - begin;
  wait(device);
  return 1e3 * took / kCalls;
}

struct Size {
  Index inputs, width, outputs, batch;
};

// Forward, backward and projection, beside what needs neither diagonal nor constraints.
void compare(const torch::Device& device, const Size& s, torch::Dtype weights, torch::Dtype type,
             int calls) {
  const auto of = [&](torch::Dtype t) { return torch::TensorOptions(t).device(device); };
  const Tensor x = torch::randn({s.batch, s.inputs}, of(type)).requires_grad_();
  const Tensor dy = torch::randn({s.batch, s.outputs}, of(type));
  torch::nn::Linear first(torch::nn::LinearOptions(s.inputs, s.width).bias(false)),
      second(torch::nn::LinearOptions(s.width, s.outputs).bias(false));
  first->to(device, weights);
  second->to(device, weights);
  const auto clear = [&](const std::vector<Tensor>& parameters) {
    for (Tensor p : parameters) p.mutable_grad() = Tensor();
    x.mutable_grad() = Tensor();
  };
  const auto plain = [&] {
    clear({first->weight, second->weight});
    torch::linear(torch::linear(x, first->weight.to(type)), second->weight.to(type)).backward(dy);
  };
  const Tensor w = torch::ones({s.width}, of(weights)).requires_grad_();
  const auto multiplied = [&] {
    clear({first->weight, second->weight, w});
    torch::linear(torch::linear(x, first->weight.to(type)) * w.to(type), second->weight.to(type))
        .backward(dy);
  };
  UDVLinear block(s.inputs, s.outputs, s.width);
  block->to(device, weights);
  const auto parameters = block->parameters();
  Projector projector(std::vector<std::shared_ptr<UDVLinearImpl>>{block.ptr()});
  const auto ours = [&] {
    clear(parameters);
    block->forward(x).backward(dy);
  };
  const auto step = [&] {
    ours();
    projector.project();
  };
  // In turns, so that a clock that changes changes all of them.
  std::vector<std::vector<double>> all(5);
  for (int round = 0; round < 5; ++round) {
    all[0].push_back(milliseconds(device, plain, calls, 3));
    all[1].push_back(milliseconds(device, multiplied, calls, 3));
    all[2].push_back(milliseconds(device, ours, calls, 3));
    all[3].push_back(milliseconds(device, step, calls, 3));
    all[4].push_back(milliseconds(
        device, [&] { projector.project(); }, calls, 3));
  }
  const double launch_plain = launch_milliseconds(device, plain),
               launch_ours = launch_milliseconds(device, step);
  for (auto& times : all) std::sort(times.begin(), times.end());
  const auto median = [&](int k) { return all[static_cast<size_t>(k)][2]; };
  std::printf(
      "{\"device\": \"%s\", \"inputs\": %ld, \"width\": %ld, \"outputs\": %ld, \"batch\": %ld, "
      "\"weights\": \"%s\", \"type\": \"%s\", \"two_linears_ms\": %.4f, "
      "\"with_a_multiplication_ms\": %.4f, \"udv_linear_ms\": %.4f, "
      "\"udv_linear_and_projection_ms\": %.4f, \"projection_ms\": %.4f, \"ratio\": %.4f, "
      "\"projection_share\": %.4f, \"launch_two_linears_ms\": %.4f, \"launch_all_ms\": %.4f}\n",
      device.is_cuda() ? "cuda" : "cpu", static_cast<long>(s.inputs), static_cast<long>(s.width),
      static_cast<long>(s.outputs), static_cast<long>(s.batch), c10::toString(weights),
      c10::toString(type), median(0), median(1), median(2), median(3), median(4),
      median(3) / median(0), median(4) / median(3), launch_plain, launch_ours);
  std::fflush(stdout);
}

// 24 blocks of a model: one pass over all of them, and one block after the other.
void many_blocks(const torch::Device& device) {
  std::vector<std::shared_ptr<UDVLinearImpl>> blocks;
  for (int i = 0; i < 24; ++i) {
    blocks.push_back(std::make_shared<UDVLinearImpl>(1024, 1024, 256));
    blocks.back()->to(device);
  }
  const double each = milliseconds(
      device,
      [&] {
        for (const auto& b : blocks) b->project();
      },
      20);
  Projector projector(blocks);
  const double together = milliseconds(
      device, [&] { projector.project(); }, 20);
  std::printf(
      "{\"device\": \"%s\", \"blocks\": 24, \"one_by_one_ms\": %.4f, \"projector_ms\": %.4f}\n",
      device.is_cuda() ? "cuda" : "cpu", each, together);
}

// The largest difference between a device and the CPU in double precision, relative to the largest
// number there: outputs, gradients, arrays after a projection.
void check(const torch::Device& device, const Size& s, torch::Dtype weights, torch::Dtype type) {
  torch::manual_seed(1);
  UDVLinear exact(s.inputs, s.outputs, s.width), block(s.inputs, s.outputs, s.width);
  exact->to(torch::kFloat64);
  block->to(device, weights);
  const torch::NoGradGuard no_grad;
  const Tensor x = torch::randn({s.batch, s.inputs}).to(type).to(torch::kFloat64),
               dy = torch::randn({s.batch, s.outputs}).to(type).to(torch::kFloat64);
  for (const auto& array : exact->arrays()) {
    array.values.detach().copy_(
        (array.values + 0.3 * torch::randn_like(array.values)).to(weights).to(torch::kFloat64));
    block->find(array.block.name)->detach().copy_(array.values);
  }
  double forward = 0, backward = 0, projected = 0;
  const auto compare_with = [&](const Tensor& a, const Tensor& b, double& worst) {
    const Tensor difference = a.detach().to(torch::kCPU, torch::kFloat64) - b.detach();
    worst = std::max(worst, (difference.abs().max() / b.detach().abs().max()).item<double>());
  };
  const torch::AutoGradMode with_grad(true);
  const Tensor expected = exact->forward(x);
  expected.backward(dy);
  const Tensor found = block->forward(x.to(device, type));
  found.backward(dy.to(device, type));
  compare_with(found, expected, forward);
  Projector(std::vector<std::shared_ptr<UDVLinearImpl>>{block.ptr()}).project();
  exact->project();
  for (const auto& array : exact->arrays()) {
    compare_with(block->find(array.block.name)->grad(), array.values.grad(), backward);
    compare_with(*block->find(array.block.name), array.values, projected);
  }
  std::printf(
      "{\"check\": \"%ld-%ld-%ld\", \"weights\": \"%s\", \"type\": \"%s\", \"forward\": %.2g, "
      "\"gradients\": %.2g, \"projection\": %.2g}\n",
      static_cast<long>(s.inputs), static_cast<long>(s.width), static_cast<long>(s.outputs),
      c10::toString(weights), c10::toString(type), forward, backward, projected);
}

void check_all(const torch::Device& device) {
  for (const Size& size : {Size{256, 128, 192, 512}, Size{100, 37, 51, 300}, Size{64, 1, 7, 64}})
    for (const auto& [weights, type] : {std::pair{torch::kFloat64, torch::kFloat64},
                                        {torch::kFloat32, torch::kFloat32},
                                        {torch::kFloat32, torch::kBFloat16},
                                        {torch::kBFloat16, torch::kBFloat16}})
      check(device, size, weights, type);
}

void modules(const std::string& name) {
  if (name == "cpu") {
    check_all(torch::kCPU);
    compare(torch::kCPU, {512, 512, 512, 1024}, torch::kFloat32, torch::kFloat32, 5);
    compare(torch::kCPU, {1280, 1280, 10, 128}, torch::kFloat32, torch::kFloat32, 5);
    many_blocks(torch::kCPU);
    return;
  }
  const torch::Device device(torch::kCUDA, 0);
  check_all(device);
  compare(device, {4096, 1024, 4096, 8192}, torch::kBFloat16, torch::kBFloat16, 50);
  compare(device, {4096, 1024, 4096, 8192}, torch::kFloat32, torch::kBFloat16, 50);
  compare(device, {4096, 1024, 4096, 2048}, torch::kBFloat16, torch::kBFloat16, 50);
  compare(device, {1280, 1280, 10, 512}, torch::kFloat32, torch::kFloat32, 50);
  many_blocks(device);
}

// ---- whole trainings

using bench::Arguments;

// CIFAR-10's binary records.
ImageSet read_cifar(const std::vector<std::string>& files) {
  constexpr size_t kRecord = 3073;
  ImageSet set{0, 3, 32, 32, {}, {}, 10};
  for (const std::string& file : files) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) continue;
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    for (size_t at = 0; at + kRecord <= bytes.size(); at += kRecord, ++set.count) {
      set.labels.push_back(static_cast<unsigned char>(bytes[at]));
      set.bytes.append(bytes, at + 1, kRecord - 1);
    }
  }
  return set;
}

std::string list(const Vector<double>& values) {
  std::string text = "[";
  char number[32];
  for (Index i = 0; i < values.size(); ++i) {
    std::snprintf(number, sizeof(number), "%s%.7g", i > 0 ? ", " : "", values(i));
    text += number;
  }
  return text + "]";
}

// A curve at a few dozen numbers of neurons.
std::string curve_json(const net::Network<float>& head, const net::Dataset<float>& test) {
  const auto curve = net::prune_curve(net::Pruning<float>(head), test);
  std::string text = "[";
  double next = 1;
  for (const net::CurvePoint& p : curve) {
    if (p.neurons < 1 || (static_cast<double>(p.neurons) < next && &p != &curve.back())) continue;
    next = std::max(next + 1, next * 1.15);
    char line[96];
    std::snprintf(line, sizeof(line), "%s[%ld, %.6g, %.6g]", text.size() > 1 ? ", " : "",
                  static_cast<long>(p.neurons), p.loss, p.accuracy);
    text += line;
  }
  return text + "]";
}

// JSON has no word for nan.
std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return std::isfinite(value) ? text : "null";
}

std::string epoch_json(const net::EpochRecord& r, const net::Network<float>& head,
                       const net::Dataset<float>& test, bool curve) {
  const Vector<double> spectrum = net::quick_spectrum(head);
  std::ostringstream text;
  text << "{\"epoch\": " << r.epoch << ", \"seconds\": " << r.seconds
       << ", \"train_loss\": " << number(r.train_loss) << ", \"test_loss\": " << number(r.test_loss)
       << ", \"test_accuracy\": " << r.test_accuracy
       << ", \"stable_rank\": " << net::stable_rank(spectrum)
       << ", \"effective_rank\": " << net::effective_rank(spectrum)
       << ", \"rank_90\": " << net::energy_rank(spectrum, 0.9)
       << ", \"rank_99\": " << net::energy_rank(spectrum, 0.99)
       << ", \"spectrum\": " << list(spectrum.head(std::min<Index>(spectrum.size(), 200)));
  if (curve && head.variant().has_hidden()) text << ", \"curve\": " << curve_json(head, test);
  return text.str() + "}";
}

struct Runner {
  explicit Runner(Arguments given) : arguments(std::move(given)) {
    const std::string folder = arguments.word("data", ".");
    std::vector<std::string> files;
    for (int b = 1; b <= 5; ++b) files.push_back(message(folder, "/data_batch_", b, ".bin"));
    data.training = read_cifar(files);
    data.test = read_cifar({folder + "/test_batch.bin"});
    data.training.limit(arguments.number<Index>("train", 0));
    data.test.limit(arguments.number<Index>("test", 0));
    options.training.variant = arguments.word("variant", "UDV");
    options.training.optimizer = arguments.word("optimizer", "auto");
    options.training.epochs = arguments.number<Index>("epochs", 5);
    options.training.batch = arguments.number<Index>("batch", 512);
    options.training.learning_rate = arguments.number("lr", 0.0);
    options.training.average_last = 3;
    options.training.low_rank = arguments.word("low_rank", "default");
    options.training.seed = arguments.number<std::uint64_t>("seed", 0);
    options.backbone = arguments.word("backbone", "");
    options.backbone_rate = arguments.number("backbone_lr", 0.0);
    options.clip = arguments.number("clip", 0.0);
    options.placement.device = arguments.word("device", "cuda");
    options.placement.precision = arguments.word("precision", "auto");
    options.image_size = arguments.number<Index>("size", 224);
    options.fuse = arguments.number<int>("fuse", 0) != 0;
    options.flip = arguments.number<int>("augment", 1) != 0;
    options.crop = options.flip;
  }

  void train() {
    options.trainable = true;
    Finetuner tuner(options, data);
    FinetuneHooks hooks;
    hooks.epoch = [&](const auto& r, const auto& head, const auto& test) { add(r, head, test); };
    const FinetuneResult result = tuner.train(hooks);
    write("end to end", result.training, result.images_per_second);
  }

  void frozen() {
    Finetuner tuner(options, data);
    double begin = now();
    net::Dataset<float> training = features(tuner, data.training),
                        test = features(tuner, data.test);
    const double rate = static_cast<double>(training.size() + test.size()) / (now() - begin);
    std::fprintf(stderr, "features: %.0f images/s\n", rate);
    net::TrainOptions head = options.with_steps(data.training.count).training;
    head.hidden = tuner.num_features();
    net::TrainHooks<float> hooks;
    hooks.epoch = [&](const net::EpochRecord& r, const net::Network<float>& network) {
      add(r, network, test);
    };
    const auto result = net::train(training, test, head, hooks);
    write("frozen", result, rate);
  }

 private:
  static net::Dataset<float> features(Finetuner& tuner, const ImageSet& set) {
    net::Dataset<float> part;
    part.task = net::Task::kClassification;
    part.classes = set.classes;
    part.labels = set.labels;
    part.X = tuner.features(set, 0, set.count);
    return part;
  }

  void add(const net::EpochRecord& r, const net::Network<float>& head,
           const net::Dataset<float>& test) {
    const bool curve = r.epoch > 0 && (r.epoch == options.training.epochs ||
                                       r.epoch % arguments.number<Index>("curve_every", 1) == 0);
    epochs += (epochs.empty() ? "" : ",\n  ") + epoch_json(r, head, test, curve);
    std::fprintf(stderr, "epoch %ld: %.1f s, train loss %.4f, test accuracy %.4f\n",
                 static_cast<long>(r.epoch), r.seconds, r.train_loss, r.test_accuracy);
  }

  void write(const std::string& kind, const net::TrainResult<float>& result, double rate) const {
    const FinetuneOptions used = options.with_steps(data.training.count);
    std::ostringstream text;
    text << "{\"kind\": \"" << kind << "\", \"variant\": \"" << options.training.variant
         << "\", \"device\": \"" << options.placement.device << "\", \"optimizer\": \""
         << used.training.optimizer << "\", \"lr\": " << used.training.learning_rate
         << ", \"backbone_lr\": " << used.backbone_rate << ", \"batch\": " << options.training.batch
         << ", \"low_rank\": \"" << options.training.low_rank
         << "\", \"seed\": " << options.training.seed << ", \"size\": " << options.image_size
         << ", \"fuse\": " << options.fuse << ", \"train\": " << data.training.count
         << ", \"test\": " << data.test.count << ", \"stop\": \"" << to_string(result.stop)
         << "\", \"test_accuracy\": " << result.test_accuracy
         << ", \"test_loss\": " << result.test_loss << ", \"images_per_second\": " << rate
         << ", \"seconds\": " << result.seconds;
    std::printf("%s}\n", text.str().c_str());
    std::fflush(stdout);
    const std::string path = arguments.word("out", "");
    if (!path.empty())
      std::ofstream(path) << text.str() << ", \"epochs\": [\n  " << epochs << "]}\n";
  }

  Arguments arguments;
  FinetuneOptions options;
  ImageData data;
  std::string epochs;
};

// ---- several processes

// Pictures of noise whose mean brightness tells the class.
ImageSet planted_pictures(Index count, Index side, std::uint64_t seed) {
  ImageSet set{count, 3, side, side, "", {}, 10};
  Random random(seed);
  for (Index i = 0; i < count; ++i) {
    set.labels.push_back(static_cast<std::int32_t>(i % set.classes));
    for (Index p = 0; p < set.pixels(); ++p)
      set.bytes += static_cast<char>(random.below(64) + 18 * (i % set.classes));
  }
  return set;
}

void processes(const std::string& device) {
  const ImageData data{planted_pictures(1000, 32, 1), planted_pictures(500, 32, 2), {}};
  FinetuneOptions options;
  options.training.epochs = 3;
  options.training.batch = 128;
  options.training.optimizer = "adam";  // differences of rounding stay small
  options.placement.device = device;
  options.placement.precision = "single";
  options.placement.processes = Processes::from_environment(60);
  // NCCL with itself, where there is one GPU.
  if (!options.placement.processes && device == "cuda") {
    ProcessInfo info;
    info.address = "127.0.0.1";
    info.port = 29511;
    options.placement.processes = std::make_shared<Processes>(info, 60);
  }
  const auto& all = options.placement.processes;
  const FinetuneResult result = Finetuner(options, data).train({});
  if (all && !all->is_first()) return;
  std::printf("{\"processes\": %d, \"device\": \"%s\", \"images_per_second\": %.0f",
              all ? all->size() : 0, device.c_str(), result.images_per_second);
  for (const net::EpochRecord& r : result.training.history)
    std::printf(", \"loss %ld\": %.6f", static_cast<long>(r.epoch), r.train_loss);
  std::printf(", \"test_loss\": %.6f}\n", result.training.history.back().test_loss);
}

int run(int argc, char** argv) {
  require(argc >= 2,
          "usage: bench_deep modules|processes cpu|cuda, bench_deep train|frozen KEY=VALUE...");
  const std::string what = argv[1];
  if (what == "modules") {
    modules(argc > 2 ? argv[2] : "cpu");
    return 0;
  }
  if (what == "processes") {
    processes(argc > 2 ? argv[2] : "cpu");
    return 0;
  }
  Runner runner(Arguments(argc, argv, 2));
  what == "frozen" ? runner.frozen() : runner.train();
  return 0;
}

}  // namespace
}  // namespace udv::deep

int main(int argc, char** argv) {
  return udv::bench::guarded_main("bench_deep", udv::deep::run, argc, argv);
}
