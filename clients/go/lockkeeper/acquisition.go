package lockkeeper

import (
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

const never = instant(math.MaxInt64)

type state int

const (
	waiting state = iota
	held
	releasing
	ended
)

// acquisition is one request for locks, from the asking to its end. Its lease's mutex guards it.
type acquisition struct {
	id      string
	number  int64
	request *request
	state   state
	asked   bool    // of a server, over a stream
	begun   instant // since when it could be
	giveUp  instant
	grants  []Grant
	epoch   int64
	last    int64
	doubt   instant        // until when the locks are good in a jeopardy
	limit   instant        // until when they may be held
	outers  []*acquisition // of the same owner, whose longest hold ends this one, too
	uses    *kept          // which this user has, or waits for
	keeps   *kept          // which has its locks from this
	awaits  *keeper        // which knows that its owner waits
	told    bool           // that somebody waits
	lost    string         // why they were lost
	err     error          // why they were not granted
	result  *pb.ReleaseResponse

	granted chan struct{} // closed when the locks are held, or will not be
	done    chan struct{} // closed when it has ended
	timers  map[string]*time.Timer
	// onLost is called when the locks are lost, under the mutex; tell passes on what the listener hears, unless it is far behind.
	onLost func(reason string)
	tell   func(call func(listener *Listener))
}

func newAcquisition(number int64, id string, r *request, begun instant, tell func(call func(listener *Listener))) *acquisition {
	a := &acquisition{
		id: id, number: number, request: r, begun: begun, giveUp: never, doubt: never, limit: never,
		granted: make(chan struct{}), done: make(chan struct{}), tell: tell, onLost: func(string) {},
	}
	if r.wait != nil {
		a.giveUp = begun + instant(*r.wait)
	}
	return a
}

// until is until when the locks may be used.
func (a *acquisition) until(lease instant) instant {
	a = a.known()
	return min(lease, a.doubt, a.holdLimit())
}

// known is what a server knows: this, or what its user uses.
func (a *acquisition) known() *acquisition {
	if a.uses != nil {
		return a.uses.wire
	}
	return a
}

// holdLimit is until when the server lets the locks be held.
func (a *acquisition) holdLimit() instant {
	limit := a.limit
	for _, outer := range a.outers {
		if outer.state != ended {
			limit = min(limit, outer.limit)
		}
	}
	return limit
}

// nest notes which of all that are held this is a level above: their longest hold ends this one, too. Who has no owner has no levels.
func (a *acquisition) nest(all map[string]*acquisition) {
	if a.request.owner == "" {
		return
	}
	for _, other := range all {
		if other != a && other.state == held && other.limit != never && other.request.owner == a.request.owner && a.sharesHold(other) {
			a.outers = append(a.outers, other)
		}
	}
}

func (a *acquisition) sharesHold(other *acquisition) bool {
	return slices.ContainsFunc(other.grants, func(grant Grant) bool {
		return slices.ContainsFunc(a.grants, func(mine Grant) bool { return mine.Name == grant.Name && mine.FencingToken == grant.FencingToken })
	})
}

// overdue is why the locks are not held any more by the clock, though no timer has said so; empty: they are.
func (a *acquisition) overdue(at, lease instant) string {
	switch {
	case a.state != held || a.lost != "" || at < a.until(lease):
		return ""
	case at >= a.holdLimit():
		return "MAX_HOLD"
	default:
		return "DEADLINE_PASSED"
	}
}

func (a *acquisition) tokens() []int64 {
	tokens := make([]int64, len(a.grants))
	for i, grant := range a.grants {
		tokens[i] = grant.FencingToken
	}
	return tokens
}

// message is the request as it is sent, for the first time or once more.
func (a *acquisition) message() *pb.AcquireRequest {
	var wait *time.Duration
	if a.giveUp != never {
		left := time.Duration(a.giveUp - now())
		wait = &left
	}
	maxHold := a.request.maxHold
	if a.limit != never {
		maxHold = time.Duration(a.limit - now())
	}
	return a.request.message(a.id, wait, a.tokens(), maxHold)
}

// isNew says whether an event is no repetition, and notes that it was heard.
func (a *acquisition) isNew(event *pb.AcquireResponse) bool {
	epoch, sequence := event.GetEpoch(), event.GetSequence()
	if sequence <= 0 || epoch < a.epoch || epoch == a.epoch && sequence <= a.last {
		return false
	}
	a.epoch, a.last = epoch, sequence
	return true
}

func (a *acquisition) onGranted(granted *pb.Granted) {
	a.state = held
	for _, grant := range granted.GetGrants() {
		a.grants = append(a.grants, Grant{
			Name: grant.GetName(), FencingToken: grant.GetFencingToken(), PreviousEnd: enumName(grant.GetPreviousEnd()),
			HoldCount: int(grant.GetHoldCount()), Waiters: int(grant.GetWaiters()),
		})
	}
	if a.request.maxHold != 0 {
		a.limit = now() + instant(a.request.maxHold)
	}
	a.decide()
}

// decide says that the locks are held, or will not be.
func (a *acquisition) decide() {
	a.awaitNoMore()
	closeOnce(a.granted)
}

func (a *acquisition) awaitNoMore() {
	if a.awaits != nil {
		a.awaits.awaitNoMore(a)
	}
}

func (a *acquisition) isGrantOf(granted *pb.Granted) bool {
	return slices.EqualFunc(a.grants, granted.GetGrants(), func(mine Grant, other *pb.Grant) bool {
		return mine.FencingToken == other.GetFencingToken()
	})
}

// fail says that the locks will not be held.
func (a *acquisition) fail(err error) {
	a.giveUpWaiting(err)
	a.finish(nil)
}

// giveUpWaiting tells the caller; what the server may grant all the same is still to be withdrawn.
func (a *acquisition) giveUpWaiting(err error) {
	if a.err == nil {
		a.err = err
	}
	a.decide()
	if a.keeps != nil {
		a.keeps.onFailed(err)
	}
}

// lose says that the locks are not held any more, though nobody has released them.
func (a *acquisition) lose(reason string) {
	if a.lost != "" {
		return
	}
	a.lost = reason
	a.onLost(reason)
}

func (a *acquisition) finish(result *pb.ReleaseResponse) {
	a.state = ended
	a.awaitNoMore()
	if result != nil {
		a.result = proto.CloneOf(result)
	}
	closeOnce(a.done)
	if a.keeps != nil {
		a.keeps.onEnded(result)
	}
}

// dismiss says that the locks will not be held by those who wait for them in the client.
func (a *acquisition) dismiss(err error) {
	if a.keeps != nil {
		for _, u := range a.keeps.dismiss() {
			u.fail(err)
		}
	}
}

func (a *acquisition) onContended(contended Contended) {
	switch {
	case a.state != held:
	case a.keeps != nil:
		a.keeps.onContended(contended)
	default:
		a.tellContended(contended)
	}
}

func (a *acquisition) onReleaseRequested(asked ReleaseRequested) {
	if a.keeps != nil {
		a.keeps.onReleaseRequested(asked)
	} else {
		a.tellReleaseRequested(asked)
	}
}

// wantBack says that others are to have the locks.
func (a *acquisition) wantBack() {
	if a.keeps != nil {
		a.keeps.wantBack()
	}
}

func (a *acquisition) tellReleaseRequested(asked ReleaseRequested) {
	a.tell(func(listener *Listener) {
		if listener.ReleaseRequested != nil {
			listener.ReleaseRequested(asked)
		}
	})
}

func (a *acquisition) tellJeopardy(validFor time.Duration) {
	a.tell(func(listener *Listener) {
		if listener.Jeopardy != nil {
			listener.Jeopardy(validFor)
		}
	})
}

// tellContended tells a listener that wants to know, once.
func (a *acquisition) tellContended(contended Contended) {
	if !a.request.notify || a.told {
		return
	}
	a.told = true
	a.tell(func(listener *Listener) {
		if listener.Contended != nil {
			listener.Contended(contended)
		}
	})
}

func closeOnce(channel chan struct{}) {
	select {
	case <-channel:
	default:
		close(channel)
	}
}
