// Signs cards with @a2a-js/sdk 1.x, and verifies those that others have signed.
//   node sign.mjs DIR OUT N      writes OUT/jwks.json, and N random cards that are signed, OUT/0.json ...
//   node sign.mjs DIR verify JWKS FILE...   ends with 1 if the SDK does not accept one
// DIR: where package.json is installed
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [dir, out, ...rest] = process.argv.slice(2);
const require = createRequire(join(dir, 'package.json'));
const sdk = require('a2a-js-1');
const jose = require('jose');

if (out === 'verify') {
  const [jwks, ...files] = rest;
  const { keys } = JSON.parse(readFileSync(jwks, 'utf8'));
  const verify = sdk.verifyAgentCardSignature(async (kid) => keys.find((k) => k.kid === kid));
  for (const file of files) await verify(JSON.parse(readFileSync(file, 'utf8')));
} else {
  const { privateKey, publicKey } = await jose.generateKeyPair('ES256', { extractable: true });
  writeFileSync(join(out, 'jwks.json'), JSON.stringify({ keys: [{ ...(await jose.exportJWK(publicKey)), kid: 'js', alg: 'ES256' }] }));
  const sign = sdk.generateAgentCardSignature(privateKey, { alg: 'ES256', kid: 'js', typ: 'JOSE' });
  for (let i = 0; i < Number(rest[0]); i++) {
    writeFileSync(join(out, `${i}.json`), JSON.stringify(await sign(card(i))));
  }
}

// card makes up a card. All of its random parts are from a generator of its own, so that a number names a card.
function card(seed) {
  let state = seed + 1;
  const random = (n) => (state = (state * 48271) % 2147483647) % n;
  const one = (list) => list[random(list.length)];
  const text = () => one(['', 'plain', 'Ω', '😀', '\ufb33', 'a"\\b\n\u0001\u2028\u007f', '</script>', '\u00e9', 'x'.repeat(40)]);
  const number = () => one([0, -0, 1, 1e21, 1e-7, 0.1, 123456789012345680000, 5e-324, 1.7976931348623157e308, -1.5, 2 ** 53, 1e16]);
  const any = (deep) => {
    switch (random(deep > 3 ? 4 : 6)) {
      case 0: return text();
      case 1: return number();
      case 2: return one([true, false]);
      case 3: return null;
      case 4: return Array.from({ length: random(4) }, () => any(deep + 1));
      default: return object(deep + 1);
    }
  };
  const object = (deep) => Object.fromEntries(Array.from({ length: random(5) }, () => [text() + one(['', '1', '\u{1f601}']), any(deep)]));
  const texts = () => Array.from({ length: random(3) }, text);
  const maybe = (name, value) => (random(2) ? { [name]: value() } : {});
  return {
    name: text(), description: text(), version: '1',
    ...maybe('provider', () => ({ url: text(), organization: text() })),
    ...maybe('documentationUrl', text), ...maybe('iconUrl', text),
    capabilities: {
      ...maybe('streaming', () => one([true, false])), ...maybe('extendedAgentCard', () => one([true, false])),
      ...maybe('extensions', () => [{ uri: text(), ...maybe('required', () => one([true, false])), ...maybe('params', () => object(0)) }]),
    },
    supportedInterfaces: [{ url: 'http://127.0.0.1:1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0', ...maybe('tenant', text) }],
    securitySchemes: { oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example/', ...maybe('description', text) } } },
    securityRequirements: [{ schemes: { oidc: { list: ['openid'] } } }],
    defaultInputModes: texts(), defaultOutputModes: texts(),
    skills: Array.from({ length: random(3) }, (_, i) => ({ id: `${i}`, name: text(), description: text(), tags: texts(), ...maybe('examples', texts) })),
    ...maybe('vendor', () => any(0)),
  };
}
