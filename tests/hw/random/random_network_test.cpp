#include "hw/random/random_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hw/program/coverage.h"
#include "hw/program/cut_program.h"
#include "hw/program/place_tensors.h"
#include "tests/support/machines.h"

namespace accsim::hw {
namespace {

constexpr int kNetworks = 300;

HwConfig network_machine() {
  HwConfig hw = test::small_machine();
  hw.shared.kib = 1024;
  return hw;
}

std::vector<ProgramWithImage> networks(Dataflow d, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<ProgramWithImage> out;
  for (int i = 0; i < kNetworks; ++i) {
    auto drawn = random_network(network_machine(), d, random);
    if (drawn) out.push_back(std::move(*drawn));
  }
  return out;
}

/// What a network shows, by name.
class Kinds {
 public:
  explicit Kinds(const Program& p) : program_(p), dataflow_(p.dataflow) { body(p.body, false); }

  std::set<std::string> seen;

 private:
  void body(const std::vector<Item>& items, bool looped) {
    for (const Item& item : items) {
      if (const auto* loop = std::get_if<Loop>(&item.node)) body(loop->body, true);
      if (const auto* head = std::get_if<LayerHead>(&item.node)) dataflow_ = head->dataflow;
      if (const auto* mark = std::get_if<Mark>(&item.node)) visit(*mark, looped);
      const auto* c = std::get_if<Command>(&item.node);
      if (!c || !std::holds_alternative<GemmCommand>(*c)) continue;
      if (gemm_ && *gemm_ != dataflow_)
        seen.insert(std::string(name(dataflow_)) + " behind " + std::string(name(*gemm_)));
      gemm_ = dataflow_;
    }
  }
  void visit(const Mark& m, bool looped) {
    const std::string queue(name(m.queue));
    std::set<Queue>& setters = setters_[m.tensor];
    if (!m.waits) {
      seen.insert(queue + " marks");
      setters.insert(m.queue);
      return;
    }
    seen.insert(looped ? "wait in a loop" : "wait outside of loops");
    for (const Queue q : setters) seen.insert(queue + " waits for " + std::string(name(q)));
    if (setters.size() > 1) seen.insert("marks of several queues");
    const MemoryId at = program_.tensors[static_cast<size_t>(m.tensor)].memory;
    seen.insert("wait for a tensor in " + std::string(name(at)));
  }

  const Program& program_;
  Dataflow dataflow_;
  std::optional<Dataflow> gemm_;
  std::map<int, std::set<Queue>> setters_;
};

TEST(RandomNetwork, IsAProgramOfTheMachine) {
  for (const Dataflow d :
       {Dataflow::weight_stationary, Dataflow::input_stationary, Dataflow::output_stationary}) {
    const auto drawn = networks(d, 3);
    EXPECT_EQ(drawn.size(), static_cast<size_t>(kNetworks));
    for (const ProgramWithImage& n : drawn) {
      const Status s = verify(n.program, network_machine());
      ASSERT_TRUE(s) << s.errors().front().text();
      EXPECT_EQ(n.program.dataflow, d);
      ASSERT_EQ(n.image.size(), n.program.tensors.size());
      for (size_t t = 0; t < n.image.size(); ++t)
        EXPECT_EQ(std::ssize(n.image[t]), n.program.tensors[t].bytes);
    }
  }
}

TEST(RandomNetwork, DoAllKindsAppear) {
  std::map<std::string, int> shown;
  for (const Dataflow d : {Dataflow::weight_stationary, Dataflow::input_stationary})
    for (const ProgramWithImage& n : networks(d, 4))
      for (const std::string& kind : Kinds(n.program).seen) ++shown[kind];
  for (const char* kind :
       {"input_stationary behind weight_stationary", "weight_stationary behind input_stationary",
        "load marks", "store marks", "stage marks", "load waits for store", "load waits for stage",
        "store waits for load", "stage waits for store", "stage waits for stage",
        "store waits for stage", "stage waits for load", "wait in a loop", "wait outside of loops",
        "wait for a tensor in dram", "wait for a tensor in shared", "marks of several queues"})
    EXPECT_GE(shown[kind], 10) << kind;
}

/// The counts that `accsim verify` reports see them, too.
TEST(RandomNetwork, HasTheCoverageAnEntryForEach) {
  Coverage all;
  for (const ProgramWithImage& n : networks(Dataflow::weight_stationary, 5))
    add_coverage(n.program, all);
  for (const char* queue : {"load", "store", "stage"})
    for (const char* what : {"mark", "wait for marks"})
      for (const char* memory : {"dram", "shared"})
        EXPECT_GE(all[std::string(queue) + " " + what + " in " + memory], 10)
            << queue << " " << what << " in " << memory;
  EXPECT_GE(all["layer of another dataflow"], 100);
  Coverage none;
  add_coverage(Program{}, none);
  for (const auto& [what, times] : all) EXPECT_TRUE(none.contains(what)) << what;
}

/// A network cut before a layer, the rest on the memory that the first part leaves, ends as the
/// whole one does; where its tensors have bytes in common, too.
TEST(RandomNetwork, CanBeCutAtEachLayer) {
  const HwConfig hw = network_machine();
  int cuts = 0, given = 0, placed = 0;
  for (const Dataflow d : {Dataflow::weight_stationary, Dataflow::output_stationary})
    for (ProgramWithImage& n : networks(d, 6)) {
      if (cuts > 400) break;
      if (place_tensors(n.program, hw)) ++placed;
      ASSERT_TRUE(verify(n.program, hw)) << program_text(n.program);
      MemoryImage whole = n.image;
      ASSERT_TRUE(run_golden(n.program, hw, whole));
      const std::vector<Item>& body = n.program.body;
      for (size_t i = 1; i < body.size(); ++i) {
        if (!std::holds_alternative<LayerHead>(body[i].node)) continue;
        const Program first = cut_program(n.program, 0, i);
        const Program rest = cut_program(n.program, i, body.size());
        for (const Program* p : {&first, &rest}) {
          const Status s = verify(*p, hw);
          ASSERT_TRUE(s.ok()) << s.errors().front().text() << "\n" << program_text(*p);
        }
        MemoryImage image = n.image;
        ASSERT_TRUE(run_golden(first, hw, image));
        ASSERT_TRUE(run_golden(rest, hw, image));
        EXPECT_EQ(image, whole);
        ++cuts;
        given += static_cast<int>(std::ranges::count_if(rest.tensors, &ProgramTensor::given));
      }
    }
  EXPECT_GT(cuts, 300);
  EXPECT_GT(given, 30);
  EXPECT_GT(placed, 30);
}

}  // namespace
}  // namespace accsim::hw
