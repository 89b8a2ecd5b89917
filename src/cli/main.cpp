// SPDX-License-Identifier: MIT
#include <csignal>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/commands.hpp"
#include "cli/deep_program.hpp"
#include "cli/pages.hpp"
#include "cli/team.hpp"

namespace udv::cli {
namespace {

struct Listed {
  Command (*make)();
  const char* example;
};

// In the order of the help.
constexpr Listed kCommands[] = {
    {demo_command, "udv demo"},
    {complete_command, "udv complete ratings.csv --predict pairs.csv --out ratings"},
    {fold_in_command, "udv fold-in ratings new-users.csv --recommend 10 --out new"},
    {sense_command, "udv sense A.npy b.npy --shape 40,30"},
    {phase_command, "udv phase A.npy b.npy --out phase"},
    {ptycho_command, "udv ptycho data.mat --setup microscope.toml --out image"},
    {train_command, "udv train houses.csv --target price --out model"},
    {predict_command, "udv predict model new-houses.csv --out predictions"},
    {evaluate_command, "udv evaluate model test-houses.csv"},
    {sweep_command, "udv sweep rates.toml --out sweep --resume"},
    {prune_command, "udv prune model --max-drop 0.5% --data houses.csv --out small"},
    {inspect_command, "udv inspect model/model.safetensors"},
    {export_command, "udv export model --to onnx --out exported"},
    {planted_command, "udv planted completion --rows 100 --rank 3 --measurements 2000"},
    {reproduce_command, "udv reproduce fig1-stepsize --quick"},
    {report_command, "udv report udv-runs --out runs.html"},
    {watch_command, "udv watch model --port 8080"},
    {finetune_command, "udv finetune --data photos --backbone features.pt --out head"},
    {lora_command, "udv lora --model llama --train a.txt --eval b.txt --out adapter"},
    {generate_command, "udv generate --model llama --adapter adapter --prompt 'Once upon a time'"}};

std::vector<Command> all_commands() {
  std::vector<Command> commands;
  for (const Listed& listed : kCommands) {
    commands.push_back(listed.make());
    commands.back().example = listed.example;
  }
  return commands;
}

// The exit code of `run`, in one process or as one of several.
template <typename Run>
int run_as_member(char** arguments, const Run& run) {
  TeamMember member;
  const int joined = member.join(arguments);
  return member.leave(joined == kDone ? run() : joined);
}

}  // namespace
}  // namespace udv::cli

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // Fixed thresholds: large arrays go back to the system at once. Else blocks of up to 32 MB stay
  // in the heap, which costs a sixth of the memory of a large completion.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
#endif
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write, not an end
  udv::cli::remember_arguments(argv);
  std::vector<udv::cli::Command> commands = udv::cli::all_commands();
  commands.push_back(udv::cli::pages_command(udv::cli::all_commands));
  return udv::cli::run_as_member(argv, [&] {
    return udv::cli::run_program(std::move(commands), {argv + 1, argv + argc});
  });
}
