"""Programs that use several GPUs: calls without a program, and ones by ctypes."""

import struct

import numpy as np
import pytest

from gpu_systems import small_system
from lockstep.frontend.cuda.calls import Allocation
from lockstep.gpus import systems
from lockstep.runtime import Simulator

N = 256
CAN, ENABLE, DISABLE = range(3)
INVALID_DEVICE, INVALID_HANDLE, ILLEGAL_ADDRESS = 101, 400, 700
UNSUPPORTED, ALREADY, NOT_ENABLED = 217, 704, 705

CALLS = """
def ok(status):
    assert status == 0, status
def device():
    found = c_int(-1)
    ok(rt.cudaGetDevice(byref(found)))
    return found.value
def malloc(size):
    found = c_void_p()
    ok(rt.cudaMalloc(byref(found), c_size_t(size)))
    return found.value
def can(one, other):
    found = c_int(-1)
    status = rt.cudaDeviceCanAccessPeer(byref(found), one, other)
    return found.value if status == 0 else -status
"""


@pytest.fixture(params=[False, True], ids=["functional", "timed"])
def simulator(request):
    made = Simulator(small_system(3), timed=request.param)
    yield made
    made.close()


@pytest.fixture
def client(connect, simulator):
    return connect(simulator=simulator)


def on(client, device):
    """The calls that follow are of a device."""
    client.send("SET_DEVICE", device=device)


def array(client, device, content):
    on(client, device)
    address = client.call("ALLOCATE", size=content.nbytes, kind=0)["address"]
    region = {"address": address, "pitch": content.nbytes, "width": content.nbytes, "rows": 1}
    client.call("WRITE", **region)
    client.simulator.home(address).memory.view(address, content.nbytes)[:] = content.view(np.uint8)
    client.send("WRITTEN", **region)
    return address


def read(client, address):
    size = 4 * N
    assert "status" not in client.call("READ", address=address, pitch=size, width=size, rows=1)
    return client.simulator.home(address).memory.view(address, size).view(np.float32).copy()


def copy(client, to, source, **stream):
    size = 4 * N
    return client.call("COPY", to=to, to_pitch=size, source=source, source_pitch=size, width=size,
                       rows=1, **stream)  # fmt: skip


def test_hello_tells_of_all_devices(client, simulator):
    told, count = client.device["data"], client.device["attributes"]
    assert client.device["devices"] == 3
    assert told[3 * (8 + 4 * count) :] == b"QV100 (lockstep)\0" * 3
    capacities = [struct.unpack_from("<Q", told, k * (8 + 4 * count))[0] for k in range(3)]
    assert capacities == [device.memory.capacity for device in simulator.devices]
    assert client.device["capacity"] == sum(capacities)


def test_memory_is_of_the_device_that_was_set(client):
    addresses = [array(client, k, np.full(N, k, np.float32)) for k in range(3)]
    for k, address in enumerate(addresses):
        assert client.call("POINTER", address=address + 5)["device"] == k
    free = [(on(client, k), client.call("MEMORY"))[1] for k in range(3)]
    assert all(memory["total"] - memory["free"] == 4 * N for memory in free)
    on(client, 0)
    client.call("FREE", address=addresses[2])
    on(client, 2)
    assert client.call("MEMORY")["free"] == free[2]["total"]


def test_a_copy_between_devices_is_one_whatever_was_set(client, simulator):
    source = array(client, 0, np.arange(N, dtype=np.float32))
    to = array(client, 1, np.zeros(N, np.float32))
    on(client, 2)
    copy(client, to, source)
    assert np.array_equal(read(client, to), np.arange(N))
    assert simulator.copies["between devices"].bytes == 4 * N
    if simulator.timed:
        (peer,) = simulator.partial_result().host.peers
        assert (peer.source, peer.to, peer.staged) == (0, 1, True)


def test_a_kernel_is_loaded_where_it_is_launched(client):
    arrays = [array(client, k, np.full(N, k, np.float32)) for k in range(3)]
    on(client, 0)
    kernel = client.kernel()
    for k, address in enumerate(arrays):
        on(client, k)
        assert client.launch(kernel, address, N, 0.5, grid_x=2) == {"data": b""}
    assert [read(client, address)[0] for address in arrays] == [0.5, 1.5, 2.5]


def test_variables_are_of_each_device(client):
    on(client, 0)
    module = client.module()
    places = []
    for k in range(2):
        on(client, k)
        places.append(client.call("FIND_VARIABLE", b"counter", module=module)["address"])
    assert [client.call("POINTER", address=place)["device"] for place in places] == [0, 1]


