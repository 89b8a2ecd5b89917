// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/net/dataset.hpp"
#include "udv/net/files/model_file.hpp"

namespace udv::net {

/// What a model says about some rows.
struct UDV_EXPORT Predictions {
  Task task = Task::kRegression;
  /// n x c: values in the units of the target, or one score for each class.
  RowMatrix<double> outputs;
  std::vector<Index> labels;              ///< n, classification: the most probable class
  Vector<double> probabilities;           ///< n, classification: softmax of its score
  RowMatrix<double> class_probabilities;  ///< n x c, classification: of every class
  std::vector<std::string> target_names;  ///< of the columns of a table; may be empty
  std::vector<std::string> class_names;   ///< empty where the data had numbers only

  Index size() const { return outputs.rows(); }
  /// The name of a class, or its number as text where it has none.
  std::string class_name(Index label) const;
};

/// Applies a model to scaled features X (n x inputs), as read_for_model returns them. Throws
/// InvalidArgument that starts with `name` where X has another width or an output is not finite; it
/// tells the row.
UDV_EXPORT Predictions predictions_of(const Model<double>& model, const RowMatrix<double>& X,
                                      const std::string& name);

}  // namespace udv::net
