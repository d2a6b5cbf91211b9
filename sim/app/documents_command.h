#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace accsim::sim {

/// `accsim ops`, `options`, `schema`, `completion` and `manual`: what the program says of itself.
class DocumentsCommand {
 public:
  void add_to(CLI::App& app);
  bool chosen() const;
  /// `app` is the program; `version` its version, for the manual pages.
  int run(const CLI::App& app, const std::string& version) const;

 private:
  int run_manual(const CLI::App& app, const std::string& version) const;

  CLI::App* ops_ = nullptr;
  CLI::App* options_ = nullptr;
  CLI::App* schema_ = nullptr;
  CLI::App* completion_ = nullptr;
  CLI::App* manual_ = nullptr;
  std::string shell_, folder_;
  std::vector<std::string> command_;
};

}  // namespace accsim::sim