def test_managed_variables_are_of_all_devices(client):
    on(client, 1)
    module = client.module()
    ask = {"module": module, "managed": 1}
    place = client.call("FIND_VARIABLE", b"counter", **ask)["address"]
    on(client, 0)
    assert client.call("FIND_VARIABLE", b"counter", **ask)["address"] == place
    assert client.call("POINTER", address=place)["kind"] == Allocation.MANAGED
    kept = client.simulator.home(place).memory.view(place, 16).view(np.uint32)
    assert kept.tolist() == [5, 6, 7, 8]
    client.launch(client.kernel(), place, 4, 0.0, grid_x=1)
    assert "status" not in client.call("SYNCHRONIZE"), "kernels have access"


def test_a_kernel_needs_a_stream_of_its_device(client, simulator):
    on(client, 1)
    stream = client.call("CREATE_STREAM")["stream"]
    address = array(client, 0, np.zeros(N, np.float32))
    kernel = client.kernel()
    wrong = client.launch(kernel, address, N, 1.0, grid_x=2, stream=stream)
    assert wrong == {"status": INVALID_HANDLE}
    assert "on GPU 0 in a stream of GPU 1: call cudaSetDevice(1)" in simulator.problems[0]


def test_an_event_needs_a_stream_of_its_device(client, simulator):
    on(client, 1)
    stream, event = client.call("CREATE_STREAM")["stream"], client.call("CREATE_EVENT")["event"]
    assert "status" not in client.call("RECORD_EVENT", event=event, stream=stream)
    on(client, 0)
    assert client.call("RECORD_EVENT", event=event, stream=0) == {"status": INVALID_HANDLE}
    assert "an event of GPU 1 is recorded in a stream of GPU 0" in simulator.problems[0]
    other = client.call("CREATE_STREAM")["stream"]
    assert "status" not in client.call("WAIT_EVENT", event=event, stream=other)


def test_there_is_no_time_between_events_of_two_devices(client, simulator):
    events = []
    for k in range(2):
        on(client, k)
        events.append(client.call("CREATE_EVENT")["event"])
        client.call("RECORD_EVENT", event=events[k], stream=0)
    asked = client.call("ELAPSED", start=events[0], end=events[1])
    assert asked == {"status": INVALID_HANDLE}
    assert "between events of GPU 0 and GPU 1 is asked for" in simulator.problems[0]
    assert client.call("ELAPSED", start=events[1], end=events[1])["nanoseconds"] == 0


def test_a_kernel_has_no_access_to_others_until_it_is_given(client, simulator):
    address = array(client, 1, np.zeros(N, np.float32))
    on(client, 0)
    kernel = client.kernel()
    ask = {"device": 0, "peer": 1}
    assert client.call("PEER_ACCESS", **ask, action=CAN)["can"] == 1
    assert "status" not in client.call("PEER_ACCESS", **ask, action=ENABLE)
    client.launch(kernel, address, N, 2.0, grid_x=2)
    assert read(client, address)[7] == 2.0
    assert "status" not in client.call("PEER_ACCESS", **ask, action=DISABLE)
    client.launch(kernel, address, N, 2.0, grid_x=2)
    assert client.call("SYNCHRONIZE") == {"status": ILLEGAL_ADDRESS}
    whole = f"in an allocation of {4 * N} bytes at {address:#x} of another GPU, to which this one"
    assert f"{whole} was given no access" in simulator.problems[0]


@pytest.mark.parametrize("kind", [Allocation.MANAGED, Allocation.HOST])
def test_all_kernels_have_access_to_managed_memory_and_the_hosts(client, kind):
    on(client, 1)
    address = client.call("ALLOCATE", size=4 * N, kind=kind)["address"]
    client.simulator.home(address).memory.view(address, 4 * N)[:] = 0
    for k in range(3):
        on(client, k)
        client.launch(client.kernel(), address, N, 1.0, grid_x=2)
        client.call("SYNCHRONIZE")
    assert read(client, address)[N - 1] == 3.0
    client.call("FREE", address=address)
    array(client, 1, np.zeros(N, np.float32))  # in its place
    on(client, 0)
    client.launch(client.kernel(), address, N, 1.0, grid_x=2)
    assert client.call("SYNCHRONIZE") == {"status": ILLEGAL_ADDRESS}


@pytest.mark.parametrize(
    ("device", "peer", "action", "status"),
    [(0, 1, DISABLE, NOT_ENABLED), (0, 0, ENABLE, INVALID_DEVICE), (0, 3, CAN, INVALID_DEVICE),
     (3, 0, ENABLE, INVALID_DEVICE), (1 << 60, 0, CAN, INVALID_DEVICE), (0, 1, 3, 1)],
)  # fmt: skip
def test_wrong_peers(client, device, peer, action, status):
    asked = client.call("PEER_ACCESS", device=device, peer=peer, action=action)
    assert asked == {"status": status}


