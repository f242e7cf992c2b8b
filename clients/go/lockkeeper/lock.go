package lockkeeper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

// Lock is one lock or several that are held, or were: proof, guard and deadline. All methods may be called by any goroutine.
//
// Validity is counted by the client's own clock: from the sending of the last keep-alive that was answered, for as long as the server then
// promised, less 2 % and 50 ms; with [MaxHold] it ends that long after the grant at the latest. A lock that was not valid never is again.
type Lock struct {
	client      *Client // a lock that is held keeps its client
	lease       *lease
	acquisition *acquisition
	observation Observation
	since       instant
	ctx         context.Context
	cancel      context.CancelCauseFunc
	once        sync.Once
}

// ReleaseResult says what a release did.
type ReleaseResult struct {
	// Outcome is RELEASED, ALREADY_RELEASED, DECREMENTED (one level of a reentrant hold was given back), WITHDRAWN, or LOST: the lock was lost, or
	// its lease is over before a server has confirmed the release.
	Outcome string
	// RemainingHolds is how many levels are left after DECREMENTED.
	RemainingHolds int
}

// Name returns the lock's name; of several, the first one's.
func (l *Lock) Name() string { return l.acquisition.grants[0].Name }

// FencingToken returns a number above zero, and higher than that of any holder before. It orders; it does not authenticate. Of several locks, the
// first one's.
func (l *Lock) FencingToken() int64 { return l.acquisition.grants[0].FencingToken }

// Grants returns the proof for each lock, in the order of the request.
func (l *Lock) Grants() []Grant { return append([]Grant(nil), l.acquisition.grants...) }

// Context returns a context with the values of the one that acquired, which is cancelled when the lock is lost, with a [LostError] as its
// cause, or released, with [ErrReleased].
func (l *Lock) Context() context.Context { return l.ctx }

// Valid says whether the locks may be used now: not released, not lost, deadline not passed. It looks at the clock and asks nobody.
func (l *Lock) Valid() bool { return l.lease.isValid(l.acquisition) }

// Remaining returns for how long the locks may be used without another answer of a server; zero: not at all.
func (l *Lock) Remaining() time.Duration {
	if !l.Valid() {
		return 0
	}
	return max(0, time.Duration(l.lease.until(l.acquisition)-now()))
}

// String names the locks, and says whether they may be used now.
func (l *Lock) String() string {
	return fmt.Sprintf("lockkeeper.Lock %s, valid: %t", l.acquisition.request.quoted(), l.Valid())
}

// ValidUntil returns the deadline as a reading of the client's clock in nanoseconds, which is CLOCK_BOOTTIME on Linux. It moves on with every
// keep-alive that is answered.
func (l *Lock) ValidUntil() int64 { return int64(l.lease.until(l.acquisition)) }

// Err returns nil if the locks may be used now, a [LostError] if they are lost or their deadline has passed, or [ErrReleased].
func (l *Lock) Err() error {
	return l.lease.err(l.acquisition)
}

// Unlock releases the locks, and waits until that is certain, for the request timeout at most, or until ctx is done; the release goes on then.
// From the call on, [Lock.Valid] is false. It returns a [LostError] if the client has heard by then that the locks were lost, or their deadline
// has passed, so that work that was not protected is noticed, and nil otherwise. What a server knew more, [Lock.Release] says.
func (l *Lock) Unlock(ctx context.Context) error {
	lost := l.Err()
	l.Release(ctx)
	if errors.Is(lost, ErrReleased) {
		return nil
	}
	return lost
}

// Release is [Lock.Unlock], and says what it did; it is no error if the locks were lost.
func (l *Lock) Release(ctx context.Context) ReleaseResult {
	l.once.Do(func() {
		if l.lease.lostReason(l.acquisition) == "" {
			l.observation.Released(time.Duration(now() - l.since))
		}
		l.lease.release(l.acquisition)
		l.cancel(ErrReleased)
	})
	if result := l.result(ctx); result != nil {
		return ReleaseResult{Outcome: enumName(result.GetOutcome()), RemainingHolds: int(result.GetRemainingHolds())}
	}
	return ReleaseResult{Outcome: "LOST"}
}

// result waits for the end; nil: nothing is known of a release.
func (l *Lock) result(ctx context.Context) *pb.ReleaseResponse {
	select {
	case <-l.acquisition.done: // at once, of what is kept
		return l.acquisition.result
	default:
	}
	timeout := time.NewTimer(l.client.core.config.requestTimeout)
	defer timeout.Stop()
	select {
	case <-l.acquisition.done:
		return l.acquisition.result
	case <-ctx.Done():
	case <-timeout.C:
	}
	return nil
}

// do runs work, and releases the locks after it.
func (l *Lock) do(ctx context.Context, work func(ctx context.Context, lock *Lock) error) (err error) {
	within, cancel := context.WithCancelCause(l.Context())
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	defer stop()
	defer func() { // of a panic, too
		lost := l.Unlock(context.WithoutCancel(ctx))
		if lost != nil && (err == nil || errors.Is(err, context.Canceled)) {
			err = lost
		}
	}()
	return work(within, l)
}

// UpdateMetadata replaces the metadata: those who wait or watch are told. Errors: [LostError], [ErrReleased], [UnavailableError], [RefusedError],
// ctx's, or what is out of range.
func (l *Lock) UpdateMetadata(ctx context.Context, metadata map[string]string) error {
	if err := checkMetadata(metadata); err != nil {
		return err
	}
	update := &pb.UpdateMetadataRequest{RequestId: l.acquisition.known().id, Metadata: maps.Clone(metadata)}
	return l.call(ctx, "update metadata", &pb.SessionRequest{Request: &pb.SessionRequest_UpdateMetadata{UpdateMetadata: update}})
}

// AnswerRelease says for how long the locks are still needed, up to 7 days, to those who ask. Errors are those of [Lock.UpdateMetadata].
func (l *Lock) AnswerRelease(ctx context.Context, needs time.Duration) error {
	if err := checkWithin("needs", needs, 0, week); err != nil {
		return err
	}
	needed := &pb.AnswerReleaseRequest{RequestId: l.acquisition.known().id, Needs: durationpb.New(needs)}
	return l.call(ctx, "answer release", &pb.SessionRequest{Request: &pb.SessionRequest_AnswerRelease{AnswerRelease: needed}})
}

func (l *Lock) call(ctx context.Context, kind string, request *pb.SessionRequest) error {
	if err := l.Err(); err != nil {
		return err
	}
	a := l.acquisition
	return l.lease.callFor(ctx, &call{kind: kind, id: a.known().id, lock: a.request.String(), request: request, done: make(chan error, 1)})
}
