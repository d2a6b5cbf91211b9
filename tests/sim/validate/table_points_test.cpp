#include "sim/validate/table_points.h"

#include <gtest/gtest.h>

#include "sim/validate/predict.h"
#include "sim/validate/validation_text.h"
#include "tests/sim/validate/table_folder.h"

namespace accsim::sim {
namespace {

using test::TableFolder, test::Texts;

const std::string kProducts =
    "table: {file: t.csv, workload: product, "
    "columns: {name: id, family: kind, m: M, k: K, n: 2 * N, us: ns / 1000}}\n";

Dims output_dims(const ValidationPoint& p) { return p.graph.tensor(p.graph.outputs.front()).dims; }

TEST(TablePoints, IsEachRowAPoint) {
  const TableFolder files(kProducts,
                          "# head\nid,kind,M,K,N,ns\nx,a,3,4,5,1500\n\"y, z\",b,6,7,8,2e3\n");
  const auto v = files.load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  ASSERT_EQ(v->points.size(), 2u);
  EXPECT_EQ(v->tables, Texts{files.path("t.csv")});
  const ValidationPoint& p = v->points[1];
  EXPECT_EQ(p.name, "y, z");
  EXPECT_EQ(p.family, "b");
  EXPECT_EQ(p.quantity, Quantity::time_us);
  EXPECT_EQ(p.measured, 2);
  EXPECT_EQ(p.workload, "product");
  EXPECT_EQ(p.table_file, files.path("t.csv"));
  EXPECT_EQ(p.table_line, 4);
  EXPECT_EQ(output_dims(p), (Dims{6, 16}));
  EXPECT_EQ(output_dims(v->points[0]), (Dims{3, 10}));
}

TEST(TablePoints, WhichRowsAreTaken) {
  const TableFolder files(
      "table:\n"
      "  - {file: t.csv, workload: product, where: {kind: [a, b], N: 8}, family: taken,\n"
      "     columns: {cycles: c, m: 1, k: N, n: N}}\n"
      "  - {file: t.csv, workload: pointwise, function: [Add, Relu], where: {kind: p},\n"
      "     columns: {cycles: c, c: N, h: 2, w: 3, batch: 4}}\n",
      "kind,N,c\na,8,1\nb,8.0,2\nc,8,3\na,9,4\np,5,6\n");
  const auto v = files.load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  ASSERT_EQ(v->points.size(), 3u);
  EXPECT_EQ(v->points[0].name, "line 2");
  EXPECT_EQ(v->points[1].name, "line 3");
  EXPECT_EQ(v->points[1].family, "taken");
  EXPECT_EQ(v->points[1].frames, 1);
  EXPECT_EQ(v->points[2].frames, 4);
  EXPECT_EQ(output_dims(v->points[2]), (Dims{4, 5, 2, 3}));
}

TEST(TablePoints, IsAnotherTableReadInPlace) {
  const TableFolder files(kProducts + "points: [{name: p, product: 1x1x1, us: 1}]\n",
                          "id,kind,M,K,N,ns\nx,a,3,4,5,1500\n");
  files.write("other.csv", "# other\nkind,ns,id,M,K,N\nc,7000,o,2,2,2\n");
  const auto own = files.load(), other = files.load(files.path("other.csv"));
  ASSERT_TRUE(own.ok() && other.ok());
  EXPECT_EQ(own->points.size(), 2u);
  ASSERT_EQ(other->points.size(), 1u);
  EXPECT_EQ(other->points[0].name, "o");
  EXPECT_EQ(other->points[0].measured, 7);
  EXPECT_EQ(other->tables, Texts{files.path("other.csv")});
  const TableFolder none("points: [{name: p, product: 1x1x1, us: 1}]\n", "");
  EXPECT_EQ(none.errors("other.csv"),
            Texts{"v.yaml:1:1: there is no table that another one could stand for"});
}

TEST(TablePoints, AreNamesMadeDifferent) {
  const TableFolder files(kProducts, "id,kind,M,K,N,ns\nx,a,3,4,5,1\nx,a,3,4,5,2\n");
  const auto v = files.load();
  ASSERT_TRUE(v.ok());
  EXPECT_EQ(v->points[0].name, "x");
  EXPECT_EQ(v->points[1].name, "x (line 3)");
}

TEST(TablePoints, AreNamesMadeOfColumns) {
  const std::string rest = ", m: M, k: K, n: N, us: ns}}\n";
  const auto section = [&](const std::string& texts) {
    return "table: {file: t.csv, workload: product, family: rest,\n  columns: {" + texts + rest;
  };
  const std::string csv = "id,kind,M,K,N,ns\nx,a,3,4,5,1\ny,,3,4,6,1\n";
  const auto v =
      TableFolder(section("name: \"{id}, {M} x {N}\", family: \"of {kind}\""), csv).load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  EXPECT_EQ(v->points[0].name, "x, 3 x 5");
  EXPECT_EQ(v->points[0].family, "of a");
  EXPECT_EQ(v->points[1].name, "y, 3 x 6");
  EXPECT_EQ(v->points[1].family, "rest");
  EXPECT_EQ(TableFolder(section("name: \"{idd} {M}\""), csv).errors(),
            Texts{"t.csv:1:1: no column \"idd\", which is asked for by name in v.yaml:6:19; did "
                  "you mean \"id\"?"});
  EXPECT_EQ(TableFolder(section("name: \"{id\""), csv).errors(),
            Texts{"v.yaml:6:19: a brace lacks its other one; a column is named as {column}"});
}

TEST(TablePoints, AreColumnsThatLackNamed) {
  const TableFolder files(
      "table: {file: t.csv, workload: product, where: {sort: a},\n"
      "  columns: {name: idd, m: M, k: K * Q, n: N +, us: ns}}\n",
      "# head\nid,kind,M,K,N,ns\nx,a,3,4,5,1\n");
  const Texts errors = files.errors();
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_EQ(errors[0],
            "t.csv:2:1: no column \"idd\", which is asked for by name in v.yaml:6:19; did you mean "
            "\"id\"?");
  EXPECT_TRUE(errors[1].starts_with("t.csv:2:1: \"K * Q\": column 5: ")) << errors[1];
  EXPECT_TRUE(errors[1].ends_with("which is asked for by k in v.yaml:6:33")) << errors[1];
  EXPECT_TRUE(errors[2].starts_with("t.csv:2:1: \"N +\": column ")) << errors[2];
  EXPECT_EQ(errors[3], "t.csv:2:1: no column \"sort\", which is asked for by where in v.yaml:5:49");
}

TEST(TablePoints, AreCellsThatArentNumbersNamedAllAtOnce) {
  const TableFolder files(kProducts,
                          "id,kind,M,K,N,ns\n"
                          "a,k,three,4,5,1\n"
                          "b,k,3.5,,5,1\n"
                          "c,k,0,4,x,0\n"
                          "d,k,1,1,1e30,-2\n");
  EXPECT_EQ(files.errors(), (Texts{
                                "t.csv:2:5: m is \"three\"; it must be a number",
                                "t.csv:3:5: m is 3.5; it must be a whole number of 1..2147483648",
                                "t.csv:3:9: k is empty; it must be a number",
                                "t.csv:4:5: m is 0; it must be a whole number of 1..2147483648",
                                "t.csv:4:9: N is \"x\"; it must be a number",
                                "t.csv:4:11: us is 0; a measured figure is above 0",
                                "t.csv:5:9: n is 2e+30; it must be a whole number of 1..2147483648",
                                "t.csv:5:14: us is -0.002; a measured figure is above 0",
                            }));
}

TEST(TablePoints, AreShapesThatCantBeNamedWithTheirRow) {
  const TableFolder files(
      "table: {file: t.csv, workload: conv,\n"
      "  columns: {name: id, c: C, h: H, w: H, k: 8, kernel: R, cycles: t}}\n",
      "id,C,H,R,t\ngood,3,8,3,1\nbad,3,2,3,1\nworse,3,1,7,1\n");
  EXPECT_EQ(files.errors(),
            (Texts{"t.csv:3:1: bad: there is no such conv: a kernel over 3 x 3 (width x height) is "
                   "larger than the padded image, 2 x 2",
                   "t.csv:4:1: worse: there is no such conv: a kernel over 7 x 7 (width x height) "
                   "is larger than the padded image, 1 x 1"}));
}

TEST(TablePoints, AreTablesWithoutRowsRefused) {
  const std::string section =
      "table: {file: t.csv, workload: product, where: {kind: b},\n"
      "  columns: {m: 1, k: 1, n: 1, us: ns}}\n";
  EXPECT_EQ(TableFolder(section, "kind,ns\n").errors(),
            Texts{"t.csv:1:1: no rows below the names of columns"});
  EXPECT_EQ(TableFolder(section, "kind,ns\na,1\n").errors(),
            Texts{"v.yaml:5:8: where takes no row of t.csv"});
  const TableFolder files(section, "kind,ns\nb,1\n");
  files.write("other.csv", "kind,ns\na,1\n");
  EXPECT_EQ(files.errors(files.path("other.csv")),
            Texts{"other.csv: no row that a where of the source takes"});
  EXPECT_EQ(TableFolder(section, "kind,ns\n\"b,1\n").errors(),
            (Texts{"t.csv:2:1: the quote that begins here isn't closed on its line",
                   "t.csv:2:1: the row has 1 cells, and the table 2 columns"}));
  EXPECT_EQ(files.errors("nowhere.csv"),
            Texts{"nowhere.csv: no such file; give the path of a table (CSV)"});
}

TEST(TablePoints, IsWhatASectionNeedsSaid) {
  const TableFolder files(
      "table:\n"
      "  - {file: t.csv, workload: conv, columns: {h: 1, w: 1, k: 2}}\n"
      "  - {file: t.csv, workload: convolution, columns: {us: ns}}\n"
      "  - {file: t.csv, workload: pointwise, columns: {c: 1, h: 1, w: 1, us: ns, mm2: ns}}\n"
      "  - {file: t.csv, columns: {us: ns}}\n"
      "  - {file: t.csv, workload: pointwise, function: Rely, columns: {c: 1, h: 1, w: 1, us: n}}"
      "\n",
      "ns\n1\n");
  const Texts errors = files.errors();
  ASSERT_EQ(errors.size(), 7u);
  EXPECT_EQ(errors[0], "v.yaml:6:35: columns of conv need c (channels)");
  EXPECT_EQ(errors[1], "v.yaml:6:35: columns need one measured figure, such as cycles or us");
  EXPECT_TRUE(errors[2].starts_with("v.yaml:7:29: workload is \"convolution\"; valid: product, "));
  EXPECT_TRUE(errors[3].starts_with("v.yaml:8:76: columns has no key \"mm2\"")) << errors[3];
  EXPECT_EQ(errors[4], "v.yaml:8:5: function is of pointwise layers, and they need it");
  EXPECT_EQ(errors[5], "v.yaml:9:5: a table needs file, workload and columns");
  EXPECT_TRUE(errors[6].starts_with("v.yaml:10:")) << errors[6];
}

/// How an engine divides its banks, as a text or as two numbers, and what its parts read.
TEST(TablePoints, IsTheDivisionOfBanksARowSays) {
  const auto section = [](const std::string& columns) {
    return "table: {file: t.csv, workload: product, columns: {m: 8, k: 8, n: 8, cycles: c, " +
           columns + "}}\n";
  };
  const std::string rows = "b,f,w,kept,c\n31+1,5,6,1,9\n2+30,7,8,0,9\n";
  const auto text = TableFolder(section("banks: b, weights_kept: kept"), rows).load();
  ASSERT_TRUE(text.ok()) << text.errors().front().text();
  EXPECT_EQ(text->points[0].banks, (std::vector<int64_t>{31, 1}));
  EXPECT_EQ(text->points[1].banks, (std::vector<int64_t>{2, 30}));
  EXPECT_FALSE(text->points[0].rereads);
  EXPECT_TRUE(text->points[1].rereads);
  const auto numbers = TableFolder(section("feature_banks: f, weight_banks: w"), rows).load();
  ASSERT_TRUE(numbers.ok());
  EXPECT_EQ(numbers->points[1].banks, (std::vector<int64_t>{7, 8}));
  const auto errors = [&](const std::string& columns, const std::string& table) {
    return TableFolder(section(columns), table).errors();
  };
  EXPECT_EQ(errors("banks: b, weights_kept: kept", "b,kept,c\n31,2,9\n1+0,1,9\n"),
            (Texts{"t.csv:2:1: banks is \"31\"; it must be FEATURES+WEIGHTS, such as 31+1",
                   "t.csv:2:4: weights_kept is 2; it must be a whole number of 0..1",
                   "t.csv:3:1: banks is \"1+0\"; it must be FEATURES+WEIGHTS, such as 31+1"}));
  EXPECT_EQ(errors("weights_kept: kept", rows),
            Texts{"v.yaml:5:41: columns with weights_kept need banks, too"});
  EXPECT_EQ(errors("banks: b, feature_banks: f, weight_banks: w", rows),
            Texts{"v.yaml:5:41: columns need banks, or feature_banks and weight_banks, not all of "
                  "them"});
}

/// Where operands lie: by a column, whose words the table may have itself, or alike in all rows.
TEST(TablePoints, AreOperandsWhereARowSays) {
  const auto section = [](const std::string& columns) {
    return "table: {file: t.csv, workload: conv, columns: {c: 8, h: 8, w: 8, k: 4, cycles: t, " +
           columns + "}, places: {L1: shared, DRAM: dram}}\n";
  };
  const std::string rows = "in0,in1,out,t\nDRAM,L1,dram,9\nL1,dram,shared,9\n";
  const auto v = TableFolder(section("a_place: in0, b_place: in1, out_place: out"), rows).load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  EXPECT_EQ(v->points[0].graph.on_chip, Texts{"weight"});
  EXPECT_EQ(v->points[1].graph.on_chip, (Texts{"x", "conv:0"}));
  const auto alike = TableFolder(section("b_place: shared, out_place: dram"), rows).load();
  ASSERT_TRUE(alike.ok());
  EXPECT_EQ(alike->points[1].graph.on_chip, Texts{"weight"});
  EXPECT_EQ(TableFolder(section("a_place: in0"), "in0,t\nL2,9\n").errors(),
            Texts{"t.csv:2:1: a_place is \"L2\"; it must be dram, shared, or a word of places"});
  EXPECT_EQ(TableFolder(section("a_place: sharde"), rows).errors().size(), 1u);
  const std::string bad =
      "table: {file: t.csv, workload: product, places: {L1: lower},\n"
      "  columns: {m: 1, k: 1, n: 1, us: t}}\n";
  EXPECT_EQ(TableFolder(bad, rows).errors(),
            Texts{"v.yaml:5:54: L1 is \"lower\"; valid: dram, shared"});
}

TEST(TablePoints, IsNoRowTakenByMistake) {
  const std::string columns = "workload: product, columns: {m: M, k: 1, n: 1, us: ns}}\n";
  const auto errors = [](const std::string& section) {
    return TableFolder(section, "M,ns\n1,1\n").errors();
  };
  EXPECT_EQ(errors("table: []\n"),
            Texts{"v.yaml:5:1: table must be a section or a list of at least one"});
  for (const char* where : {"foo", "[M]", "{}", "{M: {a: b}}"}) {
    const Texts found =
        errors("table: {file: t.csv, where: " + std::string(where) + ", " + columns);
    ASSERT_EQ(found.size(), 1u) << where;
    EXPECT_NE(found[0].find("what a row has there"), std::string::npos) << found[0];
  }
  EXPECT_EQ(errors("table: {file: t.csv, family: [a], " + columns),
            Texts{"v.yaml:5:30: family must be a text"});
}

/// Rows are summed up by family and by the decade of their MACs, and not among published figures.
TEST(TablePoints, AreRowsSummedUpApart) {
  const TableFolder files(kProducts + "points: [{name: p, product: 8x8x8, us: 1, family: a}]\n",
                          "id,kind,M,K,N,ns\nx,a,10,10,5,1000\ny,b,100,10,5,1000\n"
                          "z,b,99,10,5,1000\n");
  auto source = files.load();
  ASSERT_TRUE(source.ok());
  const auto v = validate_sources({*source}, {}, false, 2);
  ASSERT_TRUE(v.ok());
  const ValidatedSource& s = v->sources.front();
  EXPECT_EQ(v->unfitted.points, 1);
  EXPECT_EQ(v->unfitted.worst_point, "p");
  EXPECT_EQ(s.summary.points, 4);
  EXPECT_EQ(s.figures.points, 1);
  EXPECT_EQ(s.figures.mean, v->unfitted.mean);
  EXPECT_EQ(s.rows.points, 3);
  const auto lines = summary_lines(s, false);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].starts_with("1 point, ")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("3 rows, ")) << lines[1];
  ASSERT_EQ(s.families.size(), 2u);
  EXPECT_EQ(s.families[0].name, "a");
  EXPECT_EQ(s.families[0].summary.points, 2);
  EXPECT_EQ(s.families[1].summary.points, 2);
  ASSERT_EQ(s.sizes.size(), 2u);  // 10 x 10 x 10 and 100 x 10 x 10; 99 x 10 x 10
  EXPECT_EQ(s.sizes[0].name, "1e3..1e4 MACs");
  EXPECT_EQ(s.sizes[0].summary.points, 2);
  EXPECT_EQ(s.sizes[1].name, "1e4..1e5 MACs");
  double sum = 0;
  for (size_t i = 0; i < s.predictions.size(); ++i)
    sum += s.predictions[i].relative_error(s.source.points[i].measured);
  EXPECT_NEAR(s.summary.mean, sum / 4, 1e-12);
}

TEST(TablePoints, WhatASourceSetsInItsMachine) {
  const std::string point = "points: [{name: p, product: 8x8x8, us: 1}]\n";
  const TableFolder files("set: [{field: dram.latency, value: 77, source: the bench}]\n" + point,
                          "");
  const auto v = files.load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  const KnownMachine& machine = v->machines.begin()->second;
  EXPECT_EQ(machine.hw.dram.latency, 77);
  for (const FieldOrigin& origin : machine.origins)
    EXPECT_FALSE(origin.field->path == "dram.latency" && origin.is_assumed());
  ASSERT_EQ(v->set.size(), 1u);
  EXPECT_EQ(v->set[0].field, "dram.latency");
  EXPECT_EQ(v->set[0].value, "77");
  EXPECT_EQ(v->set[0].source, "the bench");
  const TableFolder bad(
      "set: [{field: dram.lag, value: 7, source: b}, {field: dram.latency, value: x}]\n" + point,
      "");
  EXPECT_EQ(bad.errors(), (Texts{"v.yaml:5:7: \"dram.lag\" is no field of a machine",
                                 "v.yaml:5:47: a setting needs field, value and source"}));
}

}  // namespace
}  // namespace accsim::sim
