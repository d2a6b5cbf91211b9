// A dot product array. One row of activations is broadcast to all kernels per cycle; each kernel
// multiplies it with the weights that it holds, and sums the products in a tree of adders. Sums go
// to a row of the accumulator and leave through a queue. A full queue stops everything before it.
// README.md has the picture and the timing.
module dot_array #(
  parameter int Lanes    = 64,  // activations of a row, weights of a kernel; 8 to 64
  parameter int Kernels  = 64,  // sums of a row; 8 to 64
  parameter int Rows     = 64,  // of the accumulator
  parameter int Fault    = 0,   // planted: 0 none, 1 corner, 2 swap, 3 drop (README.md)
  parameter int RowWidth = $clog2(Rows)  // follows from Rows
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  // Weights: those of one kernel per beat, from kernel 0 on. Kernels after the last one hold zeros.
  input  logic                  weight_valid_i,
  output logic                  weight_ready_o,
  input  logic                  weight_last_i,
  input  logic [Lanes*8-1:0]    weight_data_i,
  // Activations: one row per beat, for the weights of the load that has ended before it.
  input  logic                  act_valid_i,
  output logic                  act_ready_o,
  input  logic                  act_accumulate_i,  // adds to the accumulator's row
  input  logic [RowWidth-1:0]   act_row_i,
  input  logic [Lanes*8-1:0]    act_data_i,
  // Results: what the accumulator's row now holds, in the order of the activations.
  output logic                  sum_valid_o,
  input  logic                  sum_ready_i,
  output logic [Kernels*32-1:0] sum_data_o
);
  localparam int FaultDrop = 3;
  localparam int FaultSwap = 2;
  localparam int Stages    = ($clog2(Lanes) + 1) / 2;  // of the tree

  logic [Kernels-1:0]    write;
  logic                  clear, loading;
  logic                  step, act_taken, act_waits;
  logic                  last_valid, last_accumulate, queue_ready;
  logic [RowWidth-1:0]   last_row;
  logic [Lanes*8-1:0]    act_q;
  logic [Kernels*32-1:0] products, sums, results;

  // All stages wait while the last one has a row that the queue can't take.
  assign step        = (Fault == FaultDrop) ? 1'b1 : !last_valid || queue_ready;
  assign act_ready_o = step && !loading;
  assign act_taken   = act_valid_i && act_ready_o;

  weight_loader #(.Kernels(Kernels)) u_loader (
    .clk_i,
    .rst_ni,
    .valid_i  (weight_valid_i),
    .ready_o  (weight_ready_o),
    .last_i   (weight_last_i),
    .hold_i   (act_waits),
    .write_o  (write),
    .clear_o  (clear),
    .loading_o(loading)
  );

  // Of a row's way: broadcast register, products, stages of the tree.
  tag_pipe #(.Stages(Stages + 2), .RowWidth(RowWidth)) u_tags (
    .clk_i,
    .rst_ni,
    .step_i      (step),
    .valid_i     (act_taken),
    .accumulate_i(act_accumulate_i),
    .row_i       (act_row_i),
    .first_o     (act_waits),
    .valid_o     (last_valid),
    .accumulate_o(last_accumulate),
    .row_o       (last_row)
  );

  always_ff @(posedge clk_i) begin
    if (act_taken) act_q <= act_data_i;
  end

  for (genvar k = 0; k < Kernels; k++) begin : g_kernel
    dot_kernel #(.Lanes(Lanes), .Stages(Stages), .Fault(Fault)) u_kernel (
      .clk_i,
      .step_i  (step),
      .write_i (write[k]),
      .clear_i (clear),
      .weight_i(weight_data_i),
      .act_i   (act_q),
      .sum_o   (products[32*k +: 32])
    );
  end

  sum_memory #(.Kernels(Kernels), .Rows(Rows), .RowWidth(RowWidth)) u_memory (
    .clk_i,
    .write_i     (last_valid && step),
    .accumulate_i(last_accumulate),
    .row_i       (last_row),
    .products_i  (products),
    .sums_o      (sums)
  );

  result_fifo #(.Width(Kernels * 32)) u_queue (
    .clk_i,
    .rst_ni,
    .valid_i(last_valid),
    .ready_o(queue_ready),
    .data_i (sums),
    .valid_o(sum_valid_o),
    .ready_i(sum_ready_i),
    .data_o (results)
  );

  if (Fault == FaultSwap) begin : g_swap
    planted_swap #(.Kernels(Kernels)) u_swap (
      .clk_i,
      .rst_ni,
      .beat_i   (weight_valid_i && weight_ready_o),
      .last_i   (weight_last_i),
      .results_i(results),
      .results_o(sum_data_o)
    );
  end else begin : g_no_swap
    assign sum_data_o = results;
  end
endmodule
