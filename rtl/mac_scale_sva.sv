// Checks mac_scale.sv: the shift comes a cycle behind the one that rounds.
`include "sva.svh"

module mac_scale_sva (
  input logic       clk_i,
  input logic [5:0] half_shift_o, shift_o
);
  `BEGUN

  `ASSERT_ALWAYS(ShiftBehindItsHalf_A, 1'b1 |=> shift_o == $past(half_shift_o));
endmodule

bind mac_scale mac_scale_sva u_sva (.*);
