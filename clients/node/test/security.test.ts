/** Encryption, certificates and tokens, with a coordinator that asks for them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Client, RequestRefusedError, ServerUnavailableError, type ClientOptions } from 'lockkeeper';
import { missing, RealServer } from './servers.js';

const TOKEN = 'a-token-that-only-the-tests-know-0123456789';

/** Why there can be no certificates; undefined: there can. */
function missingOpenssl(): string | undefined {
  try {
    execFileSync('openssl', ['version'], { stdio: 'pipe' });
    return undefined;
  } catch {
    return 'there is no openssl';
  }
}

/** Makes authorities, certificates and a file of tokens in a new directory. */
function credentials(): string {
  const directory = mkdtempSync(join(tmpdir(), 'lockkeeper-test-'));
  const openssl = (...given: string[]): void => {
    execFileSync('openssl', given, { cwd: directory, stdio: 'pipe' });
  };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  for (const ca of ['servers-ca', 'clients-ca']) {
    openssl('req', '-x509', ...key, '-days', '2', '-subj', `/CN=${ca}`, '-keyout', `${ca}.key`, '-out', `${ca}.pem`);
  }
  const certificate = (name: string, ca: string, alternative: string): void => {
    openssl('req', ...key, '-subj', `/CN=${name}`, '-addext', `subjectAltName=${alternative}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
    openssl('x509', '-req', '-in', `${name}.csr`, '-CA', `${ca}.pem`, '-CAkey', `${ca}.key`, '-copy_extensions', 'copy', '-days', '2', '-out', `${name}.pem`);
  };
  certificate('server', 'servers-ca', 'DNS:localhost,IP:127.0.0.1');
  certificate('client', 'clients-ca', 'URI:spiffe://test/client');
  const digest = createHash('sha256').update(TOKEN).digest('hex');
  writeFileSync(join(directory, 'tokens.yaml'), `tokens:\n  - {name: tester, sha256: ${digest}}\n`, { mode: 0o600 });
  return directory;
}

test('token is not sent in plaintext to another machine', { timeout: 300_000 }, async () => {
  const client = new Client('192.0.2.1:7420', { token: () => TOKEN });
  const refused = (error: unknown): boolean => error instanceof RequestRefusedError && error.message.includes('plaintext');
  await assert.rejects(client.lock('a'), refused);
  await assert.rejects(client.getLock('a'), refused);
  await client.close();
});

describe('with a coordinator that asks who one is', { skip: missing ?? missingOpenssl(), timeout: 600_000 }, () => {
  let server: RealServer;
  let files: string;

  const using = async (options: ClientOptions, work: (client: Client) => Promise<void>): Promise<void> => {
    const client = new Client(`localhost:${String(server.port)}`, { ca: join(files, 'servers-ca.pem'), ...options });
    try {
      await work(client);
    } finally {
      await client.close();
    }
  };

  before(async () => {
    files = credentials();
    server = await RealServer.start(
      `--tls-cert=${files}/server.pem`,
      `--tls-key=${files}/server.key`,
      `--tls-client-ca=${files}/clients-ca.pem`,
      `--tokens=${files}/tokens.yaml`,
    );
  });
  after(async () => {
    await server.close();
    rmSync(files, { recursive: true });
  });

  test('client is known by its certificate', async () => {
    await using({ certificate: join(files, 'client.pem'), key: join(files, 'client.key') }, async (client) => {
      const lock = await client.lock('secured/a');
      assert.equal((await client.getLock('secured/a')).holders[0]?.fencingToken, lock.fencingToken);
    });
  });

  test('client is known by its token, which is asked for each call', async () => {
    let asked = 0;
    const token = async (): Promise<string> => {
      asked++;
      return await Promise.resolve(TOKEN);
    };
    await using({ token }, async (client) => {
      await client.lock('secured/b');
      await client.getLock('secured/b');
    });
    assert.equal(asked, 2);
  });

  test('stranger is refused for good', async () => {
    await using({ token: () => 'x'.repeat(40) }, async (client) => {
      await assert.rejects(client.lock('secured/c'), (error) => error instanceof RequestRefusedError && error.reason === 'UNAUTHENTICATED');
    });
  });

  test('server of another authority is not trusted', async () => {
    await using({ ca: join(files, 'clients-ca.pem'), token: () => TOKEN, requestTimeout: 1000 }, async (client) => {
      await assert.rejects(client.lock('secured/d'), ServerUnavailableError);
    });
  });

  test('token that cannot be had now is asked for again', async () => {
    const answers = [new Error('not yet'), TOKEN];
    const token = (): string => {
      const answer = answers.shift();
      if (typeof answer === 'string') {
        return answer;
      }
      throw answer ?? new Error('asked too often');
    };
    await using({ token }, async (client) => {
      assert.ok((await client.lock('secured/e')).valid);
    });
  });
});
