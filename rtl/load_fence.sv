// When the slots of one buffer are full. Loads of one memory arrive in the order in which they were
// asked for, those of the two memories in any: a slot is full when each memory has delivered all
// loads into the buffer that were asked for up to the slot's last one. Slots so become full in the
// order in which they were claimed.
module load_fence
  import accsim_pkg::*;
#(
  parameter int unsigned Slots = 2
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic [1:0] asked_i,    // by memory: the last beat of a load is taken
  input  logic       signal_i,   // ... of the last load of a slot
  input  logic [1:0] to_i,       // ... which queue reads the slot (full_to_e)
  input  logic [1:0] arrived_i,  // by memory: the last beat of a load is there
  output logic [2:0] full_o      // by the queue that reads the slot
);
  localparam int unsigned IndexBits = max_of(1, $clog2(Slots));
  localparam int unsigned CountBits = $clog2(Slots + 1);

  // Numbers of loads since reset, as far as they can be apart.
  typedef logic [LoadCountBits-1:0] count_t;
  count_t [1:0]            asked_q, asked_d, arrived_q, arrived_d;
  count_t [1:0][Slots-1:0] fence_q;  // asked_d when the last load of the slot was asked for
  logic   [Slots-1:0][1:0] to_q;
  logic                    full;
  logic   [IndexBits-1:0]  first_q, last_q;
  logic   [CountBits-1:0]  waiting_q;
  logic   [1:0]            behind;

  function automatic logic [IndexBits-1:0] after(logic [IndexBits-1:0] index);
    return index == IndexBits'(Slots - 1) ? '0 : index + 1'b1;
  endfunction

  for (genvar m = 0; m < 2; m++) begin : gen_memory
    count_t ahead;
    assign asked_d[m]   = asked_q[m] + count_t'(asked_i[m]);
    assign arrived_d[m] = arrived_q[m] + count_t'(arrived_i[m]);
    assign ahead        = arrived_d[m] - fence_q[m][first_q];
    assign behind[m]    = ahead[LoadCountBits-1];
  end
  assign full   = waiting_q != '0 && behind == 2'd0;
  assign full_o = full ? 3'd1 << to_q[first_q] : 3'd0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      asked_q   <= '0;
      arrived_q <= '0;
      first_q   <= '0;
      last_q    <= '0;
      waiting_q <= '0;
    end else begin
      asked_q   <= asked_d;
      arrived_q <= arrived_d;
      if (full)     first_q <= after(first_q);
      if (signal_i) last_q <= after(last_q);
      waiting_q <= waiting_q + CountBits'(signal_i) - CountBits'(full);
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned m = 0; m < 2; m++) if (signal_i) fence_q[m][last_q] <= asked_d[m];
    if (signal_i) to_q[last_q] <= to_i;
  end
endmodule
