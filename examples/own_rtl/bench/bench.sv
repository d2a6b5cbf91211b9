// Checks dot_array.sv against the golden: SystemVerilog and DPI-C.
//
//     bench +machine=FILE +m=M +k=K +n=N +seed=SEED
//
// Takes the tiles of the product MxKxN as the machine's mapper cuts them. Sends each tile's weights
// and activations, and compares every sum that leaves the array. Ends with $fatal at the first
// difference.
module bench #(
  parameter int Lanes   = 8,
  parameter int Kernels = 8,
  parameter int Rows    = 512,
  parameter int Fault   = 0
);
  import accsim_dpi::*;

  localparam int Patience = 1000;  // cycles in which nothing moves

  logic                    clk = 1'b0;
  logic                    rst_n = 1'b0;
  logic                    weight_valid = 1'b0, weight_ready, weight_last;
  logic [Lanes*8-1:0]      weight_data;
  logic                    act_valid = 1'b0, act_ready, act_accumulate;
  logic [$clog2(Rows)-1:0] act_row;
  logic [Lanes*8-1:0]      act_data;
  logic                    sum_valid, sum_ready = 1'b0;
  logic [Kernels*32-1:0]   sum_data;

  dot_array #(.Lanes(Lanes), .Kernels(Kernels), .Rows(Rows), .Fault(Fault)) u_array (
    .clk_i           (clk),
    .rst_ni          (rst_n),
    .weight_valid_i  (weight_valid),
    .weight_ready_o  (weight_ready),
    .weight_last_i   (weight_last),
    .weight_data_i   (weight_data),
    .act_valid_i     (act_valid),
    .act_ready_o     (act_ready),
    .act_accumulate_i(act_accumulate),
    .act_row_i       (act_row),
    .act_data_i      (act_data),
    .sum_valid_o     (sum_valid),
    .sum_ready_i     (sum_ready),
    .sum_data_o      (sum_data)
  );

  initial forever #1 clk = !clk;

  // ---- the golden ------------------------------------------------------------------------------

  chandle machine, run;
  int     slot_rows;  // accumulator rows of a slot

  function automatic int machine_number(string path);
    real value;
    accsim_must(accsim_machine_number(machine, path, value));
    return $rtoi(value);
  endfunction

  function automatic int operand(int matrix, int row, int column);
    int value;
    accsim_must(accsim_value(run, matrix, longint'(row), longint'(column), value));
    return value;
  endfunction

  function automatic void open();
    string  file;
    longint m, k, n, seed;
    if ($value$plusargs("machine=%s", file) == 0 || $value$plusargs("m=%d", m) == 0 ||
        $value$plusargs("k=%d", k) == 0 || $value$plusargs("n=%d", n) == 0 ||
        $value$plusargs("seed=%d", seed) == 0)
      $fatal(1, "bench: +machine=FILE +m=M +k=K +n=N +seed=SEED are needed");
    accsim_must(accsim_machine_open(file, machine));
    accsim_must(accsim_open_product(machine, m, k, n, seed, run));
    slot_rows = machine_number("buffers.accumulator.kib") * 1024 /
                machine_number("buffers.accumulator.slots") / (4 * Kernels);
    random = seed[31:0];
  endfunction

  // ---- traffic ---------------------------------------------------------------------------------

  // When each port is busy: a generator (xorshift32) that all benches share.
  int unsigned random;
  int          cycles = 0;
  logic        takes, offers;

  // Once per cycle. Of 128 cycles the first half takes few results, the second half many.
  function automatic void next_traffic();
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    takes  = (cycles / 64) % 2 == 0 ? random[1:0] == 0 : random[1:0] != 0;
    offers = random[3:2] != 0;
    cycles++;
  endfunction

  // ---- a tile ----------------------------------------------------------------------------------

  int   tiles = 0, sums = 0;
  int   tile_m, tile_k, tile_n, tile_row;
  int   kernel, row, result;  // of the tile, so far
  logic moved;                // in this cycle

  function automatic void next_tile();
    tile_m   = int'(accsim_number(run, "m"));
    tile_k   = int'(accsim_number(run, "k"));
    tile_n   = int'(accsim_number(run, "n"));
    tile_row = int'(accsim_number(run, "slot")) * slot_rows + int'(accsim_number(run, "address"));
    if (tile_k > Lanes || tile_n > Kernels)
      $fatal(1, "bench: a tile is larger than the array; its machine must be weight stationary");
    act_accumulate = accsim_number(run, "overwrites") == 0;
    kernel = 0;
    row    = 0;
    result = 0;
  endfunction

  function automatic void offer_weights();
    weight_valid = 1'b1;
    weight_last  = kernel == tile_n - 1;
    weight_data  = '0;
    for (int l = 0; l < tile_k; l++) weight_data[8*l +: 8] = 8'(operand(AccsimB, l, kernel));
  endfunction

  function automatic void offer_row();
    act_valid = 1'b1;
    act_row   = $bits(act_row)'(tile_row + row);
    act_data  = '0;
    for (int l = 0; l < tile_k; l++) act_data[8*l +: 8] = 8'(operand(AccsimA, row, l));
  endfunction

  function automatic void report(string what);
    string text;
    accsim_must(accsim_command_text(run, text));
    $display("tile %0d (%s): row %0d%s", tiles, text, result, what);
    $fatal(1, "bench: the array differs from the golden");
  endfunction

  function automatic void check_row();
    if (result == tile_m) report(": a result too many");
    for (int c = 0; c < tile_n; c++) begin
      int mine, golden, code;
      mine = sum_data[32*c +: 32];
      code = accsim_check_value(run, AccsimSums, longint'(result), longint'(c), mine);
      if (code == AccsimDiffers) begin
        accsim_must(accsim_value(run, AccsimSums, longint'(result), longint'(c), golden));
        report($sformatf(", column %0d: %0d, golden %0d", c, mine, golden));
      end
      accsim_must(code);
    end
    result++;
  endfunction

  // One cycle, from falling edge to falling edge. What is offered stays until it is taken. The
  // array's ready and valid follow from registers alone, so that they are known here.
  task automatic cycle();
    logic weights_go, row_goes;
    next_traffic();
    sum_ready = takes;
    if (offers && !weight_valid && kernel < tile_n) offer_weights();
    if (offers && !act_valid && kernel == tile_n && row < tile_m) offer_row();
    weights_go = weight_valid && weight_ready;
    row_goes   = act_valid && act_ready;
    moved      = weights_go || row_goes || (sum_valid && sum_ready);
    if (sum_valid && sum_ready) check_row();
    @(negedge clk);
    if (weights_go) begin
      weight_valid = 1'b0;
      kernel++;
    end
    if (row_goes) begin
      act_valid = 1'b0;
      row++;
    end
  endtask

  task automatic check_tile();
    int idle;
    idle = 0;
    while (result < tile_m) begin
      cycle();
      idle = moved ? 0 : idle + 1;
      if (idle == Patience) report($sformatf(": no result in %0d cycles", Patience));
    end
    sums += tile_m * tile_n;
    tiles++;
  endtask

  initial begin
    int code;
    open();
    @(negedge clk);
    rst_n = 1'b1;
    forever begin
      code = accsim_next(run, AccsimGemm);
      if (code == AccsimEnd) break;
      accsim_must(code);
      next_tile();
      check_tile();
    end
    repeat (Patience) cycle();  // nothing more comes after the last tile
    accsim_close(run);
    accsim_machine_close(machine);
    $display("%0d tiles, %0d sums: all equal", tiles, sums);
    $finish;
  end
endmodule
