// Lets a test drive a client of the official TypeScript SDK: the first line on stdin says whom to connect to and how,
// each further line is a call; each gets one line on stdout, a result or an error.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { join } from 'node:path';

const require = createRequire(join(process.argv[2], 'package.json'));
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const reply = (value) => new Promise((done) => process.stdout.write(JSON.stringify(value) + '\n', done));
const failure = (e) => ({ error: { name: e.name, code: e.code ?? null, message: String(e.message), cause: e.cause ? String(e.cause) : undefined } });
const authorization = (key) => (key ? { Authorization: `Bearer ${key}` } : {});
const info = { name: 'mneme-test', version: '1' };

// Version 1 of the SDK always asks for its latest revision; an older client of it asks for an older one.
function asking(transport, revision) {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (message.method === 'initialize') message = { ...message, params: { ...message.params, protocolVersion: revision } };
    return send(message, options);
  };
  return transport;
}

async function connect({ sdk, url, key, command, env, revision }) {
  let client, transport, negotiated;
  if (sdk === 'v1') {
    const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
    client = new Client(info);
    transport = url
      ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: authorization(key) } })
      : new StdioClientTransport({ command: command[0], args: command.slice(1), env, stderr: 'inherit' });
    const agreed = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = (v) => { negotiated = v; agreed?.(v); };
    asking(transport, revision);
  } else {
    const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
    const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
    client = new Client(info, revision < '2026' ? { supportedProtocolVersions: [revision] } : { versionNegotiation: { mode: { pin: revision } } });
    transport = url
      ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: authorization(key) } })
      : new StdioClientTransport({ command: command[0], args: command.slice(1), env, stderr: 'inherit' });
  }
  await client.connect(transport);
  return { client, revision: client.getNegotiatedProtocolVersion?.() ?? negotiated };
}

let connected;
try {
  connected = await connect(JSON.parse((await lines.next()).value));
  await reply({ result: { revision: connected.revision, server: connected.client.getServerVersion() } });
} catch (e) {
  await reply(failure(e));
  process.exit(0);
}
for await (const line of lines) {
  const { method, params } = JSON.parse(line);
  try {
    // listTools also loads the output schemas that callTool checks answers against.
    await reply({ result: method === 'tools/list' ? await connected.client.listTools() : await connected.client.callTool(params) });
  } catch (e) {
    await reply(failure(e));
  }
}
await connected.client.close();
