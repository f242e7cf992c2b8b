import type { MessageInitShape } from '@bufbuild/protobuf';
import { Deferred } from './acquisition.js';
import { ServerUnavailableError } from './errors.js';
import type { SessionRequestSchema } from './gen/lockkeeper/v1/session_pb.js';

export type Sent = MessageInitShape<typeof SessionRequestSchema>['request'];

/** What is asked about a lock that is held. */
export type Kind = 'answerRelease' | 'updateMetadata';

interface Question {
  readonly kind: Kind;
  readonly id: string;
  readonly request: Sent;
  readonly done: Deferred<undefined>;
}

/** What a session stream asks and hears the answer to once, and repeats on the next stream until it does. */
export class Questions {
  private open: Question[] = [];

  constructor(
    private readonly send: (request: Sent) => void,
    private readonly timeout: number,
  ) {}

  /** Fails when the timeout is over, or the lease is. */
  async ask(kind: Kind, id: string, request: Sent): Promise<void> {
    const question: Question = { kind, id, request, done: new Deferred() };
    this.open.push(question);
    this.send(request);
    const timer = setTimeout(() => {
      question.done.reject(new ServerUnavailableError(`${kind}: no server has answered in time`));
    }, this.timeout);
    try {
      await question.done.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** A server has answered, or refused, the oldest such question, even if nobody waits for that any more. */
  onAnswer(kind: Kind, id: string, error?: Error): void {
    const question = this.open.find((each) => each.kind === kind && each.id === id);
    this.open = this.open.filter((other) => other !== question);
    if (error === undefined) {
      question?.done.resolve(undefined);
    } else {
      question?.done.reject(error);
    }
  }

  /** There is another stream. */
  repeat(): void {
    this.open = this.open.filter((question) => !question.done.settled);
    this.open.forEach((question) => {
      this.send(question.request);
    });
  }

  fail(error: Error): void {
    this.open.forEach((question) => {
      question.done.reject(error);
    });
  }
}
