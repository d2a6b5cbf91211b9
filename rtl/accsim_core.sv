// The core: six command queues that meet at tokens, the buffers between them, the array. Outside
// are commands with final addresses, memory behind a read and a write port, a retire port.
module accsim_core
  import accsim_pkg::*;
#(
  parameter int unsigned Rows = 8, Cols = 8,
  parameter int unsigned FillRows = 1,  // of weights that go into the array in a cycle
  parameter bit          OutputStationary = 1'b0,
  parameter bit          OneProcess = 1'b0,  // PEs as one process, for simulators; see array_ws.sv
  parameter int unsigned ActSlots = 2, ActSlotBytes = 4096, ActPort = 16,
  parameter int unsigned WgtSlots = 2, WgtSlotBytes = 4096, WgtPort = 16,
  parameter int unsigned ParSlots = 2, ParSlotBytes = 1024, ParPort = 16,
  parameter int unsigned AccSlots = 2, AccRows = 128,  // rows of one slot
  parameter int unsigned OutSlots = 2, OutSlotBytes = 2048, OutPort = 16,
  parameter int unsigned VecLanes = 8, ExpLanes = VecLanes, MacLanes = 0, RowLanes = RowStep / 2,
  localparam int unsigned LoadPort = max_of(max_of(ActPort, WgtPort), max_of(ParPort, OutPort))
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        enable_i,  // commands may start, from the next cycle on

  input  logic                        load_valid_i, gemm_valid_i, post_valid_i, vector_valid_i,
  output logic                        load_ready_o, gemm_ready_o, post_ready_o, vector_ready_o,
  input  logic                        store_valid_i, stage_valid_i,
  output logic                        store_ready_o, stage_ready_o,
  input  word_t [DmaWords-1:0]        load_i, store_i,
  input  word_t [GemmWords-1:0]       gemm_i,
  input  word_t [PostWords-1:0]       post_i,
  input  word_t [VectorWords-1:0]     vector_i,
  input  word_t [StageWords-1:0]      stage_i,

  // Reads: a request with a tag; its data comes with the tag on the response port of its memory.
  output logic                        read_valid_o,
  input  logic                        read_ready_i,
  output logic [AddrWidth-1:0]        read_addr_o,
  output bytes_t                      read_bytes_o,
  output logic                        read_shared_o,
  output logic                        read_last_o,
  output logic [TagWidth-1:0]         read_tag_o,
  input  logic [1:0]                  data_valid_i,
  input  logic [1:0][TagWidth-1:0]    data_tag_i,
  input  byte_t [LoadPort-1:0]        data0_i, data1_i,

  output logic                        write_valid_o,
  input  logic                        write_ready_i,
  output logic [AddrWidth-1:0]        write_addr_o,
  output bytes_t                      write_bytes_o,
  output logic                        write_shared_o,
  output logic                        write_last_o,
  output byte_t [OutPort-1:0]         write_data_o,
  output region_tag_t                 write_tag_o,
  input  logic [1:0]                  write_done_i,  // by memory: a command's last beat is there
  input  region_tag_t [1:0]           write_done_tag_i,

  // Copies from memory to memory, which the memory side does.
  output logic                        copy_valid_o,
  input  logic                        copy_ready_i,
  output logic [AddrWidth-1:0]        copy_source_o, copy_target_o,
  output bytes_t                      copy_bytes_o,
  output logic                        copy_shared_o,  // from the shared buffer to DRAM
  output logic                        copy_last_o,
  output region_tag_t                 copy_tag_o,
  input  logic                        copy_done_i,  // a command's last beat is there
  input  region_tag_t                 copy_done_tag_i,

  output logic  [Cols-1:0]            acc_write_o,  // for checkers: what the accumulators take
  output word_t [Cols-1:0]            acc_write_row_o, acc_write_sum_o,

  // A command has finished: loads by memory, gemm, drain, post, vector, store (memory took it).
  output logic [1:0]                  retire_load_o,
  output logic                        retire_gemm_o, retire_drain_o, retire_post_o,
  output logic                        retire_vector_o, retire_store_o, retire_stage_o
);
  localparam int unsigned PostLanes = min_of(Cols, OutPort);
  localparam int unsigned WgtLanes  = max_of(Rows, Cols);
  localparam int unsigned ActRead   = max_of(Rows, VecLanes);
  localparam int unsigned VecPar    = max_of(VecLanes * RowChannelBytes, RowTableBeat);
  localparam int unsigned ParRead   = max_of(max_of(PostLanes, MacLanes) * ParameterBytes, VecPar);
  localparam int unsigned OutWrite  = max_of(max_of(PostLanes, VecLanes), OutPort);

  logic enable_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) enable_q <= 1'b0;
    else         enable_q <= enable_i;
  end

  // ---- tokens --------------------------------------------------------------------------------
  logic [3:0]      load_take;
  logic [1:0]      load_from;
  logic [3:0][2:0] load_full, load_free;
  logic load_par_full, load_par_take, load_par_give, acc_free, acc_claim, acc_done, acc_full;
  logic act_full, act_take, act_give, wgt_full, wgt_take, wgt_give, par_full, par_take, par_give;
  logic acc_take, acc_give, post_free, post_primed, post_claim, post_add, post_done;
  logic vec_act_full, vec_act_take, vec_act_give, vec_par_full, vec_par_take, vec_par_give;
  logic vec_free, vec_claim, vec_done;
  logic [2:0] store_full, store_take, store_give;

  core_tokens #(.ActSlots(ActSlots), .WgtSlots(WgtSlots), .ParSlots(ParSlots), .AccSlots(AccSlots),
                .OutSlots(OutSlots)) u_tokens (
    .clk_i, .rst_ni, .load_take_i(load_take), .load_from_i(load_from), .load_full_i(load_full),
    .load_free_o(load_free), .load_par_take_i(load_par_take), .load_par_give_i(load_par_give),
    .load_par_full_o(load_par_full), .act_take_i(act_take), .act_give_i(act_give),
    .wgt_take_i(wgt_take), .wgt_give_i(wgt_give), .acc_claim_i(acc_claim), .acc_done_i(acc_done),
    .act_full_o(act_full), .wgt_full_o(wgt_full), .acc_free_o(acc_free), .acc_take_i(acc_take),
    .acc_give_i(acc_give), .par_take_i(par_take), .par_give_i(par_give), .post_claim_i(post_claim),
    .post_add_i(post_add), .post_done_i(post_done), .acc_full_o(acc_full), .par_full_o(par_full),
    .post_free_o(post_free), .post_primed_o(post_primed), .vec_act_take_i(vec_act_take),
    .vec_act_give_i(vec_act_give), .vec_par_take_i(vec_par_take), .vec_par_give_i(vec_par_give),
    .vec_claim_i(vec_claim), .vec_done_i(vec_done), .vec_act_full_o(vec_act_full),
    .vec_par_full_o(vec_par_full), .vec_free_o(vec_free), .store_take_i(store_take),
    .store_give_i(store_give), .store_full_o(store_full)
  );

  logic [Regions-1:0] region_free, region_full, load_region_take, load_region_give;
  logic [Regions-1:0] store_region_take, stage_full_take, stage_free_take, stage_give;
  logic               load_turn, load_turn_take, load_turn_give, load_mark;
  marks_t             marks;
  logic               store_turn, store_turn_take, store_turn_give;
  logic [1:0]         stage_turn, stage_turn_take, stage_turn_give;
  region_tokens u_region_tokens (
    .clk_i, .rst_ni, .store_take_i(store_region_take), .stage_free_take_i(stage_free_take),
    .load_take_i(load_region_take), .stage_full_take_i(stage_full_take),
    .load_give_i(load_region_give), .stage_give_i(stage_give), .done_i({copy_done_i, write_done_i}),
    .done_tag_i({copy_done_tag_i, write_done_tag_i}), .free_o(region_free), .full_o(region_full),
    .load_mark_i(load_mark), .marks_o(marks), .load_turn_take_i(load_turn_take),
    .load_turn_give_i(load_turn_give), .store_turn_take_i(store_turn_take),
    .store_turn_give_i(store_turn_give), .stage_turn_take_i(stage_turn_take),
    .stage_turn_give_i(stage_turn_give), .load_turn_o(load_turn), .store_turn_o(store_turn),
    .stage_turn_o(stage_turn)
  );

  // ---- load ----------------------------------------------------------------------------------
  logic                       read_signal, index_read;
  logic [1:0]                 read_to;
  word_t                      index_addr, index_data;
  load_tag_t                  read_tag;
  load_tag_t [1:0]            tag;  // by memory
  byte_t [1:0][LoadPort-1:0]  data;
  word_t [1:0]                to;  // address in the buffer
  bytes_t [1:0]               size;  // bytes
  logic [3:0][1:0]            data_for;  // by buffer and memory
  assign read_tag_o = read_tag;
  assign to         = {tag[1].address, tag[0].address};
  assign size       = {tag[1].bytes, tag[0].bytes};
  load_unit #(
    .Cols(Cols), .ActSlots(ActSlots), .ActStride(ActSlotBytes), .ActPort(ActPort),
    .WgtSlots(WgtSlots), .WgtStride(WgtSlotBytes), .WgtPort(WgtPort),
    .ParSlots(ParSlots), .ParStride(ParSlotBytes), .ParPort(ParPort),
    .OutStride(OutSlotBytes), .OutPort(OutPort)
  ) u_load (
    .clk_i, .rst_ni, .enable_i(enable_q), .cmd_valid_i(load_valid_i), .cmd_ready_o(load_ready_o),
    .cmd_i(load_i), .free_i(load_free), .take_o(load_take), .from_o(load_from),
    .par_full_i(load_par_full), .par_take_o(load_par_take), .par_give_o(load_par_give),
    .index_read_o(index_read), .index_addr_o(index_addr), .index_data_i(index_data),
    .region_full_i(region_full), .region_take_o(load_region_take),
    .region_give_o(load_region_give), .marks_i(marks), .mark_o(load_mark),
    .turn_i(load_turn), .turn_take_o(load_turn_take), .turn_give_o(load_turn_give),
    .req_valid_o(read_valid_o), .req_ready_i(read_ready_i), .req_addr_o(read_addr_o),
    .req_bytes_o(read_bytes_o), .req_shared_o(read_shared_o), .req_last_o(read_last_o),
    .req_signal_o(read_signal), .req_to_o(read_to), .req_tag_o(read_tag)
  );
  load_tracker #(.Side(min_of(Cols, max_of(max_of(ActPort, WgtPort), OutPort))),
                 .Port(LoadPort), .ActSlots(ActSlots), .WgtSlots(WgtSlots), .ParSlots(ParSlots),
                 .OutSlots(OutSlots)) u_tracker (
    .clk_i, .rst_ni, .asked_i(read_valid_o && read_ready_i && read_last_o),
    .asked_buffer_i(read_tag.buffer), .asked_shared_i(read_shared_o), .asked_signal_i(read_signal),
    .asked_to_i(read_to), .data_valid_i, .tag_i(data_tag_i), .data_i({data1_i, data0_i}),
    .tag_o(tag), .data_o(data), .write_o(data_for), .retire_o(retire_load_o), .full_o(load_full)
  );

  // ---- buffers: both memories may send to one of them in a cycle --------------------------------
  localparam int unsigned ActPorts = WindowLines + 2;  // of the vector unit: the last two
  logic [WindowLines-1:0]               act_read;
  word_t [WindowLines-1:0]              act_addr;
  byte_t [ActPorts-1:0][ActRead-1:0]    act_data;
  code_t [WindowLines-1:0][Rows-1:0]    act_rows;
  logic [1:0]                           vec_read, vec_par_read;
  word_t [1:0]                          vec_addr, vec_par_addr;
  byte_t [1:0][VecLanes-1:0]            vec_data;
  logic [FillRows-1:0]                  wgt_read;
  logic                                 par_read, out_read, out_write;
  logic                                 out_scatter, old_read, old_scatter, vec_write, post_read;
  word_t [FillRows-1:0]                 wgt_addr;
  word_t                                par_addr, out_read_addr, out_addr;
  word_t                                out_pitch, old_addr, old_pitch, vec_out_addr, post_row;
  byte_t [FillRows-1:0][WgtLanes-1:0]   wgt_data;
  byte_t [3:0][ParRead-1:0]             par_data;  // post, vector, its scales, load
  bytes_t                               out_bytes, vec_bytes;
  byte_t [PostLanes-1:0]                out_data, old_data;
  byte_t [VecLanes-1:0]                 vec_out;
  byte_t [2:0]                          unused_old;  // of memories that no residual lies in

  assign index_data = par_data[3][IndexBytes-1:0];
  for (genvar i = 0; i < WindowLines; i++) begin : gen_act_row
    assign act_rows[i] = act_data[i][Rows-1:0];
  end
  for (genvar i = 0; i < 2; i++) begin : gen_vec_operand
    assign vec_data[i] = act_data[WindowLines+i][VecLanes-1:0];
  end

  slot_mem #(.Bytes(ActSlots * ActSlotBytes), .WriteBytes(ActPort), .Writes(2),
             .ReadBytes(ActRead), .ReadPorts(ActPorts)) u_act_mem (
    .clk_i, .write_i(data_for[0]), .scatter_i(1'b0), .write_pitch_i('0), .write_addr_i(to),
    .write_bytes_i(size), .write_data_i({data[1][ActPort-1:0], data[0][ActPort-1:0]}),
    .read_i({vec_read, act_read}), .read_addr_i({vec_addr, act_addr}), .read_data_o(act_data),
    .old_read_i(1'b0), .old_addr_i('0), .old_pitch_i('0), .old_data_o(unused_old[0]));
  slot_mem #(.Bytes(WgtSlots * WgtSlotBytes), .WriteBytes(WgtPort), .Writes(2),
             .ReadBytes(WgtLanes), .ReadPorts(FillRows)) u_wgt_mem (
    .clk_i, .write_i(data_for[1]), .scatter_i(1'b0), .write_pitch_i('0), .write_addr_i(to),
    .write_bytes_i(size), .write_data_i({data[1][WgtPort-1:0], data[0][WgtPort-1:0]}),
    .read_i(wgt_read), .read_addr_i(wgt_addr), .read_data_o(wgt_data),
    .old_read_i(1'b0), .old_addr_i('0), .old_pitch_i('0), .old_data_o(unused_old[1]));
  slot_mem #(.Bytes(ParSlots * ParSlotBytes), .WriteBytes(ParPort), .Writes(2),
             .ReadBytes(ParRead), .ReadPorts(4), .Hold(4'b1000)) u_par_mem (
    .clk_i, .write_i(data_for[2]), .scatter_i(1'b0), .write_pitch_i('0), .write_addr_i(to),
    .write_bytes_i(size), .write_data_i({data[1][ParPort-1:0], data[0][ParPort-1:0]}),
    .read_i({index_read, vec_par_read, par_read}),
    .read_addr_i({index_addr, vec_par_addr, par_addr}), .read_data_o(par_data),
    .old_read_i(1'b0), .old_addr_i('0), .old_pitch_i('0), .old_data_o(unused_old[2]));
  slot_mem #(.Bytes(OutSlots * OutSlotBytes), .WriteBytes(OutWrite), .Writes(4),
             .ReadBytes(OutPort), .Hold(1'b1), .Scatter(!OutputStationary),
             .OldBytes(PostLanes)) u_out_mem (
    .clk_i, .write_i({data_for[3], vec_write, out_write}), .scatter_i(out_scatter),
    .write_pitch_i(out_pitch), .write_addr_i({to, vec_out_addr, out_addr}),
    .write_bytes_i({size, vec_bytes, out_bytes}),
    .write_data_i({(OutWrite*ByteBits)'(data[1][OutPort-1:0]),
                   (OutWrite*ByteBits)'(data[0][OutPort-1:0]), (OutWrite*ByteBits)'(vec_out),
                   (OutWrite*ByteBits)'(out_data)}), .read_i(out_read),
    .read_addr_i(out_read_addr), .read_data_o(write_data_o), .old_read_i(old_read),
    .old_addr_i(old_addr), .old_pitch_i(old_scatter ? old_pitch : 32'd1), .old_data_o(old_data));

  // ---- queues -----------------------------------------------------------------------------------
  sum_t [Cols-1:0] post_sums;

  execute_unit #(
    .Rows(Rows), .Cols(Cols), .FillRows(FillRows), .OutputStationary(OutputStationary),
    .OneProcess(OneProcess), .ActSlotBytes(ActSlotBytes), .WgtSlots(WgtSlots),
    .WgtSlotBytes(WgtSlotBytes), .AccSlots(AccSlots), .AccRows(AccRows)
  ) u_execute (
    .clk_i, .rst_ni, .enable_i(enable_q), .cmd_valid_i(gemm_valid_i), .cmd_ready_o(gemm_ready_o),
    .cmd_i(gemm_i), .act_full_i(act_full), .wgt_full_i(wgt_full), .acc_free_i(acc_free),
    .act_take_o(act_take), .act_give_o(act_give), .wgt_take_o(wgt_take), .wgt_give_o(wgt_give),
    .acc_claim_o(acc_claim), .acc_done_o(acc_done), .act_read_o(act_read), .act_addr_o(act_addr),
    .act_data_i(act_rows), .wgt_read_o(wgt_read), .wgt_addr_o(wgt_addr), .wgt_data_i(wgt_data),
    .post_read_i(post_read), .post_row_i(post_row), .post_sums_o(post_sums), .acc_write_o,
    .acc_write_row_o, .acc_write_sum_o, .retire_gemm_o, .retire_drain_o
  );

  post_unit #(
    .Cols(Cols), .Lanes(PostLanes), .AccSlots(AccSlots), .AccRows(AccRows),
    .ParStride(ParSlotBytes), .OutStride(OutSlotBytes)
  ) u_post (
    .clk_i, .rst_ni, .enable_i(enable_q), .cmd_valid_i(post_valid_i), .cmd_ready_o(post_ready_o),
    .cmd_i(post_i), .acc_full_i(acc_full), .out_free_i(post_free), .out_primed_i(post_primed),
    .par_full_i(par_full), .acc_take_o(acc_take), .out_take_o(post_claim), .out_add_o(post_add),
    .par_take_o(par_take), .acc_give_o(acc_give), .out_give_o(post_done), .par_give_o(par_give),
    .acc_read_o(post_read), .acc_row_o(post_row), .acc_data_i(post_sums), .par_read_o(par_read),
    .par_addr_o(par_addr), .par_data_i(par_data[0][PostLanes*ParameterBytes-1:0]),
    .old_read_o(old_read), .old_scatter_o(old_scatter), .old_addr_o(old_addr),
    .old_pitch_o(old_pitch), .old_data_i(old_data), .out_write_o(out_write),
    .out_scatter_o(out_scatter), .out_addr_o(out_addr), .out_pitch_o(out_pitch),
    .out_bytes_o(out_bytes), .out_data_o(out_data), .retire_o(retire_post_o)
  );

  vector_unit #(
    .Lanes(VecLanes), .ExpLanes(ExpLanes), .RowLanes(RowLanes), .MacLanes(MacLanes),
    .ActStride(ActSlotBytes), .ParStride(ParSlotBytes), .OutStride(OutSlotBytes)
  ) u_vector (
    .clk_i, .rst_ni, .enable_i(enable_q), .cmd_valid_i(vector_valid_i),
    .cmd_ready_o(vector_ready_o), .cmd_i(vector_i), .act_full_i(vec_act_full),
    .par_full_i(vec_par_full), .out_free_i(vec_free), .act_take_o(vec_act_take),
    .par_take_o(vec_par_take), .out_take_o(vec_claim), .act_give_o(vec_act_give),
    .par_give_o(vec_par_give), .out_give_o(vec_done), .act_read_o(vec_read), .act_addr_o(vec_addr),
    .act_data_i(vec_data), .par_read_o(vec_par_read), .par_addr_o(vec_par_addr),
    .par_data_i(par_data[1][VecPar-1:0]), .retire_o(retire_vector_o),
    .scale_data_i(par_data[2][max_of(MacLanes, 1)*ParameterBytes-1:0]), .out_write_o(vec_write),
    .out_addr_o(vec_out_addr), .out_bytes_o(vec_bytes), .out_data_o(vec_out)
  );

  store_unit #(.Slots(OutSlots), .Stride(OutSlotBytes), .Port(OutPort)) u_store (
    .clk_i, .rst_ni, .enable_i(enable_q), .cmd_valid_i(store_valid_i), .cmd_ready_o(store_ready_o),
    .cmd_i(store_i), .full_i(store_full), .take_o(store_take), .free_o(store_give),
    .region_free_i(region_free), .region_take_o(store_region_take), .marks_i(marks),
    .turn_i(store_turn), .turn_take_o(store_turn_take), .turn_give_o(store_turn_give),
    .req_tag_o(write_tag_o), .read_o(out_read), .read_addr_o(out_read_addr),
    .req_valid_o(write_valid_o), .req_ready_i(write_ready_i), .req_addr_o(write_addr_o),
    .req_bytes_o(write_bytes_o), .req_shared_o(write_shared_o), .req_last_o(write_last_o),
    .retire_o(retire_store_o)
  );

  stage_unit #(.Port(LoadPort)) u_stage (
    .clk_i, .rst_ni, .enable_i(enable_q), .cmd_valid_i(stage_valid_i), .cmd_ready_o(stage_ready_o),
    .cmd_i(stage_i), .full_i(region_full), .free_i(region_free), .full_take_o(stage_full_take),
    .free_take_o(stage_free_take), .give_o(stage_give), .marks_i(marks), .turn_i(stage_turn),
    .turn_take_o(stage_turn_take), .turn_give_o(stage_turn_give), .req_valid_o(copy_valid_o),
    .req_ready_i(copy_ready_i), .req_source_o(copy_source_o), .req_target_o(copy_target_o),
    .req_bytes_o(copy_bytes_o), .req_shared_o(copy_shared_o), .req_last_o(copy_last_o),
    .req_tag_o(copy_tag_o), .retire_o(retire_stage_o)
  );
endmodule
