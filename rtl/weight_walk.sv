// Rows of the weight operand, one a step; steps beyond the last row and lanes beyond the last
// element give zeros. Data comes two cycles after its step.
// Of packed groups memory has the blocks only, and a lane that isn't of the row's group gets a
// zero. A row is of one k, its lanes are columns of the groups; turned (input stationary) it is of
// one column, its lanes are rows of k, in rounds through the groups. The row has its group's
// elements of all rounds one behind the other; its bytes begin with the first that a lane takes.
// Narrow elements have 4 bits (not of packed groups that are turned).
// Of several ports the first one reads the first rows of a fill, and the next port goes on where it
// stops: it takes the walk that this one would go on with.
module weight_walk
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8,
  parameter bit          Loads = 1'b1,  // a walk, which the first port does
  localparam int unsigned WalkBits = weight_walk_bits(Lanes)
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               load_i,
  input  word_t              start_i,
  input  word_t              pitch_i,
  input  word_t              rows_i,
  input  word_t              lanes_i,
  input  blocks_t            blocks_i,
  input  logic               turned_i,
  input  logic               narrow_i,
  input  logic               take_i,  // goes on with walk_i from the next cycle
  input  logic [WalkBits-1:0] walk_i,
  output logic [WalkBits-1:0] walk_o,
  input  logic               step_i,
  output logic               read_o,
  output word_t              addr_o,
  input  code_t [Lanes-1:0]  data_i,
  output code_t [Lanes-1:0]  row_o
);
  localparam int unsigned LaneBits = $clog2(Lanes + 1);
  localparam int unsigned PlaceBits = max_of(1, $clog2(Lanes));
  typedef logic [LaneBits-1:0]  lane_t;
  typedef logic [PlaceBits-1:0] place_t;  // of a byte in a row; wraps before the row's first

  word_t              addr_q, pitch_q, left_q;
  lane_t              lanes_q, read_lanes_q;
  logic               step_q, read_q, narrow_q, read_narrow_q;
  logic [Lanes*OperandBits-1:0] row_q, elements;

  // Packed groups: of each lane its group and its place in a row of all rounds; of the row its
  // group, its place in the group, and how many rows of k lie before the first lane from there on.
  typedef struct packed {
    lane_t  [Lanes-1:0] group;
    place_t [Lanes-1:0] place;
  } lanes_t;
  logic              packed_q, read_packed_q, row_ends;
  lane_t             groups_q, row_size_q, skip_size_q, group_q, in_group_q, before_q, skip;
  lane_t             first_group, first_place;
  lanes_t            all_q;
  word_t             next_addr, next_left;
  lane_t             next_group, next_in_group, next_before;
  place_t [Lanes-1:0] read_place_q;
  logic   [Lanes-1:0] takes_q;

  function automatic lanes_t lanes_of(lane_t group0, lane_t place0, lane_t size, lane_t groups);
    lane_t  group = group0;
    place_t place = PlaceBits'(place0);
    lane_t  left  = size - place0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      lanes_of.group[l] = group;
      lanes_of.place[l] = place;
      place += 1'b1;
      left  -= 1'b1;
      if (left == '0) begin
        left = size;
        if (group == groups - 1'b1) begin
          group = '0;  // the next round
        end else begin
          group += 1'b1;
          place -= PlaceBits'(size);
        end
      end
    end
  endfunction

  nibble_widen #(.Lanes(Lanes)) u_widen (.narrow_i(read_narrow_q), .data_i, .row_o(elements));

  assign read_o = step_i && left_q != '0;
  assign addr_o = packed_q ? addr_q + 32'(skip) : addr_q;
  assign row_o  = row_q;

  assign first_group = blocks_i.first_group[LaneBits-1:0];
  assign first_place = blocks_i.first_in_group[LaneBits-1:0];
  assign row_ends    = in_group_q == row_size_q - 1'b1;
  assign skip        = before_q < skip_size_q ? before_q : skip_size_q;

  // Where the walk goes on, behind a row that is read now.
  assign next_addr     = read_o ? addr_q + pitch_q : addr_q;
  assign next_left     = left_q - 32'(read_o);
  assign next_in_group = !read_o ? in_group_q : row_ends ? '0 : in_group_q + 1'b1;
  assign next_group    = !read_o || !row_ends ? group_q
                       : group_q == groups_q - 1'b1 ? '0 : group_q + 1'b1;
  assign next_before   = read_o && row_ends ? before_q - skip : before_q;
  assign walk_o = {next_addr, pitch_q, next_left, packed_q, narrow_q, lanes_q, groups_q, row_size_q,
                   skip_size_q, next_group, next_in_group, next_before, all_q};

  // Which lanes take a byte of the row, and the byte of each.
  function automatic logic [Lanes-1:0] takes(lane_t [Lanes-1:0] group, lane_t row_group,
                                             lane_t lanes);
    for (int unsigned l = 0; l < Lanes; l++) begin
      takes[l] = group[l] == row_group && lane_t'(l) < lanes;
    end
  endfunction
  function automatic place_t [Lanes-1:0] less(place_t [Lanes-1:0] place, place_t skipped);
    for (int unsigned l = 0; l < Lanes; l++) less[l] = place[l] - skipped;
  endfunction
  function automatic code_t [Lanes-1:0] expanded(code_t [Lanes-1:0] data,
                                                 logic [Lanes-1:0] take,
                                                 place_t [Lanes-1:0] place);
    for (int unsigned l = 0; l < Lanes; l++) expanded[l] = take[l] ? data[place[l]] : '0;
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      step_q <= 1'b0;
      read_q <= 1'b0;
    end else begin
      step_q <= step_i;
      read_q <= read_o;
    end
  end

  always_ff @(posedge clk_i) begin
    if (Loads && load_i) begin
      addr_q   <= start_i;
      pitch_q  <= pitch_i;
      left_q   <= rows_i;
      lanes_q  <= lanes_i[LaneBits-1:0];
      packed_q <= blocks_i.groups != '0;
      narrow_q <= narrow_i;
      if (blocks_i.groups != '0) begin
        before_q    <= blocks_i.rows_before[LaneBits-1:0];
        groups_q    <= blocks_i.groups[LaneBits-1:0];
        skip_size_q <= blocks_i.group_k[LaneBits-1:0];
        if (turned_i) begin
          row_size_q <= blocks_i.group_n[LaneBits-1:0];
          group_q    <= '0;
          in_group_q <= '0;
          all_q      <= lanes_of(first_group, first_place, blocks_i.group_k[LaneBits-1:0],
                                 blocks_i.groups[LaneBits-1:0]);
        end else begin
          row_size_q <= blocks_i.group_k[LaneBits-1:0];
          group_q    <= first_group;
          in_group_q <= first_place;
          all_q      <= lanes_of('0, '0, blocks_i.group_n[LaneBits-1:0],
                                 blocks_i.groups[LaneBits-1:0]);
        end
      end
    end else if (take_i) begin
      {addr_q, pitch_q, left_q, packed_q, narrow_q, lanes_q, groups_q, row_size_q, skip_size_q,
       group_q, in_group_q, before_q, all_q} <= walk_i;
    end else begin
      addr_q     <= next_addr;
      left_q     <= next_left;
      group_q    <= next_group;
      in_group_q <= next_in_group;
      before_q   <= next_before;
    end
    if (read_o) begin
      read_lanes_q  <= lanes_q;
      read_packed_q <= packed_q;
      read_narrow_q <= narrow_q;
      if (packed_q) begin
        takes_q      <= takes(all_q.group, group_q, lanes_q);
        read_place_q <= less(all_q.place, PlaceBits'(skip));
      end
    end
    if (read_q && read_packed_q) begin
      row_q <= expanded(elements, takes_q, read_place_q);
    end else if (read_q) begin
      row_q <= elements & ~({(Lanes*OperandBits){1'b1}} << {read_lanes_q, 3'b000});
    end else if (step_q) begin
      row_q <= '0;
    end
  end
endmodule
