// SPDX-License-Identifier: MIT
#include "udv/deep/calibration_job.hpp"

#include "core/require.hpp"
#include "udv/deep/text_model.hpp"
#include "udv/net/files/adapter_file.hpp"

namespace udv::jobs {

net::Calibration calibrate_adapter(const std::string& adapter, const std::string& text,
                                   Index sequences) {
  const std::string base = net::read_adapter(adapter).base_model;
  require<IoError>(!base.empty(), adapter,
                   ": names no model, which calibrating with a text needs; udv lora writes "
                   "calibration.safetensors");
  deep::TextModelFiles files;
  files.model = base;
  files.adapter = adapter;
  deep::TextModel model = read_text_model(files);
  return model.model.calibrate(read_tokens(model, text, 0), sequences);
}

}  // namespace udv::jobs