def test_access_is_given_once(client):
    ask = {"device": 0, "peer": 1, "action": ENABLE}
    client.call("PEER_ACCESS", **ask)
    assert client.call("PEER_ACCESS", **ask) == {"status": ALREADY}


def test_a_reset_frees_what_is_on_that_device(client, simulator):
    for k in range(2):
        array(client, k, np.zeros(N, np.float32))
    on(client, 1)
    client.call("RESET")
    used = [len(device.memory.allocations()) for device in simulator.devices]
    assert used == [1, 0, 0]


def test_a_program_without_links_between_all_of_them(run_python):
    simulator = Simulator(systems.system("DGX_1V"))
    outcome, out, _ = run_python(CALLS + """
count = c_int()
ok(rt.cudaGetDeviceCount(byref(count)))
print(count.value, [can(0, k) for k in range(9)], file=out)
print(rt.cudaDeviceEnablePeerAccess(7, 0), rt.cudaGetLastError(), rt.cudaSetDevice(8), device(),
      file=out)
""", simulator=simulator)  # fmt: skip
    simulator.close()
    assert outcome.code == 0
    assert out == f"8 [0, 1, 1, 1, 1, 0, 0, 0, -101]\n{UNSUPPORTED} {UNSUPPORTED} 101 0\n"


@pytest.mark.parametrize("library", ["libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"])
def test_the_runtimes_calls_about_devices(run_python, library):
    simulator = Simulator(small_system(3))
    outcome, out, _ = run_python(CALLS + """
memory = []
for k in range(3):
    ok(rt.cudaSetDevice(k))
    memory.append(malloc(1024))
    attributes = (c_int * 8)()
    ok(rt.cudaPointerGetAttributes(attributes, c_void_p(memory[k])))
    name = create_string_buffer(20)
    ok(rt.cudaDeviceGetPCIBusId(name, 20, k))
    back, stream, of = c_int(-1), c_void_p(), c_int(-1)
    ok(rt.cudaDeviceGetByPCIBusId(byref(back), name))
    ok(rt.cudaStreamCreate(byref(stream)))
    ok(rt.cudaStreamGetDevice(stream, byref(of)))
    bus = c_int(-1)
    ok(rt.cudaDeviceGetAttribute(byref(bus), 33, k))
    print(device(), attributes[1], name.value.decode(), bus.value, back.value, of.value, file=out)
values = (c_float * 256)(*range(256))
ok(rt.cudaMemcpy(c_void_p(memory[0]), values, c_size_t(1024), 1))
ok(rt.cudaDeviceEnablePeerAccess(0, 0))
print(rt.cudaDeviceEnablePeerAccess(0, 0), rt.cudaDeviceDisablePeerAccess(1), file=out)
for sender, to in ((0, 1), (1, 2)):
    ok(rt.cudaMemcpyPeer(c_void_p(memory[to]), to, c_void_p(memory[sender]), sender,
                         c_size_t(1024)))
print(rt.cudaMemcpyPeer(c_void_p(memory[0]), 3, c_void_p(memory[1]), 1, c_size_t(8)), file=out)
back = (c_float * 256)()
ok(rt.cudaMemcpy(back, c_void_p(memory[2]), c_size_t(1024), 4))
print(list(back) == list(values), file=out)
attribute = c_int(-1)
ok(rt.cudaDeviceGetP2PAttribute(byref(attribute), 2, 0, 1))
print(attribute.value, rt.cudaDeviceGetP2PAttribute(byref(attribute), 2, 1, 1), file=out)
import threading
seen = []
thread = threading.Thread(target=lambda: seen.append(device()))
thread.start(); thread.join()
print(seen, device(), file=out)
""", simulator=simulator, library=library)  # fmt: skip
    simulator.close()
    assert (outcome.code, simulator.problems[2:]) == (0, [])
    assert out.splitlines() == [
        "0 0 0000:00:00.0 0 0 0", "1 1 0000:01:00.0 1 1 1", "2 2 0000:02:00.0 2 2 2",
        f"{ALREADY} {NOT_ENABLED}", "101", "True", "1 101", "[0] 2",
    ]  # fmt: skip
    assert simulator.copies["between devices"].count == 2


