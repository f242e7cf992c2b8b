package lockkeeper

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

// Event is one event of a watch: exactly one of Snapshot, SnapshotEnd, Change and Gap is set.
type Event struct {
	// Snapshot is part of the state at the beginning: one lock that is in use.
	Snapshot *Info
	// SnapshotEnd says that the snapshot is complete.
	SnapshotEnd bool
	// Change says how a lock has changed.
	Change *Change
	// Gap says that events may be missing, and why: forget what was known, a new snapshot follows.
	Gap string
}

// Change says how a lock has changed.
type Change struct {
	Name string
	// Cause is QUEUED, GRANTED, RELEASED, WITHDRAWN, LEASE_ENDED, ...; UNSPECIFIED if Coalesced is above 1.
	Cause string
	// Contender is to whom it happened; nil if Coalesced is above 1.
	Contender   *Contender
	Holders     []Contender
	QueueLength int
	// Coalesced is for how many changes this one stands.
	Coalesced int
}

// Watch ranges over the state of up to 256 locks, and then over every change, until ctx is done or the range is left. It goes on over servers by
// itself, for as long as ctx lets it. An error ends it, as the last item; that of a ctx that is done is its cause.
func (c *Client) Watch(ctx context.Context, names ...string) iter.Seq2[Event, error] {
	for _, name := range names {
		if err := checkName(name); err != nil {
			return failed(err)
		}
	}
	if len(names) < 1 || len(names) > 256 {
		return failed(fmt.Errorf("lockkeeper: names must be 1 to 256, not %d", len(names)))
	}
	return c.watch(ctx, &pb.WatchRequest{Names: names})
}

// WatchPrefix is [Client.Watch] of all locks whose names begin with prefix.
func (c *Client) WatchPrefix(ctx context.Context, prefix string) iter.Seq2[Event, error] {
	return c.watch(ctx, &pb.WatchRequest{Prefix: prefix})
}

func failed(err error) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { yield(Event{}, err) }
}

// errDone says that the range was left.
var errDone = errors.New("done")

func (c *Client) watch(ctx context.Context, request *pb.WatchRequest) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		defer runtime.KeepAlive(c)
		w := watching{request: request, yield: yield}
		for w.failures = 1; ; w.failures++ {
			err := c.core.calls.once(ctx, w.listen)
			switch {
			case errors.Is(err, errDone):
				return
			case ctx.Err() != nil:
				yield(Event{}, context.Cause(ctx))
				return
			case errors.Is(err, ErrClosed):
				yield(Event{}, err)
				return
			case errors.Is(err, errTokenRefused):
				yield(Event{}, tokenRefusal("watch", err))
				return
			case isFinal(err) && retryDelay(status.Convert(err)) < 0:
				yield(Event{}, callError("watch", err))
				return
			}
			sleep(ctx, max(retryDelay(status.Convert(err)), pause(w.failures)))
		}
	}
}

// watching is a watch from one stream to the next.
type watching struct {
	request  *pb.WatchRequest
	yield    func(Event, error) bool
	begun    bool
	failures int
}

func (w *watching) listen(ctx context.Context, connection grpc.ClientConnInterface) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := pb.NewLockServiceClient(connection).Watch(ctx, w.request)
	if err != nil {
		return err
	}
	if w.begun && w.request.GetStartRevision() == 0 && !w.yield(Event{Gap: "the watch begins anew"}, nil) {
		return errDone
	}
	for {
		message, err := events.Recv()
		if err != nil {
			return err
		}
		w.begun, w.failures = true, 0
		if message.GetHeartbeat() == nil {
			w.request.StartRevision = message.GetRevision()
		}
		if event, known := toEvent(message); known && !w.yield(event, nil) {
			return errDone
		}
	}
}

func toEvent(message *pb.WatchResponse) (Event, bool) {
	switch said := message.GetEvent().(type) {
	case *pb.WatchResponse_Snapshot:
		info := toInfo(said.Snapshot)
		return Event{Snapshot: &info}, true
	case *pb.WatchResponse_SnapshotEnd:
		return Event{SnapshotEnd: true}, true
	case *pb.WatchResponse_Gap:
		return Event{Gap: "events may be missing: " + said.Gap.GetReason()}, true
	case *pb.WatchResponse_Change:
		change := &Change{
			Name: said.Change.GetName(), Cause: enumName(said.Change.GetCause()), Holders: toContenders(said.Change.GetHolders()),
			QueueLength: int(said.Change.GetQueueLength()), Coalesced: int(said.Change.GetCoalesced()),
		}
		if said.Change.GetContender() != nil {
			contender := toContender(said.Change.GetContender())
			change.Contender = &contender
		}
		return Event{Change: change}, true
	default:
		return Event{}, false // of a later version
	}
}
