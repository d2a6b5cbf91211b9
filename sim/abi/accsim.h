// The golden and the timing model of accsim for whoever has RTL of her own: from C, from
// SystemVerilog by DPI-C (accsim_dpi.sv), from all that calls C. docs/c-abi.md has examples.
//
// A machine is opened from its description, a run from a machine and something to run. The golden
// then executes the run's commands one by one, in the order of the program; of each it has the
// operands, the sums, the bytes that come out, and the cycles of the timing model.
//
// All functions but those that close return an accsim_code. None ends the process, none throws.
// Numbers are scalars, so that DPI-C takes each function as it is. A machine may be used by several
// threads, a run by one at a time.
#ifndef ACCSIM_H
#define ACCSIM_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ACCSIM_EXPORT __attribute__((visibility("default")))
#else
#define ACCSIM_EXPORT
#endif

/// Rises when a function or a number of this file changes its meaning; what is added doesn't.
#define ACCSIM_ABI_VERSION 1
/// That of the library, to be compared with the header's.
ACCSIM_EXPORT int32_t accsim_abi_version(void);

/// What functions return.
typedef enum accsim_code {
  ACCSIM_OK = 0,
  ACCSIM_END = 1,           ///< there is no further command
  ACCSIM_DIFFERS = 2,       ///< a value or a cycle isn't the golden's
  ACCSIM_ARGUMENT = -1,     ///< a null pointer, a number out of its range, an unknown word
  ACCSIM_ORDER = -2,        ///< too early or too late, e.g. a value before the first command
  ACCSIM_INPUT = -3,        ///< a file that can't be used: its text says where and why
  ACCSIM_UNSUPPORTED = -4,  ///< the golden doesn't run it
  ACCSIM_MEMORY = -5,       ///< there is too little memory
  ACCSIM_INTERNAL = -6      ///< a fault of accsim: please report it
} accsim_code;

/// What this thread's last call that wasn't ACCSIM_OK had to say; never null, lives until the
/// thread's next call.
ACCSIM_EXPORT const char* accsim_message(void);

/// A machine, and a program that golden runs on it.
typedef struct accsim_machine accsim_machine;
typedef struct accsim_run accsim_run;

// ---- machines ----------------------------------------------------------------------------------

/// A description (YAML) or a name, e.g. "64x64". *machine is null unless ACCSIM_OK.
ACCSIM_EXPORT int32_t accsim_machine_open(const char* file, accsim_machine** machine);
/// A number of the description by its path, e.g. "array.rows" (`accsim hw fields`).
ACCSIM_EXPORT int32_t accsim_machine_number(const accsim_machine* machine, const char* path,
                                            double* value);
/// Runs that are open keep what they need. Null is fine.
ACCSIM_EXPORT void accsim_machine_close(accsim_machine* machine);

// ---- runs --------------------------------------------------------------------------------------

/// The product of MxK activations and KxN weights, as the mapper cuts it into commands. Operands,
/// biases and scales are random, the same for the same seed. *run is null unless ACCSIM_OK.
ACCSIM_EXPORT int32_t accsim_open_product(const accsim_machine* machine, int64_t m, int64_t k,
                                          int64_t n, uint64_t seed, accsim_run** run);
/// A convolution, as `accsim verify --conv` takes it: "N,C,H,W,K,R,S,stride,pad,dilation,groups".
ACCSIM_EXPORT int32_t accsim_open_conv(const accsim_machine* machine, const char* numbers,
                                       uint64_t seed, accsim_run** run);
/// Number `index` (from 0) of the random programs of a seed: all commands there are.
ACCSIM_EXPORT int32_t accsim_open_random(const accsim_machine* machine, uint64_t seed,
                                         int64_t index, accsim_run** run);
/// A model (ONNX) as one program, or one layer of it by name (layer: null or "": all). The weights
/// are the file's where it has them.
ACCSIM_EXPORT int32_t accsim_open_model(const accsim_machine* machine, const char* file,
                                        const char* layer, uint64_t seed, accsim_run** run);
/// Null is fine.
ACCSIM_EXPORT void accsim_close(accsim_run* run);

/// Commands of the run, loops unrolled.
ACCSIM_EXPORT int32_t accsim_commands(const accsim_run* run, int64_t* commands);
/// Cycles of the whole run by the timing model, which are those of the RTL.
ACCSIM_EXPORT int32_t accsim_cycles(const accsim_run* run, int64_t* cycles);

// ---- memory: tensors outside of the slots ------------------------------------------------------

/// How many tensors there are; they are numbered from 0.
ACCSIM_EXPORT int32_t accsim_tensors(const accsim_run* run, int64_t* tensors);
/// The name lives as long as the run.
ACCSIM_EXPORT int32_t accsim_tensor(const accsim_run* run, int64_t tensor, const char** name,
                                    int64_t* bytes);
/// What the golden has there now: what it began with, and what stores have written so far.
ACCSIM_EXPORT int32_t accsim_read(const accsim_run* run, int64_t tensor, int64_t offset,
                                  int64_t bytes, uint8_t* to);
/// Operands of one's own. Before the first command only (else ACCSIM_ORDER).
ACCSIM_EXPORT int32_t accsim_write(accsim_run* run, int64_t tensor, int64_t offset, int64_t bytes,
                                   const uint8_t* from);
