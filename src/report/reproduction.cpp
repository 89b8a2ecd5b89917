// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "experiment_section.hpp"
#include "page.hpp"
#include "udv/io/file.hpp"
#include "udv/report/report.hpp"

namespace udv::report {

void write_reproduction(const std::filesystem::path& html, const jobs::ReproduceResult& result) {
  const Index seen = result.count(jobs::ClaimStatus::kSeen);
  const Index missed = result.count(jobs::ClaimStatus::kNotSeen);
  const Index not_run = result.count(jobs::ClaimStatus::kNotRun);
  std::vector<Json> sections;
  for (const jobs::Reproduced& one : result.experiments)
    sections.push_back(experiment_section(one));
  Json document = document_of(
      fmt::format("The paper, reproduced{}", result.quick ? " (quick sizes)" : ""),
      {fmt::format("{} claims of the paper checked: {} seen, {} not seen; {} not run.",
                   seen + missed, seen, missed, not_run),
       "Each section gives the claim, the rule that decides it and our numbers; the commands "
       "at its end repeat the runs."},
      std::move(sections));
  document["counts"] = {{"seen", seen}, {"not seen", missed}, {"not run", not_run}};
  io::write_atomically(html, page_of(document));
}

}  // namespace udv::report
