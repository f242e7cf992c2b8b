package lockkeeper

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

const (
	attemptTimeout = 5 * time.Second
	closingLimit   = time.Minute // for closing a lease that was given up
	maxClosings    = 8
)

// pings end a watch whose server is gone without a word; a session has its own keep-alives.
var pings = grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second})

// calls are answered once, and watches, at whichever server answers, over a connection of their own that is kept until a server fails.
type calls struct {
	config  *config
	servers *servers

	mu     sync.Mutex
	shared *shared // nil: there is none, or it has failed
	closed bool
	end    context.Context //nolint:containedctx // of all calls and watches
	stop   context.CancelFunc
}

// shared is a connection that calls share; after a failure it is closed by the last of them, so that no other is cut off.
type shared struct {
	connection *grpc.ClientConn
	to         server
	users      int
}

func newCalls(config *config, servers *servers) *calls {
	c := &calls{config: config, servers: servers}
	c.end, c.stop = context.WithCancel(context.Background())
	return c
}

// use returns a connection, with one user more.
func (c *calls) use(ctx context.Context) (*shared, error) {
	c.mu.Lock()
	known := c.shared != nil || c.closed
	c.mu.Unlock()
	var made *shared
	if !known {
		to, err := c.servers.next(ctx)
		if err != nil {
			return nil, err
		}
		connection, err := c.config.connect(to, pings)
		if err != nil {
			return nil, err
		}
		made = &shared{connection: connection, to: to}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if made != nil && (c.closed || c.shared != nil) {
		made.connection.Close() // somebody else was quicker
	} else if made != nil {
		c.shared = made
	}
	if c.closed {
		return nil, ErrClosed
	}
	if c.shared == nil {
		return nil, errFailed // since it was looked at
	}
	c.shared.users++
	return c.shared, nil
}

var errFailed = errors.New("the connection has failed")

func (c *calls) leave(s *shared, failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if failed && c.shared == s {
		c.shared = nil // another server is asked next
	}
	s.users--
	if s.users == 0 && (c.shared != s || c.closed) {
		s.connection.Close()
	}
}

func (c *calls) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.stop()
	if c.shared != nil && c.shared.users == 0 {
		c.shared.connection.Close()
	}
}

// once makes one attempt of a call, or of a watch.
func (c *calls) once(ctx context.Context, attempt func(ctx context.Context, connection grpc.ClientConnInterface) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.end, cancel)()
	s, err := c.use(ctx)
	if err != nil {
		return c.orClosed(err)
	}
	authorized, err := c.config.authorized(ctx, s.to, openingTimeout)
	if err == nil {
		err = attempt(authorized, s.connection)
	}
	c.leave(s, err != nil && ctx.Err() == nil && !errors.Is(err, errDone) && !isFinal(err))
	return c.orClosed(err)
}

// orClosed says that an attempt has failed since the client was closed.
func (c *calls) orClosed(err error) error {
	if err != nil && !errors.Is(err, errDone) && c.end.Err() != nil {
		return ErrClosed
	}
	return err
}

// try asks servers in turn until one answers, or the request timeout is over.
func (c *calls) try(ctx context.Context, what string, attempt func(ctx context.Context, connection grpc.ClientConnInterface) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.config.requestTimeout, errTimeout)
	defer cancel()
	for failures := 1; ; failures++ {
		err := c.once(ctx, func(ctx context.Context, connection grpc.ClientConnInterface) error {
			limited, done := context.WithTimeout(ctx, attemptTimeout)
			defer done()
			return attempt(limited, connection)
		})
		if err == nil || errors.Is(err, ErrClosed) {
			return err
		}
		if errors.Is(err, errTokenRefused) {
			return tokenRefusal(what, err)
		}
		if isFinal(err) {
			return callError(what, err)
		}
		if !sleep(ctx, max(retryDelay(status.Convert(err)), pause(failures))) {
			if cause := context.Cause(ctx); !errors.Is(cause, errTimeout) {
				return cause
			}
			return &UnavailableError{What: what, Err: err}
		}
	}
}

var errTimeout = errors.New("the request timeout is over")

// isFinal says whether another server would answer the same.
func isFinal(err error) bool {
	said, ok := status.FromError(err)
	if !ok {
		return false
	}
	switch said.Code() {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Unknown:
		return false
	default:
		return true
	}
}

func pause(failures int) time.Duration {
	longest := min(2*time.Second, 50*time.Millisecond<<min(failures, 10))
	return longest/2 + rand.N(longest/2) //nolint:gosec // jitter
}

