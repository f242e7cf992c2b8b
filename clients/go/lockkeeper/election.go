package lockkeeper

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"time"
)

const (
	// leaderKey is the key of a leader's metadata under which clients of all languages say what it is.
	leaderKey = "leader"
	shortTerm = 5 * time.Second
)

// Leader is who leads.
type Leader struct {
	// Value is what it says of itself.
	Value string
	// FencingToken is that of its lock.
	FencingToken int64
	// Holder is who it is, human-readable.
	Holder string
}

// Election elects one leader among candidates, who lead in the order in which they came: the holder of an exclusive lock.
type Election struct {
	client *Client
	name   string
}

// Election returns the election whose leader holds the lock of that name.
func (c *Client) Election(name string) *Election {
	return &Election{client: c, name: name}
}

// Campaign waits until this candidate is elected; its term ends with the lock. Value is what others shall know about it, up to 4,000 bytes.
// Errors are those of [Client.Acquire].
func (e *Election) Campaign(ctx context.Context, value string, options ...Option) (*Lock, error) {
	if len(value) > 4000 {
		return nil, fmt.Errorf("lockkeeper: value must be 4,000 bytes at most, not %d", len(value))
	}
	all := append([]Option{DeadlockCheck(false)}, options...)
	return e.client.Lock(ctx, e.name, append(all, leads(value))...)
}

// leads adds what the leader says of itself to the metadata of a request.
func leads(value string) Option {
	return func(r *request) {
		all := map[string]string{}
		maps.Copy(all, r.metadata)
		all[leaderKey] = value
		r.metadata, r.elects = all, true
	}
}

// Run leads whenever this candidate is elected, until work is done, and returns what it returns. When the leadership is lost, the context of
// work is cancelled, and the candidate goes back to the queue. While no server can be reached, it tries again after a growing pause.
//
// Other errors: ctx's, [ErrClosed], a [NotAcquiredError] if the queue is full, and a [RefusedError] if a server refuses the candidate for good.
func (e *Election) Run(ctx context.Context, value string, work func(ctx context.Context, leadership *Lock) error, options ...Option) error {
	failures := 0
	for {
		lock, err := e.Campaign(ctx, value, options...)
		least := time.Duration(0)
		if err == nil {
			start := now()
			err = lock.do(ctx, work)
			var lost *LostError
			if !errors.As(err, &lost) || lost.Lock != lock.acquisition.request.String() {
				return err
			}
			if time.Duration(now()-start) >= shortTerm {
				failures = 0
			}
		} else if least, err = mayAskAgain(err); err != nil {
			return err
		}
		failures++
		if !sleep(ctx, max(least, pause(failures))) {
			return context.Cause(ctx)
		}
	}
}

// mayAskAgain returns after what time at least; or the error, if it would be the same.
func mayAskAgain(err error) (time.Duration, error) {
	var not *NotAcquiredError
	var refused *RefusedError
	var lease *LeaseLostError
	var unavailable *UnavailableError
	switch {
	case errors.As(err, &lease), errors.As(err, &unavailable), errors.As(err, &not) && not.Reason == "REMOVED":
		return 0, nil
	case errors.As(err, &refused) && refused.RetryAfter >= 0:
		return refused.RetryAfter, nil
	default:
		return 0, err
	}
}

// Leader returns who leads now, as a server sees it; nil: nobody.
func (e *Election) Leader(ctx context.Context) (*Leader, error) {
	info, err := e.client.GetLock(ctx, e.name)
	if err != nil {
		return nil, err
	}
	return leaderOf(info.Holders), nil
}

func leaderOf(holders []Contender) *Leader {
	for _, holder := range holders {
		if holder.FencingToken > 0 {
			return &Leader{Value: holder.Metadata[leaderKey], FencingToken: holder.FencingToken, Holder: holder.Holder}
		}
	}
	return nil
}

// Observe ranges over who leads, first as it is and then whenever that changes; nil: nobody. An error ends it, as the last
// item; that of a ctx that is done is its cause.
func (e *Election) Observe(ctx context.Context) iter.Seq2[*Leader, error] {
	return func(yield func(*Leader, error) bool) {
		var seen, told *Leader
		first := true
		for event, err := range e.client.Watch(ctx, e.name) {
			switch {
			case err != nil:
				yield(nil, err)
				return
			case event.Gap != "":
				seen = nil // a snapshot follows
				continue
			case event.Snapshot != nil:
				seen = leaderOf(event.Snapshot.Holders)
				continue
			case event.Change != nil:
				seen = leaderOf(event.Change.Holders)
			}
			if first || !isSame(seen, told) {
				first, told = false, seen
				if !yield(seen, nil) {
					return
				}
			}
		}
	}
}

func isSame(one, other *Leader) bool {
	return one == nil && other == nil || one != nil && other != nil && *one == *other
}
