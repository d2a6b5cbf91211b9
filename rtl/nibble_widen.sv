// A row of weights as int8: as it is, or of 4-bit elements, two to a byte, the first in its low
// half.
module nibble_widen #(
  parameter int unsigned Lanes = 8
) (
  input  logic               narrow_i,
  input  logic [Lanes*8-1:0] data_i,
  output logic [Lanes*8-1:0] row_o
);
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [3:0] half;
    assign half = data_i[4*l +: 4];
    assign row_o[8*l +: 8] = narrow_i ? {{4{half[3]}}, half} : data_i[8*l +: 8];
  end
endmodule
