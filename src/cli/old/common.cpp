// SPDX-License-Identifier: MIT
#include "cli/common.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "cli/interrupt.hpp"
#include "core/parse.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"
#include "udv/report/report.hpp"

namespace udv::cli {
namespace {

std::string time_stamp() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%d-%H%M%S", std::localtime(&now));
  return text;
}

std::filesystem::path new_folder(const std::string& command) {
  const std::filesystem::path base =
      std::filesystem::path("udv-runs") / (command + "-" + time_stamp());
  std::filesystem::path folder = base;
  for (int n = 2; std::filesystem::exists(folder); ++n)
    folder = fmt::format("{}-{}", base.string(), n);
  return folder;
}

}  // namespace

// CLI11's own lets NaN pass and answers with the 309 digits of the largest double.
CLI::Validator positive() {
  return {[](std::string& text) {
            double value = 0;
            const bool good =
                CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value);
            return good ? std::string() : "'" + text + "' found, a positive number expected";
          },
          "POSITIVE"};
}

CLI::Validator share_number() {
  return {[](std::string& text) {
            double value = 0;
            return parse_all(text, value) && value > 0 && value <= 1
                       ? std::string()
                       : "'" + text + "' found, a share above 0 and up to 1 expected";
          },
          "SHARE"};
}

CLI::Validator seed_number() {
  return {[](std::string& text) {
            std::uint64_t value = 0;
            return parse_all(text, value)
                       ? std::string()
                       : "'" + text + "' found, a whole number from 0 to 2^64 - 1 expected";
          },
          ""};
}

void CommonFlags::add_to(CLI::App& command) {
  command.add_option("--out", out, "Folder for the results (default: a new one in udv-runs)");
  command.add_option("--seed", seed, "Seed of all random numbers")
      ->capture_default_str()
      ->check(seed_number());
  command.add_option("--threads", threads, "Threads (default: all cores); results are the same")
      ->check(CLI::Range(1, 1024));
  command.add_flag("--resume", resume, "Go on from the checkpoint in --out");
  command.add_flag("--quiet", quiet, "Print nothing but errors and warnings");
  command.add_option("--time-limit", time_limit, "Stop after so many seconds, keep the best")
      ->check(positive());
  command.add_option("--report", report, "Write report.html: on or off")
      ->capture_default_str()
      ->check(CLI::IsMember({"on", "off"}));
  command.add_option("--config", "TOML file with the long names of flags; flags given here win");
}

void leave_report(const CommonFlags& common, const std::string& command,
                  const std::filesystem::path& folder) {
  if (common.report == "on")
    report::write_report(folder / "report.html", "udv " + command, {folder});
}

void warn(const std::string& text) {
  std::fputs(fmt::format("udv: warning: {}\n", text).c_str(), stderr);
}

std::filesystem::path make_run_folder(const CommonFlags& common, const std::string& command) {
  const std::filesystem::path folder =
      common.out.empty() ? new_folder(command) : std::filesystem::path(common.out);
  io::make_folder(folder);
  const std::filesystem::path probe = folder / ".udv-can-write";
  io::write_atomically(probe, "");
  std::error_code ignored;
  std::filesystem::remove(probe, ignored);
  return folder;
}

std::filesystem::path model_path(const std::string& given) {
  const std::filesystem::path path = given;
  return std::filesystem::is_directory(path) ? path / "model.safetensors" : path;
}

void remove_file(const std::filesystem::path& path) {
  std::error_code failure;
  std::filesystem::remove(path, failure);
  require<IoError>(!failure, path.string(), ": cannot be removed: ", failure.message());
}

std::string checkpoint_to_resume(const CommonFlags& common, const std::filesystem::path& path) {
  if (!common.resume) return "";
  if (!std::filesystem::exists(path)) {
    warn(path.string() + ": not there, starting anew");
    return "";
  }
  std::string bytes = io::read_bytes(path);
  require<IoError>(!bytes.empty(), path.string(), ": empty, a checkpoint expected");
  return bytes;
}

void print_fact(const char* name, const std::string& value) {
  fmt::print("  {:<14} {}\n", name, value);
}

Observer time_limit_from_now(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  return [end](const IterationRecord&) {
    return Clock::now() < end ? Verdict::kContinue : Verdict::kTimeLimit;
  };
}

Observer stop_on_interrupt() {
  return [](const IterationRecord&) {
    return interrupted() ? Verdict::kInterrupt : Verdict::kContinue;
  };
}

void say_interrupted(const std::filesystem::path& folder) {
  const std::string hint =
      folder.empty() ? ""
                     : "; go on with the same command and --out " + folder.string() + " --resume";
  std::fputs(("udv: interrupted" + hint + "\n").c_str(), stderr);
}

}  // namespace udv::cli
