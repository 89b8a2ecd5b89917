// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "io/temporary_files.hpp"
#include "udv/io/npy.hpp"
#include "udv/recover/problem.hpp"

namespace udv::cli {

using Json = nlohmann::json;

/// The program under test in a temporary folder of its own: file names are relative to it.
class Cli {
 public:
  /// Words are separated by single blanks.
  Outcome run(const std::string& arguments) const { return start(arguments)->wait(); }

  std::unique_ptr<Process> start(const std::string& arguments) const {
    std::vector<std::string> command{UDV_PROGRAM};
    std::istringstream words(arguments);
    for (std::string word; words >> word;) command.push_back(word);
    return run_words(command);
  }

  std::unique_ptr<Process> run_words(const std::vector<std::string>& command) const {
    return std::make_unique<Process>(command, folder_ / "", logs_ / "");
  }

  void write(const std::string& name, const std::string& bytes) const {
    folder_.write(name, bytes);
  }
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
  std::string text(const std::string& name) const { return file_text(folder_ / name); }
  Json run_json(const std::string& out = "out") const {
    return Json::parse(text(out + "/run.json"));
  }

  /// Names and bytes of all files in a folder.
  std::map<std::string, std::string> files(const std::string& name) const {
    std::map<std::string, std::string> found;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder_ / name))
      if (file.is_regular_file()) found[file.path().filename()] = file_text(file.path());
    return found;
  }

 private:
  io::TemporaryFolder folder_, logs_;
};

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// How triplets stand in a text file.
struct TextStyle {
  int base = 1;
  std::string separator = ",";
  std::string header = "";
  std::string quote = "";
};

inline std::string triplets(const Entries& entries, const TextStyle& style = {}) {
  std::string text = style.header;
  const auto field = [&](auto value) { return fmt::format("{0}{1}{0}", style.quote, value); };
  for (size_t t = 0; t < entries.value.size(); ++t)
    text += field(entries.row[t] + style.base) + style.separator +
            field(entries.col[t] + style.base) + style.separator + field(entries.value[t]) + "\n";
  return text;
}

/// 300 entries of a 30 x 25 matrix of rank 2: solved in a few milliseconds.
inline Planted small_planted(double noise = 0) {
  return planted_completion({.rows = 30,
                             .cols = 25,
                             .symmetric = false,
                             .rank = 2,
                             .measurements = 300,
                             .noise = noise,
                             .seed = 1});
}

/// 200 entries of a 25 x 25 positive semidefinite matrix of rank 2.
inline Planted small_symmetric() {
  return planted_completion({.rows = 25, .cols = 25, .rank = 2, .measurements = 200, .seed = 1});
}

/// Large enough for several threads: kernels split at 32,768 multiply-adds, sums at as many terms.
inline Planted large_planted() {
  return planted_completion(
      {.rows = 600, .cols = 500, .symmetric = false, .rank = 6, .measurements = 40000, .seed = 2});
}

/// X = U diag(d) V^T as a run left it on disk; V is U where there is no V.npy.
struct Factors {
  RowMatrix<double> U, V;
  Vector<double> d;

  double at(Index i, Index j) const { return (U.row(i) * d.asDiagonal()).dot(V.row(j)); }
};

inline RowMatrix<double> read_matrix(const std::filesystem::path& path) {
  const io::Array array = io::read_npy(path);
  const Index cols = array.shape.size() > 1 ? array.shape[1] : 1;
  return Eigen::Map<const RowMatrix<double>>(array.values.data(), array.shape[0], cols);
}

inline Factors read_factors(const Cli& cli, const std::string& out = "out") {
  Factors factors;
  factors.U = read_matrix(cli.path(out + "/U.npy"));
  factors.V = cli.exists(out + "/V.npy") ? read_matrix(cli.path(out + "/V.npy")) : factors.U;
  factors.d = read_matrix(cli.path(out + "/d.npy"));
  return factors;
}

/// 1/2 |X - values|^2 over the entries.
inline double objective_of(const Factors& factors, const Entries& entries) {
  double squares = 0;
  for (size_t t = 0; t < entries.value.size(); ++t) {
    const double error = factors.at(entries.row[t], entries.col[t]) - entries.value[t];
    squares += error * error;
  }
  return squares / 2;
}

/// Accuracy that an exact recovery must have: the default tolerance is 1e-10, on the residual.
inline constexpr double kExact = 1e-9;

/// The run ended well, found the rank, and its factors are the planted matrix.
inline void expect_recovered(const Cli& cli, const Outcome& outcome, const Planted& planted) {
  EXPECT_EQ(outcome.code, 0) << outcome;
  ASSERT_TRUE(cli.exists("out/run.json")) << outcome;
  EXPECT_EQ(cli.run_json()["rank"], planted.U.cols());
  const Factors found = read_factors(cli);
  EXPECT_LT(planted.relative_error(found.U, found.d, found.V), kExact);
}

/// One line on standard error with all the words, the exit code, and no folder `out`.
inline void expect_refused(const Cli& cli, const Outcome& outcome, int code,
                           const std::vector<std::string>& words) {
  EXPECT_EQ(outcome.code, code) << outcome;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome;
  for (const auto& word : words) EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome;
  EXPECT_FALSE(cli.exists("out")) << "the folder was made all the same";
}

}  // namespace udv::cli
