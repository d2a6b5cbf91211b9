#include "sim/validate/validation.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

TEST(ValidationFiles, AreThereFortyPointsOfFiveSources) {
  const auto files = validation_files(kSource + "/validation");
  ASSERT_TRUE(files.ok());
  std::set<std::string> sources;
  size_t points = 0;
  for (const std::string& file : *files) {
    const auto v = load_validation(file);
    ASSERT_TRUE(v.ok()) << v.errors().front().text();
    EXPECT_FALSE(v->workloads.empty()) << file;
    EXPECT_FALSE(v->differences.empty()) << file;
    sources.insert(v->source);
    points += v->points.size();
  }
  EXPECT_GE(sources.size(), 5u);
  EXPECT_GE(points, 40u);
}

/// A file with the machine of VTA and `rest` behind it.
class ValidationText {
 public:
  explicit ValidationText(const std::string& rest) : path_(folder_.path("validation.yaml")) {
    std::ofstream(path_) << "machine: " << kSource << "/configs/known/vta-16x16.yaml\n" << rest;
  }
  Result<ValidationSource> load() const { return load_validation(path_); }
  /// The errors without the path.
  std::vector<std::string> errors() const {
    std::vector<std::string> out;
    const auto v = load();
    EXPECT_FALSE(v.ok());
    if (v.ok()) return out;
    for (const Error& e : v.errors()) {
      std::string text = e.text();
      if (text.starts_with(path_)) text.erase(0, path_.size());
      out.push_back(text);
    }
    return out;
  }

 private:
  test::TempFolder folder_;
  std::string path_;
};

const std::string kHead = "source: s\nevidence: simulation\nfitted: no\n";

TEST(ValidationFiles, DoPointsSayOfWhichTechnologyTheyAre) {
  const ValidationText text(kHead +
                            "technology: 16nm\n"
                            "points:\n"
                            "  - {name: a, product: 2x3x4, mw: 5}\n"
                            "  - {name: b, synthesis_mm2: 2, technology: 28nm}\n");
  const auto v = text.load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  EXPECT_EQ(v->points[0].quantity, Quantity::power);
  EXPECT_EQ(v->points[0].technology, hw::Technology::nm16);
  EXPECT_EQ(v->points[1].quantity, Quantity::synthesis_area);
  EXPECT_EQ(v->points[1].technology, hw::Technology::nm28);
  const ValidationText custom(kHead + "technology: custom\npoints: [{name: b, mm2: 2}]\n");
  EXPECT_EQ(custom.errors().front(),
            ":5:13: technology is \"custom\"; valid: 45nm, 28nm, 22nm, 16nm, 10nm, 7nm, 5nm");
}

TEST(ValidationFiles, WhatStandsInOne) {
  const ValidationText text(kHead +
                            "goal: 10\ngoal_r2: 0.9\ndifferences: [because]\n"
                            "networks: {n: {input: 4x5, layers: [{product: 6}]}}\n"
                            "points:\n"
                            "  - {name: a, product: 2x3x4, us: 1.5, goal: 5}\n"
                            "  - {name: b, network: n, tops: 2, frames: 4, note: so}\n");
  const auto v = text.load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  EXPECT_EQ(v->evidence, Evidence::simulation);
  EXPECT_FALSE(v->fitted);
  EXPECT_EQ(v->goal_r2, 0.9);
  ASSERT_EQ(v->points.size(), 2u);
  EXPECT_EQ(v->points[0].quantity, Quantity::time_us);
  EXPECT_EQ(v->points[0].measured, 1.5);
  EXPECT_EQ(v->points[0].goal, 0.05);
  EXPECT_EQ(v->points[1].quantity, Quantity::tops);
  EXPECT_EQ(v->points[1].goal, 0.1);
  EXPECT_EQ(v->points[1].frames, 4);
  EXPECT_EQ(v->points[1].workload, "n");
}

TEST(ValidationFiles, IsAllThatIsWrongReportedAtOnce) {
  const ValidationText text(
      "source: s\nevidence: hearsay\n"
      "points:\n"
      "  - {name: a, product: 2x3, us: 1}\n"
      "  - {name: b, us: 1, ms: 1, product: 1x1x1}\n"
      "  - {name: c, network: none, us: 1}\n"
      "  - {name: d, us: 1}\n");
  const auto errors = text.errors();
  ASSERT_EQ(errors.size(), 8u);
  EXPECT_EQ(errors[0],
            ":1:1: missing key \"fitted\"; a validation needs source, evidence, fitted and points "
            "or table");
  EXPECT_EQ(errors[1], ":3:11: evidence is \"hearsay\"; valid: silicon, simulation, estimate");
  EXPECT_EQ(errors[2], ":5:5: this workload can't be used:");
  EXPECT_EQ(errors[3], ":5:5: product is rows, reduction and columns, as 64x128x256");
  EXPECT_EQ(errors[4],
            ":6:5: a point needs name, a machine (here or above all points) and one "
            "measured figure above 0");
  EXPECT_EQ(errors[5], ":7:5: this workload can't be used:");
  EXPECT_EQ(errors[6], ":7:5: \"none\" is no network of this file's networks");
  EXPECT_EQ(errors[7], ":8:5: a point has one of model, network and product");
}

TEST(ValidationFiles, AreKeysAndNamesChecked) {
  const ValidationText twice(kHead +
                             "points:\n  - {name: a, product: 1x1x1, us: 1}\n"
                             "  - {name: a, product: 2x2x2, us: 1}\n");
  EXPECT_EQ(twice.errors(), std::vector<std::string>{":7:5: \"a\" is named twice"});
  const ValidationText unknown(kHead + "points:\n  - {name: a, product: 1x1x1, uss: 1}\n");
  EXPECT_NE(unknown.errors().front().find("uss"), std::string::npos);
}

TEST(ValidationFiles, WhichAreFoundInAFolder) {
  const auto files = validation_files(kSource + "/validation");
  ASSERT_TRUE(files.ok());
  EXPECT_TRUE(std::is_sorted(files->begin(), files->end()));
  EXPECT_FALSE(validation_files(kSource + "/nowhere").ok());
  EXPECT_FALSE(validation_files(kSource + "/scripts").ok());
  EXPECT_EQ(validation_files(files->front())->size(), 1u);
}

}  // namespace
}  // namespace accsim::sim
