// Descriptors and constants of the core. A descriptor is a list of 32-bit words, word 0 in the
// lowest bits. Addresses and counts are final: the loop nest has been walked before a command comes
// here. hw/cosim/rtl_layout.h says the same in C++; scripts/generate_rtl_layout makes it from this
// file.
package accsim_pkg;

  parameter int unsigned Levels      = 6;   // of a strided walk
  parameter int unsigned WindowLines = 4;   // kernel lines gathered in one cycle
  parameter int unsigned AddrWidth   = 48;  // of the memory outside
  parameter int unsigned TagWidth    = 64;

  // Of the timing contract, see README.md.
  parameter int unsigned ArrayLatency   = 4;   // of a sum, beyond the skew of the array
  parameter int unsigned PostLatency    = 6;   // of a value through the post unit
  parameter int unsigned ParameterBytes = 12;  // of a channel: bias, multiplier, shift

  typedef logic [31:0] word_t;

  typedef enum logic [1:0] {
    BufActivation = 2'd0,
    BufWeight     = 2'd1,
    BufParameter  = 2'd2
  } buffer_e;

  // Flags of a load or store (store: wait_full and signal_free of the output buffer).
  typedef struct packed {
    logic [26:0] unused;
    buffer_e     buffer;
    logic        shared;  // memory behind the walk: shared buffer instead of DRAM
    logic        signal;
    logic        waits;
  } dma_flags_t;

  typedef struct packed {
    word_t [Levels-1:0] stride;  // level 0 is the innermost
    word_t [Levels-1:0] count;
    word_t              run;
    word_t              slot_offset;
    word_t              addr_hi;
    word_t              addr_lo;
    dma_flags_t         flags;
  } dma_cmd_t;
  parameter int unsigned DmaWords = $bits(dma_cmd_t) / 32;

  typedef struct packed {
    logic [22:0] unused;
    logic        drain;           // output stationary: the sums leave the array afterwards
    logic        drain_overwrite;
    logic        overwrite;       // output stationary: clear the sums in the array
    logic        signal_accumulator;
    logic        signal_weight;
    logic        signal_activation;
    logic        wait_accumulator;
    logic        wait_weight;
    logic        wait_activation;
  } gemm_flags_t;

  // The walk of the activation operand; see window_walk.sv.
  typedef struct packed {
    word_t                   pad;
    word_t [WindowLines-1:0] seg_end;
    word_t                   seg_addr_step;
    word_t                   seg_x_step;
    word_t                   seg_y_step;
    word_t                   step_z_addr;
    word_t                   step_z;
    word_t                   step_y_addr;
    word_t                   step_y;
    word_t                   step_x;
    word_t                   count_y;
    word_t                   count_x;
    word_t                   tile_depth;
    word_t                   tile_height;
    word_t                   tile_line;
    word_t                   start_z;
    word_t                   start_y;
    word_t                   start_x;
    word_t                   start_addr;
  } window_t;

  typedef struct packed {
    window_t     window;
    word_t       weight_pitch;
    word_t       weight_offset;
    word_t       accumulator_row;
    word_t       n;
    word_t       k;
    word_t       m;
    gemm_flags_t flags;
  } gemm_cmd_t;
  parameter int unsigned GemmWords = $bits(gemm_cmd_t) / 32;

  typedef struct packed {
    logic [24:0] unused;
    logic        transposed;
    logic        signal_parameter;
    logic        signal_output;
    logic        signal_accumulator;
    logic        wait_parameter;
    logic        wait_output;
    logic        wait_accumulator;
  } post_flags_t;

  typedef struct packed {
    word_t       high;
    word_t       low;
    word_t       zero;
    word_t       pitch;
    word_t       slot_offset;
    word_t       parameter_offset;
    word_t       accumulator_row;
    word_t       cols;
    word_t       rows;
    post_flags_t flags;
  } post_cmd_t;
  parameter int unsigned PostWords = $bits(post_cmd_t) / 32;

  // Loads that are asked for and haven't arrived are at most as many as the latency of their memory
  // has cycles: 10^6 (hw/config).
  parameter int unsigned LoadCountBits = 21;

  // Travels with a read request and comes back with its data.
  typedef struct packed {
    logic [12:0] unused;
    logic        last;  // of the command
    buffer_e     buffer;
    logic [15:0] bytes;
    word_t       address;  // in the buffer
  } load_tag_t;

  function automatic int unsigned max_of(int unsigned a, int unsigned b);
    return a > b ? a : b;
  endfunction

  function automatic int unsigned min_of(int unsigned a, int unsigned b);
    return a < b ? a : b;
  endfunction

endpackage
