// SPDX-License-Identifier: MIT
#include "deep/epoch_tables.hpp"

#include <fmt/format.h>

#include <sstream>

#include "core/parse.hpp"
#include "udv/io/file.hpp"
#include "udv/net/prune_curve.hpp"

namespace udv::jobs {

EpochTable::EpochTable(RunFolder& folder, std::string name, std::string header, bool resume)
    : folder_(&folder), name_(std::move(name)), header_(std::move(header)) {
  if (!resume || !std::filesystem::exists(folder.path() / name_)) return;
  std::istringstream stream(io::read_bytes(folder.growing_file(name_)));
  std::string line;
  std::getline(stream, line);  // the header
  while (std::getline(stream, line)) {
    Index epoch = 0;
    if (!parse_all(line.substr(0, line.find(',')), epoch)) continue;
    if (entries_.empty() || entries_.back().epoch != epoch) entries_.push_back({epoch, ""});
    entries_.back().lines += line + "\n";
  }
}

void EpochTable::add(Index epoch, const std::string& lines) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.epoch >= epoch; });
  entries_.push_back({epoch, lines});
  std::string text = header_ + "\n";
  for (const Entry& entry : entries_) text += entry.lines;
  io::write_atomically(folder_->growing_file(name_), text);
}

std::string spectrum_lines(Index epoch, const Vector<double>& spectrum) {
  std::string text;
  for (Index i = 0; i < spectrum.size(); ++i)
    text += fmt::format("{},{},{:.9g}\n", epoch, i + 1, spectrum(i));
  return text;
}

std::string curve_lines(Index epoch, const net::Network<float>& head,
                        const net::Dataset<float>& data) {
  std::string text;
  const auto curve = net::prune_curve(net::Pruning<float>(head), data);
  for (const net::CurvePoint& point : curve)
    if (point.neurons > 0)
      text +=
          fmt::format("{},{},{:.9g},{:.9g}\n", epoch, point.neurons, point.loss, point.accuracy);
  return text;
}

}  // namespace udv::jobs
