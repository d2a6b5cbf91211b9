#!/usr/bin/python3
"""accsim serve as a browser, and as somebody else, would use it. Usage: serve_test.py ACCSIM."""

import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

from program import ACCSIM, ROOT, slowdown
from wire import INT64, graph, model, node, number, text, value

MACHINE = ROOT / "configs" / "64x64.yaml"
RESNET = ROOT / "models" / "resnet50_op17.onnx"
GPT2 = ROOT / "models" / "gpt2_small_op17.onnx"
SMALL = ROOT / "models" / "squeezenet1_1_op13.onnx"


class Server:
    """A running accsim serve; ends with the block, as on a terminal, with nothing to complain."""

    def __init__(self, *args, env=None, cwd=None):
        self.process = subprocess.Popen(
            [str(ACCSIM), "serve", *map(str, args)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
            cwd=cwd,
        )
        self.address = self.process.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.address)
        if not match:
            self.process.kill()
            raise AssertionError(self.address + self.process.communicate()[1])
        self.port, self.token = int(match[1]), match[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is not None:
            self.process.communicate()
            return
        self.process.send_signal(signal.SIGINT)
        try:
            _, complaints = self.process.communicate(timeout=20 * slowdown())
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        if self.process.returncode != 0 or complaints:
            raise AssertionError(f"it ended with {self.process.returncode}: {complaints}")

    def stall(self):
        """Asks for an answer that won't come: its process is stopped. That, and the connection."""
        if not self.answering():
            self.cost(model=0)
        (child,) = self.answering()
        os.kill(child, signal.SIGSTOP)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("POST", f"/{self.token}/api/cost", json.dumps({"model": 0}))
        time.sleep(0.2)
        return child, connection

    def end(self):
        """Ends it; its exit code, and what it said on standard error."""
        self.process.send_signal(signal.SIGINT)
        _, complaints = self.process.communicate(timeout=20 * slowdown())
        return self.process.returncode, complaints

    def ask(self, method, path, body=None, headers=None, token=None):
        """(status, headers, text) of a request below the token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        connection.request(method, f"/{token or self.token}/{path}", body, headers or {})
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, reply.headers, text

    def cost(self, **wanted):
        status, headers, text = self.ask("POST", "api/cost", wanted)
        return status, headers, json.loads(text)

    def timeline(self, **wanted):
        """The timeline of a machine, its slices with what they do by name; and how many parts."""
        layers, start, parts = [], 0, 0
        while start is not None:
            body = {"of": wanted, "from": start}
            status, _, text = self.ask("POST", "api/timeline", body)
            if status != 200:
                raise AssertionError(text)
            part = json.loads(text)
            layers += named_layers(part["timeline"])
            start, parts = part["next"], parts + 1
        return layers, parts

    def answering(self):
        """Numbers of the processes that answer."""
        pid = self.process.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
        return [int(child) for child in children.read_text().split()]

    def processor_ms(self):
        """Processor time that the server has used, and what answers for it."""
        out = 0
        for pid in (self.process.pid, *self.answering()):
            words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            out += int(words[11]) + int(words[12])
        return out * 1000 / os.sysconf("SC_CLK_TCK")

    def raw(self, data):
        """The reply to bytes, until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(data)
            reply = b""
            while block := connection.recv(65536):
                reply += block
                head, end, body = reply.partition(b"\r\n\r\n")
                length = re.search(rb"Content-Length: (\d+)", head)
                if end and length and len(body) >= int(length[1]):
                    break
        return reply.decode()


def report(machine, *args):
    done = subprocess.run(
        [str(ACCSIM), "--hw", machine, *map(str, args), "-q", "--json", "-"],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def named_layers(timeline):
    """Its layers, with what a slice does in place of its index."""
    for layer in timeline["layers"]:
        for slices in layer["slices"].values():
            for one in slices:
                one[2] = timeline["commands"][one[2]]
    return timeline["layers"]


def page_data(file):
    """What a page carries."""
    text = re.search(r'<script[^>]* id="data"[^>]*>(.*?)</script>', file.read_text(), re.S)[1]
    return json.loads(text)


def changes(fields):
    """30 machines that differ from the base: in one numeric field, twice as much (half where more
    would break a rule), or in the array's two."""
    out = []
    for field in fields:
        path, value = field["path"], field["value"]
        if field["min"] is None or field["only"] or not value or path.startswith("array."):
            continue
        out.append({path: value / 2 if path.startswith("dram.") else value * 2})
    return out[:29] + [{"array.rows": 32, "array.cols": 32}]


class Access(unittest.TestCase):
    def setUp(self):
        self.server = Server("--hw", MACHINE, SMALL)
        self.addCleanup(self.server.__exit__)

    def test_every_request_needs_the_token(self):
        for token in ("0" * 32, self.server.token[:-1], self.server.token + "0", "x", "%"):
            for method, path in (("GET", ""), ("POST", "api/cost"), ("GET", "api/fields")):
                self.assertEqual(self.server.ask(method, path, "{}", token=token)[0], 403)
        self.assertIn("403", self.server.raw(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
        self.assertEqual(self.server.ask("GET", "api/fields")[0], 200)

    def test_host_and_origin_must_be_the_server(self):
        port = self.server.port
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}"):
            self.assertEqual(self.server.ask("GET", "", headers={"Host": host})[0], 403, host)
        self.assertEqual(self.server.ask("GET", "", headers={"Host": f"localhost:{port}"})[0], 200)
        for origin in ("http://evil.example", "null", "", f"https://127.0.0.1:{port}"):
            status, _, _ = self.server.ask("POST", "api/cost", {"model": 0}, {"Origin": origin})
            self.assertEqual(status, 403, origin)
        origin = {"Origin": f"http://127.0.0.1:{port}"}
        self.assertEqual(self.server.ask("POST", "api/cost", {"model": 0}, origin)[0], 200)

    def test_only_loopback_listens(self):
        lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()
        mine = [line.split()[1] for line in lines if f":{self.server.port:04X} " in line]
        self.assertIn(f"0100007F:{self.server.port:04X}", mine)
        self.assertNotIn(f"00000000:{self.server.port:04X}", mine)

    def test_paths_are_never_files(self):
        for path in (
            "../../../../etc/passwd",
            "..%2f..%2fetc/passwd",
            "/etc/passwd",
            "api/../api/fields",
            "api/fields/",
            "configs/64x64.yaml",
        ):
            self.assertEqual(self.server.ask("GET", path)[0], 404, path)
        for method, path in (("POST", ""), ("GET", "api/cost"), ("DELETE", "api/models")):
            self.assertEqual(self.server.ask(method, path, "{}")[0], 405)

    def test_replies_stay_with_the_page(self):
        _, headers, text = self.server.ask("GET", "")
        self.assertEqual(headers["Cache-Control"], "no-store")
        self.assertEqual(headers["Referrer-Policy"], "no-referrer")
        self.assertNotIn("Access-Control-Allow-Origin", headers)
        self.assertNotIn(self.server.token, text)

    def test_what_is_not_http_is_refused(self):
        host = f"Host: 127.0.0.1:{self.server.port}\r\n".encode()
        good = f"POST /{self.server.token}/api/cost HTTP/1.1\r\n".encode() + host
        for data, status in [
            (b"\x16\x03\x01\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\n\r\n", 400),
            (b"GET / HTTP/2.0\r\n" + host + b"\r\n", 505),
            (good + host + b"Content-Length: 2\r\n\r\n{}", 400),
            (good + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
            (good + b"Content-Length: -1\r\n\r\n", 400),
            (good + b"Content-Length: 9x\r\n\r\n", 400),
            (good + b"\r\n", 411),
            (good + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 411),
            (good + b"X: " + b"y" * 20000 + b"\r\n\r\n", 431),
            (good + b" folded: x\r\n\r\n", 400),
        ]:
            self.assertTrue(
                self.server.raw(data).startswith(f"HTTP/1.1 {status} "), (data[:80], status)
            )
        self.assertEqual(self.server.ask("GET", "api/fields")[0], 200)  # it is still there

    def test_two_requests_on_one_connection(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        for _ in range(3):
            connection.request("GET", f"/{self.server.token}/api/models")
            reply = connection.getresponse()
            self.assertEqual(reply.status, 200)
            self.assertEqual(len(json.loads(reply.read())["models"]), 1)
        connection.close()


class Costing(unittest.TestCase):
    def test_30_changed_fields_cost_what_the_command_says(self):
        with Server("--hw", MACHINE, SMALL) as server, tempfile.TemporaryDirectory() as folder:
            fields = json.loads(server.ask("GET", "api/fields")[2])["fields"]
            edits = changes(fields)
            self.assertEqual(len(edits), 30)
            for edit in edits:
                status, _, data = server.cost(model=0, machine=edit)
                self.assertEqual(status, 200, (edit, data))
                self.assertEqual(data["kind"], "report")
                file = pathlib.Path(folder, "machine.yaml")
                file.write_text(data["machine_yaml"])
                self.assertEqual(data["report"]["totals"], report(file, SMALL)["totals"], edit)

    def test_the_command_makes_the_same_report(self):
        dynamic = ROOT / "models" / "mobilenet_v2_dynbatch_op17.onnx"
        asked = ("--bind", "batch=3", "--dataflow", "is", "--objective", "energy")
        with Server("--hw", MACHINE, dynamic, SMALL, *asked) as server:
            page = server.ask("GET", "")[2]
            self.assertIn('"objective":"energy"', page)
            self.assertIn('"effort":"search"', page)
            for wanted in ({}, {"objective": "traffic", "effort": "rule"}):
                data = server.cost(model=0, **wanted)[2]
                words = shlex.split(data["command"])
                self.assertEqual(words[:3], ["accsim", "--hw", "machine.yaml"])
                with tempfile.TemporaryDirectory() as folder:
                    machine = pathlib.Path(folder, "machine.yaml")
                    machine.write_text(data["machine_yaml"])
                    again = report(machine, *words[3:])
                self.assertEqual(data["report"]["totals"], again["totals"], words)
            name = "a%20$(touch%20P);%20b.onnx"
            server.ask("POST", "api/models", SMALL.read_bytes(), {"X-Accsim-Name": name})
            quoted = shlex.split(server.cost(model=2)[2]["command"])
            self.assertEqual(quoted[3], "a $(touch P); b.onnx")

    def test_does_a_dropped_model_get_the_sizes_of_the_command_line(self):
        dynamic = ROOT / "models" / "bert_base_dyn_op17.onnx"
        name = {"X-Accsim-Name": "bert.onnx"}
        with Server("--hw", MACHINE) as server:
            status, _, text = server.ask("POST", "api/models", dynamic.read_bytes(), name)
            self.assertEqual(status, 422)
            (said,) = json.loads(text)["errors"]
            self.assertIn("bert.onnx: nobody gave sequence of input", said["message"])
        with Server("--hw", MACHINE, "--bind", "*=16") as server:
            status, _, text = server.ask("POST", "api/models", dynamic.read_bytes(), name)
            self.assertEqual(status, 200, text)
            command = server.cost(model=0)[2]["command"]
            self.assertIn(" --bind '*=16'", command)

    def test_resnet50_takes_milliseconds(self):
        with Server("--hw", MACHINE, RESNET) as server:
            fields = json.loads(server.ask("GET", "api/fields")[2])["fields"]
            times, begin = [], server.processor_ms()
            for edit in changes(fields):
                status, headers, _ = server.cost(model=0, machine=edit)
                self.assertEqual(status, 200, edit)
                times.append(float(headers["Server-Timing"].partition("dur=")[2]))
            each = (server.processor_ms() - begin) / len(times)
        times.sort()
        print(
            f"ResNet-50: {len(times)} machines, median {times[len(times) // 2]:.1f} ms, slowest "
            f"{times[-1]:.1f} ms, {each:.1f} ms of the processor each",
            file=sys.stderr,
        )
        # Processor time, sending the reply included: the clock says what else the computer does.
        self.assertLess(each, 50 * slowdown())

    def test_the_timeline_is_that_of_the_report(self):
        with Server("--hw", MACHINE, SMALL) as server, tempfile.TemporaryDirectory() as folder:
            for edit in ({}, {"array.rows": 32}):
                data = server.cost(model=0, machine=edit)[2]
                layers, _ = server.timeline(model=0, machine=edit)
                machine, page = pathlib.Path(folder, "m.yaml"), pathlib.Path(folder, "p.html")
                machine.write_text(data["machine_yaml"])
                command = [str(ACCSIM), "--hw", machine, SMALL, "-q", "--html", page]
                subprocess.run(command, check=True)
                self.assertEqual(layers, named_layers(page_data(page)["timeline"]))
                total = data["report"]["totals"]["cycles"]
                self.assertEqual(sum(layer["cycles"] for layer in layers), total)

    def test_changes_come_in_between_the_parts_of_a_timeline(self):
        with Server("--hw", MACHINE, GPT2) as server:
            begin = server.processor_ms()
            layers, parts = server.timeline(model=0)
            each = (server.processor_ms() - begin) / parts
            slices = sum(len(s) for layer in layers for s in layer["slices"].values())
            print(
                f"GPT-2: a timeline of {slices} slices in {parts} parts, {each:.0f} ms of the "
                "processor each",
                file=sys.stderr,
            )
            self.assertLess(each, 50)
            self.assertLess(slices, 16_000 + 4 * len(layers))
            # Another machine in between: the rest need not be asked for, but can be.
            self.assertEqual(server.cost(model=0, machine={"array.rows": 32})[0], 200)
            at = len(layers) // 2
            body = {"of": {"model": 0}, "from": layers[at]["layer"]}
            rest = json.loads(server.ask("POST", "api/timeline", body)[2])["timeline"]
            rest = named_layers(rest)
            self.assertEqual(rest, layers[at : at + len(rest)])

    def test_timelines_are_refused_as_every_request_is(self):
        with Server("--hw", MACHINE, SMALL) as server:
            of = {"of": {"model": 0}}
            evil = {"Origin": "http://evil.example"}
            self.assertEqual(server.ask("POST", "api/timeline", of, token="0" * 32)[0], 403)
            self.assertEqual(server.ask("POST", "api/timeline", of, {"Host": "x"})[0], 403)
            self.assertEqual(server.ask("POST", "api/timeline", of, evil)[0], 403)
            self.assertEqual(server.ask("GET", "api/timeline")[0], 405)
            self.assertEqual(server.ask("POST", "api/timeline", "x" * (1 << 21))[0], 413)
            self.assertEqual(server.ask("POST", "api/timeline", {"model": 0})[0], 400)
            wrong = {"of": {"model": 0, "machine": {"array.rows": 0}}}
            status, _, text = server.ask("POST", "api/timeline", wrong)
            self.assertEqual(status, 422)
            self.assertEqual(json.loads(text)["errors"][0]["field"], "array.rows")

    def test_errors_name_the_control_they_belong_to(self):
        with Server("--hw", MACHINE, SMALL) as server:
            for machine, path, said in [
                ({"array.rows": 5000}, "array.rows", "1..1024"),
                ({"array.rows": 2.5}, "array.rows", "whole number"),
                ({"array.rows": "many"}, "array.rows", "whole number"),
                ({"array.rows": None}, "array.rows", "neither a number nor a known word"),
                ({"types.weight": "float32"}, "types.weight", "make both integer or both"),
                ({"types.weight": "int8\nname: x"}, "types.weight", "neither a number nor"),
                ({"dram.read_bytes_per_cycle": 500}, "buffers.shared.read_bytes", "not be slower"),
                ({"array.dataflows": []}, "array.dataflows", ""),
                ({"dram.channels": 2}, "dram.channels", "only there when dram.model is banked"),
                ({"array.depth": 2}, None, "'array.depth' is no field"),
            ]:
                status, _, data = server.cost(model=0, machine=machine)
                self.assertEqual(status, 422, machine)
                error = data["errors"][0]
                if path is None:
                    self.assertNotIn("field", error)
                else:
                    self.assertTrue(error["field"].startswith(path), error)
                self.assertIn(said, error["message"])
            banked = {"dram.model": "banked", "dram.channels": 2, "buffers.shared.kib": 0}
            self.assertEqual(server.cost(model=0, machine=banked)[0], 200)

    def test_wrong_json_is_said(self):
        with Server("--hw", MACHINE, SMALL) as server:
            for body, status in [
                ("{", 400),
                ("[]", 400),
                ('"x"', 400),
                ("[" * 100000, 400),
                ('{"model": 1}', 422),
                ('{"model": -1}', 422),
                ('{"model": "a"}', 422),
                ('{"machine": 3}', 400),
                ('{"objective": "speed"}', 422),
                ('{"effort": null}', 422),
                ('{"models": 0}', 400),
            ]:
                got, _, text = server.ask("POST", "api/cost", body)
                self.assertEqual(got, status, body[:50])
                self.assertTrue(json.loads(text)["errors"][0]["message"])
            self.assertEqual(server.ask("POST", "api/compare", "{}")[0], 400)
            self.assertEqual(server.ask("GET", "api/points")[0], 404)

    def test_a_pinned_machine_is_compared(self):
        with Server("--hw", MACHINE, SMALL) as server:
            cycles = []
            for machine in ({}, {"array.rows": 32}):
                _, _, data = server.cost(model=0, machine=machine)
                cycles.append(data["report"]["totals"]["cycles"])
            sides = {"a": {"model": 0}, "b": {"model": 0, "machine": {"array.rows": 32}}}
            status, _, text = server.ask("POST", "api/compare", sides)
            self.assertEqual(status, 200)
            (one,) = json.loads(text)["comparisons"]
            self.assertEqual(one["difference"], cycles[1] - cycles[0])
            self.assertEqual(
                [(f["field"], f["a"], f["b"]) for f in one["changed"]], [("array.rows", "64", "32")]
            )
            sides["b"]["machine"]["array.rows"] = 0
            status, _, text = server.ask("POST", "api/compare", sides)
            self.assertEqual((status, json.loads(text)["errors"][0]["side"]), (422, "b"))


class Uploads(unittest.TestCase):
    def test_a_dropped_file_is_costed_and_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            env = {**os.environ, "TMPDIR": folder}
            with Server("--hw", MACHINE, env=env) as server:
                self.assertEqual(server.cost(model=0)[0], 422)  # none yet
                name = urllib.parse.quote("../../etc/a model.onnx")
                status, _, text = server.ask(
                    "POST", "api/models", SMALL.read_bytes(), {"X-Accsim-Name": name}
                )
                self.assertEqual(status, 200, text)
                model = json.loads(text)
                self.assertEqual((model["index"], model["name"]), (0, "a model.onnx"))
                _, _, data = server.cost(model=0)
                self.assertEqual(data["report"]["totals"], report(MACHINE, SMALL)["totals"])
                self.assertEqual(data["report"]["model"]["file"], "a model.onnx")
                status, _, text = server.ask("POST", "api/models", b"\x89PNG\r\n\x1a\n not a model")
                self.assertEqual(status, 422)
                self.assertNotIn(folder, text)
                self.assertEqual(os.listdir(folder), [])

    def test_a_file_where_the_server_runs_is_no_part_of_what_is_dropped(self):
        outside = text(1, "location") + text(2, "sizes.bin")
        sizes = number(1, 2) + number(2, INT64) + text(8, "s") + number(14, 1) + text(13, outside)
        reshape = node("Reshape", ["x", "s"], ["y"], "reshape")
        dropped = model(graph([reshape], [value("x", [4, 16])], [value("y")], [sizes]))
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sizes.bin").write_bytes(struct.pack("<2q", 8, 8))
            path = pathlib.Path(folder, "model.onnx")
            path.write_bytes(dropped)
            self.assertEqual(report(MACHINE, path)["layers"][0]["output_shape"], [8, 8])
            with Server("--hw", MACHINE, cwd=folder) as server:
                status, _, answer = server.ask("POST", "api/models", dropped)
                self.assertEqual(status, 422, answer)
                self.assertIn("reshape", json.loads(answer)["errors"][0]["message"])

    def test_too_much_is_refused_before_it_is_read(self):
        with Server("--hw", MACHINE, "--max-upload", 1) as server:
            status, _, text = server.ask("POST", "api/models", b"x" * (3 << 20))
            self.assertEqual(status, 413)
            self.assertIn("--max-upload", text)
            head = (
                f"POST /{server.token}/api/models HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                "Content-Length: 99999999999\r\n\r\n"
            )
            self.assertIn("413", server.raw(head.encode())[:20])
            self.assertEqual(server.ask("GET", "api/models")[0], 200)


class Store(unittest.TestCase):
    def test_points_come_as_they_are_stored(self):
        with tempfile.TemporaryDirectory() as folder:
            spec = pathlib.Path(folder, "spec.yaml")
            spec.write_text(
                f"base: {MACHINE}\nmodels: [{{file: {SMALL}}}]\neffort: rule\n"
                "axes: {rows: {field: array.rows, values: [16, 32, 64]}}\n"
            )
            store = pathlib.Path(folder, "store.sqlite")
            subprocess.run(
                [str(ACCSIM), "sweep", spec, "--store", store], check=True, capture_output=True
            )
            with Server("--hw", MACHINE, SMALL, "--store", store) as server:
                data = json.loads(server.ask("GET", "api/points")[2])
                self.assertEqual(len(data["points"]["cycles"]), 3)
                with sqlite3.connect(store) as database:
                    rows = database.execute("select cycles from points order by point").fetchall()
                database.close()
                self.assertEqual(data["points"]["cycles"], [r[0] for r in rows])
                again = json.loads(server.ask("GET", "api/points?stored=3")[2])
                self.assertEqual(again, {"stored": 3})

    def test_a_store_that_is_not_there_yet_is_waited_for(self):
        with tempfile.TemporaryDirectory() as folder:
            spec, store = pathlib.Path(folder, "spec.yaml"), pathlib.Path(folder, "new.sqlite")
            # Near enough to be taken for a slip where the store must be there.
            pathlib.Path(folder, "nev.sqlite").touch()
            spec.write_text(
                f"base: {MACHINE}\nmodels: [{{file: {SMALL}}}]\neffort: rule\n"
                "axes: {rows: {field: array.rows, values: [16, 32]}}\n"
            )
            with Server("--hw", MACHINE, SMALL, "--store", store) as server:
                self.assertEqual(server.process.stdout.readline(), "Ctrl-C ends it\n")
                told = f"waits for {store}: no such store yet\n"
                self.assertEqual(server.process.stdout.readline(), told)
                for begun in (False, True):  # a sweep begins with an empty file
                    if begun:
                        store.touch()
                    status, _, text = server.ask("GET", "api/points?stored=0")
                    self.assertEqual(status, 200)
                    self.assertEqual(json.loads(text)["stored"], 0)
                    self.assertIn(str(store), json.loads(text)["waiting"])
                command = [str(ACCSIM), "sweep", spec, "--store", store]
                subprocess.run(command, check=True, capture_output=True)
                data = json.loads(server.ask("GET", "api/points?stored=0")[2])
                self.assertEqual(data["sweep"]["stored"], 2)

    def test_a_store_that_is_none_is_said_at_once(self):
        done = subprocess.run(
            [str(ACCSIM), "serve", "--hw", str(MACHINE), "--store", str(MACHINE)],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout), (2, ""))


class Ending(unittest.TestCase):
    def test_what_ends_an_answer_is_said_and_ends_no_server(self):
        with Server(SMALL) as server:
            status, _, text = server.ask(
                "POST", "api/models", SMALL.read_bytes(), {"X-Accsim-Name": "again.onnx"}
            )
            self.assertEqual(status, 200, text)
            for ended_by in (signal.SIGKILL, signal.SIGSEGV):
                (child,) = server.answering()
                os.kill(child, signal.SIGSTOP)  # it is at work, and won't be done
                with concurrent.futures.ThreadPoolExecutor() as pool:
                    asked = pool.submit(server.cost, model=0)
                    time.sleep(0.2)
                    os.kill(child, ended_by)
                    if ended_by != signal.SIGKILL:  # which needs nobody to go on
                        os.kill(child, signal.SIGCONT)
                    status, _, reply = asked.result()
                self.assertEqual(status, 500)
                how = "by signal 9" if ended_by == signal.SIGKILL else "with exit code 70"
                self.assertIn(how, reply["errors"][0]["message"])
                # What was dropped on the page before is still there.
                status, _, reply = server.cost(model=1)
                self.assertEqual((status, reply["report"]["model"]["file"]), (200, "again.onnx"))
            _, complaints = server.end()
            self.assertIn("internal error", complaints)

    def test_an_answer_has_limits(self):
        with Server(SMALL, "--max-memory-mib", 64) as server:
            status, _, reply = server.cost(model=0)
            self.assertEqual(status, 200)
            dropped = b"\0" * (80 << 20)
            status, _, text = server.ask("POST", "api/models", dropped)
            self.assertEqual(status, 503, text)
            self.assertIn("not enough memory", text)
            self.assertEqual(server.cost(model=0)[0], 200)
        with Server(SMALL, "--max-seconds", 1) as server:
            self.assertEqual(server.cost(model=0)[0], 200)
            (child,) = server.answering()
            os.kill(child, signal.SIGSTOP)
            begin = time.monotonic()
            status, _, reply = server.cost(model=0)
            self.assertEqual(status, 503)
            self.assertIn("took more than 1 s", reply["errors"][0]["message"])
            self.assertLess(time.monotonic() - begin, 10 * slowdown())
            # A page whose report takes too long comes without it.
            self.assertEqual(server.cost(model=0)[0], 200)
            (child,) = server.answering()
            os.kill(child, signal.SIGSTOP)
            status, _, text = server.ask("GET", "")
            self.assertEqual(status, 200)
            self.assertIn('"report":null', text)

    def test_who_goes_away_cancels_what_was_asked(self):
        with Server(SMALL) as server:
            child, connection = server.stall()
            connection.close()
            self.assertEqual(server.cost(model=0)[0], 200)
            self.assertNotEqual(server.answering(), [child])

    def test_a_signal_ends_it_while_it_answers(self):
        for end in (signal.SIGINT, signal.SIGTERM):
            with Server(SMALL) as server:
                child, connection = server.stall()
                begin = time.monotonic()
                server.process.send_signal(end)
                self.assertEqual(server.process.wait(20 * slowdown()), 0)
                self.assertLess(time.monotonic() - begin, 2 * slowdown())
                self.assertFalse(pathlib.Path(f"/proc/{child}").exists())
                connection.close()

    def test_refused_connections_that_stay_open_keep_nobody_out(self):
        with Server() as server:
            begin = time.monotonic()
            kept = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
            for connection in kept:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: elsewhere\r\n\r\n")
            self.assertEqual(server.ask("GET", "api/models")[0], 200)
            self.assertLess(time.monotonic() - begin, 3 * slowdown())
            for connection in kept:
                connection.close()

    def test_a_closed_standard_output_is_said(self):
        done = subprocess.run(
            ["sh", "-c", 'exec "$0" serve >&-', str(ACCSIM)],
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("standard output", done.stderr)

    def test_ctrl_c_ends_it_cleanly_and_at_once(self):
        for what in (signal.SIGINT, signal.SIGTERM):
            with Server("--hw", MACHINE, SMALL) as server:
                # A browser that holds its connection must not keep it alive.
                idle = socket.create_connection(("127.0.0.1", server.port))
                server.ask("GET", "api/models")
                begin = time.monotonic()
                server.process.send_signal(what)
                self.assertEqual(server.process.wait(timeout=20), 0)
                self.assertLess(time.monotonic() - begin, 5)
                self.assertEqual(server.process.stderr.read(), "")
                idle.close()

    def test_a_taken_port_is_said(self):
        with Server("--hw", MACHINE) as server:
            done = subprocess.run(
                [str(ACCSIM), "serve", "--hw", str(MACHINE), "--port", str(server.port)],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"can't listen on 127.0.0.1:{server.port}", done.stderr)


if __name__ == "__main__":
    unittest.main()
