package lockkeeper

import (
	"time"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

// Grant is the proof of ownership of one lock.
type Grant struct {
	// Name is the lock's.
	Name string
	// FencingToken rises with every grant of the lock: hand it to what the lock protects.
	FencingToken int64
	// PreviousEnd is how the holder before ended: RELEASED, LEASE_EXPIRED, ...
	PreviousEnd string
	// HoldCount is how many acquisitions of the owner hold the lock, this one included.
	HoldCount int
	// Waiters is how many waited for the lock at the moment of the grant; 0 without [NotifyContention] and [KeepUnused].
	Waiters int
}

// Contender is a holder of a lock, or somebody who waits for it.
type Contender struct {
	Holder       string
	Owner        string
	Mode         string
	LeaseTag     string
	RequestID    string
	FencingToken int64 // 0 for a waiter
	Metadata     map[string]string
	QueuedFor    time.Duration // since it asked, also of a holder
	HeldFor      time.Duration
	Permits      int
	// ReleaseIn is for how long a holder needs the lock yet, as it has answered; nil: it has not.
	ReleaseIn *time.Duration
}

func toContender(c *pb.Contender) Contender {
	mode := c.GetCustom()
	if mode == "" {
		mode = enumName(c.GetMode())
	}
	contender := Contender{
		Holder: c.GetHolder(), Owner: c.GetOwner(), Mode: mode, LeaseTag: c.GetLeaseTag(), RequestID: c.GetRequestId(),
		FencingToken: c.GetFencingToken(), Metadata: c.GetMetadata(), QueuedFor: c.GetQueuedFor().AsDuration(),
		HeldFor: c.GetHeldFor().AsDuration(), Permits: int(c.GetPermits()),
	}
	if c.ReleaseIn != nil {
		left := c.GetReleaseIn().AsDuration()
		contender.ReleaseIn = &left
	}
	return contender
}

func toContenders(messages []*pb.Contender) []Contender {
	contenders := make([]Contender, len(messages))
	for i, message := range messages {
		contenders[i] = toContender(message)
	}
	return contenders
}

// Place is the place in one lock's queue.
type Place struct {
	// Name is the lock's.
	Name string
	// Ahead is how many are ahead, holders included.
	Ahead int
	// Holders is who holds the lock now, as far as known.
	Holders []Contender
	// Frozen says why nobody new is granted the lock; empty: it is not frozen, or no reason was given.
	Frozen string
}

func toPlaces(positions []*pb.QueuePosition) []Place {
	places := make([]Place, len(positions))
	for i, position := range positions {
		places[i] = Place{
			Name: position.GetName(), Ahead: int(position.GetAhead()), Holders: toContenders(position.GetHolders()),
			Frozen: position.GetFrozen().GetReason(),
		}
	}
	return places
}

// ReleaseRequested says that somebody asks a holder to give way.
type ReleaseRequested struct {
	Name      string
	Requester string
	Reason    string
	// Deadline is the time left until the lock may be taken away by force; nil: no limit.
	Deadline *time.Duration
}

func toReleaseRequested(message *pb.ReleaseRequested) ReleaseRequested {
	asked := ReleaseRequested{Name: message.GetName(), Requester: message.GetRequester(), Reason: message.GetReason()}
	if message.Deadline != nil {
		left := message.GetDeadline().AsDuration()
		asked.Deadline = &left
	}
	return asked
}

// Contended says that somebody waits for a lock that is held, or that it was frozen.
type Contended struct {
	Name string
	// Waiters is how many wait; 0: nobody does, and the lock is frozen.
	Waiters int
	// Frozen says why nobody new is granted the lock; empty: it is not frozen, or no reason was given.
	Frozen string
}

func toContended(message *pb.Contended) Contended {
	return Contended{Name: message.GetName(), Waiters: int(message.GetWaiters()), Frozen: message.GetFrozen().GetReason()}
}

// Info is one lock as a server sees it.
type Info struct {
	Name            string
	Holders         []Contender
	QueueLength     int
	Queue           []Contender // the first of those who wait
	ConfiguredLimit int
	Frozen          string
}

func toInfo(state *pb.LockState) Info {
	return Info{
		Name: state.GetName(), Holders: toContenders(state.GetHolders()), QueueLength: int(state.GetQueueLength()),
		Queue: toContenders(state.GetQueue()), ConfiguredLimit: int(state.GetConfiguredLimit()), Frozen: state.GetFrozen().GetReason(),
	}
}
