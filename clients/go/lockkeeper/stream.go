package lockkeeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

const (
	maxBatch      = 256
	maxBatchBytes = 48 << 10 // a server takes messages of 64 KiB
	batchOverhead = 8        // of each request in a batch
)

// stream is one Session stream of a lease, from its open to its end. The lease's mutex guards it.
type stream struct {
	batches bool
	isOpen  bool
	out     []*pb.SessionRequest
	filled  chan struct{}
	cancel  context.CancelFunc
}

func (s *stream) put(request *pb.SessionRequest) {
	s.out = append(s.out, request)
	select {
	case s.filled <- struct{}{}:
	default:
	}
}

// attempt finds a server and lives with one stream to it. Returns how long to stay away, or an overError.
func (l *lease) attempt(ctx context.Context) (time.Duration, error) {
	l.mu.Lock()
	known, deadline := l.id != "", l.deadline
	l.mu.Unlock()
	patience := func() time.Duration {
		if deadline == never {
			return openingTimeout
		}
		return min(openingTimeout, time.Duration(deadline-now())/2) // leaves time for another server
	}
	if now() >= deadline {
		return 0, &overError{reason: "DEADLINE_PASSED"} // its timer may be late
	}
	limited, done := context.WithTimeout(ctx, patience())
	to, err := l.servers.next(limited)
	done()
	if err != nil {
		l.failed(err)
		return 0, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	authorized, err := l.config.authorized(ctx, to, patience())
	if errors.Is(err, errTokenRefused) && !known {
		return 0, &overError{"UNAUTHENTICATED", tokenRefusal("the lease", err)}
	}
	if err != nil {
		l.failed(fmt.Errorf("%s: %w", to.authority(), err))
		return 0, nil
	}
	connection, err := l.config.connect(to)
	if err != nil {
		l.failed(fmt.Errorf("%s: %w", to.authority(), err))
		return 0, nil
	}
	defer connection.Close()
	s := &stream{filled: make(chan struct{}, 1), cancel: func() { cancel(nil) }}
	opening := time.AfterFunc(patience(), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !s.isOpen {
			cancel(errSilent)
		}
	})
	defer opening.Stop()
	err = l.live(authorized, pb.NewLockServiceClient(connection), s)
	switch {
	case s.isOpen:
		if !l.isOver() {
			l.config.log.Info("lockkeeper: a session stream has ended", "server", to.authority(), "error", err)
		}
		l.config.observer.StreamLost(to.authority())
	case errors.Is(context.Cause(ctx), errSilent):
		l.failed(fmt.Errorf("%s: %w", to.authority(), errSilent))
	default:
		l.failed(fmt.Errorf("%s: %w", to.authority(), err))
	}
	return l.verdict(err)
}

var errSilent = errors.New("the server does not answer")

// failed notes why no stream could be opened, and logs the first of several failures.
func (l *lease) failed(err error) {
	l.mu.Lock()
	level := slog.LevelWarn
	if l.failure != nil || l.isOver() {
		level = slog.LevelDebug
	}
	l.failure = err
	l.mu.Unlock()
	l.config.log.Log(context.Background(), level, "lockkeeper: no session stream can be opened, trying on", "error", err)
}

// verdict says what the end of a stream means for its lease.
func (l *lease) verdict(err error) (time.Duration, error) {
	var left *leftError
	var over *overError
	if errors.As(err, &left) {
		return left.pause, nil
	}
	if errors.As(err, &over) {
		return 0, over
	}
	said := status.Convert(err)
	l.mu.Lock()
	known := l.id != ""
	l.mu.Unlock()
	switch said.Code() {
	case codes.NotFound, codes.FailedPrecondition:
		return 0, &overError{reason: codeName(said.Code())}
	case codes.InvalidArgument, codes.Unimplemented, codes.Unauthenticated, codes.PermissionDenied:
		if !known {
			return 0, &overError{codeName(said.Code()), callError("the lease", err)}
		}
	default:
	}
	return max(0, retryDelay(said)), nil // any other error says nothing about the lease
}

func (l *lease) live(ctx context.Context, client pb.LockServiceClient, s *stream) error {
	start := now()
	session, err := client.Session(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.unanswered, l.lastSent = nil, start // before the message leaves
	first := l.opening()
	l.mu.Unlock()
	if err := session.Send(first); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		l.write(ctx, session, s)
	}()
	err = l.read(session, s)
	l.mu.Lock()
	if s.isOpen && time.Duration(now()-start) > lasted {
		l.attempts = 0
	}
	if l.stream == s {
		l.stream = nil
	}
	l.stop("keep-alive")
	l.stop("silence")
	l.mu.Unlock()
	s.cancel()
	<-written
	return err
}

