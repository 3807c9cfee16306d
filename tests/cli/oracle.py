# SPDX-License-Identifier: Apache-2.0
# Copyright The nvbw-host authors
"""What a run in simulation must report, computed from a profile's numbers and
from docs/simulated-driver.md alone: nothing here was taken from the simulator.

A copy takes its cost and then its bytes. While it moves bytes it has, of every
resource that it crosses, its share by weight; the flow that is limited most
takes its rate first, the others share what it leaves. An engine takes so many
copies at a time, in the order in which they came; kernels have none to wait
for, but the cost of their start."""
import pathlib
import re

PROFILES = pathlib.Path(__file__).resolve().parents[2] / "configs" / "sim"
SNAPSHOT = 2048  # bytes that the measured stream copies to take stock
NEVER = float("inf")


# ---- Profiles -------------------------------------------------------------

def _strip(text):
    text = re.sub(r"#.*", "", text)
    return re.sub(r'"[^"]*"', lambda m: m.group(0).replace(";", ","), text)


def parse(text):
    """libconfig, as far as profiles use it: a dict, lists as lists."""
    tokens = re.findall(r'"[^"]*"|[A-Za-z_][\w.]*|[-\d.]+|[={}();,]',
                        _strip(text))
    at = 0

    def value():
        nonlocal at
        token = tokens[at]
        at += 1
        if token == "{":
            return group("}")
        if token == "(":
            items = []
            while tokens[at] != ")":
                if tokens[at] == ",":
                    at += 1
                    continue
                items.append(value())
            at += 1
            return items
        return token[1:-1] if token[0] == '"' else float(token)

    def group(end):
        nonlocal at
        found = {}
        while at < len(tokens) and tokens[at] != end:
            name = tokens[at]
            at += 2
            found[name] = value()
            if at < len(tokens) and tokens[at] in ";,":
                at += 1
        at += 1
        return found

    return group("")


def _update(into, more):
    for key, item in more.items():
        if isinstance(item, dict):
            _update(into.setdefault(key, {}), item)
        else:
            into[key] = item


