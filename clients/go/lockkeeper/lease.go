package lockkeeper

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

const (
	openingTimeout = 3 * time.Second // for connecting and for the answer to an open, at most
	closingTimeout = 5 * time.Second // for the answer to a close
	answerTimeout  = 5 * time.Second // for a server's word after a wait limit
	saysMore       = time.Second     // from the event of a release to its answer
	lasted         = 2 * time.Second // a stream of that length was a good one: the backoff begins anew
	shortest       = 100 * time.Millisecond
	margin         = 50 * time.Millisecond
)

// lease lives once, over one Session stream at a time. When it is over, every request has heard its end.
type lease struct {
	config   *config
	servers  *servers
	closings *closings

	mu           sync.Mutex
	id           string
	tag          string
	secret       string
	epoch        int64
	deadline     instant
	interval     time.Duration
	lastSent     instant
	nonce        int64
	unanswered   []sentKeepAlive
	acquisitions map[string]*acquisition
	keeper       *keeper
	calls        []*call
	stream       *stream // nil: there is none that is open
	wasOpen      bool
	started      bool
	closing      bool
	attempts     int
	failure      error // of the last attempt to reach a server
	timers       map[string]*time.Timer
	reason       string        // why it is over
	over         chan struct{} // closed when it is
	ended        chan struct{} // closed when nothing of it runs any more
}

type sentKeepAlive struct {
	nonce int64
	at    instant
}

// call is a request of a stream that is answered once, and sent again on later streams.
type call struct {
	kind    string
	id      string
	lock    string
	request *pb.SessionRequest
	done    chan error
}

// overError ends a lease: what waits fails with err, if there is one.
type overError struct {
	reason string
	err    error
}

func (e *overError) Error() string { return e.reason }

// leftError ends a stream; its server is to be left alone for so long at least.
type leftError struct{ pause time.Duration }

func (e *leftError) Error() string { return "the server sends its streams away" }

func newLease(config *config, servers *servers, closings *closings) *lease {
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		panic(err) // it never fails
	}
	l := &lease{
		config: config, servers: servers, closings: closings, secret: hex.EncodeToString(secret), deadline: never, interval: time.Second,
		acquisitions: map[string]*acquisition{}, timers: map[string]*time.Timer{},
		over: make(chan struct{}), ended: make(chan struct{}),
	}
	l.keeper = newKeeper(l)
	return l
}

func (l *lease) isOver() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

func (l *lease) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acquisitions) + l.keeper.inside
}

// isValid says whether locks may be used now. It looks at the clock: timers may be late.
func (l *lease) isValid(a *acquisition) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return a.state == held && !l.closing && now() < a.until(l.deadline)
}

func (l *lease) until(a *acquisition) instant {
	l.mu.Lock()
	defer l.mu.Unlock()
	return a.until(l.deadline)
}

// err says why locks may not be used now; nil: they may.
func (l *lease) err(a *acquisition) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := now()
	reason := a.overdue(at, l.deadline)
	if reason == "" {
		reason = a.lost
	}
	switch {
	case reason != "":
		return &LostError{Lock: a.request.String(), Reason: reason}
	case a.state == held && !l.closing && at < a.until(l.deadline):
		return nil
	default:
		return ErrReleased
	}
}

func (l *lease) lostReason(a *acquisition) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if reason := a.overdue(now(), l.deadline); reason != "" {
		return reason
	}
	return a.lost
}

// acquire asks for locks; false: the lease is over.
func (l *lease) acquire(a *acquisition) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isOver() {
		return false
	}
	at := never
	if a.request.keep != nil {
		if at = now(); at >= l.deadline { // its timer may be late
			l.end("DEADLINE_PASSED", nil)
			return false
		}
	}
	if err := l.keeper.waitsForItself(a.request); err != nil {
		a.fail(err)
	} else if a.request.keep != nil {
		l.keeper.acquire(a, at)
	} else {
		l.keeper.await(a)
		l.request(a)
	}
	return true
}

func (l *lease) request(a *acquisition) {
	if !l.started {
		l.started = true
		go l.run()
	}
	l.acquisitions[a.id] = a
	l.ask(a)
	if !a.asked {
		l.after(a, "unasked", l.config.requestTimeout-time.Duration(now()-a.begun), func() { l.unreachable(a) })
	}
	if a.giveUp != never {
		l.after(a, "give-up", time.Duration(a.giveUp-now())+min(answerTimeout, l.config.requestTimeout), func() { l.nobodyCounts(a) })
	}
}

// release releases locks, or withdraws the request. From now on they are not held, whatever becomes of the release.
func (l *lease) release(a *acquisition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.request.keep != nil {
		l.keeper.release(a)
		return
	}
	if reason := a.overdue(now(), l.deadline); reason != "" {
		a.lose(reason)
	}
	if a.lost != "MAX_HOLD" { // that the server takes away
		l.giveBack(a)
	}
}