/// The same as accsim_read() of one byte, 0 .. 255.
ACCSIM_EXPORT int32_t accsim_read_byte(const accsim_run* run, int64_t tensor, int64_t offset,
                                       int32_t* value);
/// The same as accsim_write() of one byte.
ACCSIM_EXPORT int32_t accsim_write_byte(accsim_run* run, int64_t tensor, int64_t offset,
                                        int32_t value);

// ---- commands ----------------------------------------------------------------------------------

/// Of commands (docs/architecture.md, "tile program").
typedef enum accsim_kind {
  ACCSIM_LOAD = 0,
  ACCSIM_GEMM = 1,
  ACCSIM_DRAIN = 2,
  ACCSIM_POST = 3,
  ACCSIM_VECTOR = 4,  ///< operations without values: the golden runs none
  ACCSIM_STORE = 5,
  ACCSIM_TABLE = 6,
  ACCSIM_LANE = 7,
  ACCSIM_ROW = 8,
  ACCSIM_STAGE = 9,
  ACCSIM_ANY = -1
} accsim_kind;

/// Executes up to and with the next command of a kind; that one is now the run's command.
/// ACCSIM_END when there is none: the golden has then run to the end.
ACCSIM_EXPORT int32_t accsim_next(accsim_run* run, int32_t kind);
/// What the run's command is, an accsim_kind.
ACCSIM_EXPORT int32_t accsim_command_kind(const accsim_run* run, int32_t* kind);
/// "execute command 12 of layer 'fc' at oc=1 k=0"; lives until the next command.
ACCSIM_EXPORT int32_t accsim_command_text(const accsim_run* run, const char** text);
/// A number of it by name:
///   index      commands before it, in the order of the program
///   ordinal    commands of its queue before it
///   queue      0 load, 1 execute, 2 post, 3 vector, 4 store, 5 stage
///   start, finish   first cycle; cycle in which its result is visible (rtl/README.md, contract)
///   slot, address   where the values went: index of the slot; accumulator row, or byte in the
///                   slot, or in the tensor (store)
///   dataflow   of its layer: 0 weight, 1 input, 2 output stationary; with 1 an accumulator row has
///              the sums of one column of SUMS, else of one row
///   m, k, n, overwrites   of gemms (a drain has m, n, overwrites): 1 where sums begin anew
///   loop.NAME  index of a loop around it, of several with the name the innermost
ACCSIM_EXPORT int32_t accsim_command_number(const accsim_run* run, const char* name,
                                            int64_t* value);

// ---- values of the command ---------------------------------------------------------------------

/// Matrices of a command, row by row.
typedef enum accsim_matrix {
  ACCSIM_A = 0,         ///< gemm: m x k activations, int8
  ACCSIM_B = 1,         ///< gemm: k x n weights, int8, with the zeros of packed groups
  ACCSIM_PRODUCTS = 2,  ///< gemm: A x B alone, m x n, int32
  ACCSIM_SUMS = 3,      ///< gemm, drain: what the accumulators (output stationary gemm: the array)
                        ///< hold then, m x n, int32; wraps at 32 bits
  ACCSIM_PARAMETERS = 4,  ///< post: one row per channel: bias, multiplier, shift, and where it
                          ///< adds groups up the multipliers of those behind the first
  ACCSIM_BYTES = 5        ///< what it wrote: post: pixels x channels, int8; load, store, lane, row:
                          ///< one row of uint8
} accsim_matrix;

/// 0 x 0 where the command has none.
ACCSIM_EXPORT int32_t accsim_shape(const accsim_run* run, int32_t matrix, int64_t* rows,
                                   int64_t* columns);
/// All of it; `count` must be rows x columns.
ACCSIM_EXPORT int32_t accsim_values(const accsim_run* run, int32_t matrix, int64_t count,
                                    int32_t* to);
/// One value of it.
ACCSIM_EXPORT int32_t accsim_value(const accsim_run* run, int32_t matrix, int64_t row,
                                   int64_t column, int32_t* value);

// ---- comparing ---------------------------------------------------------------------------------

/// Compares all of a matrix, as the user's RTL has it, with golden's. ACCSIM_DIFFERS:
/// accsim_message() has the command, its loops, row, column and both values.
ACCSIM_EXPORT int32_t accsim_check(accsim_run* run, int32_t matrix, int64_t count,
                                   const int32_t* mine);
/// The same of one value.
ACCSIM_EXPORT int32_t accsim_check_value(accsim_run* run, int32_t matrix, int64_t row,
                                         int64_t column, int32_t mine);
/// Compares the cycle in which its result is visible.
ACCSIM_EXPORT int32_t accsim_check_finish(accsim_run* run, int64_t cycle);
/// The run's first difference so far: index of its command, row and column (-1 of a cycle), and
/// both values. ACCSIM_END when there is none.
ACCSIM_EXPORT int32_t accsim_first_difference(const accsim_run* run, int64_t* command, int64_t* row,
                                              int64_t* column, int64_t* mine, int64_t* golden);
/// Its text, "" when there is none; lives as long as the run.
ACCSIM_EXPORT int32_t accsim_first_difference_text(const accsim_run* run, const char** text);

#ifdef __cplusplus
}
#endif
#endif
