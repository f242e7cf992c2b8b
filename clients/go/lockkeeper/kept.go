package lockkeeper

import (
	"slices"
	"time"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

// kept is one acquisition that serves one user after the other. A user is an acquisition, too, of which no server knows.
type kept struct {
	keeper    *keeper
	like      alike
	wire      *acquisition   // what a server knows
	grants    []Grant        // for the next user
	users     []*acquisition // of one owner; before the grant, who asks
	queue     []*acquisition // who waits for it in the client
	leaving   *acquisition   // who hears what became of the release
	contended *Contended
	asked     []releaseAsked // for it
	wanted    bool           // back, by others
	isUnused  bool           // kept for whoever comes
	until     instant        // when it is unused no longer, or the last turns are over
	wake      instant        // when its timer fires
}

type releaseAsked struct {
	ReleaseRequested
	at instant
}

func (k *kept) onGranted() {
	u := k.users[0]
	k.users, k.grants = nil, k.wire.grants
	k.give(u)
}

// give makes a request a user, and whatever else its owner waits for by one that is alike.
func (k *kept) give(u *acquisition) {
	k.setAside(false)
	if !k.wanted && k.wire.request.excludes() {
		k.keeper.next[k.like] = k
	}
	owner := u.request.owner
	isFirst := len(k.users) == 0
	if owner != "" && isFirst {
		k.keeper.owners[owner] = append(k.keeper.owners[owner], k)
	}
	k.users = append(k.users, u)
	u.uses, u.state, u.grants = k, held, slices.Clone(k.grants)
	for i := range u.grants {
		u.grants[i].HoldCount = len(k.users)
	}
	k.tellEarlier(u)
	u.decide()
	if owner != "" && isFirst {
		k.keeper.onOwned(owner, k.wire.request, k)
	}
}

// tellEarlier tells who is handed what is wanted back why it is.
func (k *kept) tellEarlier(u *acquisition) {
	if !k.wanted {
		return
	}
	if k.contended != nil {
		u.tellContended(*k.contended)
	}
	for _, asked := range k.asked {
		if asked.Deadline != nil {
			left := max(0, *asked.Deadline-time.Duration(now()-asked.at))
			asked.Deadline = &left
		}
		u.tellReleaseRequested(asked.ReleaseRequested)
	}
	if k.wire.doubt != never {
		u.tellJeopardy(time.Duration(k.wire.doubt - now()))
	}
}

func (k *kept) release(u *acquisition, at instant) {
	k.users = without(k.users, u)
	u.result = &pb.ReleaseResponse{Outcome: pb.ReleaseOutcome_RELEASE_OUTCOME_RELEASED}
	if left := len(k.users); left > 0 {
		k.keeper.inside--
		u.result.Outcome, u.result.RemainingHolds = pb.ReleaseOutcome_RELEASE_OUTCOME_DECREMENTED, int32(left) //nolint:gosec // few
		u.finish(nil)
		return
	}
	if u.request.owner != "" {
		k.keeper.disown(u.request.owner, k)
	}
	if k.wanted && at >= k.until { // its timer may be late
		k.sendOn()
	}
	k.dropLate(at)
	if len(k.queue) == 0 && (k.wanted || k.keeper.count >= maxUnused) {
		k.leaving, u.state, u.result = u, releasing, nil
		k.giveBack()
		return
	}
	for i := range k.grants {
		k.grants[i].PreviousEnd = "RELEASED"
	}
	if len(k.queue) > 0 {
		k.giveNext()
	} else {
		k.forget()
		k.setAside(true)
		k.until = at + instant(*u.request.keep)
		k.setTimer()
	}
	u.finish(nil)
}

// dropLate drops the first of those who wait, if their wait limits are over and no timer has said so.
func (k *kept) dropLate(at instant) {
	for len(k.queue) > 0 && at >= k.queue[0].giveUp {
		k.timeOut(k.queue[0])
	}
}

func (k *kept) giveNext() {
	next := k.queue[0]
	k.leave(next)
	k.give(next)
}

// giveBack releases what nobody uses.
func (k *kept) giveBack() {
	k.forget()
	k.keeper.lease.giveBack(k.wire)
}

// forget has nobody get the lock any more.
func (k *kept) forget() {
	k.setAside(false)
	if k.keeper.next[k.like] == k {
		delete(k.keeper.next, k.like)
	}
}

func (k *kept) setAside(isUnused bool) {
	if k.isUnused == isUnused {
		return
	}
	k.isUnused = isUnused
	all := k.keeper.unused[k.like]
	if isUnused {
		k.keeper.count++
		k.keeper.unused[k.like] = append(all, k)
		return
	}
	k.keeper.count--
	if all = without(all, k); len(all) == 0 {
		delete(k.keeper.unused, k.like)
	} else {
		k.keeper.unused[k.like] = all
	}
}

// setTimer sets the lock's one timer, unless it fires earlier: then it is set again. So most locks and unlocks set none.
func (k *kept) setTimer() {
	if k.until < k.wake {
		k.wake = k.until
		k.keeper.lease.after(k.wire, "kept", time.Duration(k.until-now()), k.onTime)
	}
}

func (k *kept) onTime() {
	k.wake = never
	switch {
	case !k.isUnused && len(k.queue) == 0: // it is in use
	case now() < k.until:
		k.setTimer()
	case k.isUnused:
		k.giveBack()
	case k.wanted:
		k.sendOn()
	}
}

// enqueue has a request wait in the client, which counts its wait limit.
func (k *kept) enqueue(u *acquisition) {
	k.keeper.inside++
	k.queue = append(k.queue, u)
	u.uses = k
	if u.giveUp != never {
		k.keeper.lease.after(u, "give-up", time.Duration(u.giveUp-now()), func() { u.uses.timeOut(u) })
	}
	ahead := len(k.queue) // with the user
	u.tell(func(listener *Listener) {
		if listener.Queued != nil {
			places := make([]Place, len(u.request.specs))
			for i, spec := range u.request.specs {
				places[i] = Place{Name: spec.name, Ahead: ahead}
			}
			listener.Queued(places)
		}
	})
}

func (k *kept) timeOut(u *acquisition) {
	k.leave(u)
	u.fail(timedOut(u, "other requests of this client came first"))
}

func (k *kept) leave(u *acquisition) {
	k.keeper.inside--
	stopTimers(u)
	if len(k.queue) > 0 && k.queue[0] == u {
		k.queue[0], k.queue = nil, k.queue[1:]
	} else {
		k.queue = without(k.queue, u)
	}
}

// dismiss returns those who wait, and do not any more.
func (k *kept) dismiss() []*acquisition {
	all := k.queue
	k.queue = nil
	k.keeper.inside -= len(all)
	for _, u := range all {
		stopTimers(u)
	}
	return all
}

// sendOn has those who wait for this wait for what is asked for now, before those who do already; or the first of them asks.
func (k *kept) sendOn() {
	k.dropLate(now())
	if len(k.queue) == 0 {
		return
	}
	next := k.keeper.next[k.like]
	if next == nil {
		first, since := k.queue[0], now()
		if !k.wire.asked { // no server could be reached meanwhile
			since = max(first.begun, k.wire.begun)
		}
		k.leave(first)
		next = k.keeper.ask(first, k.like, since)
	}
	for _, u := range k.queue {
		u.uses = next
	}
	next.queue = append(k.queue, next.queue...)
	k.queue = nil
}

func (k *kept) onContended(contended Contended) {
	k.contended = &contended
	for i := range k.grants {
		if k.grants[i].Name == contended.Name {
			k.grants[i].Waiters = contended.Waiters
		}
	}
	for _, u := range k.users {
		u.tellContended(contended)
	}
	k.wantBack()
}

func (k *kept) onReleaseRequested(asked ReleaseRequested) {
	k.asked = slices.DeleteFunc(k.asked, func(other releaseAsked) bool { return other.Name == asked.Name })
	k.asked = append(k.asked, releaseAsked{asked, now()})
	for _, u := range k.users {
		u.tellReleaseRequested(asked)
	}
	k.wantBack()
}

// wantBack says that others are to have the lock. Who waits for it here has been promised a turn, for a while.
func (k *kept) wantBack() {
	if k.wanted || k.wire.state != held {
		return
	}
	k.wanted = true
	if k.isUnused {
		k.giveBack()
		return
	}
	k.forget()
	if len(k.queue) > 0 {
		k.until = now() + instant(k.keeper.lease.config.lastTurns)
		k.setTimer()
	}
}

// What the acquisition tells.

func (k *kept) tell(call func(listener *Listener)) {
	for _, u := range k.users {
		u.tell(call)
	}
}

// onFailed says that the locks will not be held. The next of those who wait asks for them.
func (k *kept) onFailed(err error) {
	users := k.users
	k.users = nil
	for _, u := range users {
		u.fail(err)
	}
	k.forget()
	k.sendOn()
}

// onLost tells whoever uses the locks. Unused ones are missed by nobody.
func (k *kept) onLost(reason string) {
	k.forget()
	users := k.users
	k.users = nil
	for i, u := range users {
		if i > 0 {
			k.keeper.inside--
		} else if u.request.owner != "" {
			k.keeper.disown(u.request.owner, k)
		}
		u.lose(reason)
		u.finish(nil)
	}
	k.sendOn()
}

func (k *kept) onEnded(result *pb.ReleaseResponse) {
	if k.leaving != nil {
		k.leaving.finish(result)
	}
}
