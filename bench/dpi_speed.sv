// How fast is golden through accsim_dpi.sv? Steps a model as one program, command by command, on a
// machine (+machine=FILE +model=FILE), and compares each command's last cycle and a value of each
// gemm's sums, as a bench beside RTL would. bench/run times the process.
module dpi_speed;
  import accsim_dpi::*;

  initial begin
    chandle machine, run;
    string file, model;
    int kind, value;
    longint commands = 0, gemms = 0, cycles;
    if (!$value$plusargs("machine=%s", file)) $fatal(1, "+machine=FILE is missing");
    if (!$value$plusargs("model=%s", model)) $fatal(1, "+model=FILE is missing");
    accsim_must(accsim_machine_open(file, machine));
    accsim_must(accsim_open_model(machine, model, "", 1, run));
    while (accsim_next(run, AccsimAny) == AccsimOk) begin
      commands++;
      accsim_must(accsim_check_finish(run, accsim_number(run, "finish")));
      accsim_must(accsim_command_kind(run, kind));
      if (kind != AccsimGemm) continue;
      gemms++;
      accsim_must(accsim_value(run, AccsimSums, 0, 0, value));
      accsim_must(accsim_check_value(run, AccsimSums, 0, 0, value));
    end
    accsim_must(accsim_cycles(run, cycles));
    $display("%0d commands, %0d gemms, %0d cycles", commands, gemms, cycles);
    accsim_close(run);
    accsim_machine_close(machine);
    $finish;
  end
endmodule
