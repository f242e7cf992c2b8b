package lockkeeper

import (
	"fmt"
	"slices"
	"time"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

const (
	maxUnused = 1_000       // locks that are kept unused
	lastTurns = time.Second // for those who waited in the client when a lock was wanted back
)

// keeper has the locks of a lease that are kept when they are released: who uses them, and who waits for them in the client. The lease's mutex
// guards it.
type keeper struct {
	lease  *lease
	unused map[alike][]*kept
	used   map[alike]*kept    // for which requests wait in the client
	owners map[string][]*kept // which an owner uses
	count  int                // of what is unused
	inside int                // requests that wait in the client, and levels
}

// kept is one acquisition that serves one user after the other. A user is an acquisition, too, of which no server knows.
type kept struct {
	keeper    *keeper
	like      alike
	wire      *acquisition // what a server knows
	grants    []Grant      // for the next user
	users     []*acquisition
	queue     []*acquisition
	leaving   *acquisition // who hears what became of the release
	contended *Contended
	wanted    bool    // back, by others
	isUnused  bool    // kept for whoever comes
	until     instant // when it is unused no longer, or the last turns are over
	wake      instant // when its timer fires
}

func newKeeper(l *lease) *keeper {
	return &keeper{lease: l, unused: map[alike][]*kept{}, used: map[alike]*kept{}, owners: map[string][]*kept{}}
}

// acquire grants what is kept, or has a request wait for it here, or asks a server.
func (k *keeper) acquire(u *acquisition) {
	like := u.request.alike()
	if lock := k.ownedBy(u.request, like); lock != nil {
		reason := lock.wire.overdue(now(), k.lease.deadline)
		if reason == "" {
			k.inside++
			lock.give(u)
			return
		}
		k.lease.loseByItself(lock.wire, reason)
	}
	if unused := k.unused[like]; len(unused) > 0 {
		unused[len(unused)-1].give(u) // so that the others' time runs out
		return
	}
	lock := k.used[like]
	switch err := k.holdsOtherwise(u.request); {
	case err != nil:
		u.fail(err)
	case lock == nil:
		k.ask(u, like)
	case u.request.wait != nil && *u.request.wait == 0:
		u.fail(timedOut(u, "another request of this client uses it"))
	default:
		lock.enqueue(u)
	}
}

// ownedBy returns what the owner of a request uses by one that is alike; nil: nothing. Each request has permits of its own.
func (k *keeper) ownedBy(r *request, like alike) *kept {
	if r.owner == "" || r.keep == nil || r.hasPermits() {
		return nil
	}
	for _, lock := range k.owners[r.owner] {
		if lock.like == like {
			return lock
		}
	}
	return nil
}

// waitsForItself is why a request would wait for what its own owner uses, which no server could see; nil: it would not.
func (k *keeper) waitsForItself(r *request) error {
	if r.owner == "" || len(k.owners[r.owner]) == 0 || k.ownedBy(r, r.alike()) != nil {
		return nil
	}
	for _, lock := range k.owners[r.owner] {
		if err := wouldDeadlock(r, lock.wire.request); err != nil {
			return err
		}
	}
	return nil
}

// holdsOtherwise is the same of what the owner holds by requests whose locks are not kept: to a server, a kept lock is not his.
func (k *keeper) holdsOtherwise(r *request) error {
	if r.owner == "" {
		return nil
	}
	for _, a := range k.lease.acquisitions {
		if a.state == held && a.request.owner == r.owner {
			if err := wouldDeadlock(r, a.request); err != nil {
				return err
			}
		}
	}
	return nil
}

func wouldDeadlock(r, holds *request) error {
	for _, theirs := range holds.specs {
		for _, mine := range r.specs {
			if mine.name == theirs.name && (mine.excludes() || theirs.excludes()) {
				return &NotAcquiredError{
					Lock: r.String(), Reason: "WOULD_DEADLOCK",
					Message: fmt.Sprintf("owner %q holds %q by another request, one of the two for a kept lock, and would wait for itself", r.owner, mine.name),
				}
			}
		}
	}
	return nil
}

func (k *keeper) ask(u *acquisition, like alike) {
	lock := &kept{keeper: k, like: like, users: []*acquisition{u}, wake: never}
	lock.wire = newAcquisition(u.number, u.id, u.request.wire(), lock.tell)
	lock.wire.giveUp, lock.wire.keeps, lock.wire.onLost = u.giveUp, lock, lock.onLost
	u.uses = lock
	k.lease.request(lock.wire)
}

// release is called when a user has released, or withdraws its request.
func (k *keeper) release(u *acquisition) {
	switch lock := u.uses; u.state {
	case held:
		at := now()
		if reason := u.overdue(at, k.lease.deadline); reason != "" {
			k.lease.loseByItself(lock.wire, reason)
		} else {
			lock.release(u, at)
		}
	case waiting:
		if slices.Contains(lock.queue, u) {
			lock.leave(u)
		} else {
			lock.users = nil
			k.lease.giveBack(lock.wire)
		}
		u.fail(withdrawn(u))
	default: // it has ended
	}
}

func (k *keeper) disown(owner string, lock *kept) {
	k.owners[owner] = slices.DeleteFunc(k.owners[owner], func(other *kept) bool { return other == lock })
	if len(k.owners[owner]) == 0 {
		delete(k.owners, owner)
	}
}

// What becomes of one lock.

func (k *kept) onGranted() {
	u := k.users[0]
	k.users, k.grants = nil, k.wire.grants
	k.give(u)
}

// give makes a request a user.
func (k *kept) give(u *acquisition) {
	k.setAside(false)
	if !k.wanted && k.wire.request.excludes() {
		k.keeper.used[k.like] = k
	}
	owner := u.request.owner
	if owner != "" && len(k.users) == 0 {
		k.keeper.owners[owner] = append(k.keeper.owners[owner], k)
	}
	k.users = append(k.users, u)
	u.uses, u.state, u.grants = k, held, slices.Clone(k.grants)
	for i := range u.grants {
		u.grants[i].HoldCount = len(k.users)
	}
	if k.contended != nil {
		u.tellContended(*k.contended)
	}
	closeOnce(u.granted)
}

func (k *kept) release(u *acquisition, at instant) {
	k.users = slices.DeleteFunc(k.users, func(other *acquisition) bool { return other == u })
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

// giveNext makes the first of those who wait a user, and whoever else is the same owner.
func (k *kept) giveNext() {
	next := k.queue[0]
	k.leave(next)
	k.give(next)
	if next.request.owner == "" || next.request.hasPermits() {
		return
	}
	for _, u := range slices.Clone(k.queue) {
		if u.request.owner == next.request.owner {
			stopTimers(u)
			k.queue = slices.DeleteFunc(k.queue, func(other *acquisition) bool { return other == u })
			k.give(u)
		}
	}
}

// giveBack releases what nobody uses.
func (k *kept) giveBack() {
	k.forget()
	k.keeper.lease.giveBack(k.wire)
}

// forget has nobody get the lock any more.
func (k *kept) forget() {
	k.setAside(false)
	if k.keeper.used[k.like] == k {
		delete(k.keeper.used, k.like)
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
	all = slices.DeleteFunc(all, func(other *kept) bool { return other == k })
	if len(all) == 0 {
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
		k.keeper.lease.after(u, "give-up", time.Duration(u.giveUp-now()), func() {
			k.leave(u)
			u.fail(timedOut(u, "other requests of this client have used it all the time"))
		})
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

func (k *kept) leave(u *acquisition) {
	k.keeper.inside--
	k.queue = slices.DeleteFunc(k.queue, func(other *acquisition) bool { return other == u })
	stopTimers(u)
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

// sendOn has a server asked by those who wait.
func (k *kept) sendOn() {
	for _, u := range k.dismiss() {
		k.keeper.ask(u, k.like)
	}
}

func (k *kept) onContended(contended Contended) {
	if k.contended == nil {
		k.contended = &contended
	}
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
		k.until = now() + instant(lastTurns)
		k.setTimer()
	}
}

// What the acquisition tells.

func (k *kept) tell(call func(listener *Listener)) {
	for _, u := range k.users {
		u.tell(call)
	}
}

// onFailed says that the locks will not be held.
func (k *kept) onFailed(err error) {
	for _, u := range k.users {
		u.fail(err)
	}
	k.users = nil
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
