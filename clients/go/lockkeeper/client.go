package lockkeeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const (
	maxRequests = 10_000
	maxPending  = 10_000 // calls of listeners
)

// Client acquires locks, keeps its lease alive, and knows without a server until when its locks may be used. All methods may be called by any
// goroutine.
//
// It has one lease, opened when a lock is first asked for. When the connection breaks, the server is silent or goes away, the lease is resumed
// at the next server: requests keep their places, and locks their tokens. Only when the lease ends are its locks lost.
type Client struct {
	core *core
}

// core is what goes on in the background. It does not know the client, so that one that is forgotten is found to be.
type core struct {
	config   *config
	servers  *servers
	calls    *calls
	closings *closings
	heard    *queue

	mu     sync.Mutex
	lease  *lease
	count  int64
	closed bool
}

// New makes a client of servers: one or several host:port, separated by commas. The port may be left out and is 7420 then. Of a name with
// several addresses each is a server. It may begin with dns:///. Connects when it is first used.
//
// Fails if an address is malformed, or an option out of range.
func New(servers string, options ...ClientOption) (*Client, error) {
	targets, err := parseServers(servers)
	if err != nil {
		return nil, err
	}
	config, err := newConfig(options)
	if err != nil {
		return nil, err
	}
	first := config.first
	if first < 0 {
		first = rand.IntN(len(targets)) //nolint:gosec // so that clients spread
	}
	c := &core{config: config, servers: newServers(targets, first), heard: &queue{log: config.log}}
	c.calls = newCalls(config, newServers(targets, first))
	c.closings = newClosings(*config, targets, first)
	client := &Client{core: c}
	runtime.AddCleanup(client, func(forgotten *core) { go forgotten.close() }, c)
	return client, nil
}

// LeaseTag returns the public short name of the lease, as others see it; empty before the first lock.
func (c *Client) LeaseTag() string {
	c.core.mu.Lock()
	l := c.core.lease
	c.core.mu.Unlock()
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tag
}

// Lock acquires an exclusive lock. See [Client.Acquire].
func (c *Client) Lock(ctx context.Context, name string, options ...Option) (*Lock, error) {
	return c.Acquire(ctx, []Spec{Exclusive(name)}, options...)
}

// TryLock acquires an exclusive lock if it is free, or gets free within [Wait]; false: it does not. Other errors are those of [Client.Acquire].
func (c *Client) TryLock(ctx context.Context, name string, options ...Option) (*Lock, bool, error) {
	lock, err := c.Lock(ctx, name, append([]Option{Wait(0)}, options...)...)
	var not *NotAcquiredError
	if errors.As(err, &not) && not.Reason == "TIMED_OUT" {
		return nil, false, nil
	}
	return lock, err == nil, err
}

// Acquire acquires one lock or several, which are granted together or not at all, and waits as long as [Wait] says.
//
// When ctx is done, the request is withdrawn, its cause returned at once, and a grant that comes all the same released. Its values, but
// not its end, are those of [Lock.Context].
//
// Other errors: [NotAcquiredError] (the wait limit ran out, the queue is full, the wait would never end), [LeaseLostError] (ask again),
// [UnavailableError], [RefusedError], [ErrClosed], [ErrTooMany], or what is out of range.
func (c *Client) Acquire(ctx context.Context, locks []Spec, options ...Option) (*Lock, error) {
	request, err := newRequest(locks, options)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(locks))
	for i, spec := range locks {
		names[i] = spec.name
	}
	observation := c.core.config.observer.Acquiring(ctx, names)
	start := now()
	lock, err := c.acquire(ctx, request, observation, start)
	if err != nil {
		observation.NotAcquired(err, time.Duration(now()-start))
		return nil, err
	}
	observation.Acquired(lock.Grants(), time.Duration(now()-start))
	runtime.KeepAlive(c)
	return lock, nil
}

func (c *Client) acquire(ctx context.Context, r *request, observation Observation, start instant) (*Lock, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	lock := &Lock{client: c, since: start, observation: observation}
	lock.ctx, lock.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := c.core.ask(lock, r); err != nil {
		return nil, err
	}
	l, a := lock.lease, lock.acquisition
	select {
	case <-a.granted:
	case <-ctx.Done():
		l.release(a)
		lock.cancel(ErrReleased)
		return nil, context.Cause(ctx)
	}
	l.mu.Lock()
	err := a.err
	l.mu.Unlock()
	if err != nil {
		lock.cancel(err)
		return nil, err
	}
	return lock, nil
}

