// What comes back from the two memories: turned where it is to be, into which buffer it goes, which
// loads have ended, which slots are full.
module load_tracker
  import accsim_pkg::*;
#(
  parameter int unsigned Side = 8, Port = 8,  // of a transposed block, of the ports
  parameter int unsigned ActSlots = 2, WgtSlots = 2, ParSlots = 2, OutSlots = 2
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  asked_i,  // the last beat of a load is taken by its memory
  input  buffer_e               asked_buffer_i,
  input  logic                  asked_shared_i,
  input  logic                  asked_signal_i,  // it is the last load of a slot
  input  logic [1:0]            asked_to_i,  // ... which queue reads the slot
  input  logic [1:0]            data_valid_i,  // by memory
  input  load_tag_t [1:0]       tag_i,
  input  byte_t [1:0][Port-1:0] data_i,
  output load_tag_t [1:0]       tag_o,
  output byte_t [1:0][Port-1:0] data_o,
  output logic [3:0][1:0]       write_o,  // by buffer and memory
  output logic [1:0]            retire_o,
  output logic [3:0][2:0]       full_o  // by buffer and by the queue that reads the slot
);
  logic [3:0]      asked;       // by buffer
  logic [1:0]      asked_from;  // by memory
  logic [3:0][1:0] asked_of;

  assign asked      = asked_i ? 4'd1 << asked_buffer_i : 4'd0;
  assign asked_from = asked_shared_i ? 2'b10 : 2'b01;

  for (genvar m = 0; m < 2; m++) begin : gen_memory
    logic       valid;
    logic [3:0] to;
    load_transposer #(.Side(Side), .Port(Port)) u_transposer (
      .clk_i, .rst_ni, .valid_i(data_valid_i[m]), .tag_i(tag_i[m]), .data_i(data_i[m]),
      .valid_o(valid), .tag_o(tag_o[m]), .data_o(data_o[m]));
    assign to          = valid ? 4'd1 << tag_o[m].buffer : 4'd0;
    assign retire_o[m] = valid && tag_o[m].last;
    for (genvar b = 0; b < 4; b++) begin : gen_buffer
      assign write_o[b][m]  = to[b];
      assign asked_of[b][m] = asked[b] && asked_from[m];
    end
  end

  load_fence #(.Slots(ActSlots)) u_act (
    .clk_i, .rst_ni, .asked_i(asked_of[0]), .signal_i(asked[0] && asked_signal_i),
    .to_i(asked_to_i), .arrived_i(write_o[0] & retire_o), .full_o(full_o[0]));
  load_fence #(.Slots(WgtSlots)) u_wgt (
    .clk_i, .rst_ni, .asked_i(asked_of[1]), .signal_i(asked[1] && asked_signal_i),
    .to_i(asked_to_i), .arrived_i(write_o[1] & retire_o), .full_o(full_o[1]));
  load_fence #(.Slots(ParSlots)) u_par (
    .clk_i, .rst_ni, .asked_i(asked_of[2]), .signal_i(asked[2] && asked_signal_i),
    .to_i(asked_to_i), .arrived_i(write_o[2] & retire_o), .full_o(full_o[2]));
  load_fence #(.Slots(OutSlots)) u_out (
    .clk_i, .rst_ni, .asked_i(asked_of[3]), .signal_i(asked[3] && asked_signal_i),
    .to_i(asked_to_i), .arrived_i(write_o[3] & retire_o), .full_o(full_o[3]));
endmodule
