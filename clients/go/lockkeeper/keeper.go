package lockkeeper

import (
	"fmt"
	"slices"
)

const maxUnused = 1_000 // locks that a client keeps unused

// keeper has the locks of a lease that are kept when they are released: who uses them, and who waits for them in the client. The lease's mutex
// guards it.
type keeper struct {
	lease  *lease
	unused map[alike][]*kept
	next   map[alike]*kept           // for which requests wait in the client: it asks a server, or is in use and not wanted back
	owners map[string][]*kept        // which an owner uses
	waits  map[string][]*acquisition // of an owner, for locks that are kept or are not
	count  int                       // of what is unused
	inside int                       // requests that wait in the client, and levels
}

func newKeeper(l *lease) *keeper {
	return &keeper{
		lease: l, unused: map[alike][]*kept{}, next: map[alike]*kept{}, owners: map[string][]*kept{}, waits: map[string][]*acquisition{},
	}
}

// acquire grants what is kept, or has a request wait for it here, or asks a server.
func (k *keeper) acquire(u *acquisition, at instant) {
	like := u.request.alike()
	if lock := k.ownedBy(u.request, like); lock != nil {
		reason := lock.wire.overdue(at, k.lease.deadline)
		if reason == "" {
			k.inside++
			lock.give(u)
			return
		}
		k.lease.loseByItself(lock.wire, reason)
	}
	for unused := k.unused[like]; len(unused) > 0; unused = k.unused[like] {
		lock := unused[len(unused)-1] // so that the others' time runs out
		if at < lock.until {
			lock.give(u)
			return
		}
		lock.giveBack() // its timer may be late
	}
	lock := k.next[like]
	switch err := k.holdsOtherwise(u.request); {
	case err != nil:
		u.fail(err)
	case lock == nil:
		k.await(u)
		k.ask(u, like, at)
	case u.request.wait != nil && *u.request.wait == 0:
		u.fail(timedOut(u, "another request of this client has it, or asks for it"))
	default:
		k.await(u)
		lock.enqueue(u)
	}
}

// await notes that an owner waits.
func (k *keeper) await(a *acquisition) {
	if owner := a.request.owner; owner != "" {
		a.awaits = k
		k.waits[owner] = append(k.waits[owner], a)
	}
}

func (k *keeper) awaitNoMore(a *acquisition) {
	a.awaits = nil
	k.waits[a.request.owner] = without(k.waits[a.request.owner], a)
	if len(k.waits[a.request.owner]) == 0 {
		delete(k.waits, a.request.owner)
	}
}

func without[T comparable](all []T, one T) []T {
	return slices.DeleteFunc(all, func(other T) bool { return other == one })
}

// ownedBy returns what the owner of a request uses by one that is alike; nil: nothing. Permits and custom modes each request has of its own.
func (k *keeper) ownedBy(r *request, like alike) *kept {
	if r.owner == "" || r.keep == nil || r.takesItsOwn() {
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

// onOwned is called when an owner has got locks, of a kept one or not (nil). What else he waits for is granted with it, if it is alike, or would
// be waited for without end.
func (k *keeper) onOwned(owner string, holds *request, lock *kept) {
	for _, a := range slices.Clone(k.waits[owner]) {
		if a.state != waiting || lock == nil && a.request.keep == nil { // that is a server's matter
			continue
		}
		if lock != nil && a.request.keep != nil && !a.request.takesItsOwn() && a.request.alike() == lock.like {
			k.leave(a)
			k.inside++
			lock.give(a)
		} else if err := wouldDeadlock(a.request, holds); err != nil {
			k.refuse(a, err)
		}
	}
}

func (k *keeper) refuse(a *acquisition, err error) {
	if a.request.keep != nil {
		k.leave(a)
		a.fail(err)
	} else {
		a.giveUpWaiting(err)
		k.lease.giveBack(a)
	}
}

// ask asks a server, whom this could not be asked of since then.
func (k *keeper) ask(u *acquisition, like alike, since instant) *kept {
	lock := &kept{keeper: k, like: like, users: []*acquisition{u}, wake: never}
	lock.wire = newAcquisition(u.number, u.id, u.request.wire(), since, lock.tell)
	lock.wire.giveUp, lock.wire.keeps, lock.wire.onLost = u.giveUp, lock, lock.onLost
	u.uses = lock
	if u.request.excludes() {
		k.next[like] = lock
	}
	k.lease.request(lock.wire)
	return lock
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
		k.leave(u)
		u.fail(withdrawn(u))
	default: // it has ended
	}
}

// leave has a request wait no more, in the client or, having asked, for a server. Then the next one asks.
func (k *keeper) leave(u *acquisition) {
	lock := u.uses
	if !slices.Contains(lock.users, u) {
		lock.leave(u)
		return
	}
	lock.users = nil
	lock.giveBack()
	lock.sendOn()
}

func (k *keeper) disown(owner string, lock *kept) {
	k.owners[owner] = without(k.owners[owner], lock)
	if len(k.owners[owner]) == 0 {
		delete(k.owners, owner)
	}
}
