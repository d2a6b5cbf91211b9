// A row of weights as int8: as it is, or of 4-bit elements, two to a byte, the first in its low
// half.
module nibble_widen
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8
) (
  input  logic                         narrow_i,
  input  logic [Lanes*OperandBits-1:0] data_i,
  output code_t [Lanes-1:0]            row_o
);
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [PackedBits-1:0] half;
    assign half = data_i[PackedBits*l +: PackedBits];
    assign row_o[l] = narrow_i ? {{(OperandBits-PackedBits){half[PackedBits-1]}}, half}
                               : data_i[OperandBits*l +: OperandBits];
  end
endmodule
