// Asks Perfetto's trace processor: node trace_processor.mjs FOLDER TRACE, a JSON list of SQL on
// standard input; prints a list of tables, each a list of rows by column.
//
// FOLDER has the engine of Perfetto's own page (trace_processor.wasm, engine_bundle.node.js, engine.mjs),
// which is made for a worker of a browser. Here the scope of such a worker is imitated.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import vm from "node:vm";

const [folder, trace] = process.argv.slice(2);
const { Module } = WebAssembly, MEMORY_SECTION = 5;
console.log = console.warn = (...words) => console.error(...words); // standard output is the answer

Object.defineProperty(globalThis, "self", { value: globalThis, configurable: true, writable: true });
globalThis.WorkerGlobalScope = class {};
globalThis.location = { href: pathToFileURL(join(folder, "engine_bundle.js")).href };
globalThis.XMLHttpRequest = class {
  open(method, url) { this.url = url; }
  send() {
    const path = this.url.startsWith("file:") ? fileURLToPath(this.url) : join(folder, this.url);
    const bytes = readFileSync(path);
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  }
};
if (!existsSync(join(folder, "trace_processor_memory64.wasm"))) {
  // the engine asks for 64-bit memories with a module that has only one, where Node.js has them
  WebAssembly.Module = class extends Module {
    constructor(bytes) {
      if (bytes[8] === MEMORY_SECTION) throw new WebAssembly.CompileError("no 64-bit memories");
      super(bytes);
    }
  };
}

const { EngineBase } = await import(pathToFileURL(join(folder, "engine.mjs")).href);

class Engine extends EngineBase {
  mode = "WASM";
  id = "test";
  constructor(port) {
    super();
    this.port = port;
    port.onmessage = (message) => this.onRpcResponseBytes(message.data);
  }
  rpcSendRequestBytes(bytes) { this.port.postMessage(bytes); }
}

vm.runInThisContext(readFileSync(join(folder, "engine_bundle.node.js"), "utf8"));
const { port1, port2 } = new MessageChannel();
globalThis.onmessage({ data: port1 });
const engine = new Engine(port2);
await engine.parse(new Uint8Array(readFileSync(trace)));
await engine.notifyEof();
const tables = [];
for (const query of JSON.parse(readFileSync(0, "utf8"))) {
  const result = await engine.query(query);
  const rows = [];
  for (const row = result.iter({}); row.valid(); row.next())
    rows.push(result.columns().map((name) => { const x = row.get(name); return typeof x === "bigint" ? Number(x) : x; }));
  tables.push(rows);
}
process.stdout.write(JSON.stringify(tables), () => process.exit(0));
