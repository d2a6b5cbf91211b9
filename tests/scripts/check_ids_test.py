#!/usr/bin/python3
"""Does scripts/check_ids find what it is there to find? Feeds it small trees."""

import sys
import unittest

sys.dont_write_bytecode = True

from planted import ROOT, PlantedTree, load_script  # noqa: E402

checker = load_script("check_ids")

GOOD = {
    "sim/base/id.h": "return values[static_cast<size_t>(Queue::load)];\n",
    "hw/config/memory.h": "class MemoryId : public Id<MemoryId, 2> {\n",
    "hw/program/commands.h": "class Queue : public Id<Queue, 6> {\n",
    "hw/timing/timing.h": "// static_cast<size_t>(queue)\n"
    'say("static_cast<size_t>(queue)");\nPerQueue<Timing> of;\n'
    "void f(Queue queue) { of[queue] = at[static_cast<size_t>(tensor)]; }\n"
    "enum class SyncKind {};\n",
    "sim/map/other.cpp": "void f(Entries queue) { g(static_cast<size_t>(queue)); }\n",
    "sim/map/notes.md": "static_cast<size_t>(Queue::load)\n",
}


class CheckIds(PlantedTree):
    GOOD, checker = GOOD, checker

    def test_are_lists_other_numbers_comments_and_texts_let_be(self):
        self.assertEqual(self.problems(), [])

    def test_is_a_cast_of_an_id_found_in_every_folder(self):
        for path in ("sim/a.cpp", "hw/a/a.h", "python/a.cpp", "tests/a.cpp", "bench/a.cpp"):
            self.refuses(
                {path: "\nx = all[static_cast<size_t>(hw::MemoryId::dram)];\n"},
                f"{path}:2",
                "casts an id",
                "sim/base/id.h",
            )

    def test_is_an_id_found_however_it_is_had(self):
        for code in (
            "int f(Queue q) { return static_cast<int>(q); }",
            "const hw::MemoryId& at = t.memory; x[static_cast<std::size_t>(at)];",
            "struct Mark { Queue queue; }; x = static_cast<uint8_t>(mark->queue);",
            "MemoryId memory_of(int i); x = static_cast<size_t>(p.memory_of(t));",
            "x = std::bit_cast<uint8_t>(Queue::post);",
        ):
            self.refuses({"sim/a.cpp": code}, "a.cpp:1", "casts an id")

    def test_are_arrays_by_id_and_enums_found(self):
        self.refuses({"sim/a.h": "std::array<int, hw::Queue::kCount> x;"}, "a.h:1", "counts an id")
        for code in ("enum class Memory : uint8_t { dram };", "enum Queue { load };"):
            self.refuses({"sim/a.h": code}, "a.h:1", "makes an enum of an id")

    def test_is_a_tree_without_ids_an_error(self):
        files = {"hw/config/memory.h": "\n", "hw/program/commands.h": "\n"}
        self.refuses(files, "no class is an Id")

    def test_has_the_tree_no_problem(self):
        problems, ids = checker.check(ROOT)
        self.assertEqual(problems, [])
        self.assertLessEqual({"MemoryId", "Queue"}, ids)


if __name__ == "__main__":
    unittest.main()
