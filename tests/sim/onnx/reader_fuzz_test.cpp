#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "sim/elaborate/elaborate.h"
#include "sim/onnx/reader.h"
#include "tests/sim/onnx/wire_writer.h"
#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

std::string contents(const std::string& model) {
  std::ifstream stream(kSource + "/models/" + model, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Imports the bytes: a good graph must verify, an error must say something.
void import_bytes(std::string_view bytes) {
  const Result<ModelDef> model = read_model(test::write_temp("fuzz.onnx", bytes));
  if (!model) {
    ASSERT_FALSE(model.errors().front().message.empty());
    return;
  }
  for (const bool allow : {false, true}) {
    ElaborateOptions options;
    options.allow_unsupported = allow;
    if (allow) options.bindings.emplace(kAllOthers, 1);
    const Result<Graph> graph = elaborate(*model, options);
    if (!graph) {
      ASSERT_FALSE(graph.errors().front().message.empty());
      continue;
    }
    const Status verified = verify_graph(*graph);
    ASSERT_TRUE(verified.ok()) << verified.errors().front().text();
  }
}

TEST(ReaderFuzz, DoesAModelCutAtAnyByteGiveAnErrorOrAGraph) {
  const std::string whole = contents("onnx-light/light_bvlc_alexnet.onnx");
  ASSERT_FALSE(whole.empty());
  for (size_t size = 1; size < whole.size(); ++size)
    import_bytes(std::string_view(whole).substr(0, size));
  const std::string large = contents("llama_tiny2_prefill64_op17.onnx");
  for (size_t size = 1; size < large.size(); size += 97)
    import_bytes(std::string_view(large).substr(0, size));
}

TEST(ReaderFuzz, DoesAModelWithChangedBytesGiveAnErrorOrAGraph) {
  std::mt19937 random(20240117);
  for (const char* name : {"alexnet_op13.onnx", "llama_tiny2_decode_dyn_op17.onnx",
                           "onnx-light/light_zfnet512.onnx", "squeezenet1_1_op13.onnx"}) {
    const std::string whole = contents(name);
    ASSERT_FALSE(whole.empty()) << name;
    for (int round = 0; round < 500; ++round) {
      std::string damaged = whole;
      for (uint32_t changes = 1 + random() % 8; changes > 0; --changes) {
        const size_t at = random() % damaged.size();
        const unsigned old = static_cast<unsigned char>(damaged[at]);
        damaged[at] =
            static_cast<char>(random() % 2 == 0 ? random() % 256 : old ^ (1u << (random() % 8)));
      }
      SCOPED_TRACE(std::string(name) + " round " + std::to_string(round));
      import_bytes(damaged);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace accsim::sim