class Profile:
    """A profile with its bases applied."""

    def __init__(self, name):
        chain = []
        while name:
            chain.insert(0, parse((PROFILES / f"{name}.cfg").read_text()))
            name = chain[0].get("base")
        self.host = {"nodes": 1}
        self.count = 0
        for part in chain:
            _update(self.host, part.get("host", {}))
            self.count = int(part.get("count", self.count))
        self.gpus = [{"node": 0, "rate": {}, "cost_us": {}, "load": {},
                      "pcie": {}, "nvlink": {}} for _ in range(self.count)]
        for part in chain:
            for gpu in self.gpus:
                _update(gpu, part.get("gpu", {}))
            for group in part.get("gpus", []):
                if group["index"] < self.count:
                    _update(self.gpus[int(group["index"])], group)

    def capacity(self, resource):
        kind, number, part = resource
        if kind == "memory":
            return self.gpus[int(number)].get("memory_rate", 0)
        if kind in ("pcie", "nvlink"):
            return self.gpus[int(number)][kind].get(part, 0)
        if kind == "uplink":
            return next((g["pcie"]["uplink_rate"] for g in self.gpus[::-1]
                         if g["pcie"].get("uplink") == number), 0)
        if kind == "host":
            return self.host.get(part, 0)
        return self.host.get("between_nodes", 0)

    def engines(self, gpu, slot):
        return self.gpus[gpu].get(f"engines_{slot}", 4 if slot == "peer" else 1)

    def _host_uses(self, gpu, down):
        node = self.gpus[gpu]["node"]
        at = (node + (1 if self.host.get("far") else 0)) % self.host["nodes"]
        weight = self.host.get("weight_down" if down else "weight_up", 1)
        uses = {("host", at, "read" if down else "write"): (1, 1),
                ("host", at, "total"): (1, weight)}
        if at != node:
            uses[("between", at, "out" if down else "in")] = (1, 1)
        return uses

    def _flow(self, gpu, kinds, slot, uses, by):
        """kinds: the classes that a flow is of, one for each way."""
        g = self.gpus[gpu]
        cost = max(g["cost_us"].get(kind, 0) for kind in kinds)
        if by == "sm":
            cost, slot = cost + g.get("kernel_us", 0), None
        return Flow(limit=sum(g["rate"][kind] for kind in kinds),
                    slot=(gpu, slot) if slot else None, cost=cost * 1e3,
                    uses=tuple(use for use in uses
                               if self.capacity(use[0]) > 0))

    def _load(self, gpu, kind):
        return self.gpus[gpu]["load"].get(kind, 1)

    def _uplink(self, gpu):
        return self.gpus[gpu]["pcie"].get("uplink", 0)

    def _is_redirected(self, a, b):
        """Copies from a GPU to the other that no switch passes on."""
        acs = any(self.gpus[g]["pcie"].get("acs") for g in (a, b))
        return self.host.get("iommu") == "translated" or (
            acs and self._uplink(a) == self._uplink(b) != 0)

    def host_flow(self, gpu, way, by="ce"):
        """Between a GPU and the host, by copy engine or by kernel; way: h2d,
        d2h, or both: one kernel that moves half of its bytes each way."""
        ways = ("h2d", "d2h") if way == "both" else (way,)
        suffix = "" if by == "ce" else "_sm"
        uses = {}
        for one in ways:
            crossed = self._host_uses(gpu, one == "h2d")
            crossed["pcie", gpu, "down" if one == "h2d" else "up"] = (1, 1)
            crossed["pcie", gpu, "duplex"] = (
                self._load(gpu, one + suffix), 1)
            crossed["uplink", self._uplink(gpu),
                    "down" if one == "h2d" else "up"] = (1, 1)
            for resource, (cost, weight) in crossed.items():
                uses.setdefault(resource, []).append((cost / len(ways), weight))
        # What both ways cross counts for their mean.
        claims = [(resource, sum(c for c, _ in both),
                   sum(c * w for c, w in both) / sum(c for c, _ in both))
                  for resource, both in uses.items()]
        return self._flow(gpu, [one + suffix for one in ways], way, claims, by)

    def peer_flow(self, actor, other, reads, by="ce"):
        """Of the actor's copy engine or kernel, from or to the other GPU."""
        kind = ("peer_read" if reads else "peer_write") + \
            ("" if by == "ce" else "_sm")
        src, dst = (other, actor) if reads else (actor, other)
        load = self._load(actor, kind)
        uses = [(("memory", src, ""), 1, 1), (("memory", dst, ""), 1, 1)]
        a, b = self.gpus[src], self.gpus[dst]
        nvlink = min(a["nvlink"].get("active", 0), b["nvlink"].get("active", 0))
        link, out, into = ("nvlink", "out", "in") if nvlink > 0 \
            else ("pcie", "up", "down")
        for gpu, way in ((src, out), (dst, into)):
            uses.append(((link, gpu, way), 1, 1))
            uses.append(((link, gpu, "duplex"), load, 1))
        redirected = nvlink == 0 and self._is_redirected(src, dst)
        if redirected:
            uses.append((("pcie", src, "redirect_rate"), 1, 1))
        if redirected or (
                nvlink == 0 and self._uplink(src) != self._uplink(dst)):
            uses.append((("uplink", self._uplink(src), "up"), 1, 1))
            uses.append((("uplink", self._uplink(dst), "down"), 1, 1))
        if nvlink == 0 and a["node"] != b["node"]:
            uses.append((("between", a["node"], "out"), 1, 1))
            uses.append((("between", b["node"], "in"), 1, 1))
        return self._flow(actor, [kind], "peer", uses, by)

    def local_flow(self, gpu, what):
        """Within a GPU's memory, which a copy crosses twice; what: local by
        copy engine, local_sm, read_sm or write_sm by kernel."""
        crossings = 2 if what.startswith("local") else 1
        return self._flow(gpu, [what], "local",
                          [(("memory", gpu, ""), crossings, 1)],
                          "ce" if what == "local" else "sm")

    def rates(self, flows):
        """{id of flow: bytes per nanosecond} of flows that move at once."""
        left = {}
        weight = {}
        for flow in flows:
            for resource, _, part in flow.uses:
                left[resource] = self.capacity(resource)
                weight[resource] = weight.get(resource, 0) + part
        open_flows = list(flows)
        found = {}
        while open_flows:
            most, flow = min(
                ((min([f.limit] + [max(left[r], 0) * w / weight[r] / c
                                   for r, c, w in f.uses]), f)
                 for f in open_flows), key=lambda pair: pair[0])
            open_flows.remove(flow)
            found[id(flow)] = most
            for resource, cost, part in flow.uses:
                left[resource] -= most * cost
                weight[resource] -= part
        return found


