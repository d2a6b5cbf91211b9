// The functions of accsim.h for SystemVerilog, by DPI-C, and some that make them pleasant.
// docs/c-abi.md has a bench. Link with -laccsim.
//
// Each import has the name and the order of arguments that accsim.h says. A buffer (uint8_t*,
// int32_t*) is a chandle here, for memory that other C code has; benches take one value at a time.
package accsim_dpi;

  // What functions return.
  typedef enum int {
    AccsimOk = 0,
    AccsimEnd = 1,
    AccsimDiffers = 2,
    AccsimArgument = -1,
    AccsimOrder = -2,
    AccsimInput = -3,
    AccsimUnsupported = -4,
    AccsimMemory = -5,
    AccsimInternal = -6
  } accsim_code_e;

  // Of commands.
  typedef enum int {
    AccsimLoad = 0,
    AccsimGemm = 1,
    AccsimDrain = 2,
    AccsimPost = 3,
    AccsimVector = 4,
    AccsimStore = 5,
    AccsimTable = 6,
    AccsimLane = 7,
    AccsimRow = 8,
    AccsimStage = 9,
    AccsimAny = -1
  } accsim_kind_e;

  // Of a command.
  typedef enum int {
    AccsimA = 0,
    AccsimB = 1,
    AccsimProducts = 2,
    AccsimSums = 3,
    AccsimParameters = 4,
    AccsimBytes = 5
  } accsim_matrix_e;

  import "DPI-C" function int accsim_abi_version();
  import "DPI-C" function string accsim_message();

  import "DPI-C" function int accsim_machine_open(input string file, output chandle machine);
  import "DPI-C" function int accsim_machine_number(input chandle machine, input string path,
                                                    output real value);
  import "DPI-C" function void accsim_machine_close(input chandle machine);

  import "DPI-C" function int accsim_open_product(input chandle machine, input longint m,
                                                  input longint k, input longint n,
                                                  input longint unsigned seed, output chandle run);
  import "DPI-C" function int accsim_open_conv(input chandle machine, input string numbers,
                                               input longint unsigned seed, output chandle run);
  import "DPI-C" function int accsim_open_random(input chandle machine, input longint unsigned seed,
                                                 input longint index, output chandle run);
  import "DPI-C" function int accsim_open_model(input chandle machine, input string file,
                                                input string layer, input longint unsigned seed,
                                                output chandle run);
  import "DPI-C" function void accsim_close(input chandle run);
  import "DPI-C" function int accsim_commands(input chandle run, output longint commands);
  import "DPI-C" function int accsim_cycles(input chandle run, output longint cycles);

  import "DPI-C" function int accsim_tensors(input chandle run, output longint tensors);
  import "DPI-C" function int accsim_tensor(input chandle run, input longint tensor,
                                            output string name, output longint bytes);
  import "DPI-C" function int accsim_read(input chandle run, input longint tensor,
                                          input longint offset, input longint bytes,
                                          input chandle to);
  import "DPI-C" function int accsim_write(input chandle run, input longint tensor,
                                           input longint offset, input longint bytes,
                                           input chandle from);
  import "DPI-C" function int accsim_read_byte(input chandle run, input longint tensor,
                                               input longint offset, output int value);
  import "DPI-C" function int accsim_write_byte(input chandle run, input longint tensor,
                                                input longint offset, input int value);

  import "DPI-C" function int accsim_next(input chandle run, input int kind);
  import "DPI-C" function int accsim_command_kind(input chandle run, output int kind);
  import "DPI-C" function int accsim_command_text(input chandle run, output string text);
  import "DPI-C" function int accsim_command_number(input chandle run, input string name,
                                                    output longint value);

  import "DPI-C" function int accsim_shape(input chandle run, input int matrix,
                                           output longint rows, output longint columns);
  import "DPI-C" function int accsim_values(input chandle run, input int matrix,
                                            input longint count, input chandle to);
  import "DPI-C" function int accsim_value(input chandle run, input int matrix, input longint row,
                                           input longint column, output int value);

  import "DPI-C" function int accsim_check(input chandle run, input int matrix,
                                           input longint count, input chandle mine);
  import "DPI-C" function int accsim_check_value(input chandle run, input int matrix,
                                                 input longint row, input longint column,
                                                 input int mine);
  import "DPI-C" function int accsim_check_finish(input chandle run, input longint cycle);
  import "DPI-C" function int accsim_first_difference(input chandle run, output longint command,
                                                      output longint row, output longint column,
                                                      output longint mine, output longint golden);
  import "DPI-C" function int accsim_first_difference_text(input chandle run, output string text);

  // Of a call that only a mistake of the bench can make fail: ends the simulation, with the text.
  function automatic void accsim_must(input int code);
    if (code != AccsimOk) $fatal(1, "accsim: %s", accsim_message());
  endfunction

  // A number of the run's command by its name, e.g. "m".
  function automatic longint accsim_number(input chandle run, input string name);
    longint value;
    accsim_must(accsim_command_number(run, name, value));
    return value;
  endfunction

  // The number of the tensor with this name.
  function automatic longint accsim_find_tensor(input chandle run, input string wanted);
    longint tensors, unused_bytes;
    string  name;
    accsim_must(accsim_tensors(run, tensors));
    for (longint i = 0; i < tensors; i++) begin
      accsim_must(accsim_tensor(run, i, name, unused_bytes));
      if (name == wanted) return i;
    end
    $fatal(1, "accsim: the run has no tensor %s", wanted);
    return -1;
  endfunction

  // A row of a matrix as one bus: value 0 in its lowest bits, value 1 above it. As wide as the
  // widest array's sums; narrower ones are put into it by a cast, accsim_bus_t'(sums).
  typedef logic [32767:0] accsim_bus_t;

  // Value `column` of a bus of signed values of `width` bits.
  function automatic int accsim_bus_value(input accsim_bus_t bus, input int width,
                                          input int column);
    logic signed [31:0] value;
    value = bus[column*width+:32] << (32 - width);
    return value >>> (32 - width);
  endfunction

  // Compares the first `columns` values of a row with golden's. Says the first difference, and
  // returns AccsimDiffers then.
  function automatic int accsim_check_row(input chandle run, input int matrix, input longint row,
                                          input accsim_bus_t bus, input int width,
                                          input int columns);
    int code;
    for (int column = 0; column < columns; column++) begin
      code = accsim_check_value(run, matrix, row, longint'(column),
                                accsim_bus_value(bus, width, column));
      if (code == AccsimDiffers) begin
        $display("accsim: %s", accsim_message());
        return code;
      end
      accsim_must(code);
    end
    return AccsimOk;
  endfunction

  // Golden's values of a row as a bus.
  function automatic accsim_bus_t accsim_row_bus(input chandle run, input int matrix,
                                                 input longint row, input int width);
    accsim_bus_t bus;
    longint unused_rows, columns;
    int value;
    bus = accsim_bus_t'(0);
    accsim_must(accsim_shape(run, matrix, unused_rows, columns));
    for (int column = 0; longint'(column) < columns; column++) begin
      accsim_must(accsim_value(run, matrix, row, longint'(column), value));
      for (int bit_number = 0; bit_number < width; bit_number++)
        bus[column*width+bit_number] = value[bit_number];
    end
    return bus;
  endfunction

endpackage
