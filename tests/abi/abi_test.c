// Does a C program get from accsim.h what it computes by itself? Usage: abi_test MACHINE MODEL.
//
// Opens a machine of 8 x 8 and a product, writes operands of its own, steps through the commands,
// and compares the sums with a plain loop's. Then calls that can't be right: each must give its code
// and a text.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accsim.h"

enum { kSize = 8 };

static int failures = 0;

static void expect(int good, const char* what, int line) {
  if (good) return;
  fprintf(stderr, "line %d: %s: %s\n", line, what, accsim_message());
  ++failures;
}
#define EXPECT(condition) expect((condition) != 0, #condition, __LINE__)
#define MUST(call) EXPECT((call) == ACCSIM_OK)

typedef struct Operands {
  int8_t a[kSize][kSize], b[kSize][kSize];
  int32_t sums[kSize][kSize];
} Operands;

/// All ends of int8 are among them.
static Operands make_operands(void) {
  Operands out;
  uint32_t state = 7;
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) {
      state = state * 1664525u + 1013904223u;
      out.a[i][j] = (int8_t)((int)(state >> 24) - 128);
      state = state * 1664525u + 1013904223u;
      out.b[i][j] = (int8_t)((int)(state >> 24) - 128);
    }
  out.a[0][0] = out.b[0][0] = -128;
  out.a[0][1] = 127;
  for (int m = 0; m < kSize; ++m)
    for (int n = 0; n < kSize; ++n) {
      int32_t sum = 0;
      for (int k = 0; k < kSize; ++k) sum += out.a[m][k] * out.b[k][n];
      out.sums[m][n] = sum;
    }
  return out;
}

static int64_t find_tensor(const accsim_run* run, const char* wanted, int64_t bytes) {
  int64_t tensors = 0;
  MUST(accsim_tensors(run, &tensors));
  for (int64_t i = 0; i < tensors; ++i) {
    const char* name = NULL;
    int64_t size = 0;
    MUST(accsim_tensor(run, i, &name, &size));
    if (strcmp(name, wanted) == 0) {
      EXPECT(size == bytes);
      return i;
    }
  }
  fprintf(stderr, "there is no tensor %s\n", wanted);
  exit(1);
}

static int64_t number(const accsim_run* run, const char* name) {
  int64_t value = -1;
  MUST(accsim_command_number(run, name, &value));
  return value;
}

/// The run's gemm: all of a, and the columns of b from `first` on.
static void check_gemm(accsim_run* run, const Operands* mine, int64_t first) {
  int32_t values[kSize * kSize], sums[kSize * kSize], one = 0;
  const int64_t n = number(run, "n");
  int64_t rows = 0, columns = 0;
  EXPECT(number(run, "m") == kSize && number(run, "k") == kSize && first + n <= kSize);
  EXPECT(number(run, "overwrites") == 1 && number(run, "queue") == 1);
  MUST(accsim_shape(run, ACCSIM_SUMS, &rows, &columns));
  EXPECT(rows == kSize && columns == n);
  for (int64_t i = 0; i < kSize * n; ++i) sums[i] = mine->sums[i / n][first + i % n];
  MUST(accsim_check(run, ACCSIM_SUMS, kSize * n, sums));
  MUST(accsim_check(run, ACCSIM_PRODUCTS, kSize * n, sums));
  MUST(accsim_values(run, ACCSIM_A, kSize * kSize, values));
  for (int i = 0; i < kSize * kSize; ++i) EXPECT(values[i] == mine->a[i / kSize][i % kSize]);
  MUST(accsim_values(run, ACCSIM_B, kSize * n, values));
  for (int64_t i = 0; i < kSize * n; ++i) EXPECT(values[i] == mine->b[i / n][first + i % n]);
  MUST(accsim_value(run, ACCSIM_SUMS, 3, n - 1, &one));
  EXPECT(one == mine->sums[3][first + n - 1]);
  MUST(accsim_check_value(run, ACCSIM_SUMS, 3, n - 1, one));
}