class Flow:
    def __init__(self, limit, slot, cost, uses):
        self.limit, self.slot, self.cost, self.uses = limit, slot, cost, uses

# ---- A sample in virtual time ---------------------------------------------

class _Stream:
    """A queue of copies, of which one is asked for at a time."""

    def __init__(self, flow, size, copies=NEVER):
        self.flow, self.size, self.copies = flow, size, copies
        self.cost = self.bytes = 0.0
        self.asked = None  # its turn for the engine
        self.moving = False
        self.done = 0
        self.end = None


class Sample:
    """Counted flows start together, each makes its copies one after another;
    background flows copy sizes of their own again and again. They begin first;
    when each has made a copy the first counted flow takes stock of them by a
    small copy to its GPU (hub_gpu), and again after its end. Where that and a
    background copy ask for an engine in the same moment, either may be first:
    stock_first. Times in nanoseconds."""

    def __init__(self, profile, counted, background, size, copies,
                 hub_gpu=0, stock_first=True, sizes=()):
        self.profile, self.size = profile, size
        self.counted = [_Stream(f, size, copies) for f in counted]
        self.background = [_Stream(*pair) for pair in zip(background, sizes)]
        self.stock = profile.host_flow(hub_gpu, "h2d")
        self.stock_first = stock_first
        self.now, self.turn = 0.0, 0
        self.active, self.late, self.moved = [], [], []
        self.users, self.shares = {}, {}
        self._ask(self.background)
        if background:
            self._go(lambda: all(s.done for s in self.background))
            self._take_stock()
        self.start = self.now
        self._ask(self.counted)
        self._go(lambda: all(s.end is not None for s in self.counted))
        self.end = self.now
        if background:
            self._take_stock()
        self.stocked = self.now

    def _ask(self, streams):
        for stream in streams:
            self.turn += 1
            stream.asked = self.turn
            stream.cost, stream.bytes = stream.flow.cost, float(stream.size)
            self.active.append(stream)

    def _launch(self):
        """Engines go to those that asked first."""
        for stream in sorted((s for s in self.active if not s.moving),
                             key=lambda s: s.asked):
            slot = stream.flow.slot
            used = self.users.get(slot, 0)
            if slot is None or used < self.profile.engines(*slot):
                self.users[slot] = used + 1
                stream.moving = True

    def _rates(self, streams):
        key = frozenset(id(s.flow) for s in streams)
        if key not in self.shares:
            self.shares[key] = self.profile.rates([s.flow for s in streams])
        return self.shares[key]

    def _pass(self):
        """To the next moment at which something ends; the copies that do."""
        self._launch()
        going = [s for s in self.active if s.moving]
        rates = self._rates([s for s in going if s.cost <= 0])
        need = {s: s.cost if s.cost > 0 else s.bytes / rates[id(s.flow)]
                for s in going}
        step = min(need.values())
        self.now += step
        ended = []
        for stream in going:
            over = need[stream] - step < 1e-3
            if stream.cost > 0:
                stream.cost = 0.0 if over else stream.cost - step
            elif over:
                ended.append(stream)
            else:
                stream.bytes -= step * rates[id(stream.flow)]
        for stream in ended:
            self.users[stream.flow.slot] -= 1
            self.active.remove(stream)
            stream.moving = False
            stream.done += 1
        return ended

    def _go(self, is_over):
        while True:
            self._ask(self.late)
            self.late = []
            for stream in self._pass():
                if stream.done < stream.copies:
                    self.late.append(stream)
                else:
                    stream.end = self.now
            if is_over():
                return

    def _take_stock(self):
        stock = _Stream(self.stock, SNAPSHOT, 1)
        if self.stock_first:
            self._ask([stock])
        self._ask(self.late)
        self.late = []
        if not self.stock_first:
            self._ask([stock])
        self._go(lambda: stock.done)
        self.moved.append(sum(s.done * s.size for s in self.background))

    def seconds(self):
        return (self.end - self.start) * 1e-9

    def bandwidth(self, which=0):
        """Bytes/s of one counted flow by its own start and end."""
        stream = self.counted[which]
        return stream.copies * self.size / (stream.end - self.start) * 1e9

    def total(self):
        """Of all counted flows, and of the background at the pace that it has
        between the two times of taking stock."""
        amount = sum(s.copies for s in self.counted) * self.size
        figure = amount / self.seconds()
        if self.background:
            moved = self.moved[1] - self.moved[0]
            figure += moved / (self.stocked - self.start) * 1e9
        return figure
