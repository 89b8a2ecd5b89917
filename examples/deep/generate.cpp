// SPDX-License-Identifier: MIT
// A random model continues a text; the tokens are the bytes of the text.
#include <iostream>
#include <udv/deep/generate_job.hpp>

struct Bytes : udv::text::Tokenizer {
  using Tokens = std::vector<udv::text::Token>;
  udv::Index size() const override { return 128; }
  Tokens encode(std::string_view text) const override { return {text.begin(), text.end()}; }
  std::string decode(const Tokens& tokens) const override { return {tokens.begin(), tokens.end()}; }
  std::string piece(udv::text::Token token) const override { return decode({token}); }
  udv::text::Token begin() const override { return -1; }
  udv::text::Token end() const override { return -1; }
  std::map<std::string, std::string> files() const override { return {}; }
};

int main() {
  const udv::text::LlamaConfig shape{16, 32, 2, 2, 2, 8, 128, 32, 1e-5, 1e4, {}, false, -1, -1};
  auto weights = udv::deep::LanguageModel::random(shape, {});
  udv::deep::TextModel model{std::move(weights), std::make_unique<Bytes>(), "random"};
  udv::jobs::Session session;
  const auto result = udv::jobs::generate(model, "Once upon", {{.tokens = 8}, ""}, session);
  std::cout << result.tokens.size() << " tokens after " << result.text.substr(0, 9) << '\n';
}
