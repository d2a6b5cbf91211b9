// What a header says can be connected: ports with directions handed on from one to the next, what
// an instance sets, and all that stands around them.
#include "hw/cosim/module_header.h"

#include <gtest/gtest.h>

namespace accsim::hw {
namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

ModuleHeader header(const std::string& text, const std::string& name = "m") {
  const Result<ModuleHeader> out = read_header(text, name, "m.sv");
  EXPECT_TRUE(out.ok()) << out.errors()[0].text();
  return out.ok() ? *out : ModuleHeader{};
}

std::string error(const std::string& text) {
  const Result<ModuleHeader> out = read_header(text, "m", "m.sv");
  return out.ok() ? "" : out.errors()[0].text();
}

TEST(ModuleHeader, HandsDirectionsOn) {
  const ModuleHeader h = header(
      "module m (input logic clk_i, rst_ni, input wire [7:0] a_i, output x_t [3:0] b_o [2], c_o);");
  EXPECT_EQ(h.ports, (Names{{"clk_i", "input"},
                            {"rst_ni", "input"},
                            {"a_i", "input"},
                            {"b_o", "output"},
                            {"c_o", "output"}}));
  EXPECT_TRUE(h.parameters.empty());
}

TEST(ModuleHeader, KnowsWhatAnInstanceSets) {
  const ModuleHeader h = header(
      "module m import p::*, q::x; #(parameter int unsigned A = 8, B = f(1, {2, 3}), "
      "parameter type T = logic [A-1:0], localparam int C = A, D = 2, parameter bit E) "
      "(input T t_i);");
  EXPECT_EQ(h.parameters, (std::vector<std::pair<std::string, bool>>{
                              {"A", false}, {"B", false}, {"T", false}, {"E", true}}));
  EXPECT_EQ(h.ports, (Names{{"t_i", "input"}}));
}

TEST(ModuleHeader, IsOfTheModuleAskedFor) {
  const std::string text =
      "// module m (input comment_i);\n/* module m (input other_i); */\n"
      "`define TEXT \"module m (input text_i);\"\n"
      "module other (output logic o); endmodule\n"
      "module automatic m #(parameter A = \"),(\") (\n"
      "  input logic [A-1:0] a_i,  // the first, of ports\n"
      "  output logic o);  endmodule";
  EXPECT_EQ(header(text).ports, (Names{{"a_i", "input"}, {"o", "output"}}));
  EXPECT_EQ(header(text, "other").ports, (Names{{"o", "output"}}));
  EXPECT_TRUE(header("module m; endmodule").ports.empty());
}

TEST(ModuleHeader, SaysWhatItCannotRead) {
  EXPECT_EQ(error("module n (input a); endmodule"), "m.sv: there is no module 'm' in it");
  EXPECT_EQ(error(""), "m.sv: there is no module 'm' in it");
  EXPECT_NE(error("module m (a, b); input a; output b; endmodule").find("each port's direction"),
            std::string::npos);
  EXPECT_NE(error("module m (input a,\n`ifdef X\ninput b\n`endif\n);").find("preprocessor"),
            std::string::npos);
}

TEST(ModuleHeader, NeverReadsBeyondAFileThatBreaksOff) {
  const std::string whole =
      "module m import p::*; #(parameter A = {1, 2}) (input [A:0] a_i [2], output \"b\" c_o);";
  for (size_t n = 0; n <= whole.size(); ++n) {
    const Result<ModuleHeader> out = read_header(whole.substr(0, n), "m", "m.sv");
    EXPECT_TRUE(out.ok() || !out.errors().empty());
  }
}

TEST(ModuleHeader, DiffersInNamesAndDirections) {
  const ModuleHeader own = header("module m #(parameter A = 1, B = 2) (input a, b, output c);");
  EXPECT_TRUE(header_differences(own, own).empty());
  EXPECT_TRUE(header_differences(own, header("module m #(parameter B = 1, A = 2, More = 3) "
                                             "(output [7:0] c, input b, a);"))
                  .empty());
  EXPECT_EQ(header_differences(own, header("module m #(parameter A = 1, C) (input a, c, d);")),
            (std::vector<std::string>{
                "it has no parameter 'B'", "the core sets no parameter 'C': give it a default",
                "it has no port 'b' (input)", "port 'c' is input; the core's is output",
                "the core has no port 'd' (input)"}));
}

}  // namespace
}  // namespace accsim::hw
