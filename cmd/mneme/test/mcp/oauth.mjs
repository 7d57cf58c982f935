// Connects a client of the official TypeScript SDK by OAuth, as its documentation shows it: node oauth.mjs FOLDER OPTIONS.
// The person in front of the browser is played by fetch. Prints what happened as one line of JSON.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.argv[2], 'package.json'));
const { sdk, url, key, documented } = JSON.parse(process.argv[3]);
const { Client, StreamableHTTPClientTransport, UnauthorizedError } = sdk === 'v1'
  ? { ...require('@modelcontextprotocol/sdk/client/index.js'), ...require('@modelcontextprotocol/sdk/client/streamableHttp.js'), ...require('@modelcontextprotocol/sdk/client/auth.js') }
  : require('@modelcontextprotocol/client');

const redirect = 'http://127.0.0.1:45678/callback'; // nobody listens there: the answer is read off the redirect
const metadata = { client_name: 'Official client', redirect_uris: [redirect], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' };
let id;
if (documented) {
  const host = createServer((_, answer) => answer.setHeader('Content-Type', 'application/json').end(JSON.stringify({ ...metadata, client_id: id })));
  await new Promise((done) => host.listen(0, '127.0.0.1', done));
  host.unref();
  id = `http://127.0.0.1:${host.address().port}/client.json`;
}
let page, registered, tokens, verifier;
const provider = {
  redirectUrl: redirect,
  clientMetadata: metadata,
  state: () => 'a state',
  clientInformation: () => (documented ? { client_id: id } : registered),
  saveClientInformation: (c) => { registered = c; },
  tokens: () => tokens,
  saveTokens: (t) => { tokens = t; },
  redirectToAuthorization: (u) => { page = u; },
  saveCodeVerifier: (v) => { verifier = v; },
  codeVerifier: () => verifier,
};
const transport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });

const first = transport();
try {
  await new Client({ name: 'mneme-test', version: '1' }).connect(first);
  throw new Error('connected without a token');
} catch (e) {
  if (!(e instanceof UnauthorizedError)) throw e;
}
const shown = await fetch(page);
const html = await shown.text();
const decided = await fetch(page.origin + page.pathname, {
  method: 'POST',
  redirect: 'manual',
  headers: { Cookie: shown.headers.get('set-cookie').split(';')[0] },
  body: new URLSearchParams({ request: html.match(/name="request" value="([^"]+)"/)[1], key, decision: 'allow' }),
});
const back = new URL(decided.headers.get('location'));
if (sdk === 'v1') await first.finishAuth(back.searchParams.get('code'));
else await first.finishAuth(back.searchParams);

const client = new Client({ name: 'mneme-test', version: '1' });
await client.connect(transport());
const saved = await client.callTool({ name: 'save', arguments: { namespace: 'notes', text: 'The lease ends in March. Žluťoučký kůň 漢字.' } });
const old = tokens;
tokens = { ...tokens, access_token: 'mnat_gone' }; // as after its end
const fetched = await client.callTool({ name: 'fetch', arguments: { id: saved.structuredContent.id } });
const rest = await fetch(new URL('/namespaces', url), { headers: { Authorization: `Bearer ${tokens.access_token}` } });
console.log(JSON.stringify({
  state: back.searchParams.get('state'), iss: back.searchParams.get('iss'), text: fetched.structuredContent.text, rest: rest.status,
  refreshed: tokens.refresh_token !== old.refresh_token, scope: old.scope,
}));
await client.close();
process.exit(0);
