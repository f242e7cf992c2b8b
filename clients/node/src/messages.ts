import { create, fromBinary, toBinary, type DescEnum } from '@bufbuild/protobuf';
import { DurationSchema, type Duration, AnySchema } from '@bufbuild/protobuf/wkt';
import type { Metadata, ServiceError } from '@grpc/grpc-js';
import { status as Code } from '@grpc/grpc-js';
import { authority, type Target } from './transport.js';
import { LockkeeperError, RequestRefusedError, ServerUnavailableError } from './errors.js';
import { ErrorReasonSchema } from './gen/lockkeeper/v1/types_pb.js';
import { OpenSessionSchema, SessionRequestSchema, type Refused, type SessionRequest } from './gen/lockkeeper/v1/session_pb.js';

const GONE: readonly number[] = [Code.NOT_FOUND, Code.FAILED_PRECONDITION];
const HOPELESS: readonly number[] = [Code.INVALID_ARGUMENT, Code.UNIMPLEMENTED, Code.UNAUTHENTICATED, Code.PERMISSION_DENIED];
const MAX_BATCH = 256;
const MAX_BYTES = 60 * 1024; // of the requests in one batch: a server takes messages of 64 KiB

export function toDuration(millis: number): Duration {
  const whole = Math.floor(millis / 1000);
  return create(DurationSchema, { seconds: BigInt(whole), nanos: Math.min(999_999_999, Math.round((millis - whole * 1000) * 1e6)) });
}

export function toMillis(duration: Duration | undefined): number {
  return duration === undefined ? 0 : Number(duration.seconds) * 1000 + duration.nanos / 1e6;
}

/** The name of an enum's value without the enum's prefix; `UNKNOWN` for one that only a later server knows. */
export function enumName(schema: DescEnum, value: number): string {
  const prefix = schema.values[0]?.name.replace(/UNSPECIFIED$/, '') ?? '';
  return schema.value[value]?.name.slice(prefix.length) ?? 'UNKNOWN';
}

/** What a status says in its details, which are a `google.rpc.Status`. */
interface Details {
  readonly reason: string;
  readonly field: string;
  readonly retryAfter: number | undefined;
}

export function detailsOf(metadata: Metadata | undefined): Details {
  let reason = '';
  let field = '';
  let retryAfter: number | undefined;
  const encoded = metadata?.get('grpc-status-details-bin')[0];
  if (!(encoded instanceof Uint8Array)) {
    return { reason, field, retryAfter };
  }
  try {
    for (const detail of repeatedBytes(encoded, 3)) {
      const any = fromBinary(AnySchema, detail);
      if (any.typeUrl.endsWith('/google.rpc.RetryInfo')) {
        const delay = repeatedBytes(any.value, 1)[0];
        retryAfter = delay === undefined ? 0 : toMillis(fromBinary(DurationSchema, delay));
      } else if (any.typeUrl.endsWith('/google.rpc.ErrorInfo')) {
        reason = text(repeatedBytes(any.value, 1)[0]);
      } else if (any.typeUrl.endsWith('/google.rpc.BadRequest')) {
        const violation = repeatedBytes(any.value, 1)[0];
        field = violation === undefined ? '' : text(repeatedBytes(violation, 1)[0]);
      }
    }
  } catch {
    // of something between
  }
  return { reason, field, retryAfter };
}

function text(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : new TextDecoder().decode(bytes);
}

/** The values of one length-delimited field: the messages of google.rpc are not worth a dependency. */
function repeatedBytes(message: Uint8Array, wanted: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; at < message.length; shift *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) {
        break;
      }
    }
    return value;
  };
  while (at < message.length) {
    const tag = varint();
    const wire = tag % 8;
    if (wire === 2) {
      const length = varint();
      if (Math.floor(tag / 8) === wanted) {
        found.push(message.subarray(at, at + length));
      }
      at += length;
    } else if (wire === 0) {
      varint();
    } else {
      at += wire === 1 ? 8 : 4;
    }
  }
  return found;
}

function nameOf(code: number): string {
  return (Code as Partial<Record<number, string>>)[code] ?? 'UNKNOWN';
}

/** What an error says, and which server it is about, for a person to read. */
export function wordsOf(error: unknown, server?: Target): string {
  const details = error instanceof Error && 'details' in error ? String(error.details) : '';
  const said = details.replace(/^No connection established\. Last error: (Error: )?/, '').replace(/\.? *Resolution note: *$/, '');
  return `${server === undefined ? '' : `${authority(server)}: `}${said || (error instanceof Error ? error.message : String(error))}`;
}

/** What a call that ended with an error means to whoever made it. */
export function callError(what: string, error: ServiceError): LockkeeperError {
  const details = detailsOf(error.metadata);
  const message = `${what}: ${wordsOf(error)}`;
  const silent = error.code === Code.UNAVAILABLE || error.code === Code.DEADLINE_EXCEEDED || error.code === Code.CANCELLED;
  return silent && details.reason === ''
    ? new ServerUnavailableError(message, { cause: error })
    : new RequestRefusedError(message, details.reason || nameOf(error.code), error.code, details.field, details.retryAfter);
}

/** How a stream ends: its lease is over, or lives on and its server is left alone for so many milliseconds. */
export type End = { over: string; error?: LockkeeperError } | { pause: number };

/** What a session stream that ended with an error means for its lease, which a server knows or not yet. */
export function endOf(error: ServiceError, known: boolean): End {
  if (GONE.includes(error.code)) {
    return { over: nameOf(error.code) };
  }
  if (HOPELESS.includes(error.code) && !known) {
    return { over: nameOf(error.code), error: callError('the lease', error) };
  }
  return { pause: detailsOf(error.metadata).retryAfter ?? 0 }; // any other error says nothing about the lease
}

/** What a refusal on a session stream means to whoever made the request. */
export function refusal(what: string, refused: Refused): RequestRefusedError {
  return new RequestRefusedError(
    `${what}: ${refused.message}`,
    enumName(ErrorReasonSchema, refused.reason),
    refused.code,
    refused.field,
    refused.retryAfter === undefined ? undefined : toMillis(refused.retryAfter),
  );
}

/** What opens a stream: for a new lease, which has no id yet, or to resume one. */
export function openingOf(leaseId: string, leaseSecret: string, settings: { holder: string; ttl: number | undefined }): SessionRequest {
  const opening = create(OpenSessionSchema, { leaseId, leaseSecret, batches: true });
  if (leaseId === '') {
    opening.holder = settings.holder;
    if (settings.ttl !== undefined) {
      opening.ttl = toDuration(settings.ttl);
    }
  }
  return create(SessionRequestSchema, { request: { case: 'open', value: opening } });
}

/** The same requests in their order, in as few messages as a server takes. */
export function messagesOf(requests: readonly SessionRequest[], batches: boolean): SessionRequest[] {
  if (!batches || requests.length === 1) {
    return [...requests];
  }
  const messages: SessionRequest[] = [];
  let part: SessionRequest[] = [];
  let size = 0;
  const finish = (): void => {
    if (part.length > 0) {
      messages.push(create(SessionRequestSchema, { request: { case: 'batch', value: { requests: part } } }));
      part = [];
      size = 0;
    }
  };
  for (const request of requests) {
    const own = toBinary(SessionRequestSchema, request).length + 8; // with its frame in the batch
    if (part.length === MAX_BATCH || size + own > MAX_BYTES) {
      finish();
    }
    part.push(request);
    size += own;
  }
  finish();
  return messages;
}
