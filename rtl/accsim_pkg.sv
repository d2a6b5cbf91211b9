// Descriptors and constants of the core. A descriptor is a list of 32-bit words, word 0 in the
// lowest bits. Addresses and counts are final: the loop nest has been walked before a command comes
// here. hw/cosim/rtl_layout.h says the same in C++; scripts/generate_rtl_layout makes it from this
// file.
package accsim_pkg;

  parameter int unsigned Levels      = 6;   // of a strided walk
  parameter int unsigned WindowLines = 4;   // kernel lines gathered in one cycle
  parameter int unsigned AddrWidth   = 48;  // of the memory outside
  parameter int unsigned TagWidth    = 96;

  // Of the timing contract, see README.md.
  parameter int unsigned ArrayLatency   = 4;   // of a sum, beyond the skew of the array
  parameter int unsigned PostLatency    = 8;   // of a value through the post unit
  parameter int unsigned VectorLatency  = 9;   // of a value through the vector unit
  parameter int unsigned GatherLatency  = 4;   // of an index, before what it names is asked for
  parameter int unsigned IndexBytes     = 4;
  parameter int unsigned TableBytes     = 256; // of a unit's table
  parameter int unsigned TableBeat      = 8;   // bytes of it that are read in a cycle
  parameter int unsigned ParameterBytes = 12;  // of a post's channel: bias, multiplier, shift
  parameter int unsigned GroupBytes     = 2;   // of a channel's multiplier of another group

  // Row commands: cycles of a division or root, and of a step at least; how many steps behind a
  // row's first pass its others come.
  parameter int unsigned RowStep         = 16;
  parameter int unsigned RowSumPass      = 2;   // softmax
  parameter int unsigned RowSoftmaxWrite = 5;
  parameter int unsigned RowNormWrite    = 4;
  parameter int unsigned RowTableBytes   = 512; // of a softmax' tables
  parameter int unsigned RowTableBeat    = 16;  // bytes of them that are read in a cycle
  parameter int unsigned RowChannelBytes = 8;   // of a normalisation's channel

  // Bits of the core's numbers: scripts/generate_rtl_layout writes them from hw/numbers.
  parameter int unsigned OperandBits     = 8;   // int8: activations, weights, results
  parameter int unsigned PackedBits      = 4;   // int4: weights, two in a byte
  parameter int unsigned FactorBits      = 16;  // int16: of operands; results of two steps
  parameter int unsigned MultiplierBits  = 32;  // int32: of sums
  parameter int unsigned AccumulatorBits = 32;  // int32: sums

  parameter int unsigned ByteBits      = 8;
  parameter int unsigned ProductBits   = 2 * OperandBits;  // of two operands
  parameter int unsigned ScaledBits    = AccumulatorBits + MultiplierBits;
  parameter int unsigned ParameterBits = ParameterBytes * ByteBits;

  typedef logic [31:0]                             word_t;  // of a descriptor
  typedef logic [15:0]                             bytes_t;  // of a beat
  typedef logic [ByteBits-1:0]                     byte_t;
  typedef logic [OperandBits-1:0]                  code_t;  // the bits of an operand
  typedef logic signed [OperandBits-1:0]           operand_t;
  typedef logic signed [OperandBits:0]             difference_t;  // of two operands
  typedef logic signed [ProductBits-1:0]           product_t;
  typedef logic signed [FactorBits-1:0]            factor_t;
  typedef logic signed [OperandBits+FactorBits:0]  weighted_t;  // a difference times a factor
  typedef logic signed [MultiplierBits-1:0]        multiplier_t;
  typedef logic signed [AccumulatorBits-1:0]       sum_t;
  typedef logic signed [ScaledBits-1:0]            scaled_t;  // a sum times its multiplier

  typedef enum logic [1:0] {
    BufActivation = 2'd0,
    BufWeight     = 2'd1,
    BufParameter  = 2'd2,
    BufOutput     = 2'd3
  } buffer_e;

  typedef logic [7:0] slot_t;  // of a buffer, where more than one queue fills or reads it

  // Whom a free token comes from that a load waits for: of the slots that a buffer begins with it
  // is always there. Main: execute of activations and weights, post of parameters, store of
  // outputs. Load: parameters that were indices.
  typedef enum logic [1:0] {
    FromNone   = 2'd0,
    FromMain   = 2'd1,
    FromVector = 2'd2,
    FromLoad   = 2'd3
  } free_from_e;
  // Whom the full token goes to that a load gives. Main: as above. Other: the vector unit; for an
  // output slot the post unit, as a primed one. Load: the load queue itself, parameters as indices.
  typedef enum logic [1:0] {
    ToMain  = 2'd0,
    ToOther = 2'd1,
    ToLoad  = 2'd2
  } full_to_e;
  // Who fills an output slot that a store takes, and who takes it when the store gives it back.
  typedef enum logic [1:0] {
    ByLoad   = 2'd0,
    ByPost   = 2'd1,
    ByVector = 2'd2
  } filler_e;

  // Flags of a load or store (store: wait_full and signal_free of the output buffer).
  typedef struct packed {
    logic [2:0]  unused;
    slot_t       parameter_slot;    // load: where indices are read
    logic        signal_parameter;
    logic        wait_parameter;
    logic        gather;      // load: indices say where the items of the outermost level lie
    logic        transposed;  // load: the runs of level 0 are a matrix that is turned
    slot_t       slot;    // load into the output buffer
    logic [1:0]  to;      // load: full_to_e, store: filler_e
    logic [1:0]  from;    // load: free_from_e, store: filler_e
    buffer_e     buffer;
    logic        shared;  // memory behind the walk: shared buffer instead of DRAM
    logic        signal;
    logic        waits;
  } dma_flags_t;

  parameter int unsigned Regions = 8;  // rings in memory that have tokens

  // A command's tokens of the region that it reads or fills, and of DRAM's channel; the mark.
  typedef struct packed {
    logic [22:0] unused;
    logic        mark;          // one stands behind this command
    logic        turn_give;     // another queue has its turn on the channel behind this one
    logic        turn_wait;     // ... had it before
    logic        initial_slot;  // waits: for a slot that the region begins with
    logic        signal;
    logic        waits;
    logic [2:0]  region;
  } region_flags_t;

  // Commands with a mark that are done, or have to be before another one starts.
  typedef struct packed {
    word_t staged;
    word_t stored_shared;
    word_t stored;  // in DRAM
    word_t loaded;
  } marks_t;

  // Travels with a write and comes back when it is in memory.
  typedef struct packed {
    logic       mark;
    logic       signal;  // a slot of a region is full
    logic [2:0] region;
  } region_tag_t;

  typedef struct packed {
    marks_t             marks;         // that have to be reached
    word_t              last_row;      // gathered: the largest index
    word_t              index_offset;  // ... where its first one lies in the parameter slot
    word_t [Levels-1:0] stride;  // level 0 is the innermost; gathered, the outermost: the pitch
    word_t [Levels-1:0] count;
    word_t              run;
    word_t              slot_offset;
    word_t              addr_hi;
    word_t              addr_lo;
    region_flags_t      region;
    dma_flags_t         flags;
  } dma_cmd_t;
  parameter int unsigned DmaWords = $bits(dma_cmd_t) / 32;

  // A copy between the memories: the walk in DRAM with the source's region (flags.shared: DRAM is
  // the target), the address in the shared buffer.
  typedef struct packed {
    region_flags_t target;
    word_t         far_hi;
    word_t         far_lo;
    dma_cmd_t      walk;
  } stage_cmd_t;
  parameter int unsigned StageWords = $bits(stage_cmd_t) / 32;

  typedef struct packed {
    logic [12:0] unused;
    logic        input_stationary;  // else weight or output stationary, as the core is built
    logic        narrow_weights;  // of 4 bits, two to a byte
    slot_t       activation_slot;
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
    word_t                   first_y;  // of the row that is streamed first: in the middle of a
    word_t                   first_x;  // plane, in the middle of a line
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
    word_t                   last_y;   // of the last line of a plane
    word_t                   last_x;   // of the last row of a line
    word_t                   tile_depth;
    word_t                   tile_height;
    word_t                   tile_line;
    word_t                   start_z;
    word_t                   start_y;
    word_t                   start_x;
    word_t                   start_addr;
  } window_t;

  // Where the blocks of packed groups lie; see weight_walk.sv. No groups: the weights are dense.
  typedef struct packed {
    word_t rows_before;     // input stationary: rows of k before the first, in its round of groups
    word_t first_in_group;  // the first row of k: its place in its block
    word_t first_group;     // ... and its group
    word_t group_n;
    word_t group_k;
    word_t groups;
  } blocks_t;

  typedef struct packed {
    blocks_t     blocks;
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
    logic [3:0]  unused;
    logic        residual;
    logic        table_on;
    logic        set_table;       // instead of a post: reads the table at parameter_offset
    slot_t       output_slot;
    slot_t       parameter_slot;
    logic        wait_primed;
    logic        wait_initial;    // wait_output: for a slot that the buffer begins with
    logic        transposed;
    logic        signal_parameter;
    logic        signal_output;
    logic        signal_accumulator;
    logic        wait_parameter;
    logic        wait_output;
    logic        wait_accumulator;
  } post_flags_t;

  // Signed numbers: multipliers, zero points and limits.
  typedef struct packed {
    logic [FactorBits-1:0] multiplier;
    logic [7:0]            shift;
    code_t                 zero;
  } residual_t;

  typedef struct packed {
    logic [7:0] unused;
    logic [7:0] shift;
    code_t      high;
    code_t      low;
  } limits_t;

  typedef struct packed {
    word_t       group_offset;  // of the multipliers of the second group
    word_t       group_rows;    // accumulator rows from a group to the next
    word_t       groups;        // sums of a result
    limits_t     sum_limits;  // of the sum with the residual; no shift
    residual_t   residual;
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

  // Of a lane command, see vector_unit.sv.
  typedef enum logic [2:0] {
    LaneCopy = 3'd0,
    LaneAdd  = 3'd1,
    LaneSub  = 3'd2,
    LaneMul  = 3'd3,
    LaneMin  = 3'd4,
    LaneMax  = 3'd5,
    LaneMac  = 3'd6
  } lane_op_e;
  typedef enum logic [1:0] {
    TapSum = 2'd0,
    TapMin = 2'd1,
    TapMax = 2'd2
  } tap_op_e;

  typedef struct packed {
    slot_t       output_slot;
    slot_t       parameter_slot;
    slot_t       activation_slot;
    logic        unused;
    logic        wait_initial;  // wait_output: for a slot that the buffer begins with
    logic        signal_parameter;
    logic        signal_output;
    logic        signal_activation;
    logic        wait_parameter;
    logic        wait_output;
    logic        wait_activation;
  } vector_flags_t;

  typedef struct packed {
    logic  [8:0] unused;
    logic        row_log;      // of a row command: each row's logarithm is written behind it
    logic  [2:0] kept;         // columns of a window but its last, where rows slide
    logic  [2:0] slide;        // columns to the next row of results; 0: rows take all their taps
    logic        row_mask;     // of a row command: there is a mask
    logic        row_splat;    // ... a beat has one channel
    logic        row_centred;  // ... a normalisation about the mean
    logic        row_norm;     // ... a normalisation, else a softmax
    logic        rows;         // a row command: the words are those of row_cmd_t
    logic        set_table;    // instead of a lane command: reads the table at b_offset
    logic        table_on;
    logic        across;
    logic        b_splat;
    logic        b_parameter;  // the second operand lies in the parameter slot
    logic        b_on;
    tap_op_e     tap_op;
    lane_op_e    op;
  } lane_mode_t;

  typedef struct packed {
    logic [FactorBits-1:0] b;
    logic [FactorBits-1:0] a;
  } lane_factors_t;

  typedef struct packed {
    logic [FactorBits-1:0] result;
    code_t                 b;
    code_t                 a;
  } lane_zeros_t;

  parameter int unsigned RowLevels = 4;  // of the rows of a lane command
  parameter int unsigned TapLevels = 2;  // of its taps
  parameter int unsigned MostColumns = 8;  // of a window that slides

  // Index 0 of counts and strides is the innermost.
  typedef struct packed {
    word_t                 channel_offset;  // of a mac: where its first channel's scale lies
    word_t [TapLevels-1:0] weight_stride;   // ... from the weights of a tap to the next one's
    limits_t               limits;
    lane_zeros_t           zeros;
    lane_factors_t         factors;
    word_t [RowLevels-1:0] out_stride;
    word_t                 out_offset;
    word_t [RowLevels-1:0] b_stride;
    word_t                 b_offset;
    word_t [RowLevels-1:0] a_stride;
    word_t [TapLevels-1:0] tap_stride;
    word_t                 a_offset;
    word_t [RowLevels-1:0] rows;
    word_t [TapLevels-1:0] taps;
    word_t                 tail;   // bytes of a run's last beat
    word_t                 beats;  // of a run
    word_t                 beat;   // bytes of each but the last
    lane_mode_t            mode;
    vector_flags_t         flags;
  } vector_cmd_t;
  parameter int unsigned LaneWords = $bits(vector_cmd_t) / 32;

  // Constants of a row command, see docs/vector-arithmetic.md.
  typedef struct packed {
    code_t high;
    code_t low;
    code_t output_zero;
    code_t input_zero;
  } row_zeros_t;

  typedef struct packed {
    logic [7:0] group;  // rows that a pass has in a step
    logic [7:0] unit_bits;
    logic [7:0] exponent;
    logic [7:0] difference;
  } row_shifts_t;

  // A row: pieces of stretches of beats. A stretch is a piece, or what one channel has of it.
  typedef struct packed {
    word_t                 late_tail;      // as below, of the passes behind the first
    word_t                 late_beats;
    word_t                 late_beat;
    word_t                 log_addend_hi;  // of a row's logarithm
    word_t                 log_addend_lo;
    word_t                 log_shift;
    word_t                 log_sum;        // multipliers: of log2 of the sum, of the maximum
    word_t                 log_row;
    word_t                 log_offset;
    word_t                 length;         // elements of a row
    word_t                 epsilon_hi;
    word_t                 epsilon_lo;     // softmax: the numerator
    row_shifts_t           shifts;
    row_zeros_t            zeros;
    lane_factors_t         factors;        // of the row and of the mask, unsigned
    word_t [RowLevels-1:0] second_stride;  // of the mask; of a normalisation: of the channels
    word_t                 mask_piece;
    word_t                 mask_offset;
    word_t                 parameter_offset;
    word_t [RowLevels-1:0] out_stride;
    word_t                 out_piece;      // bytes from one piece to the next
    word_t                 out_offset;
    word_t [RowLevels-1:0] in_stride;
    word_t                 in_piece;
    word_t                 in_offset;
    word_t                 stretch;        // bytes
    word_t [RowLevels-1:0] rows;
    word_t                 pieces;
    word_t                 stretches;      // of a piece
    word_t                 tail;           // bytes of a stretch's last beat, in the first pass
    word_t                 beats;          // of a stretch
    word_t                 beat;           // bytes of each but the last
    lane_mode_t            mode;
    vector_flags_t         flags;
  } row_cmd_t;
  parameter int unsigned VectorWords = $bits(row_cmd_t) / 32;

  // 2^16 log2(1 + i / 64), rounded, i = 0 the last.
  parameter int unsigned LogBits = 16;
  parameter int unsigned LogPieces = 64;
  parameter logic [LogPieces:0][LogBits:0] LogTable = {
    17'd65536, 17'd64794, 17'd64047, 17'd63294, 17'd62534, 17'd61769, 17'd60997, 17'd60219,
    17'd59434, 17'd58643, 17'd57845, 17'd57040, 17'd56229, 17'd55410, 17'd54584, 17'd53751,
    17'd52911, 17'd52063, 17'd51207, 17'd50344, 17'd49472, 17'd48593, 17'd47705, 17'd46809,
    17'd45904, 17'd44990, 17'd44068, 17'd43137, 17'd42196, 17'd41246, 17'd40286, 17'd39316,
    17'd38336, 17'd37346, 17'd36346, 17'd35334, 17'd34312, 17'd33279, 17'd32234, 17'd31178,
    17'd30109, 17'd29029, 17'd27936, 17'd26830, 17'd25711, 17'd24579, 17'd23433, 17'd22272,
    17'd21098, 17'd19909, 17'd18704, 17'd17484, 17'd16248, 17'd14996, 17'd13727, 17'd12440,
    17'd11136, 17'd9814, 17'd8473, 17'd7112, 17'd5732, 17'd4331, 17'd2909, 17'd1466,
    17'd0
  };

  // Passes over a row, in the order in which a step has them. First: maximum, or sums.
  typedef enum logic [1:0] {
    RowSum   = 2'd0,
    RowFirst = 2'd1,
    RowWrite = 2'd2
  } row_pass_e;
  parameter int unsigned RowPasses = 3;

  // One of the rows that are on their way: at most as many as two passes of a beat have in a step,
  // for each of the steps in which a normalisation has it.
  typedef logic [5:0] row_slot_t;
  parameter int unsigned RowSlots = 64;

  // Loads that are asked for and haven't arrived are at most as many as the latency of their memory
  // has cycles: 10^6 (hw/config).
  parameter int unsigned LoadCountBits = 21;

  // Travels with a read request and comes back with its data.
  // Of a transposed load it is a row of a block: the address is that of the block's first element,
  // whose columns come to lie `pitch` bytes apart.
  typedef struct packed {
    logic [10:0] unused;
    word_t       pitch;
    logic        block_end;  // the block has no more rows
    logic        transposed;
    logic        last;  // of the command
    buffer_e     buffer;
    bytes_t      bytes;
    word_t       address;  // in the buffer
  } load_tag_t;

  function automatic logic reached(marks_t wanted, marks_t done);
    return wanted.loaded <= done.loaded && wanted.stored <= done.stored &&
           wanted.stored_shared <= done.stored_shared && wanted.staged <= done.staged;
  endfunction

  function automatic int unsigned max_of(int unsigned a, int unsigned b);
    return a > b ? a : b;
  endfunction
  // Of what a weight walk of so many lanes hands to the next port's (weight_walk.sv).
  function automatic int unsigned weight_walk_bits(int unsigned lanes);
    int unsigned lane  = 32'($clog2(lanes + 1));
    int unsigned place = max_of(1, 32'($clog2(lanes)));
    int unsigned word  = unsigned'($bits(word_t));
    return 3 * word + 2 + 7 * lane + lanes * (lane + place);
  endfunction

  function automatic int unsigned min_of(int unsigned a, int unsigned b);
    return a < b ? a : b;
  endfunction

endpackage
