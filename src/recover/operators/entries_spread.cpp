// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdlib>

#include "core/machine.hpp"
#include "core/require.hpp"
#include "recover/operators/entry_shares.hpp"

namespace udv {
namespace {

size_t at(Index i) {
  return static_cast<size_t>(i);
}

std::vector<Index> bounds_of(const std::vector<Index>& counts) {
  std::vector<Index> bounds{0};
  for (const Index count : counts) bounds.push_back(bounds.back() + count);
  return bounds;
}

// A number of each rank, known to all.
std::vector<Index> gathered_counts(Index own) {
  std::vector<Index> counts(at(communicator().size()));
  counts[at(communicator().rank())] = own;
  LineShares places;
  for (Index r = 0; r <= communicator().size(); ++r) places.bounds.push_back(r);
  places.gather(counts.data(), sizeof(Index));
  return counts;
}

std::vector<std::int16_t> owners_of_blocks(const LineShares& shares, Index lines) {
  const Index per_block = lines_per_block(lines);
  std::vector<std::int16_t> owner;
  for (Index begin = 0; begin < lines; begin += per_block) {
    const auto next = std::upper_bound(shares.bounds.begin(), shares.bounds.end(), begin);
    owner.push_back(static_cast<std::int16_t>(next - shares.bounds.begin() - 1));
  }
  return owner;
}

std::vector<std::int16_t> owners_of(const std::vector<std::int32_t>& lines,
                                    const std::vector<std::int16_t>& block_owner, Index per_block) {
  std::vector<std::int16_t> owner;
  owner.reserve(lines.size());
  for (const std::int32_t line : lines) owner.push_back(block_owner[at(line / per_block)]);
  return owner;
}

// Tests of the program have no time for many.
Index usual_many() {
  const char* const text = std::getenv("UDV_MANY_ENTRIES");
  return text ? std::max<Index>(kLineBlocks, std::atoll(text)) : kLineBlocks << 16;
}

Index many = usual_many();

// A process numbers its own entries, by rows and by columns: the total may be larger.
void check_own_number(Index size, const char* lines) {
  require(size <= most_entries(), "entries: process ", communicator().rank(), " of ",
          communicator().size(), " holds ", size, " in its ", lines, ", at most ", most_entries(),
          " expected: more processes share them");
}

// Bytes of an entry in each process while all of them come together: their values (8), where they
// stand (16), and the pattern by rows and by columns (16), and the values to a scale (8).
constexpr double kBytesOfAll = 48;

std::string need_text(Index entries, const MachineNeed& need) {
  return message("all ", entries, " entries in each process: ", bytes_text(need.needed), " for ",
                 need.processes, need.processes > 1 ? " processes" : " process", " on ", need.name,
                 ", where ", bytes_text(need.available), " are available");
}

constexpr const char* kWhen = "exact data, gross errors and gradient runs need ";
constexpr const char* kFewer =
    "; fewer processes on a machine, with more threads each, or a larger one";

}  // namespace

Index many_entries() {
  return many;
}

void set_many_entries(Index count) {
  many = count;
}

void require_room_for_all(Index entries) {
  require(entries <= most_entries(), kWhen, "all ", entries, " entries in each process, at most ",
          most_entries(), " expected");
  const MachineNeed need = tightest_machine(kBytesOfAll * static_cast<double>(entries));
  require(need.share() <= 1, kWhen, need_text(entries, need), kFewer, " expected");
}

std::string room_warning(Index entries) {
  constexpr double kMuch = 0.5;
  const MachineNeed need = tightest_machine(kBytesOfAll * static_cast<double>(entries));
  if (entries > most_entries())
    return message(entries,
                   " entries are more than one process can number: the run ends with an "
                   "error unless they are noisy, without gross errors");
  return need.share() > kMuch ? kWhen + need_text(entries, need) + kFewer + " would be safe"
                              : std::string();
}

EntryRoutes::EntryRoutes(const std::vector<std::int16_t>& owner) {
  const auto ranks = static_cast<Index>(communicator().size());
  std::vector<Index> counts(at(ranks * ranks), 0);  // [from][to]
  const Index own = communicator().rank() * ranks;
  for (const std::int16_t to : owner) ++counts[at(own + to)];
  LineShares lines;
  for (Index r = 0; r <= ranks; ++r) lines.bounds.push_back(r);
  lines.gather(counts.data(), ranks * static_cast<Index>(sizeof(Index)));
  std::vector<Index> out, in;
  for (Index r = 0; r < ranks; ++r) {
    out.push_back(counts[at(own + r)]);
    in.push_back(counts[at(r * ranks + communicator().rank())]);
  }
  send_ = bounds_of(out);
  receive_ = bounds_of(in);
}

void EntryRoutes::exchange(const void* from, void* to, Index bytes) const {
  const auto in_bytes = [bytes](std::vector<Index> bounds) {
    for (Index& bound : bounds) bound *= bytes;
    return bounds;
  };
  communicator().exchange(from, in_bytes(send_), to, in_bytes(receive_));
}

LineShares spread_shares(Index lines, const std::vector<std::int32_t>& line_of_entry) {
  const Index per_block = lines_per_block(lines);
  std::vector<Index> counts(at((lines + per_block - 1) / per_block), 0);
  for (const std::int32_t line : line_of_entry) ++counts[at(line / per_block)];
  communicator().sum(counts.data(), static_cast<Index>(counts.size()));
  for (Index& count : counts) count += per_block;
  LineShares shares = fair_shares(bounds_of(counts));
  for (Index& bound : shares.bounds) bound = std::min(lines, bound * per_block);
  return shares;
}

Entries to_row_owners(const Entries& entries) {
  const LineShares shares = spread_shares(entries.rows, entries.row);
  const auto owner =
      owners_of(entries.row, owners_of_blocks(shares, entries.rows), lines_per_block(entries.rows));
  const EntryRoutes routes(owner);
  const auto owner_of = [&](Index t) { return owner[at(t)]; };
  Entries own{entries.rows, entries.cols, entries.symmetric, {}, {}, {}};
  own.row = routes.send(entries.row.data(), entries.size(), owner_of);
  own.col = routes.send(entries.col.data(), entries.size(), owner_of);
  own.value = routes.send(entries.value.data(), entries.size(), owner_of);
  return own;
}

template <typename Scalar>
EntriesOperator<Scalar> EntriesOperator<Scalar>::spread(const Entries& entries) {
  EntrySpread spread;
  check_own_number(entries.size(), "rows");
  spread.rows = spread_shares(entries.rows, entries.row);
  spread.cols = spread_shares(entries.cols, entries.col);
  spread.own = entries.size();
  spread.block_owner = owners_of_blocks(spread.cols, entries.cols);
  const std::vector<Index> first = bounds_of(gathered_counts(spread.own));
  std::vector<Index> number(entries.row.size());
  for (size_t t = 0; t < number.size(); ++t)
    number[t] = first[at(communicator().rank())] + static_cast<Index>(t);
  const auto owner = owners_of(entries.col, spread.block_owner, lines_per_block(entries.cols));
  spread.routes = EntryRoutes(owner);
  check_own_number(spread.routes.num_received(), "columns");
  const auto owner_of = [&](Index t) { return owner[at(t)]; };
  const auto row = spread.routes.send(entries.row.data(), spread.own, owner_of);
  const auto col = spread.routes.send(entries.col.data(), spread.own, owner_of);
  number = spread.routes.send(number.data(), spread.own, owner_of);
  require(first.back() >= many_entries(), "entries: ", first.back(), " found, at least ",
          many_entries(), " expected where several processes share them");
  auto pattern = std::make_shared<Pattern>();
  pattern->by_row = TiledLines(spread.rows.begin(), spread.rows.end(entries.rows), entries.row,
                               entries.col, {}, 1);
  pattern->by_col = TiledLines(spread.cols.begin(), spread.cols.end(entries.cols), col, row, number,
                               tile_size(entries.cols));
  pattern->shares = std::make_shared<EntryShares>(std::move(spread));
  return EntriesOperator(entries.rows, entries.cols, first.back(), std::move(pattern));
}

namespace {

LineShares measurements_of(const EntriesOperator<double>& op) {
  return {bounds_of(gathered_counts(op.num_own()))};
}

}  // namespace

Vector<double> gathered_measurements(const EntriesOperator<double>& op, const Vector<double>& z) {
  const LineShares shares = measurements_of(op);
  Vector<double> all(op.num_measurements());
  all.segment(shares.begin(), z.size()) = z;
  shares.gather(all.data(), sizeof(double));
  return all;
}

EntriesOperator<double> gathered_entries(const EntriesOperator<double>& op) {
  const LineShares shares = measurements_of(op);
  Entries all{op.rows(), op.cols(), false, {}, {}, {}};
  const auto size = at(op.num_measurements());
  all.row.resize(size);
  all.col.resize(size);
  const SparseLines rows = op.by_row();
  for (Index i = rows.begin; i < rows.count; ++i)
    for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s) {
      all.row[at(shares.begin() + s)] = static_cast<std::int32_t>(i);
      all.col[at(shares.begin() + s)] = rows.other[s];
    }
  shares.gather(all.row.data(), sizeof(std::int32_t));
  shares.gather(all.col.data(), sizeof(std::int32_t));
  all.value.resize(size);
  return EntriesOperator<double>(all);
}

template EntriesOperator<double> EntriesOperator<double>::spread(const Entries&);

}  // namespace udv