/// A sum that is wrong is found, with its place, and stays the first that was.
static void check_difference(accsim_run* run) {
  int32_t sums[kSize * kSize];
  int64_t command = 0, row = 0, column = 0, has = 0, golden = 0;
  const char* text = NULL;
  const int64_t n = number(run, "n"), wrong = 6 * n + 2;
  EXPECT(accsim_first_difference(run, &command, &row, &column, &has, &golden) == ACCSIM_END);
  MUST(accsim_first_difference_text(run, &text));
  EXPECT(strcmp(text, "") == 0);
  MUST(accsim_values(run, ACCSIM_SUMS, kSize * n, sums));
  sums[wrong] += 1;
  EXPECT(accsim_check(run, ACCSIM_SUMS, kSize * n, sums) == ACCSIM_DIFFERS);
  EXPECT(strstr(accsim_message(), "execute command 0") != NULL);
  EXPECT(strstr(accsim_message(), "row 6, column 2") != NULL);
  EXPECT(accsim_check_value(run, ACCSIM_SUMS, 1, 1, sums[n + 1] - 1) == ACCSIM_DIFFERS);
  EXPECT(accsim_check_finish(run, number(run, "finish") + 3) == ACCSIM_DIFFERS);
  MUST(accsim_check_finish(run, number(run, "finish")));
  MUST(accsim_first_difference(run, &command, &row, &column, &has, &golden));
  EXPECT(command == number(run, "index") && row == 6 && column == 2);
  EXPECT(has == sums[wrong] && golden == sums[wrong] - 1);
  MUST(accsim_first_difference_text(run, &text));
  EXPECT(strstr(text, "row 6, column 2") != NULL);
}

/// Weights lie in memory tile by tile, as gemms take them; here each has all rows of some columns. A
/// tile has a row for each k, or where the array keeps activations a row for each column.
static void write_weights(const accsim_machine* machine, accsim_run* run, const Operands* mine) {
  accsim_run* other = NULL;
  MUST(accsim_open_product(machine, kSize, kSize, kSize, 1, &other));
  MUST(accsim_next(other, ACCSIM_GEMM));
  const int64_t columns = number(other, "n"), turned = number(other, "dataflow") == 1;
  const int64_t b = find_tensor(run, "b", sizeof mine->b);
  for (int64_t i = 0; i < kSize * kSize; ++i) {
    const int64_t tile = i / (kSize * columns), at = i % (kSize * columns);
    const int64_t row = turned ? at % kSize : at / columns;
    const int64_t column = tile * columns + (turned ? at / kSize : at % columns);
    MUST(accsim_write_byte(run, b, i, (uint8_t)mine->b[row][column]));
  }
  accsim_close(other);
}

static void run_product(const accsim_machine* machine) {
  const Operands mine = make_operands();
  accsim_run* run = NULL;
  int64_t commands = 0, cycles = 0, columns = 0, seen = 0, finish = 0;
  int32_t kind = 0, code = 0;
  MUST(accsim_open_product(machine, kSize, kSize, kSize, 1, &run));
  MUST(accsim_write(run, find_tensor(run, "a", sizeof mine.a), 0, sizeof mine.a,
                    (const uint8_t*)mine.a));
  write_weights(machine, run, &mine);
  MUST(accsim_commands(run, &commands));
  MUST(accsim_cycles(run, &cycles));
  while ((code = accsim_next(run, ACCSIM_ANY)) == ACCSIM_OK) {
    EXPECT(number(run, "index") == seen++);
    EXPECT(number(run, "start") < number(run, "finish"));
    finish = number(run, "finish") > finish ? number(run, "finish") : finish;
    MUST(accsim_command_kind(run, &kind));
    if (kind != ACCSIM_GEMM) continue;
    check_gemm(run, &mine, columns);
    if (columns == 0) check_difference(run);
    columns += number(run, "n");
  }
  EXPECT(code == ACCSIM_END && columns == kSize && seen == commands);
  EXPECT(finish == cycles);
  EXPECT(accsim_command_kind(run, &kind) == ACCSIM_ORDER);
  accsim_close(run);
}

