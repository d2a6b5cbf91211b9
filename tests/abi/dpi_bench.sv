// Does a SystemVerilog bench get from accsim_dpi what it computes by itself? Activations of its own
// in a product; sums by plain loops, compared row by row as a bus of an array would be. Then a
// planted difference, which must be found. Verilator --binary; see dpi_test.py.
module dpi_bench;
  import accsim_dpi::*;

  localparam int Size = 8;
  localparam longint Side = 64'(Size);
  typedef logic signed [Size-1:0][7:0] row_t;

  chandle machine, run;
  int columns;
  logic signed [7:0] a[Size][Size];
  logic signed [Size-1:0][23:0] sums[Size];

  function automatic void write_operands();
    longint tensor;
    tensor = accsim_find_tensor(run, "a");
    for (int i = 0; i < Size * Size; i++) begin
      a[i/Size][i%Size] = i == 0 ? -8'sd128 : 8'($urandom);
      accsim_must(accsim_write_byte(run, tensor, longint'(i), int'(a[i/Size][i%Size]) & 255));
    end
  endfunction

  // Of all rows of a and the columns of b that the run's command has.
  function automatic void compute_sums();
    int sum, weight;
    for (int m = 0; m < Size; m++)
      for (int n = 0; n < columns; n++) begin
        sum = 0;
        for (int k = 0; k < Size; k++) begin
          accsim_must(accsim_value(run, AccsimB, longint'(k), longint'(n), weight));
          sum += int'(a[m][k]) * weight;
        end
        sums[m][n] = 24'(sum);
      end
  endfunction

  function automatic int check_sums(int row, logic [Size-1:0][23:0] mine);
    return accsim_check_row(run, AccsimSums, longint'(row), accsim_bus_t'(mine), 24, columns);
  endfunction

  function automatic void check_gemm();
    for (int row = 0; row < Size; row++) begin
      if (accsim_row_bus(run, AccsimA, longint'(row), 8) != accsim_bus_t'(row_of_a(3'(row))))
        $fatal(1, "operands of row %0d", row);
      if (check_sums(row, sums[row]) != AccsimOk)
        $fatal(1, "sums of row %0d", row);
    end
  endfunction

  function automatic row_t row_of_a(logic [2:0] row);
    for (int column = 0; column < Size; column++) row_of_a[column] = a[row][column];
  endfunction

  // A sum off by one.
  function automatic void check_difference();
    logic signed [Size-1:0][23:0] wrong;
    string text;
    wrong = sums[5];
    wrong[3] = sums[5][3] + 24'h1;
    if (check_sums(5, wrong) != AccsimDiffers) $fatal(1, "not seen");
    accsim_must(accsim_first_difference_text(run, text));
    $display("found %s", text);
  endfunction

  initial begin
    longint cycles;
    real rows;
    int all_columns;
    string file;
    all_columns = 0;
    if (!$value$plusargs("machine=%s", file)) $fatal(1, "+machine=FILE is missing");
    accsim_must(accsim_machine_open(file, machine));
    accsim_must(accsim_machine_number(machine, "array.rows", rows));
    if (rows != 8.0) $fatal(1, "%f rows", rows);
    accsim_must(accsim_open_product(machine, Side, Side, Side, 1, run));
    write_operands();
    while (accsim_next(run, AccsimGemm) == AccsimOk) begin
      columns = int'(accsim_number(run, "n"));
      all_columns += columns;
      compute_sums();
      check_gemm();
      accsim_must(accsim_check_finish(run, accsim_number(run, "finish")));
      check_difference();
    end
    accsim_must(accsim_cycles(run, cycles));
    if (all_columns != Size || cycles <= 0)
      $fatal(1, "%0d columns, %0d cycles", all_columns, cycles);
    if (accsim_next(run, AccsimAny) != AccsimEnd) $fatal(1, "goes on");
    if (accsim_open_product(machine, -1, 1, 1, 1, run) != AccsimArgument) $fatal(1, "opened");
    $display("refused: %s", accsim_message());
    accsim_machine_close(machine);
    $display("all is as computed here");
    $finish;
  end
endmodule
