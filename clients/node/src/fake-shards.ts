/** What the server in memory knows of shards, and says of them. */
import { create, fromBinary, toBinary, type DescMessage, type DescMethodUnary, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { AnySchema, DurationSchema, type Duration } from '@bufbuild/protobuf/wkt';
import { Metadata, status, type sendUnaryData, type Server, type ServerUnaryCall } from '@grpc/grpc-js';
import { enumName, toDuration } from './messages.js';
import { namespaceOf, weightOf } from './shards.js';
import { WrongShardSchema, type ShardSchema, type ShardTableSchema } from './gen/lockkeeper/v1/shard_service_pb.js';
import { ErrorReason, ErrorReasonSchema } from './gen/lockkeeper/v1/types_pb.js';

const MOVING = toDuration(100); // after that a client may ask again

/** Which of several servers in memory serves which namespace. */
export interface FakeShardTable {
  /** Above zero; rises with every change. */
  readonly version: number;
  /** The addresses of each shard's servers, by its id: 1 to 32 of a-z, 0-9 and '-'. */
  readonly shards: Readonly<Record<string, readonly string[]>>;
  /** The ids of the shards among which namespaces that are not named are shared. Default: all. */
  readonly hashed?: readonly string[];
  /** The ids of the shards that serve these namespaces. */
  readonly namespaces?: Readonly<Record<string, string>>;
  /** The ids of the shards to which these namespaces are on their way; nobody serves them meanwhile. They are in `namespaces`, too. */
  readonly moves?: Readonly<Record<string, string>>;
}

/** Why a shard does not do what it is asked for. */
export interface Refusal {
  readonly reason: ErrorReason;
  readonly code: status;
  readonly message: string;
  readonly retryAfter?: Duration;
  readonly wrongShard?: MessageInitShape<typeof WrongShardSchema>;
}

/** One of several shards, and the table as it has it. */
export class FakeShard {
  constructor(
    readonly id: string,
    readonly table: FakeShardTable,
  ) {}

  /** What it says of locks of these names; undefined: it serves them, or there are none. */
  refuses(names: readonly string[]): Refusal | undefined {
    const namespaces = names.map(namespaceOf);
    const [first] = namespaces;
    if (first === undefined) {
      return undefined;
    }
    const other = namespaces.find((each) => this.servedBy(each) !== this.servedBy(first));
    if (other !== undefined) {
      return { reason: ErrorReason.ACROSS_SHARDS, code: status.FAILED_PRECONDITION, message: `${first} and ${other} are of different shards` };
    }
    const shard = this.servedBy(first);
    if (shard !== this.id) {
      const wrongShard = { namespace: first, shard: this.shard(shard), tableVersion: BigInt(this.table.version) };
      return { reason: ErrorReason.WRONG_SHARD, code: status.FAILED_PRECONDITION, message: `${first} is of the shard ${shard}`, wrongShard };
    }
    const moving = namespaces.find((each) => this.table.moves?.[each] !== undefined);
    return moving === undefined
      ? undefined
      : { reason: ErrorReason.NAMESPACE_MOVING, code: status.UNAVAILABLE, message: `${moving} is on its way`, retryAfter: MOVING };
  }

  /** The table as a client gets it. */
  message(): MessageInitShape<typeof ShardTableSchema> {
    const { version, shards, namespaces = {}, moves = {} } = this.table;
    return {
      version: BigInt(version),
      shards: Object.keys(shards)
        .sort()
        .map((id) => this.shard(id)),
      namespaces: Object.keys(namespaces)
        .sort()
        .map((namespace) => ({ namespace, shard: namespaces[namespace] ?? '' })),
      moves: Object.keys(moves)
        .sort()
        .map((namespace) => ({ namespace, to: moves[namespace] ?? '' })),
    };
  }

  private servedBy(namespace: string): string {
    const { shards, hashed = Object.keys(shards), namespaces } = this.table;
    const weigh = (id: string): bigint => weightOf(id, namespace);
    return namespaces?.[namespace] ?? [...hashed].sort().reduce((most, id) => (weigh(id) > weigh(most) ? id : most), hashed[0] ?? '');
  }

  private shard(id: string): MessageInitShape<typeof ShardSchema> {
    const { shards, hashed } = this.table;
    return { id, addresses: [...(shards[id] ?? [])], hashed: hashed?.includes(id) ?? true };
  }
}

/** A call that ends with an error. */
export class RefusedCall extends Error {
  readonly code: status;
  readonly details: string;
  readonly metadata = new Metadata();

  constructor({ reason, code, message, retryAfter, wrongShard }: Refusal) {
    super(message);
    this.code = code;
    this.details = message;
    const details = [any('google.rpc.ErrorInfo', part(1, Buffer.from(enumName(ErrorReasonSchema, reason))))];
    if (retryAfter !== undefined) {
      details.push(any('google.rpc.RetryInfo', part(1, toBinary(DurationSchema, retryAfter))));
    }
    if (wrongShard !== undefined) {
      details.push(any(WrongShardSchema.typeName, toBinary(WrongShardSchema, create(WrongShardSchema, wrongShard))));
    }
    this.metadata.set('grpc-status-details-bin', Buffer.concat(details.map((each) => part(3, each))));
  }
}

function any(type: string, value: Uint8Array): Uint8Array {
  return toBinary(AnySchema, create(AnySchema, { typeUrl: `type.googleapis.com/${type}`, value }));
}

/** A length-delimited field of a message. */
function part(field: number, bytes: Uint8Array): Buffer {
  const head = [field * 8 + 2];
  let length = bytes.length;
  for (; length > 0x7f; length >>= 7) {
    head.push((length & 0x7f) | 0x80);
  }
  return Buffer.from([...head, length, ...bytes]);
}

/** How messages of a kind are written and read. */
export function codec<S extends DescMessage>(schema: S): [(message: MessageShape<S>) => Buffer, (bytes: Buffer) => MessageShape<S>] {
  return [(message) => Buffer.from(toBinary(schema, message)), (bytes) => fromBinary(schema, bytes)];
}

/** Serves a call that is answered once; what the answer throws is the call's error. */
export function serve<I extends DescMessage, O extends DescMessage>(
  server: Server,
  method: DescMethodUnary<I, O>,
  answerTo: (request: MessageShape<I>) => MessageInitShape<O>,
): void {
  const handle = (call: ServerUnaryCall<MessageShape<I>, MessageShape<O>>, answer: sendUnaryData<MessageShape<O>>): void => {
    let message: MessageShape<O>;
    try {
      message = create(method.output, answerTo(call.request));
    } catch (error) {
      answer(error instanceof RefusedCall ? error : { code: status.INTERNAL, details: String(error) });
      return;
    }
    answer(null, message);
  };
  server.register(`/${method.parent.typeName}/${method.name}`, handle, codec(method.output)[0], codec(method.input)[1], 'unary');
}