func (l *lease) giveBack(a *acquisition) {
	if a.state == releasing || a.state == ended {
		return
	}
	stopTimers(a)
	if !a.asked {
		delete(l.acquisitions, a.id)
		a.fail(withdrawn(a))
		return
	}
	a.state = releasing
	l.ask(a)
}

// callFor sends what is answered once, and waits for the answer.
func (l *lease) callFor(ctx context.Context, c *call) error {
	l.mu.Lock()
	if l.isOver() {
		l.mu.Unlock()
		return &LostError{Lock: c.lock, Reason: l.reason}
	}
	l.calls = append(l.calls, c)
	l.send(c.request)
	l.mu.Unlock()
	timeout := time.NewTimer(l.config.requestTimeout)
	defer timeout.Stop()
	defer func() {
		l.mu.Lock()
		l.calls = slices.DeleteFunc(l.calls, func(other *call) bool { return other == c })
		l.mu.Unlock()
	}()
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timeout.C:
		return &UnavailableError{What: c.kind}
	}
}

// close ends the lease with all that it holds; returns when a server has confirmed it, within some seconds.
func (l *lease) close() {
	l.mu.Lock()
	if l.isOver() {
		l.mu.Unlock()
	} else {
		l.closing = true
		for _, a := range l.acquisitions {
			a.dismiss(ErrClosed)
			if a.state == held {
				a.lose("LEASE_CLOSED") // now, whenever the server hears of it
			}
		}
		wait := l.wasOpen // otherwise no server has anything of it
		l.send(&pb.SessionRequest{Request: &pb.SessionRequest_Close{Close: &pb.CloseSession{}}})
		l.mu.Unlock()
		if wait {
			timeout := time.NewTimer(closingTimeout)
			select {
			case <-l.over:
			case <-timeout.C:
			}
			timeout.Stop()
		}
		l.mu.Lock()
		l.end("CLOSED", nil)
		l.mu.Unlock()
	}
	<-l.ended
}

// run lives with one stream after the other.
func (l *lease) run() {
	defer close(l.ended)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-l.over
		cancel()
	}()
	for {
		l.mu.Lock()
		if len(l.acquisitions) == 0 && !l.wasOpen {
			l.end("NOT_USED", nil)
		}
		l.mu.Unlock()
		if l.isOver() {
			return
		}
		asked, err := l.attempt(ctx)
		l.mu.Lock()
		var over *overError
		if errors.As(err, &over) {
			l.end(over.reason, over.err)
		}
		length := max(asked, pause(l.attempts))
		l.attempts++
		l.mu.Unlock()
		sleep(ctx, length)
	}
}

// end says that the lease is over, with all that it held.
func (l *lease) end(reason string, err error) {
	if l.isOver() {
		return
	}
	l.reason = reason
	if l.closing {
		err = ErrClosed
	}
	for _, a := range l.acquisitions {
		stopTimers(a)
		why := err
		if why == nil {
			why = &LeaseLostError{Lock: a.request.String(), Reason: reason}
		}
		a.dismiss(why)
		if a.state == waiting {
			a.fail(why)
			continue
		}
		if a.state == held {
			a.lose(reason)
		}
		a.finish(nil)
	}
	clear(l.acquisitions)
	for _, c := range l.calls {
		answer(c, &LostError{Lock: c.lock, Reason: reason})
	}
	for _, timer := range l.timers {
		timer.Stop()
	}
	// The others were closed, or are another client's.
	if l.id != "" && !slices.Contains([]string{"CLOSED", "SUPERSEDED", "FAILED_PRECONDITION"}, reason) {
		l.closings.begin(l.id)
	}
	close(l.over)
	if !l.started {
		close(l.ended)
	}
}

func answer(c *call, err error) {
	select {
	case c.done <- err:
	default: // answered already
	}
}

// Requests, and what becomes of them. All of it is called with the mutex held.

func (l *lease) send(request *pb.SessionRequest) {
	if l.stream != nil { // without one, the next repeats what counts
		l.stream.put(request)
	}
}

func (l *lease) ask(a *acquisition) {
	if l.stream == nil {
		return
	}
	if a.state == releasing {
		l.send(&pb.SessionRequest{Request: &pb.SessionRequest_Release{Release: &pb.ReleaseRequest{RequestId: a.id}}})
		return
	}
	a.asked = true
	stopTimer(a, "unasked")
	l.send(&pb.SessionRequest{Request: &pb.SessionRequest_Acquire{Acquire: a.message()}})
}

