// SPDX-License-Identifier: MIT
#pragma once

#include "entries_builder.hpp"
#include "triplet_columns.hpp"

namespace udv::io::detail {

/// Triplets whose rows and columns are texts. `table` stands before its first line of data.
EntriesFile read_keyed_triplets(Table table, const TripletColumns& columns,
                                const EntriesOptions& options);

/// Triplets whose indices leave most lines empty: those that occur become keys, in order.
EntriesFile from_sparse_indices(const std::string& name, std::vector<Record> records,
                                const std::vector<double>& weights, const EntriesOptions& options);

/// Notes the weight of the current line, with the line's number as index.
void add_weight(const Table& table, const TripletColumns& columns, std::vector<double>& weights);

}  // namespace udv::io::detail
