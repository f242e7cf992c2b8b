package lockkeeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
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
//
// Where the service is several shards, the client finds those that it was not given, and has one lease at each that serves a lock it has asked
// for. What happens to one lease touches no lock of another.
type Client struct {
	core *core
}

// core is what goes on in the background. It does not know the client, so that one that is forgotten is found to be.
type core struct {
	config  *config
	given   *shard // the servers that the client was given
	heard   *queue
	unused  atomic.Int64  // locks that are kept unused
	closing chan struct{} // closed when the client is

	mu     sync.Mutex
	count  int64
	closed bool
	shards map[string]*shard // by id, as far as the client has been there
	table  *table            // nil: no server has said WRONG_SHARD
	hints  map[string]hint   // by namespace
	asking *asking           // nil: no request for the table is under way
}

// New makes a client of servers: one or several host:port, separated by commas. The port may be left out and is 7420 then. Of a name with
// several addresses each is a server. It may begin with dns:///. Connects when it is first used. Where the service is several shards, they are
// those of one shard, any of them.
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
	c := &core{config: config, given: newShard(config, "", targets), heard: &queue{log: config.log}, closing: make(chan struct{})}
	client := &Client{core: c}
	runtime.AddCleanup(client, func(forgotten *core) { go forgotten.close() }, c)
	return client, nil
}

// LeaseTag returns the public short name of the lease, as others see it; empty before the first lock. Of several shards it is that at the servers
// that the client was given.
func (c *Client) LeaseTag() string {
	c.core.mu.Lock()
	l := c.core.given.lease
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
// Where the service is several shards, the request goes to the one that serves the namespace of its locks; while none does, it is asked again, for
// as long as it may wait. Locks of several shards are refused: ACROSS_SHARDS.
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
	lock, err := c.acquire(ctx, request, names, observation, start)
	if err != nil {
		observation.NotAcquired(err, time.Duration(now()-start))
		return nil, err
	}
	observation.Acquired(lock.Grants(), time.Duration(now()-start))
	runtime.KeepAlive(c)
	return lock, nil
}

// acquire asks one shard after the other, until one has decided.
func (c *Client) acquire(ctx context.Context, r *request, names []string, observation Observation, start instant) (*Lock, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	lock := &Lock{client: c, since: start, observation: observation}
	lock.ctx, lock.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	h := hops{core: c.core, request: r, names: names, giveUp: r.giveUp(start, start)}
	for begun := start; ; begun = now() {
		at, err := c.core.ask(lock, r, names, begun)
		if err != nil {
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
		err = a.err
		l.mu.Unlock()
		if err == nil {
			return lock, nil
		}
		if err = h.next(ctx, at, a, err); err != nil {
			lock.cancel(err)
			return nil, err
		}
	}
}

// ask hands a request to the lease at the shard that serves its locks, or to a new one there. It could be asked since then.
func (c *core) ask(lock *Lock, r *request, names []string, begun instant) (*shard, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, err := c.route(names)
	if err != nil {
		return nil, err
	}
	if c.size() >= maxRequests {
		return nil, ErrTooMany
	}
	c.count++
	a := c.newAcquisition(lock, r, begun)
	if at.lease == nil || !at.lease.acquire(a) {
		at.lease = newLease(c.config, at.servers, &c.unused)
		at.lease.acquire(a)
	}
	lock.lease, lock.acquisition = at.lease, a
	return at, nil
}

// size counts requests and locks, at all shards.
func (c *core) size() int {
	size := 0
	if c.given.lease != nil {
		size = c.given.lease.size()
	}
	for _, s := range c.shards {
		if s != c.given && s.lease != nil {
			size += s.lease.size()
		}
	}
	return size
}

func (c *core) newAcquisition(lock *Lock, r *request, begun instant) *acquisition {
	listener := r.listener
	a := newAcquisition(c.count, strconv.FormatInt(c.count, 10), r, begun, func(call func(*Listener)) {
		c.heard.putIfRoom(func() { call(&listener) })
	})
	a.giveUp = r.giveUp(lock.since, begun)
	cancel, observation, start := lock.cancel, lock.observation, lock.since
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

// Close ends all leases with what they hold, and lets go of the servers; takes some seconds where none answers. Always returns nil.
func (c *Client) Close() error {
	c.core.close()
	return nil
}

func (c *core) close() {
	c.mu.Lock()
	c.closed = true
	closeOnce(c.closing)
	all := c.all()
	var leases sync.WaitGroup
	for _, s := range all {
		if l := s.lease; l != nil {
			leases.Go(l.close)
		}
		s.lease = nil
	}
	c.mu.Unlock()
	leases.Wait()
	for _, s := range all {
		s.calls.close()
	}
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
	return fmt.Sprintf("lockkeeper.Client of %v", c.core.given.servers.targets)
}
