"""Are machines checked in Python as their files are?"""

import pathlib
import pickle
import tempfile
import unittest

import accsim
from support import ROOT, main, program


class MachineTest(unittest.TestCase):
    def setUp(self):
        self.hw = accsim.Machine.load("64x64")

    def test_are_all_shipped_machines_there(self):
        names = sorted(p.stem for p in (ROOT / "configs").glob("*.yaml"))
        self.assertEqual(accsim.Machine.shipped(), names)
        for name in names:
            hw = accsim.Machine.load(name)
            self.assertEqual(hw, accsim.Machine.load(ROOT / "configs" / f"{name}.yaml"))
            self.assertEqual(accsim.Machine.load(hw.to_dict()), hw)
            self.assertEqual(pickle.loads(pickle.dumps(hw)), hw)
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "m.yaml"
                path.write_text(hw.to_yaml())
                self.assertEqual(accsim.Machine.load(path), hw)
            _, printed, _ = program("hw", "print", ROOT / "configs" / f"{name}.yaml")
            self.assertEqual(hw.to_yaml(), printed)

    def test_are_all_known_machines_there(self):
        known = ROOT / "configs" / "known"
        names = sorted(p.stem for p in known.glob("*.yaml"))
        self.assertEqual(accsim.Machine.known(), names)
        for name in names:
            self.assertEqual(accsim.Machine.load(name), accsim.Machine.load(known / f"{name}.yaml"))

    def test_are_fields_attributes_and_items(self):
        self.assertEqual(self.hw.array.rows, 64)
        self.assertEqual(self.hw["array.rows"], 64)
        self.assertEqual(self.hw.buffers.weight.kib, self.hw["buffers.weight.kib"])
        self.assertEqual(self.hw.to_dict()["array"], self.hw.array.to_dict())
        self.assertIn("array", dir(self.hw))
        self.assertIn("rows", dir(self.hw.array))
        for wrong in ("array.rowz", "arr", "dram.channels"):
            with self.assertRaises(KeyError):
                self.hw[wrong]
        with self.assertRaises(AttributeError):
            self.hw.array.rowz  # noqa: B018  # it is the access that raises

    def test_does_replace_make_another_machine(self):
        other = self.hw.replace({"array.rows": 128, "dram.latency": 70, "name": "mine"})
        self.assertEqual((other.array.rows, other.dram.latency, other["name"]), (128, 70, "mine"))
        self.assertEqual(self.hw.array.rows, 64)
        self.assertNotEqual(other, self.hw)
        back = other.replace({"array.rows": 64, "dram.latency": 100, "name": "64x64"})
        self.assertEqual(back, self.hw)
        self.assertEqual(hash(back), hash(self.hw))

    def test_do_energies_follow_from_a_technology(self):
        fields = self.hw.to_dict()
        fields["energy"] = {"technology": "28nm", "dram": "lpddr4"}
        hw = accsim.Machine.load(fields)
        self.assertEqual(hw.energy.technology, "28nm")
        self.assertEqual(hw.energy.dram_read_pj_per_byte, 48)
        self.assertEqual(hw.to_dict()["energy"], fields["energy"])
        self.assertEqual(accsim.Machine.load(hw.to_dict()), hw)
        self.assertEqual(pickle.loads(pickle.dumps(hw)), hw)
        larger = hw.replace({"buffers.activation.kib": 4096})
        before = hw.energy.activation_pj_per_byte
        self.assertGreater(larger.energy.activation_pj_per_byte, before)
        finer = hw.replace({"energy.technology": "7nm", "energy.vector_op_pj": 3})
        self.assertLess(finer.energy.mac_pj, hw.energy.mac_pj)
        self.assertEqual(finer.energy.vector_op_pj, 3)

    def test_are_wrong_edits_refused_in_the_files_words(self):
        for edits, told in (
            ({"array.rowz": 1}, 'did you mean "array.rows"'),
            ({"dram.latency": -1}, "dram.latency is -1, out of range"),
            ({"array.rows": "many"}, "array.rows"),
            ({"array.rows": None}, "array.rows"),
            ({"types.activation": "int9"}, 'did you mean "int8"'),
            ({"dram.read_bytes_per_cycle": 200}, "must not be slower than DRAM"),
        ):
            with self.subTest(edits=edits):
                with self.assertRaises(accsim.Error) as caught:
                    self.hw.replace(edits)
                self.assertIn(told, str(caught.exception))
        with self.assertRaises(accsim.Error) as caught:
            self.hw.replace({"array.rowz": 1, "dram.latency": -1})
        self.assertEqual(len(caught.exception.causes), 2)

    def test_does_a_dict_say_all_that_is_wrong(self):
        fields = self.hw.to_dict()
        fields["clokc"] = 1
        del fields["dram"]["latency"]
        with self.assertRaises(accsim.Error) as caught:
            accsim.Machine.load(fields)
        told = str(caught.exception)
        self.assertIn('unknown key "clokc"', told)
        self.assertIn('missing key "latency"', told)

    def test_are_names_that_are_no_machine_refused_as_by_the_program(self):
        for name in ("64x65", "nosuchmachine", "no/such/machine.yaml"):
            _, _, errors = program("--hw", name, ROOT / "models" / "resnet18_op13.onnx")
            with self.assertRaises(accsim.Error) as caught:
                accsim.Machine.load(name)
            self.assertEqual(caught.exception.causes, errors)
        with self.assertRaises(TypeError):
            accsim.Machine.load(3)


if __name__ == "__main__":
    main()