/// A call that can't be right gave a code, and a text with this word.
static void refused(int32_t code, int32_t expected, const char* word) {
  if (code == expected && strstr(accsim_message(), word) != NULL) return;
  fprintf(stderr, "%" PRId32 " instead of %" PRId32 " with '%s': %s\n", code, expected, word,
          accsim_message());
  ++failures;
}

static void misuse_opening(const accsim_machine* m, const char* model) {
  accsim_machine* no_machine = NULL;
  accsim_run* none = NULL;
  double real = 0;
  refused(accsim_machine_open("no.yaml", &no_machine), ACCSIM_INPUT, "no.yaml");
  refused(accsim_machine_open(model, &no_machine), ACCSIM_INPUT, "UTF-8");
  refused(accsim_machine_number(m, "array.row", &real), ACCSIM_ARGUMENT, "array.rows");
  refused(accsim_machine_number(m, "name", &real), ACCSIM_ARGUMENT, "no number 'name'");
  refused(accsim_open_product(m, 0, 1, 1, 1, &none), ACCSIM_ARGUMENT, "0x1x1");
  refused(accsim_open_product(m, 1, -1, 1, 1, &none), ACCSIM_ARGUMENT, "-1");
  refused(accsim_open_product(m, 1 << 20, 1 << 20, 1 << 20, 1, &none), ACCSIM_ARGUMENT, "2^50");
  refused(accsim_open_product(m, 1 << 20, 1, 1 << 20, 1, &none), ACCSIM_MEMORY, "memory");
  refused(accsim_open_conv(m, "1,2,3", 1, &none), ACCSIM_ARGUMENT, "groups");
  refused(accsim_open_conv(m, "1,8,8,8,8,3,3,0,1,1,1", 1, &none), ACCSIM_ARGUMENT, "padding");
  refused(accsim_open_random(m, 1, -1, &none), ACCSIM_ARGUMENT, "index is -1");
  refused(accsim_open_model(m, "no.onnx", NULL, 1, &none), ACCSIM_INPUT, "no.onnx");
  refused(accsim_open_model(m, model, "conv", 1, &none), ACCSIM_INPUT, "no layer 'conv'");
  EXPECT(none == NULL && no_machine == NULL);
}

/// `begun` is at its first load.
static void misuse_memory(accsim_run* fresh, accsim_run* begun) {
  const char* text = NULL;
  int64_t n = 0;
  int32_t v = 0;
  uint8_t byte = 0;
  refused(accsim_tensor(fresh, 4, &text, &n), ACCSIM_ARGUMENT, "tensor is 4");
  refused(accsim_tensor(fresh, -1, &text, &n), ACCSIM_ARGUMENT, "tensor is -1");
  refused(accsim_read(fresh, 0, 81, 1, &byte), ACCSIM_ARGUMENT, "which has 81");
  refused(accsim_read(fresh, 0, -1, 1, &byte), ACCSIM_ARGUMENT, "which has 81");
  refused(accsim_read(fresh, 0, 1, INT64_MAX, &byte), ACCSIM_ARGUMENT, "which has 81");
  refused(accsim_read(fresh, 0, 1, -1, &byte), ACCSIM_ARGUMENT, "which has 81");
  refused(accsim_write(fresh, 0, 80, 2, &byte), ACCSIM_ARGUMENT, "which has 81");
  refused(accsim_read_byte(fresh, 0, 81, &v), ACCSIM_ARGUMENT, "which has 81");
  refused(accsim_write_byte(fresh, 0, 0, 256), ACCSIM_ARGUMENT, "value is 256");
  refused(accsim_write_byte(fresh, 0, 0, -1), ACCSIM_ARGUMENT, "value is -1");
  refused(accsim_write(begun, 0, 0, 1, &byte), ACCSIM_ORDER, "before the first");
  refused(accsim_write_byte(begun, 0, 0, 0), ACCSIM_ORDER, "before the first");
}

