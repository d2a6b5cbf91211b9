// Beats of a post: row by row, of a row `Lanes` columns after another, of these the sums of each
// group along k. Addresses of the sums, of their parameters (of the first group bias, multiplier
// and shift, of the others a multiplier) and of the results. The command is loaded the cycle before
// its first beat may be.
module post_walk
  import accsim_pkg::*;
#(
  parameter int unsigned Lanes = 8
) (
  input  logic        clk_i,
  input  logic        load_i,
  input  post_cmd_t   next_i,    // the command that is loaded
  input  post_cmd_t   cmd_i,     // the loaded one
  input  word_t       acc_base_i, par_base_i, out_base_i,
  input  logic        step_i,
  output word_t       acc_row_o,
  output word_t       par_addr_o,
  output word_t       out_addr_o,
  output bytes_t      select_o,  // first column of the beat
  output bytes_t      columns_o,
  output logic        first_o,   // group of a result
  output logic        last_o,
  output logic        end_o      // of the post
);
  word_t row_q, acc_row_q, rows_left_q, cols_left_q, groups_left_q, out_row_q, out_addr_q;
  word_t par_q, par_first_q, next_par;
  // Multipliers of the second group: of the post's first channel, of the beat's; the group's.
  word_t  factors_first_q, factors_beat_q, factors_q, next_factors;
  word_t  next_out_row;
  bytes_t select_q;
  logic   first_q, row_end, turned;

  assign turned  = cmd_i.flags.transposed;
  assign row_end = cols_left_q <= 32'(Lanes);

  assign next_out_row = out_row_q + (turned ? 32'd1 : cmd_i.pitch);
  always_comb begin
    if (row_end) begin
      next_par     = turned ? par_q + ParameterBytes : par_first_q;
      next_factors = turned ? factors_beat_q + GroupBytes : factors_first_q;
    end else begin
      next_par     = turned ? par_q : par_q + ParameterBytes * Lanes;
      next_factors = turned ? factors_beat_q : factors_beat_q + GroupBytes * Lanes;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      row_q           <= acc_base_i + next_i.accumulator_row;
      acc_row_q       <= acc_base_i + next_i.accumulator_row;
      rows_left_q     <= next_i.rows;
      cols_left_q     <= next_i.cols;
      groups_left_q   <= next_i.groups;
      first_q         <= 1'b1;
      out_row_q       <= out_base_i + next_i.slot_offset;
      out_addr_q      <= out_base_i + next_i.slot_offset;
      par_q           <= par_base_i + next_i.parameter_offset;
      par_first_q     <= par_base_i + next_i.parameter_offset;
      factors_q       <= par_base_i + next_i.group_offset;
      factors_beat_q  <= par_base_i + next_i.group_offset;
      factors_first_q <= par_base_i + next_i.group_offset;
      select_q        <= '0;
    end else if (step_i && !last_o) begin
      acc_row_q     <= acc_row_q + cmd_i.group_rows;
      groups_left_q <= groups_left_q - 1;
      first_q       <= 1'b0;
      if (!first_q) factors_q <= factors_q + GroupBytes * (turned ? cmd_i.rows : cmd_i.cols);
    end else if (step_i) begin
      groups_left_q  <= cmd_i.groups;
      first_q        <= 1'b1;
      par_q          <= next_par;
      factors_q      <= next_factors;
      factors_beat_q <= next_factors;
      if (row_end) begin
        row_q       <= row_q + 1;
        acc_row_q   <= row_q + 1;
        rows_left_q <= rows_left_q - 1;
        cols_left_q <= cmd_i.cols;
        out_row_q   <= next_out_row;
        out_addr_q  <= next_out_row;
        select_q    <= '0;
      end else begin
        acc_row_q   <= row_q;
        cols_left_q <= cols_left_q - 32'(Lanes);
        out_addr_q  <= out_addr_q + (turned ? cmd_i.pitch * Lanes : 32'(Lanes));
        select_q    <= select_q + bytes_t'(Lanes);
      end
    end
  end

  assign acc_row_o  = acc_row_q;
  assign par_addr_o = first_q ? par_q : factors_q;
  assign out_addr_o = out_addr_q;
  assign select_o   = select_q;
  assign columns_o  = row_end ? bytes_t'(cols_left_q) : bytes_t'(Lanes);
  assign first_o    = first_q;
  assign last_o     = groups_left_q <= 32'd1;
  assign end_o      = last_o && row_end && rows_left_q == 32'd1;
endmodule