def test_contexts_of_the_driver_choose_devices(run_python):
    simulator = Simulator(small_system(3))
    outcome, out, _ = run_python("""
def ok(status):
    assert status == 0, status
ok(cu.cuInit(0))
count, contexts = c_int(), [c_void_p() for _ in range(3)]
ok(cu.cuDeviceGetCount(byref(count)))
for k, context in enumerate(contexts):
    ok(cu.cuDevicePrimaryCtxRetain(byref(context), k))
memory, devices = [], []
for context in contexts:
    ok(cu.cuCtxSetCurrent(context))
    address, number = c_uint64(), c_int(-1)
    ok(cu.cuMemAlloc_v2(byref(address), c_size_t(64)))
    ok(cu.cuCtxGetDevice(byref(number)))
    memory.append(address.value); devices.append(number.value)
homes = []
for address in memory:
    home = c_int(-1)
    ok(cu.cuPointerGetAttribute(byref(home), 9, c_uint64(address)))
    homes.append(home.value)
can = c_int(-1)
ok(cu.cuDeviceCanAccessPeer(byref(can), 2, 0))
print(count.value, devices, homes, can.value, file=out)
print(cu.cuCtxEnablePeerAccess(contexts[0], 0), cu.cuCtxEnablePeerAccess(contexts[0], 0),
      cu.cuCtxDisablePeerAccess(contexts[0]), cu.cuCtxDisablePeerAccess(contexts[1]), file=out)
ok(cu.cuMemcpyPeer(c_uint64(memory[1]), contexts[1], c_uint64(memory[0]), contexts[0],
                   c_size_t(64)))
made, number = c_void_p(), c_int()
ok(cu.cuCtxCreate_v2(byref(made), 0, 1))
ok(cu.cuCtxGetDevice(byref(number)))
ok(cu.cuCtxPopCurrent_v2(None))
before = c_int()
ok(cu.cuCtxGetDevice(byref(before)))
print(number.value, before.value, cu.cuDeviceGet(byref(number), 3), file=out)
""", simulator=simulator)  # fmt: skip
    simulator.close()
    assert outcome.code == 0
    assert out.splitlines() == [
        "3 [0, 1, 2] [0, 1, 2] 1", f"0 {ALREADY} 0 {NOT_ENABLED}", "1 2 101",
    ]  # fmt: skip
    assert simulator.copies["between devices"].count == 1


def test_nodes_of_a_graph_run_on_the_gpu_of_their_stream(run_python):
    simulator = Simulator(small_system(2))
    outcome, out, _ = run_python(CALLS + f"""
ok(cu.cuInit(0))
module, add = c_void_p(), c_void_p()
ok(cu.cuModuleLoadData(byref(module), {run_python.ptx!r}.encode()))
ok(cu.cuModuleGetFunction(byref(add), module, b"add"))
places, streams, events = [], [], []
for k in range(2):
    ok(rt.cudaSetDevice(k))
    places.append(malloc(1024))
    ok(rt.cudaMemset(c_void_p(places[k]), 0, c_size_t(1024)))
    for call, of in ((rt.cudaStreamCreate, streams), (rt.cudaEventCreate, events)):
        of.append(c_void_p())
        ok(call(byref(of[k])))
def launch(k):  # no GPU has access to the memory of the other one
    ok(rt.cudaSetDevice(k))
    values = c_uint64(places[k]), c_uint(256), c_float(k + 1)
    pointers = (c_void_p * 3)(*map(addressof, values))
    ok(cu.cuLaunchKernel(add, 2, 1, 1, 128, 1, 1, 0, streams[k], pointers, None))
def follow(one, other):
    ok(rt.cudaEventRecord(events[one], streams[one]))
    ok(rt.cudaStreamWaitEvent(streams[other], events[one], 0))
ok(rt.cudaStreamBeginCapture(streams[0], 0))
follow(0, 1)
for k in (0, 1, 1):
    launch(k)
follow(1, 0)
graph, ready = c_void_p(), c_void_p()
ok(rt.cudaStreamEndCapture(streams[0], byref(graph)))
ok(rt.cudaGraphInstantiate(byref(ready), graph, c_ulonglong(0)))
for stream in (0, 1, 1):
    ok(rt.cudaGraphLaunch(ready, streams[stream]))
    ok(rt.cudaStreamSynchronize(streams[stream]))
print(device(), end=" ", file=out)
for place in places:
    back = (c_float * 256)()
    ok(rt.cudaMemcpy(back, c_void_p(place), c_size_t(1024), 4))
    print(back[7], end=" ", file=out)
""", simulator=simulator)  # fmt: skip
    simulator.close()
    assert (outcome.code, simulator.problems) == (0, [])
    assert out == "1 3.0 12.0 "
