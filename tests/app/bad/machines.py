"""Machine descriptions that can't be used."""

from bad.case import Case, small

CHECK = "hw check bad.yaml"


def bad(*changes):
    return {"bad.yaml": small(*changes)}


CASES = [
    Case(
        "no file",
        "hw check gone.yaml",
        {},
        """
        accsim: error: gone.yaml: no such file; give the path of a machine description (YAML)
    """,
    ),
    Case(
        "a folder",
        "hw check .",
        {},
        """
        accsim: error: .: is a directory; give the path of a machine description (YAML)
    """,
    ),
    Case(
        "an empty file",
        CHECK,
        {"bad.yaml": ""},
        """
        accsim: error: bad.yaml: the file is empty
    """,
    ),
    Case(
        "no map",
        CHECK,
        {"bad.yaml": "- 1\n- 2\n"},
        """
        accsim: error: bad.yaml:1:1: the file must be a section with the keys name, clock_mhz,
        array, types, buffers, dram, vector, engines, energy
    """,
    ),
    Case(
        "no YAML",
        CHECK,
        {"bad.yaml": "array: {rows: 8\n"},
        """
        accsim: error: bad.yaml:2:1: not accepted as YAML: end of map flow not found
    """,
    ),
    Case(
        "a tab",
        CHECK,
        bad("  rows: 8 ", "\trows: 8 "),
        """
        accsim: error: bad.yaml:10:6: not accepted as YAML: illegal map value
    """,
    ),
    Case(
        "bytes that are no text",
        CHECK,
        {"bad.yaml": b"\xff\xfe\x00\x01"},
        """
        accsim: error: bad.yaml:1:1: a control character or not UTF-8; save the file as plain UTF-8
        text
    """,
    ),
    Case(
        "a sweep's store in the place of a machine",
        CHECK,
        {"bad.yaml": b"SQLite format 3\0" + bytes(100)},
        """
        accsim: error: bad.yaml: not YAML, but a SQLite database; give a file of plain UTF-8 text
    """,
    ),
    Case(
        "a packed file in the place of a machine",
        CHECK,
        {"bad.yaml": b"\x1f\x8b\x08" + bytes(100)},
        """
        accsim: error: bad.yaml: not YAML, but a gzip file; give a file of plain UTF-8 text
    """,
    ),
    Case(
        "a misspelt key",
        CHECK,
        bad("rows: 8 ", "row: 8 "),
        """
        accsim: error: bad.yaml:9:1: missing key "rows" in array (whole number, 1..1024: processing
        elements along the reduction (k))
        accsim: error: bad.yaml:10:3: unknown key "row" in array; did you mean "rows"?
    """,
    ),
    Case(
        "a misspelt section",
        CHECK,
        bad("array:\n", "aray:\n"),
        """
        accsim: error: bad.yaml:5:1: missing key "array" in the file (a section with the keys
        template, rows, cols, fill_rows, dataflows (more with template: dot_product))
        accsim: error: bad.yaml:9:1: unknown key "aray" in the file; did you mean "array"?
    """,
    ),
    Case(
        "a key of another section",
        CHECK,
        bad("clock_mhz: 500 ", "clock_mhz: 500\nrows: 8 "),
        """
        accsim: error: bad.yaml:7:1: unknown key "rows" in the file; this key belongs at array.rows
    """,
    ),
    Case(
        "a key twice",
        CHECK,
        bad("  rows: 8 ", "  rows: 8\n  rows: 8 "),
        """
        accsim: error: bad.yaml:11:3: duplicate key "rows" in array; the first is on line 10
    """,
    ),
    Case(
        "a missing key",
        CHECK,
        bad("  cols: 8 ", "  #cols: 8 "),
        """
        accsim: error: bad.yaml:9:1: missing key "cols" in array (whole number, 1..1024: processing
        elements along output channels (n))
    """,
    ),
    Case(
        "a missing section",
        CHECK,
        {"bad.yaml": "name: x\n"},
        """
        accsim: error: bad.yaml:1:1: missing key "clock_mhz" in the file (number, 0.001..100000 MHz:
        clock of the whole machine)
        accsim: error: bad.yaml:1:1: missing key "array" in the file (a section with the keys
        template, rows, cols, fill_rows, dataflows (more with template: dot_product))
        accsim: error: bad.yaml:1:1: missing key "types" in the file (a section with the keys
        activation, weight, accumulator, weight_group, modes)
        accsim: error: bad.yaml:1:1: missing key "buffers" in the file (a section with the keys
        activation, weight, parameter, accumulator, output, shared)
        accsim: error: bad.yaml:1:1: missing key "dram" in the file (a section with the keys model,
        read_bytes_per_cycle, write_bytes_per_cycle, latency, bus, preset, channels, map)
        accsim: error: bad.yaml:1:1: missing key "vector" in the file (a section with the keys
        template, lanes, mac_lanes (more with template: units))
        accsim: error: bad.yaml:1:1: missing key "energy" in the file (a section with the keys
        technology, dram, mac_pj, vector_op_pj, activation_pj_per_byte, weight_pj_per_byte,
        parameter_pj_per_byte, accumulator_pj_per_byte, output_pj_per_byte, shared_pj_per_byte,
        dram_read_pj_per_byte, dram_write_pj_per_byte, static_pj_per_cycle, zeros,
        zero_saves)
    """,
    ),
    Case(
        "a text for a number",
        CHECK,
        bad("rows: 8 ", "rows: eight "),
        """
        accsim: error: bad.yaml:10:9: array.rows is "eight"; it must be a whole number (1..1024)
    """,
    ),
    Case(
        "a fraction for a whole number",
        CHECK,
        bad("rows: 8 ", "rows: 8.5 "),
        """
        accsim: error: bad.yaml:10:9: array.rows is "8.5"; it must be a whole number (1..1024)
    """,
    ),
    Case(
        "a number too small",
        CHECK,
        bad("rows: 8 ", "rows: 0 "),
        """
        accsim: error: bad.yaml:10:9: array.rows is 0, out of range; it must be 1..1024
    """,
    ),
    Case(
        "a negative number",
        CHECK,
        bad("latency: 20 ", "latency: -1 "),
        """
        accsim: error: bad.yaml:48:14: buffers.shared.latency is -1, out of range; it must be
        0..1000000 cycles
    """,
    ),
    Case(
        "a number too large",
        CHECK,
        bad("rows: 8 ", "rows: 99999999999999999999 "),
        """
        accsim: error: bad.yaml:10:9: array.rows is 99999999999999999999, out of range; it must be
        1..1024
    """,
    ),
    Case(
        "a number that is none",
        CHECK,
        bad("mac_pj: 0.3 ", "mac_pj: .nan "),
        """
        accsim: error: bad.yaml:77:11: energy.mac_pj is ".nan"; it must be a number (0..1000000000)
    """,
    ),
    Case(
        "an infinite number",
        CHECK,
        bad("mac_pj: 0.3 ", "mac_pj: .inf "),
        """
        accsim: error: bad.yaml:77:11: energy.mac_pj is ".inf"; it must be a number (0..1000000000)
    """,
    ),
    Case(
        "an unknown word",
        CHECK,
        bad("activation: int8", "activation: int9"),
        """
        accsim: error: bad.yaml:17:15: types.activation is "int9"; did you mean "int8"? valid: int8,
        int16, float16, bfloat16, float32
    """,
    ),
    Case(
        "an unknown dataflow",
        CHECK,
        bad("[weight_stationary, ", "[weights_stationary, "),
        """
        accsim: error: bad.yaml:13:3: array.dataflows is "weights_stationary"; did you mean
        "weight_stationary"? valid: weight_stationary, input_stationary, output_stationary
    """,
    ),
    Case(
        "a dataflow twice",
        CHECK,
        bad("[weight_stationary, input_stationary]", "[weight_stationary, weight_stationary]"),
        """
        accsim: error: bad.yaml:13:3: array.dataflows names weight_stationary twice; remove one
    """,
    ),
    Case(
        "no dataflow",
        CHECK,
        bad("[weight_stationary, input_stationary]", "[]"),
        """
        accsim: error: bad.yaml:13:3: array.dataflows is empty; name at least weight_stationary
    """,
    ),
    Case(
        "a list for a number",
        CHECK,
        bad("rows: 8 ", "rows: [8] "),
        """
        accsim: error: bad.yaml:10:3: array.rows is a list; it must be a whole number (1..1024)
    """,
    ),
    Case(
        "a map for a number",
        CHECK,
        bad("rows: 8 ", "rows: {a: 8} "),
        """
        accsim: error: bad.yaml:10:3: array.rows is a section with keys of its own; it must be a
        whole number (1..1024)
    """,
    ),
    Case(
        "a number for a section",
        CHECK,
        bad("array:\n  rows: 8", "array: 3\nrest:\n  rows: 8"),
        """
        accsim: error: bad.yaml:9:1: array must be a section with the keys template, rows, cols,
        fill_rows, dataflows (more with template: dot_product)
        accsim: error: bad.yaml:10:1: unknown key "rest" in the file; valid here: name, clock_mhz,
        array, types, buffers, dram, vector, engines, energy
    """,
    ),
    Case(
        "an anchor",
        CHECK,
        bad("rows: 8 ", "rows: &a 8 "),
        """
        accsim: error: bad.yaml:10:9: not accepted as YAML: anchors and aliases (& and *) are not
        accepted; write the value out
    """,
    ),
    Case(
        "types that don't go together",
        CHECK,
        bad("accumulator: int32", "accumulator: float32"),
        """
        accsim: error: bad.yaml:19:3: types.accumulator is float32 but types.activation is int8; use
        int32
    """,
    ),
    Case(
        "slots that don't divide",
        CHECK,
        bad("kib: 16 ", "kib: 1 ", "slots: 2", "slots: 7"),
        """
        accsim: error: bad.yaml:25:5: 1 KiB can't be cut into buffers.activation.slots = 7 equal
        slots; use 7 KiB
    """,
    ),
    Case(
        "several mistakes at once",
        CHECK,
        bad("rows: 8 ", "row: 8 ", "clock_mhz: 500", "clock_mhz: fast", "  slots: 2", "  slot: 2"),
        """
        accsim: error: bad.yaml:6:12: clock_mhz is "fast"; it must be a number (0.001..100000)
        accsim: error: bad.yaml:9:1: missing key "rows" in array (whole number, 1..1024: processing
        elements along the reduction (k))
        accsim: error: bad.yaml:10:3: unknown key "row" in array; did you mean "rows"?
        accsim: error: bad.yaml:24:3: missing key "slots" in buffers.activation (whole number,
        1..16: equal parts of the buffer; 1 = no overlap, 2 = double buffering)
        accsim: error: bad.yaml:26:5: unknown key "slot" in buffers.activation; did you mean
        "slots"?
    """,
    ),
    Case(
        "a shipped machine misspelt",
        "hw print 64x46",
        {},
        """
        accsim: error: 64x46: no such file; did you mean the shipped machine 64x64?
    """,
    ),
    Case(
        "a machine of a device that is none",
        CHECK,
        bad("model: ideal", "model: banked"),
        """
        accsim: error: bad.yaml:52:1: missing key "preset" in dram (word, DDR4-2400, LPDDR4-3200,
        HBM2: kind of DRAM; a channel has 64 bits (DDR4), 16 bits (LPDDR4) or 128 bits (HBM2))
        accsim: error: bad.yaml:52:1: missing key "channels" in dram (whole number, 1..128:
        channels, interleaved burst by burst)
        accsim: error: bad.yaml:52:1: missing key "map" in dram (word, bank_group_low,
        bank_group_high: place of the bank group's address bits: below the columns or above them)
        accsim: error: bad.yaml:54:3: dram.read_bytes_per_cycle is only for dram.model: ideal;
        remove it
        accsim: error: bad.yaml:55:3: dram.write_bytes_per_cycle is only for dram.model: ideal;
        remove it
        accsim: error: bad.yaml:56:3: dram.latency is only for dram.model: ideal; remove it
    """,
    ),
    Case(
        "a machine too large",
        CHECK,
        {"bad.yaml": "# x\n" * 300_000},
        """
        accsim: error: bad.yaml: larger than 1048576 bytes; this is no machine description
    """,
    ),
]
