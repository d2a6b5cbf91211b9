// Turns pixels into reduction steps: row m of the array wants element k of pixel m in cycle m + k.
// Pixel m comes in cycle m with all its elements; lane k is delayed by k, so what row m wants is on
// lane k just then, and a selector per row that counts k behind the wavefront is all it takes.
module transpose
  import accsim_pkg::*;
#(
  parameter int unsigned Rows = 8,
  localparam int unsigned IndexBits = $clog2(Rows + 1)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  code_t [Rows-1:0]     pixel_i,
  input  logic                 valid_i,  // of row 0: an element is wanted
  input  logic [IndexBits-1:0] index_i,
  output code_t [Rows-1:0]     row_o
);
  code_t [Rows-1:0]             lane;
  logic [Rows-1:0][IndexBits:0] select;

  skew #(.Lanes(Rows)) u_skew (.clk_i, .data_i(pixel_i), .data_o(lane));

  tap_line #(.Width(IndexBits + 1), .Taps(Rows)) u_select (
    .clk_i, .rst_ni, .data_i({valid_i, index_i}), .tap_o(select)
  );

  for (genvar r = 0; r < Rows; r++) begin : gen_row
    assign row_o[r] = select[r][IndexBits] ? lane[select[r][IndexBits-1:0]] : '0;
  end
endmodule
