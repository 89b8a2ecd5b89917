// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/io/onnx.hpp"
#include "udv/net/preprocessing.hpp"

namespace udv::net {

/// An input of the graph for every column of a table, N x 1: numbers (NaN where missing), texts (""
/// where missing), and for dates a number for each part that is used (COLUMN.month, ...). Missing
/// and unknown values are treated as features_of does. Returns the name of the features before
/// scaling, N x inputs.
std::string add_columns(const std::vector<ColumnCoding>& columns, io::OnnxGraph& graph);

/// label (N texts) from the logits `output`: the name of the most likely class.
void add_label(const std::vector<std::string>& classes, io::OnnxGraph& graph);

}  // namespace udv::net
