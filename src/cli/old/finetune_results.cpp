// SPDX-License-Identifier: MIT
#include "cli/finetune_results.hpp"

#include <fmt/format.h>

#include "cli/network_file.hpp"
#include "udv/core/parallel.hpp"
#include "udv/net/head.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

net::Preprocessing preprocessing_of(const FinetuneSession& session,
                                    const net::Network<float>& head) {
  net::Preprocessing how;
  how.task = net::Task::kClassification;
  how.inputs = head.sizes().inputs;
  how.outputs = head.sizes().outputs;
  how.classes = session.data.class_names;
  how.features.offset = Vector<double>::Zero(how.inputs);
  how.features.factor = Vector<double>::Ones(how.inputs);
  return how;
}

}  // namespace

void write_results(const FinetuneSession& session, const deep::FinetuneResult& result,
                   io::RunInfo info, const net::TrainFigures& figures) {
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

void print_summary(const FinetuneSession& session, const deep::FinetuneResult& result,
                   const net::TrainFigures& figures) {
  const net::TrainResult<float>& trained = result.training;
  const net::TrainOptions& o = session.options.training;
  print_fact("data", fmt::format("{} pictures to learn from, {} to test, {} classes",
                                 session.data.training.count, session.data.test.count,
                                 session.data.training.classes));
  print_fact("network",
             fmt::format("{}{}, head {} {}, {} parameters in all",
                         session.options.backbone.empty() ? std::string("built-in network")
                                                          : session.options.backbone,
                         session.flags.frozen() ? " (frozen)" : "", o.variant,
                         to_string(trained.network.sizes()), session.tuner.num_parameters()));
  print_fact("training",
             fmt::format("{}, learning rate {}, {} epochs, {}, {:.0f} images/s on {}", o.optimizer,
                         o.learning_rate, trained.history.size(), report::duration(trained.seconds),
                         result.images_per_second, session.tuner.device()));
  print_fact("test accuracy",
             fmt::format("{:.2f} %  (mean of the last {} epochs)", 100 * trained.test_accuracy,
                         std::min(static_cast<size_t>(o.average_last), trained.history.size())));
  print_fact("spectrum", report::spectrum_text(figures.spectrum));
  print_fact("rank",
             fmt::format("{} / {} / {} carry 90 / 99 / 99.9 % of the energy, stable rank {:.3g}",
                         figures.rank_90, figures.rank_99, figures.rank_999, figures.stable_rank));
  for (const deep::BlockInfo& block : session.tuner.blocks())
    print_fact("block", fmt::format("{}: {} neurons, {} carry 99 % of the energy", block.name,
                                    block.width, net::energy_rank(block.spectrum, 0.99)));
  if (trained.stop != net::TrainStop::kDone)
    print_fact("stopped", std::string(to_string(trained.stop)));
  print_fact("results", session.folder.string());
}

}  // namespace udv::cli
