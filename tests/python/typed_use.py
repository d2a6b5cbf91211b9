"""The package as a typed program uses it: checked by mypy --strict and pyright, not run."""

import accsim


def cycles(path: str) -> int:
    hw = accsim.Machine.load("64x64")
    report: accsim.Report = accsim.cost(path, hw, bind={"batch": 8}, objective="energy")
    deep = accsim.Model.load(path, max_nodes=200_000, max_graph_mib=128, max_rank=80)
    whole = accsim.Model.load(path, key_blocks="off")
    limits: dict[str, int] = deep.limits
    print(accsim.cost(deep, hw, max_programs=5_000).total.cycles, limits)
    print(accsim.cost(whole, hw).total.cycles - accsim.cost(path, hw, key_blocks=64).total.cycles)
    total: int = report.total.cycles
    faster = accsim.cost(accsim.Model.load(path), hw.replace({"array.rows": 128}))
    waterfall = accsim.compare(report, faster).waterfall()
    rows: list[dict[str, object]] = [dict(row) for row in waterfall]
    names: list[str] = report.layers.columns
    units: dict[str, str] = report.layers.units
    store: accsim.Store = accsim.sweep(hw, axes={"array": [16, 32]}, models=[path])
    front: accsim.Table = store.pareto(["cycles", "area"])
    inspection: accsim.Inspection = accsim.inspect(path, max_nodes=200_000)
    latency: accsim.Latency = accsim.LatencyModel(hw, effort="rule").gemm(64, 64, 64)
    print(latency.cycles + 1)
    accsim.write_llmservingsim("perf", {"hidden_size": 64}, hw, tp=(1, 2), effort="rule")
    print(accsim.write_chakra(report, "net.0.et") + 1)
    try:
        accsim.verify(path, hw, layers=True, max_cycles=1000)
    except accsim.Error as error:
        causes: list[str] = error.causes
        print(causes, rows, names, units, len(front), inspection.macs)
    return total