// sleep waits; false: the context is done before.
func sleep(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// try keeps the client until the call is answered.
func (c *Client) try(ctx context.Context, what string, attempt func(ctx context.Context, client pb.LockServiceClient) error) error {
	defer runtime.KeepAlive(c)
	return c.core.calls.try(ctx, what, func(ctx context.Context, connection grpc.ClientConnInterface) error {
		return attempt(ctx, pb.NewLockServiceClient(connection))
	})
}

// closings closes leases that were given up, over connections of their own: their coordinators would keep the locks until the leases expire.
type closings struct {
	config  config
	targets []target
	first   int
	slots   chan struct{}   // as many as are under way
	end     context.Context //nolint:containedctx // of all of them
	stop    context.CancelFunc
}

func newClosings(config config, targets []target, first int) *closings {
	config.requestTimeout = closingLimit
	c := &closings{config: config, targets: targets, first: first, slots: make(chan struct{}, maxClosings)}
	c.end, c.stop = context.WithCancel(context.Background())
	return c
}

// begin closes a lease. Where no server answers in time, or too many are under way, it ends by its TTL.
func (c *closings) begin(id string) {
	select {
	case c.slots <- struct{}{}:
	default:
		return
	}
	go func() {
		defer func() { <-c.slots }()
		own := newCalls(&c.config, newServers(c.targets, c.first))
		defer own.close()
		err := own.try(c.end, "close lease", func(ctx context.Context, connection grpc.ClientConnInterface) error {
			_, err := pb.NewLeaseServiceClient(connection).CloseLease(ctx, &pb.CloseLeaseRequest{LeaseId: id})
			return err
		})
		if err != nil {
			c.config.log.Debug("lockkeeper: a lease that was given up could not be closed", "error", err)
		}
	}()
}

// wait waits for those that are under way, and ends the others. No other begins after it.
func (c *closings) wait(limit <-chan time.Time) {
	defer c.stop()
	for range maxClosings {
		select {
		case c.slots <- struct{}{}:
		case <-limit:
			return
		case <-c.end.Done(): // it has waited before
			return
		}
	}
}

// GetLock returns who holds a lock, and who waits for it, up to 100 of them. A lock that nobody uses is a free one.
func (c *Client) GetLock(ctx context.Context, name string) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, err
	}
	var info Info
	err := c.try(ctx, fmt.Sprintf("get lock %q", name), func(ctx context.Context, client pb.LockServiceClient) error {
		answer, err := client.GetLock(ctx, &pb.GetLockRequest{Name: name})
		info = toInfo(answer.GetLock())
		return err
	})
	return info, err
}

// Locks ranges over the locks in use whose names begin with prefix, ordered by name. An error ends it.
func (c *Client) Locks(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		page := ""
		for {
			var answer *pb.ListLocksResponse
			err := c.try(ctx, fmt.Sprintf("list locks %q", prefix), func(ctx context.Context, client pb.LockServiceClient) (err error) {
				answer, err = client.ListLocks(ctx, &pb.ListLocksRequest{Prefix: prefix, PageToken: page})
				return err
			})
			if err != nil {
				yield(Info{}, err)
				return
			}
			for _, lock := range answer.GetLocks() {
				if !yield(toInfo(lock), nil) {
					return
				}
			}
			page = answer.GetNextPageToken()
			if page == "" {
				return
			}
		}
	}
}

// CheckToken says whether a fencing token is that of a current holder, after a write through ZooKeeper's quorum.
func (c *Client) CheckToken(ctx context.Context, name string, token int64) (bool, error) {
	if err := checkName(name); err != nil {
		return false, err
	}
	current := false
	err := c.try(ctx, fmt.Sprintf("check token of %q", name), func(ctx context.Context, client pb.LockServiceClient) error {
		answer, err := client.CheckToken(ctx, &pb.CheckTokenRequest{Name: name, FencingToken: token})
		current = answer.GetCurrent()
		return err
	})
	return current, err
}

// RequestRelease asks the holders of a lock to give way, and returns who was asked. Nothing is taken away by this.
func (c *Client) RequestRelease(ctx context.Context, name, reason string) ([]Contender, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	request := &pb.RequestReleaseRequest{Name: name, Reason: reason, Requester: c.core.config.holder}
	var asked []Contender
	err := c.try(ctx, fmt.Sprintf("request release of %q", name), func(ctx context.Context, client pb.LockServiceClient) error {
		answer, err := client.RequestRelease(ctx, request)
		asked = toContenders(answer.GetHolders())
		return err
	})
	return asked, err
}

// ConfigureLock sets the limit of a lock of permits, 1 to 1,000,000; 0 takes the setting back. Returns the one before; 0: none.
func (c *Client) ConfigureLock(ctx context.Context, name string, limit int) (int, error) {
	if err := checkName(name); err != nil {
		return 0, err
	}
	if limit < 0 || limit > maxPermits {
		return 0, fmt.Errorf("lockkeeper: limit must be 0 to 1,000,000, not %d", limit)
	}
	before := 0
	err := c.try(ctx, fmt.Sprintf("configure %q", name), func(ctx context.Context, client pb.LockServiceClient) error {
		answer, err := client.ConfigureLock(ctx, &pb.ConfigureLockRequest{Name: name, Limit: int32(limit)}) //nolint:gosec // checked
		before = int(answer.GetPreviousLimit())
		return err
	})
	return before, err
}
