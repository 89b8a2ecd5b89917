// SPDX-License-Identifier: MIT
#include "udv/deep/export_script.hpp"

#include "core/require.hpp"
#include "udv/deep/torchscript.hpp"
#include "udv/net/files/network_file.hpp"

namespace udv::deep {
namespace {

namespace fs = std::filesystem;

Scaling scaling_of(const net::Preprocessing& how) {
  Scaling scaling;
  if (!how.features.offset.isZero(0)) scaling.feature_offset = how.features.offset;
  if (!(how.features.factor.array() == 1).all()) scaling.feature_factor = how.features.factor;
  if (how.features.clip.size() > 0)
    scaling.feature_inverse_clip =
        how.features.clip.unaryExpr([](double c) { return c > 0 ? 1 / c : 0.0; });
  if (how.task == net::Task::kRegression && how.targets.factor.size() > 0) {
    scaling.target_scale = how.targets.factor.cwiseInverse();
    scaling.target_offset = how.targets.offset;
    scaling.target_bend = how.targets.bend;
  }
  return scaling;
}

}  // namespace

void write_script(const fs::path& folder, const fs::path& model, const net::Model<float>& head) {
  const fs::path run = model.parent_path(), network = run / "network.safetensors",
                 backbone = run / "backbone.pt", script = folder / "model.pt";
  if (!fs::exists(network))
    return write_torchscript(script, head.network, scaling_of(head.preprocessing),
                             fs::exists(backbone) ? backbone.string() : "");
  const net::NetworkFile file = net::read_network(network);
  try {
    write_torchscript(script, head.network, file.arrays, file.blocks);
  } catch (const InvalidArgument& error) {
    throw IoError(message(network.string(), ": ", error.what()));
  }
}

}  // namespace udv::deep
