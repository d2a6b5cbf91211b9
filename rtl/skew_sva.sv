// Checks skew.sv: the first lane is now, the last as many cycles late as there are lanes before it.
`include "sva.svh"

module skew_sva #(
  parameter int unsigned Lanes = 8,
  parameter int unsigned Width = 8
) (
  input logic                        clk_i,
  input logic [Lanes-1:0][Width-1:0] data_i,
  input logic [Lanes-1:0][Width-1:0] data_o
);
  `BEGUN

  if (Width < 1 || Lanes < 1) begin : gen_illegal
    $error("skew: at least one bit and one lane");
  end

  `ASSERT_ALWAYS(FirstIsNow_A, data_o[0] == data_i[0]);
  if (Lanes > 1) begin : gen_later
    int unsigned age_q = 0;  // cycles there were: there is no reset
    always_ff @(posedge clk_i) if (age_q < Lanes - 1) age_q <= age_q + 1;
    `ASSERT_ALWAYS(LastIsLate_A,
                   age_q == Lanes - 1 |-> data_o[Lanes-1] == $past(data_i[Lanes-1], Lanes - 1));
  end
endmodule

bind skew skew_sva #(.Lanes(Lanes), .Width(Width)) u_sva (.*);