func (l *lease) write(ctx context.Context, session grpc.BidiStreamingClient[pb.SessionRequest, pb.SessionResponse], s *stream) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.filled:
		}
		l.mu.Lock()
		out, most := s.out, 1
		s.out = nil
		if s.batches {
			most = maxBatch
		}
		l.mu.Unlock()
		for len(out) > 0 {
			size := fitting(out, most)
			message := out[0]
			if size > 1 {
				batch := &pb.SessionRequestBatch{Requests: out[:size]}
				message = &pb.SessionRequest{Request: &pb.SessionRequest_Batch{Batch: batch}}
			}
			if session.Send(message) != nil {
				return // the reader hears why
			}
			out = out[size:]
		}
	}
}

// fitting returns how many of the requests one message takes: at least one.
func fitting(out []*pb.SessionRequest, most int) int {
	bytes := 0
	for i, request := range out {
		bytes += proto.Size(request) + batchOverhead
		if i > 0 && (i == most || bytes > maxBatchBytes) {
			return i
		}
	}
	return len(out)
}

func (l *lease) read(session grpc.BidiStreamingClient[pb.SessionRequest, pb.SessionResponse], s *stream) error {
	for {
		response, err := session.Recv()
		if errors.Is(err, io.EOF) {
			return &leftError{}
		}
		if err != nil {
			return err
		}
		l.mu.Lock()
		err = l.hear(s, response)
		var over *overError
		if errors.As(err, &over) {
			l.end(over.reason, over.err) // at once: the stream may take a while to end
		}
		l.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// What a server says. All of it is called with the mutex held.

func (l *lease) hear(s *stream, response *pb.SessionResponse) error {
	if l.isOver() {
		return &leftError{}
	}
	if now() >= l.deadline {
		return &overError{reason: "DEADLINE_PASSED"} // what comes later revives nothing
	}
	switch said := response.GetResponse().(type) {
	case *pb.SessionResponse_GoingAway:
		if said.GoingAway.GetReason() == pb.GoingAwayReason_GOING_AWAY_REASON_SUPERSEDED {
			return &overError{reason: "SUPERSEDED"}
		}
		return &leftError{pause: said.GoingAway.GetResumeAfter().AsDuration()}
	case *pb.SessionResponse_Batch:
		for _, each := range said.Batch.GetResponses() {
			if err := l.hear(s, each); err != nil {
				return err
			}
		}
		return nil
	}
	stale := response.GetEpoch() < l.epoch
	if stale && !s.isOpen {
		return &leftError{}
	}
	if stale {
		return nil
	}
	l.epoch = response.GetEpoch()
	switch said := response.GetResponse().(type) {
	case *pb.SessionResponse_LeaseEnded:
		return &overError{reason: enumName(said.LeaseEnded.GetReason())}
	case *pb.SessionResponse_Opened:
		l.onOpened(s, said.Opened)
		return nil
	}
	if !s.isOpen {
		return &leftError{}
	}
	return l.handle(response)
}

func (l *lease) handle(response *pb.SessionResponse) error {
	switch said := response.GetResponse().(type) {
	case *pb.SessionResponse_KeptAlive:
		l.onKeptAlive(said.KeptAlive)
	case *pb.SessionResponse_Event:
		l.onEvent(said.Event)
	case *pb.SessionResponse_Released:
		if a := l.acquisitions[said.Released.GetRequestId()]; a != nil {
			l.finish(a, nil, "RELEASED", said.Released.GetResult())
		}
	case *pb.SessionResponse_Refused:
		return l.onRefused(said.Refused)
	case *pb.SessionResponse_ReleaseAnswered:
		l.onAnswered("answer release", said.ReleaseAnswered.GetRequestId(), nil)
	case *pb.SessionResponse_MetadataUpdated:
		l.onAnswered("update metadata", said.MetadataUpdated.GetRequestId(), nil)
	default: // of a later version
	}
	return nil
}

func (l *lease) onOpened(s *stream, opened *pb.SessionOpened) {
	if s.isOpen {
		return
	}
	resumed := l.wasOpen
	if !resumed {
		l.id, l.tag, l.deadline = opened.GetLeaseId(), opened.GetLeaseTag(), 0
	}
	s.isOpen, s.batches = true, opened.GetBatches()
	l.wasOpen, l.stream, l.failure = true, s, nil
	l.extend(l.lastSent, opened.GetValidFor(), opened.GetKeepAliveInterval())
	l.config.observer.StreamOpened(opened.GetCoordinatorId(), resumed)
	l.repeat()
}

func (l *lease) onKeptAlive(kept *pb.SessionKeptAlive) {
	at := slices.IndexFunc(l.unanswered, func(sent sentKeepAlive) bool { return sent.nonce == kept.GetNonce() })
	if at < 0 {
		return
	}
	sent := l.unanswered[at].at
	// It does for those before it, so a late answer to one of them counts for nothing.
	l.unanswered = slices.Delete(l.unanswered, 0, at+1)
	l.extend(sent, kept.GetValidFor(), kept.GetKeepAliveInterval())
	l.watchSilence()
}

// extend moves the deadline on: less two percent for clocks of unequal rate, and 50 ms.
func (l *lease) extend(sent instant, validFor, interval *durationpb.Duration) {
	promised := validFor.AsDuration()
	l.deadline = max(l.deadline, sent+instant(promised-promised/50-margin))
	l.interval = max(shortest, interval.AsDuration())
	l.watchDeadline()
	l.set("keep-alive", time.Duration(l.lastSent-now())+l.interval, l.keepAlive)
}

// watchDeadline ends the lease at its deadline. Timers and this clock need not agree.
func (l *lease) watchDeadline() {
	l.set("deadline", time.Duration(l.deadline-now()), func() {
		if now() >= l.deadline {
			l.end("DEADLINE_PASSED", nil)
		} else {
			l.watchDeadline()
		}
	})
}

func (l *lease) keepAlive() {
	l.nonce++
	l.lastSent = now()
	l.unanswered = append(l.unanswered, sentKeepAlive{l.nonce, l.lastSent})
	keepAlive := &pb.SessionKeepAlive{Nonce: l.nonce}
	l.send(&pb.SessionRequest{Request: &pb.SessionRequest_KeepAlive{KeepAlive: keepAlive}})
	l.set("keep-alive", l.interval, l.keepAlive)
	if len(l.unanswered) == 1 {
		l.watchSilence()
	}
}

// watchSilence has the stream left when a keep-alive has had no answer for two intervals, a second at least.
func (l *lease) watchSilence() {
	l.stop("silence")
	if s := l.stream; s != nil && len(l.unanswered) > 0 {
		patience := max(time.Second, 2*l.interval) - time.Duration(now()-l.unanswered[0].at)
		l.set("silence", patience, func() { s.cancel() })
	}
}

func (l *lease) onEvent(event *pb.AcquireResponse) {
	a := l.acquisitions[event.GetRequestId()]
	if a == nil {
		switch event.GetEvent().(type) {
		case nil, *pb.AcquireResponse_Lost, *pb.AcquireResponse_NotAcquired, *pb.AcquireResponse_Released: // final, or of a later version
		default:
			l.releaseUnknown(event.GetRequestId())
		}
		return
	}
	if !a.isNew(event) {
		return
	}
	switch said := event.GetEvent().(type) {
	case *pb.AcquireResponse_Granted:
		l.onGranted(a, said.Granted)
	case *pb.AcquireResponse_Jeopardy:
		l.onJeopardy(a, said.Jeopardy.GetValidFor().AsDuration())
	case *pb.AcquireResponse_Safe:
		l.onSafe(a)
	case *pb.AcquireResponse_Lost:
		l.finish(a, nil, enumName(said.Lost.GetReason()), nil)
	case *pb.AcquireResponse_NotAcquired:
		not := said.NotAcquired
		l.finish(a, &NotAcquiredError{
			Lock: a.request.String(), Reason: enumName(not.GetReason()), Message: not.GetMessage(), Holders: toContenders(not.GetHolders()),
		}, enumName(not.GetReason()), nil)
	case *pb.AcquireResponse_Released:
		if a.state != releasing {
			l.finish(a, nil, "RELEASED", nil)
			return
		}
		// The answer to the release says more than the event, and comes after it, if it comes.
		released := &pb.ReleaseResponse{Outcome: pb.ReleaseOutcome_RELEASE_OUTCOME_RELEASED}
		l.after(a, "answer", saysMore, func() { l.finish(a, nil, "RELEASED", released) })
	case *pb.AcquireResponse_Queued:
		tellPlaces(a, said.Queued.GetPositions())
	case *pb.AcquireResponse_Position:
		tellPlaces(a, said.Position.GetPositions())
	case *pb.AcquireResponse_ReleaseRequested:
		a.onReleaseRequested(toReleaseRequested(said.ReleaseRequested))
	case *pb.AcquireResponse_Contended:
		a.onContended(toContended(said.Contended))
	default: // of a later version
	}
}

// releaseUnknown releases what a server has queued or granted and nobody here waits for any more.
func (l *lease) releaseUnknown(id string) {
	a := newAcquisition(0, id, &request{}, now(), func(func(*Listener)) {})
	a.state = releasing
	if len(l.acquisitions) < maxRequests { // otherwise a later event has it released again
		l.acquisitions[id] = a
	}
	l.ask(a)
}

func tellPlaces(a *acquisition, positions []*pb.QueuePosition) {
	a.tell(func(listener *Listener) {
		if listener.Queued != nil {
			listener.Queued(toPlaces(positions))
		}
	})
}

func (l *lease) onGranted(a *acquisition, granted *pb.Granted) {
	if a.state == held && now() >= a.doubt {
		l.loseByItself(a, "DEADLINE_PASSED")
		return
	}
	a.doubt = never
	stopTimer(a, "jeopardy")
	switch {
	case a.state == waiting:
		stopTimers(a)
		a.onGranted(granted)
		if a.limit != never {
			l.after(a, "max hold", time.Duration(a.limit-now()), func() { l.endHold(a) })
		}
		a.nest(l.acquisitions)
		if a.keeps != nil {
			a.keeps.onGranted()
		} else if owner := a.request.owner; owner != "" {
			l.keeper.onOwned(owner, a.request, nil)
		}
	case a.state == held && !a.isGrantOf(granted): // not the hold that the caller has
		l.loseByItself(a, "REMOVED")
	}
	for _, grant := range granted.GetGrants() {
		if grant.GetWaiters() > 0 {
			a.onContended(Contended{Name: grant.GetName(), Waiters: int(grant.GetWaiters())})
			return
		}
	}
}

func (l *lease) onJeopardy(a *acquisition, validFor time.Duration) {
	if a.state != held {
		return
	}
	if now() >= a.doubt {
		l.loseByItself(a, "DEADLINE_PASSED")
		return
	}
	a.doubt = now() + instant(validFor)
	l.after(a, "jeopardy", validFor, func() { l.loseByItself(a, "DEADLINE_PASSED") })
	a.tellJeopardy(validFor)
	a.wantBack()
}

func (l *lease) onSafe(a *acquisition) {
	if a.state != held || a.doubt == never {
		return
	}
	if now() >= a.doubt { // the caller may have seen that it was not valid
		l.loseByItself(a, "DEADLINE_PASSED")
		return
	}
	a.doubt = never
	stopTimer(a, "jeopardy")
	a.tell(func(listener *Listener) {
		if listener.Safe != nil {
			listener.Safe()
		}
	})
}

func (l *lease) onAnswered(kind, id string, err error) {
	for _, c := range l.calls {
		if c.kind == kind && c.id == id && len(c.done) == 0 {
			answer(c, err)
			return
		}
	}
}

func (l *lease) onRefused(refused *pb.Refused) error {
	again := time.Duration(-1)
	if refused.RetryAfter != nil {
		again = max(50*time.Millisecond, refused.GetRetryAfter().AsDuration())
	}
	switch request := refused.GetRequest().(type) {
	case *pb.Refused_Close:
		return &overError{reason: "CLOSED"} // the TTL does the rest
	case *pb.Refused_KeepAlive:
		if again >= 0 {
			l.set("keep-alive", again, l.keepAlive)
		}
	case *pb.Refused_AnswerRelease:
		l.onAnswered("answer release", request.AnswerRelease, refusal("answer release", refused))
	case *pb.Refused_UpdateMetadata:
		l.onAnswered("update metadata", request.UpdateMetadata, refusal("update metadata", refused))
	case *pb.Refused_Acquire:
		if a := l.acquisitions[request.Acquire]; a != nil && a.state != releasing { // then the answer to the release decides
			l.onRequestRefused(a, refused, again)
		}
	case *pb.Refused_Release:
		if a := l.acquisitions[request.Release]; a != nil && a.state == releasing {
			l.onRequestRefused(a, refused, again)
		}
	default: // nothing, or something of a later version
	}
	return nil
}

func (l *lease) onRequestRefused(a *acquisition, refused *pb.Refused, again time.Duration) {
	switch {
	case again >= 0 && a.state == waiting && a.giveUp != never && now()+instant(again) >= a.giveUp:
		l.finish(a, timedOut(a, refused.GetMessage()), "TIMED_OUT", nil)
	case again >= 0:
		l.after(a, "again", again, func() { l.ask(a) })
	case a.state == waiting:
		l.finish(a, refusal(a.request.quoted(), refused), "REFUSED", nil)
	case a.state == held:
		l.loseByItself(a, enumName(refused.GetReason()))
	default:
		l.finish(a, nil, "REFUSED", nil)
	}
}
