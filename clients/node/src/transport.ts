import { readFile } from 'node:fs/promises';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Client, Metadata, credentials } from '@grpc/grpc-js';

const DEFAULT_PORT = 7420;

/** Returns the bearer token of the moment. */
export type TokenSource = () => string | Promise<string>;

/** @internal There is no token at the moment. */
export class NoTokenError extends Error {}

/** @internal The token may not be sent to a server, or is none. */
export class TokenRefusedError extends Error {}

/** @internal A server as it was named. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** @internal One address of a server. */
export interface Server extends Target {
  readonly address: string;
}

/** @internal */
export function authority(target: Target): string {
  return `${target.host.includes(':') ? `[${target.host}]` : target.host}:${String(target.port)}`;
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

function isLoopback(server: Server): boolean {
  const named = server.host === 'localhost' || (isIP(server.host) !== 0 && isLoopbackAddress(server.host));
  return named && isLoopbackAddress(server.address);
}

/** @internal Reads `host:port`, or several of them separated by commas. */
export function parseServers(servers: string): Target[] {
  return servers.split(',').map((part) => {
    const text = part.trim().replace(/^dns:\/\/\//, '');
    const match = /^(?:\[([^\]]+)\]|([^:[\]/\s]+))(?::(\d+))?$/.exec(text);
    const port = Number(match?.[3] ?? DEFAULT_PORT);
    if (match === null || port < 1 || port > 65535) {
      throw new RangeError(`servers: ${JSON.stringify(part)} is not host:port`);
    }
    return { host: match[1] ?? match[2] ?? '', port };
  });
}

/** @internal All servers in turn: each address of a name is one. Names are looked up anew when their turn comes. */
export class Servers {
  private round: Server[] = [];

  constructor(
    private readonly targets: readonly Target[],
    private turn: number,
  ) {}

  /** The server to try next; a name that cannot be looked up is passed over. */
  async next(): Promise<Server> {
    let failure: unknown = new Error('no server has an address');
    for (let i = 0; i <= this.targets.length; i++) {
      const first = this.round.shift();
      if (first !== undefined) {
        return first;
      }
      const target = this.targets[this.turn++ % this.targets.length];
      if (target !== undefined) {
        try {
          const found = await lookup(target.host, { all: true });
          this.round.push(...found.map(({ address }) => ({ ...target, address })));
        } catch (error) {
          failure = error;
        }
      }
    }
    throw failure;
  }
}

/** @internal How servers are reached: encrypted or not, and who one says that one is. */
export interface Transport {
  readonly tls: boolean;
  readonly ca: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  readonly token: TokenSource | undefined;
}

/** @internal A connection of its own; certificates are read anew. A peer that vanishes is noticed by pings while there are calls. */
export async function connect(transport: Transport, server: Server): Promise<Client> {
  const file = async (path: string | undefined): Promise<Buffer | null> => (path === undefined ? null : await readFile(path));
  const secured = transport.tls
    ? credentials.createSsl(await file(transport.ca), await file(transport.key), await file(transport.certificate))
    : credentials.createInsecure();
  const address = server.address.includes(':') ? `[${server.address}]` : server.address;
  return new Client(`${address}:${String(server.port)}`, secured, {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 5_000,
    'grpc.enable_http_proxy': 0,
    'grpc.default_authority': authority(server),
    ...(transport.tls ? { 'grpc.ssl_target_name_override': server.host } : {}),
  });
}

/** @internal What goes with a call. */
export async function callMetadata(transport: Transport, server: Server): Promise<Metadata> {
  const metadata = new Metadata();
  if (transport.token === undefined) {
    return metadata;
  }
  if (!transport.tls && !isLoopback(server)) {
    throw new TokenRefusedError('the token is not sent in plaintext to another machine: use TLS');
  }
  let token: string;
  try {
    token = await transport.token();
  } catch (error) {
    throw new NoTokenError(`there is no token at the moment: ${String(error)}`);
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new TokenRefusedError('the token is empty, or has other characters than printable ASCII without blanks');
  }
  metadata.set('authorization', `Bearer ${token}`);
  return metadata;
}
