// SPDX-License-Identifier: MIT
#pragma once

#include "cli/finetune_session.hpp"
#include "udv/net/run_folder.hpp"

namespace udv::cli {

/// run.json, the head, the network or backbone, and the report.
void write_results(const FinetuneSession& session, const deep::FinetuneResult& result,
                   io::RunInfo info, const net::TrainFigures& figures);

/// On standard output.
void print_summary(const FinetuneSession& session, const deep::FinetuneResult& result,
                   const net::TrainFigures& figures);

}  // namespace udv::cli
