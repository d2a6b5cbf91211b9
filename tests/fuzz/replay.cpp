// Runs a target of tests/fuzz on the files named, and those of the folders named, without
// libFuzzer. An input that breaks something ends the process, after its name; no input at all is an
// error, too.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <vector>

#include "tests/fuzz/target.h"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> inputs(int argc, char** argv) {
  std::vector<fs::path> out;
  for (int i = 1; i < argc; ++i) {
    const fs::path named = argv[i];
    if (!fs::is_directory(named))
      out.push_back(named);
    else
      for (const auto& entry : fs::recursive_directory_iterator(named))
        if (entry.is_regular_file()) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<fs::path> files = inputs(argc, argv);
  for (const fs::path& file : files) {
    std::fprintf(stderr, "%s\n", file.c_str());
    std::ifstream in(file, std::ios::binary);
    if (!in) return 1;
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
