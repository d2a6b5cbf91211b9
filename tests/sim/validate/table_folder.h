#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "sim/validate/validation.h"
#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim::test {

using Texts = std::vector<std::string>;

/// A folder with a validation file whose machine is VTA, and with tables.
class TableFolder {
 public:
  TableFolder(const std::string& section, const std::string& csv) {
    write("v.yaml", "source: s\nevidence: simulation\nfitted: no\nmachine: " + kSource +
                        "/configs/known/vta-16x16.yaml\n" + section);
    write("t.csv", csv);
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path(name)) << text;
  }
  std::string path(const std::string& name) const { return folder_.path(name); }

  Result<ValidationSource> load(const std::optional<std::string>& table = {}) const {
    return load_validation(path("v.yaml"), table);
  }
  /// The errors; the folder is left out.
  Texts errors(const std::optional<std::string>& table = {}) const {
    Texts out;
    const auto v = load(table);
    EXPECT_FALSE(v.ok());
    if (v.ok()) return out;
    for (const Error& e : v.errors()) {
      std::string text = e.text();
      for (size_t at; (at = text.find(folder_.path() + "/")) != std::string::npos;)
        text.erase(at, folder_.path().size() + 1);
      out.push_back(text);
    }
    return out;
  }

 private:
  accsim::test::TempFolder folder_;
};

}  // namespace accsim::sim::test