// repeat asks again for all that waits or is held, and only then for what is to be released.
func (l *lease) repeat() {
	all := make([]*acquisition, 0, len(l.acquisitions))
	for _, a := range l.acquisitions {
		all = append(all, a)
	}
	slices.SortFunc(all, func(one, other *acquisition) int {
		if (one.state == releasing) != (other.state == releasing) {
			if other.state == releasing {
				return -1
			}
			return 1
		}
		return int(one.number - other.number)
	})
	for _, a := range all {
		l.ask(a)
	}
	for _, c := range l.calls {
		l.send(c.request)
	}
	if l.closing {
		l.send(&pb.SessionRequest{Request: &pb.SessionRequest_Close{Close: &pb.CloseSession{}}})
	}
}

func (l *lease) unreachable(a *acquisition) {
	if a.state == waiting && !a.asked {
		delete(l.acquisitions, a.id)
		stopTimers(a)
		a.fail(&UnavailableError{What: a.request.quoted(), Err: l.failure})
	}
}

// nobodyCounts is called when the wait limit has passed and no server has said so.
func (l *lease) nobodyCounts(a *acquisition) {
	if !a.asked {
		l.unreachable(a)
	} else if a.state == waiting {
		l.giveBack(a)
		a.giveUpWaiting(timedOut(a, "no server has answered in time"))
	}
}

func timedOut(a *acquisition, message string) error {
	return &NotAcquiredError{Lock: a.request.String(), Reason: "TIMED_OUT", Message: message}
}

func withdrawn(a *acquisition) error {
	return &NotAcquiredError{Lock: a.request.String(), Reason: "WITHDRAWN", Message: "the caller withdrew the request"}
}

// loseByItself gives up locks without a server's word: what the server may still keep is released.
func (l *lease) loseByItself(a *acquisition, reason string) {
	if a.state == held {
		a.lose(reason)
		l.giveBack(a)
	}
}

// endHold says that a longest hold is over, and the levels above it. The server takes them away: who comes next hears that they were not released.
func (l *lease) endHold(a *acquisition) {
	for _, other := range l.acquisitions {
		if other.state == held && (other == a || slices.Contains(other.outers, a)) {
			other.lose("MAX_HOLD")
		}
	}
}

// finish is called when a server has told the end of a request.
func (l *lease) finish(a *acquisition, err error, reason string, result *pb.ReleaseResponse) {
	delete(l.acquisitions, a.id)
	stopTimers(a)
	switch {
	case a.state == waiting && l.closing:
		a.fail(ErrClosed)
	case a.state == waiting && err != nil:
		a.fail(err)
	case a.state == waiting:
		a.fail(&NotAcquiredError{Lock: a.request.String(), Reason: reason, Message: "the request has ended"})
	case a.state == held:
		a.lose(reason)
		a.finish(nil)
	default:
		a.finish(result)
	}
}

// after sets a timer of an acquisition anew; its action is called with the mutex held.
func (l *lease) after(a *acquisition, name string, delay time.Duration, action func()) {
	stopTimer(a, name)
	if a.timers == nil {
		a.timers = map[string]*time.Timer{}
	}
	a.timers[name] = l.timer(delay, func(timer *time.Timer) bool { return a.timers[name] == timer }, action)
}

// set sets a timer of the lease anew; its action is called with the mutex held.
func (l *lease) set(name string, delay time.Duration, action func()) {
	l.stop(name)
	if !l.isOver() {
		l.timers[name] = l.timer(delay, func(timer *time.Timer) bool { return l.timers[name] == timer }, action)
	}
}

func (l *lease) stop(name string) {
	if timer := l.timers[name]; timer != nil {
		timer.Stop()
		delete(l.timers, name)
	}
}

// timer calls an action with the mutex held, unless the timer was replaced while it waited for the mutex.
func (l *lease) timer(delay time.Duration, isCurrent func(*time.Timer) bool, action func()) *time.Timer {
	var timer *time.Timer
	timer = time.AfterFunc(max(0, delay), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if isCurrent(timer) && !l.isOver() {
			action()
		}
	})
	return timer
}

func stopTimer(a *acquisition, name string) {
	if timer := a.timers[name]; timer != nil {
		timer.Stop()
		delete(a.timers, name)
	}
}

func stopTimers(a *acquisition) {
	for name := range a.timers {
		stopTimer(a, name)
	}
}

func (l *lease) opening() *pb.SessionRequest {
	opening := &pb.OpenSession{LeaseId: l.id, LeaseSecret: l.secret, Batches: true}
	if l.id == "" {
		opening.Holder = l.config.holder
		if l.config.ttl != 0 {
			opening.Ttl = durationpb.New(l.config.ttl)
		}
	}
	return &pb.SessionRequest{Request: &pb.SessionRequest_Open{Open: opening}}
}
