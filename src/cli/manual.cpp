// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "cli/option_text.hpp"
#include "cli/pages.hpp"
#include "udv/core/version.hpp"

namespace udv::cli {
namespace {

// Text that groff shows as it stands.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '`':
        result += "\\(ga";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      default:
        result += c;
    }
  }
  // A dot at the start of a line would be a request.
  return result.starts_with('.') ? "\\&" + result : result;
}

std::string bold(const std::string& text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return "\\fI" + escaped(text) + "\\fR";
}

std::string title(std::string name) {
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return fmt::format(".TH \"{}\" 1 \"\" \"udv {}\" \"User Commands\"\n", escaped(name),
                     escaped(version()));
}

std::string sentence(std::string text) {
  if (!text.empty() && !text.ends_with('.')) text += '.';
  return escaped(text);
}

std::string entry(const std::string& tag, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", tag, text);
}

std::string default_sentence(const Option& option) {
  return option.default_text.empty() ? "" : "\nDefault: " + escaped(option.default_text) + ".";
}

std::string option_entry(const Option& option) {
  const std::string value = value_text(option);
  const std::string tag =
      option.positional ? italic(option.name) + (option.takes_list ? "..." : "")
                        : bold(flag_text(option)) + (value.empty() ? "" : " " + italic(value));
  return entry(tag, sentence(meaning_text(option)) + default_sentence(option));
}

std::string arguments_section(const Command& command) {
  const std::vector<Option> arguments = arguments_of(command);
  if (arguments.empty()) return "";
  std::string text = ".SH ARGUMENTS\n";
  for (const Option& option : arguments) text += option_entry(option);
  return text;
}

std::string options_section(const Command& command) {
  std::string text = ".SH OPTIONS\n";
  for (const OptionGroup& group : flags_of(command)) {
    text += ".SS " + escaped(group.heading) + "\n";
    for (const Option& option : group.options) text += option_entry(option);
  }
  return text + ".SS Help\n" + entry(bold("--help"), "Print the options and exit.");
}

std::string exit_section(bool is_job) {
  std::string text = ".SH EXIT STATUS\n";
  text += entry(bold("0"), "Done.");
  text += entry(bold("2"), "Wrong usage: a flag that does not exist, or a value out of range.");
  text += entry(bold("3"),
                "Input that cannot be read or makes no sense. The message names the "
                "file, the place in it and what was expected.");
  if (!is_job) return text;
  text += entry(bold("4"),
                "The run diverged or reached a limit. The results are written "
                "all the same.");
  text += entry(bold("130"), "Interrupted. A checkpoint is written; " + bold("--resume") +
                                 " continues to the same numbers.");
  return text;
}

std::string example_section(const std::string& example) {
  return example.empty() ? "" : ".SH EXAMPLE\n.EX\n" + escaped(example) + "\n.EE\n";
}

// Where a job leaves its results.
std::string results_text(const Command& command) {
  if (!command.takes_config) return "";
  return ".PP\nThe results are in a folder: run.json with all figures and settings, arrays, the "
         "history and report.html. See " +
         bold("udv") + "(1) for the files.\n";
}

Page command_page(const Command& command) {
  const std::string name = "udv-" + command.name;
  std::string text = title(name);
  text += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(command.summary));
  const std::string start = "udv " + command.name;
  text +=
      ".SH SYNOPSIS\n" + bold(start) + escaped(synopsis_text(command).substr(start.size())) + "\n";
  text += ".SH DESCRIPTION\n" + sentence(command.summary) + "\n" + results_text(command);
  if (command.passes_arguments)
    text += ".PP\nThis command needs the LibTorch component, which this build does not have.\n";
  else
    text += arguments_section(command) + options_section(command);
  text += exit_section(command.takes_config) + example_section(command.example);
  text += ".SH SEE ALSO\n" + bold("udv") + "(1)\n";
  return {"man/" + name + ".1", text};
}

std::string files_section() {
  std::string text = ".SH FILES\nA run leaves these files in its folder:\n";
  for (const auto& [name, meaning] : std::vector<std::pair<std::string, std::string>>{
           {"run.json", "Command, settings, seed, results and the list of the other files."},
           {"report.html", "The same with charts, for people."},
           {"history.csv", "One line for each recorded iteration or epoch."},
           {"U.npy, d.npy, V.npy", "The factors of a recovered matrix."},
           {"x.npy", "A recovered vector or image."},
           {"model.safetensors", "A trained network."},
           {"checkpoint.bin", "The state of an interrupted run."}})
    text += entry(bold(name), sentence(meaning));
  return text;
}

Page program_page(const Commands& commands) {
  std::string text = title("udv");
  text +=
      ".SH NAME\nudv \\- recover low\\-rank matrices and train low\\-rank networks without "
      "being told the rank\n";
  text += ".SH SYNOPSIS\n" + bold("udv") + " " + italic("COMMAND") + " [OPTION]...\n.br\n" +
          bold("udv") + " " + italic("COMMAND") + " " + bold("--help") + "\n.br\n" + bold("udv") +
          " " + bold("--version") + "\n";
  text +=
      ".SH DESCRIPTION\nudv completes matrices, recovers them and images from indirect "
      "measurements, and trains and prunes networks and adapters.\nThe rank is found, not "
      "chosen.\n";
  text += ".SH COMMANDS\n";
  for (const Command& command : commands)
    if (!command.hidden) text += entry(bold(command.name), sentence(command.summary));
  text += exit_section(true) + files_section();
  text += ".SH ENVIRONMENT\n" +
          entry(bold("UDV_DATA"), "Folder of the data sets that " + bold("udv reproduce") +
                                      " needs, unless " + bold("--data") + " names it.");
  text += example_section("udv demo");
  text += ".SH SEE ALSO\n";
  std::string pages;
  for (const Command& command : commands)
    if (!command.hidden)
      pages += (pages.empty() ? "" : ",\n") + bold("udv-" + command.name) + "(1)";
  return {"man/udv.1", text + pages + "\n"};
}

}  // namespace

std::vector<Page> manual_pages(const Commands& commands) {
  std::vector<Page> pages{program_page(commands)};
  for (const Command& command : commands)
    if (!command.hidden) pages.push_back(command_page(command));
  return pages;
}

}  // namespace udv::cli