static void misuse_order(accsim_run* fresh) {
  const char* text = NULL;
  int64_t n = 0;
  int32_t v = 0;
  refused(accsim_command_kind(fresh, &v), ACCSIM_ORDER, "no command yet");
  refused(accsim_command_text(fresh, &text), ACCSIM_ORDER, "no command yet");
  refused(accsim_command_number(fresh, "m", &n), ACCSIM_ORDER, "no command yet");
  refused(accsim_shape(fresh, ACCSIM_A, &n, &n), ACCSIM_ORDER, "no command yet");
  refused(accsim_values(fresh, ACCSIM_A, 1, &v), ACCSIM_ORDER, "no command yet");
  refused(accsim_value(fresh, ACCSIM_A, 0, 0, &v), ACCSIM_ORDER, "no command yet");
  refused(accsim_check(fresh, ACCSIM_A, 1, &v), ACCSIM_ORDER, "no command yet");
  refused(accsim_check_value(fresh, ACCSIM_A, 0, 0, 0), ACCSIM_ORDER, "no command yet");
  refused(accsim_check_finish(fresh, 0), ACCSIM_ORDER, "no command yet");
}

static void misuse_values(accsim_run* fresh, accsim_run* load) {
  int64_t n = 0;
  int32_t v = 0;
  refused(accsim_next(fresh, 10), ACCSIM_ARGUMENT, "kind is 10");
  refused(accsim_next(fresh, -2), ACCSIM_ARGUMENT, "kind is -2");
  refused(accsim_command_number(load, "m", &n), ACCSIM_ARGUMENT, "no number 'm'");
  refused(accsim_command_number(load, "loop.x", &n), ACCSIM_ARGUMENT, "no number 'loop.x'");
  refused(accsim_shape(load, 6, &n, &n), ACCSIM_ARGUMENT, "matrix is 6");
  refused(accsim_values(load, ACCSIM_SUMS, 0, &v), ACCSIM_ARGUMENT, "has no sums");
  refused(accsim_check(load, ACCSIM_A, 1, &v), ACCSIM_ARGUMENT, "has no A");
  refused(accsim_values(load, ACCSIM_BYTES, 1, &v), ACCSIM_ARGUMENT, "count is 1;");
  refused(accsim_check(load, ACCSIM_BYTES, -1, &v), ACCSIM_ARGUMENT, "count is -1;");
  refused(accsim_value(load, ACCSIM_BYTES, 1, 0, &v), ACCSIM_ARGUMENT, "row 1, column 0");
  refused(accsim_check_value(load, ACCSIM_BYTES, 0, -1, 0), ACCSIM_ARGUMENT, "row 0, column -1");
}

static void check_misuse(const accsim_machine* machine, const char* model) {
  accsim_run *fresh = NULL, *load = NULL;
  MUST(accsim_open_product(machine, 9, 9, 9, 1, &fresh));
  MUST(accsim_open_product(machine, 9, 9, 9, 1, &load));
  MUST(accsim_next(load, ACCSIM_LOAD));
  misuse_opening(machine, model);
  misuse_memory(fresh, load);
  misuse_order(fresh);
  misuse_values(fresh, load);
  accsim_close(fresh);
  accsim_close(load);
  accsim_close(NULL);
  accsim_machine_close(NULL);
}

int main(int argc, char** argv) {
  accsim_machine* machine = NULL;
  double rows = 0;
  if (argc != 3) return 2;
  EXPECT(accsim_abi_version() == ACCSIM_ABI_VERSION);
  EXPECT(accsim_message() != NULL);
  MUST(accsim_machine_open(argv[1], &machine));
  if (!machine) return 1;
  MUST(accsim_machine_number(machine, "array.rows", &rows));
  EXPECT(rows == kSize);
  run_product(machine);
  check_misuse(machine, argv[2]);
  accsim_machine_close(machine);
  if (failures == 0) printf("all is as computed here\n");
  return failures == 0 ? 0 : 1;
}
