// SPDX-License-Identifier: MIT
// What jobs read back from run folders: results.csv of a sweep, columns of numbers, keys, run.json.
// The first byte chooses.
#include "input_file.hpp"
#include "jobs/run_reader.hpp"
#include "udv/io/keys.hpp"
#include "udv/net/sweep.hpp"

using namespace udv;

namespace {

using Path = std::filesystem::path;

void results(const Path& path) {
  std::string again;
  const std::vector<net::SweepRow> rows = net::read_sweep(path);
  for (const net::SweepRow& row : rows) again += net::sweep_line(row);
  net::summarise(rows);
}

void numbers(const Path& path) {
  jobs::RunContents contents;
  contents.folder = path.parent_path();
  contents.columns(path.filename());
}

struct Reader {
  fuzz::InputFile file;
  void (*read)(const Path&);
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const Reader readers[] = {
      {fuzz::InputFile("results.csv"), results},
      {fuzz::InputFile("history.csv"), numbers},
      {fuzz::InputFile("rows.csv"), [](const Path& path) { io::read_keys(path); }},
      {fuzz::InputFile("run.json"),
       [](const Path& path) { jobs::read_run_folder(path.parent_path()); }},
  };
  if (size == 0) return 0;
  const Reader& reader = readers[data[0] % std::size(readers)];
  fuzz::read_or_refuse(reader.file.write(fuzz::view(data + 1, size - 1)), reader.read);
  return 0;
}