// ask hands a request to the lease, or to a new one.
func (c *core) ask(lock *Lock, r *request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	if c.lease != nil && c.lease.size() >= maxRequests {
		return ErrTooMany
	}
	c.count++
	a := c.newAcquisition(lock, r)
	if c.lease == nil || !c.lease.acquire(a) {
		c.lease = newLease(c.config, c.servers, c.closings)
		c.lease.acquire(a)
	}
	lock.lease, lock.acquisition = c.lease, a
	return nil
}

func (c *core) newAcquisition(lock *Lock, r *request) *acquisition {
	cancel, observation, start := lock.cancel, lock.observation, lock.since
	listener := r.listener
	a := newAcquisition(c.count, strconv.FormatInt(c.count, 10), r, start, func(call func(*Listener)) {
		c.heard.putIfRoom(func() { call(&listener) })
	})
	name := r.String()
	a.onLost = func(reason string) {
		cancel(&LostError{Lock: name, Reason: reason})
		held := time.Duration(now() - start)
		c.heard.put(func() {
			observation.Lost(reason, held)
			if listener.Lost != nil {
				listener.Lost(reason)
			}
		})
	}
	return a
}

// Do runs work while it holds an exclusive lock, and releases the lock after it. The context of work is that of the lock: cancelled when the
// lock is lost, and when ctx is done. Returns what work returns, or a [LostError] if the lock was lost by the end.
func (c *Client) Do(ctx context.Context, name string, work func(ctx context.Context, lock *Lock) error, options ...Option) error {
	lock, err := c.Lock(ctx, name, options...)
	if err != nil {
		return err
	}
	return lock.do(ctx, work)
}

// Close ends the lease with all that it holds, and lets go of the servers; takes some seconds where none answers. Always returns nil.
func (c *Client) Close() error {
	c.core.close()
	return nil
}

func (c *core) close() {
	limit := time.NewTimer(closingTimeout)
	defer limit.Stop()
	c.mu.Lock()
	c.closed = true
	l := c.lease
	c.lease = nil
	c.mu.Unlock()
	if l != nil {
		l.close()
	}
	c.closings.wait(limit.C)
	c.calls.close()
	c.heard.wait()
}

// queue calls what listeners hear, one after the other, on a goroutine that ends when there is nothing more.
type queue struct {
	log     *slog.Logger
	mu      sync.Mutex
	pending []func()
	idle    chan struct{} // closed when the goroutine ends; nil: there is none
}

// put has a call made after those before it.
func (q *queue) put(call func()) { q.add(call, math.MaxInt) }

// putIfRoom leaves out what a listener that is far behind need not hear.
func (q *queue) putIfRoom(call func()) { q.add(call, maxPending) }

func (q *queue) add(call func(), most int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.pending) >= most {
		return
	}
	q.pending = append(q.pending, call)
	if q.idle == nil {
		q.start()
	}
}

func (q *queue) start() {
	q.idle = make(chan struct{})
	go q.run(q.idle)
}

func (q *queue) run(idle chan struct{}) {
	defer close(idle)
	defer func() { // a listener may end its goroutine, as a test that fails does
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.idle == idle {
			q.start()
		}
	}()
	for {
		q.mu.Lock()
		if len(q.pending) == 0 {
			q.idle = nil
			q.mu.Unlock()
			return
		}
		call := q.pending[0]
		q.pending = q.pending[1:]
		q.mu.Unlock()
		q.hear(call)
	}
}

func (q *queue) hear(call func()) {
	defer logPanic(q.log)
	call()
}

// wait waits for what is under way, a second at most: a listener may be the one that closes.
func (q *queue) wait() {
	q.mu.Lock()
	idle := q.idle
	q.mu.Unlock()
	if idle == nil {
		return
	}
	timeout := time.NewTimer(time.Second)
	defer timeout.Stop()
	select {
	case <-idle:
	case <-timeout.C:
	}
}

func (c *Client) String() string {
	return fmt.Sprintf("lockkeeper.Client of %v", c.core.servers.targets)
}
