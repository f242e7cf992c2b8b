package lockkeeper

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

const (
	atOnce    = 2      // so many times one request follows WRONG_SHARD without a pause
	maxHints  = 1_000  // namespaces
	maxMet    = 10_000 // shards, in a client's life
	tableWait = time.Second
)

// shard is one ensemble with its coordinators: a lease there, and calls. The core's mutex guards id and lease.
type shard struct {
	id      string // empty: not known
	servers *servers
	calls   *calls
	lease   *lease
}

// hint is what WRONG_SHARD has said of a namespace, where that is newer than the table.
type hint struct {
	to      *shard
	version int64 // of the table that it comes from
}

// asking is a request for the table that is under way.
type asking struct {
	of   *shard
	done chan struct{} // closed when it is over
}

func newShard(config *config, id string, targets []target) *shard {
	first := config.first
	if first < 0 {
		first = rand.IntN(len(targets)) //nolint:gosec // so that clients spread
	}
	return &shard{id: id, servers: newServers(targets, first), calls: newCalls(config, newServers(targets, first))}
}

// isSameAs says whether two are one ensemble, as far as is known.
func (s *shard) isSameAs(other *shard) bool {
	return s == other || s.id != "" && s.id == other.id
}

// Where a request goes. All of it is called with the mutex held.

// route returns the shard that serves locks, or locks below a prefix. What is not known is asked of the servers that the client was given; so is
// everything, before a server has said WRONG_SHARD. Errors: ErrClosed, or a RefusedError where several shards serve them.
func (c *core) route(names []string) (*shard, error) {
	if c.closed {
		return nil, ErrClosed
	}
	if c.table == nil && len(c.hints) == 0 {
		return c.given, nil
	}
	var found *shard
	first := ""
	for _, name := range names {
		s := c.serving(namespaceOf(name))
		switch {
		case s == nil || s == found:
		case found == nil:
			found, first = s, name
		default:
			return nil, acrossShards(names, fmt.Sprintf("shard %s serves %q, and shard %s %q", found.id, first, s.id, name))
		}
	}
	if found == nil {
		found = c.given
	}
	return found, nil
}

func (c *core) find(names []string) (*shard, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.route(names)
}

// below returns what a prefix is routed by: nothing, where it is not within one namespace.
func below(prefix string) []string {
	if strings.Index(prefix, "/") > 0 {
		return []string{prefix}
	}
	return nil
}

func acrossShards(names []string, message string) error {
	return &RefusedError{
		What: strconv.Quote(strings.Join(names, ", ")), Reason: "ACROSS_SHARDS", Code: codes.FailedPrecondition, RetryAfter: -1, Message: message,
	}
}

// serving returns the shard of a namespace; nil: it is not known.
func (c *core) serving(namespace string) *shard {
	if newer, hinted := c.hints[namespace]; hinted {
		return newer.to
	}
	if c.table == nil {
		return nil
	}
	id := c.table.shardOf(namespace)
	if id == "" {
		return nil
	}
	return c.meet(id, c.table.shards[id])
}

// version is that of the table by which a namespace is routed; zero: there is none.
func (c *core) version(namespace string) int64 {
	if newer, hinted := c.hints[namespace]; hinted {
		return newer.version
	}
	if c.table == nil {
		return 0
	}
	return c.table.version
}

// meet returns the shard of that id, which may be a new one; nil: there are too many.
func (c *core) meet(id string, targets []target) *shard {
	if known := c.shards[id]; known != nil {
		return known
	}
	if len(c.shards) >= maxMet {
		return nil
	}
	if c.shards == nil {
		c.shards = map[string]*shard{}
	}
	c.shards[id] = newShard(c.config, id, targets)
	return c.shards[id]
}

// all returns the shards that the client has been at.
func (c *core) all() []*shard {
	all := []*shard{c.given}
	for _, s := range c.shards {
		if s != c.given {
			all = append(all, s)
		}
	}
	return all
}

// note takes down what WRONG_SHARD has said, if what is known is not newer and says something else. The table may, of the same version, too: it
// leaves out what the client had no right on.
func (c *core) note(wrong *pb.WrongShard) {
	namespace := wrong.GetNamespace()
	targets, err := targetsOf(wrong.GetShard())
	known := c.version(namespace)
	if err != nil || wrong.GetTableVersion() < known {
		return
	}
	to := c.meet(wrong.GetShard().GetId(), targets)
	if to == nil || wrong.GetTableVersion() == known && to == c.serving(namespace) {
		return
	}
	if c.hints == nil || len(c.hints) >= maxHints {
		c.hints = map[string]hint{}
	}
	c.hints[namespace] = hint{to, wrong.GetTableVersion()}
}

// What becomes of it when a shard does not serve it.

// wrongShard returns the refusal of a shard that does not serve what it was asked for; nil: it is something else.
func wrongShard(err error) *RefusedError {
	var refused *RefusedError
	if errors.As(err, &refused) && refused.Reason == "WRONG_SHARD" {
		return refused
	}
	return nil
}

// isElsewhere says whether a request has ended because its namespace is served elsewhere, or will be.
func isElsewhere(err error) bool {
	var not *NotAcquiredError
	return wrongShard(err) != nil || errors.As(err, &not) && not.Reason == "NAMESPACE_MOVED"
}

// follow learns who serves what a shard has refused, for that many times now, and returns after what time to ask again. It is not at once where
// the table names the shard that has refused: it is being changed. Errors: the cause of ctx, and those of route.
func (c *core) follow(ctx context.Context, from *shard, names []string, refused *RefusedError, times int) (time.Duration, error) {
	if !c.knowsBetter(from, names, refused.wrong) {
		if err := c.learn(ctx, from, refused.wrong.GetTableVersion()); err != nil {
			return 0, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(refused.wrong)
	to, err := c.route(names)
	if err != nil || !to.isSameAs(from) && times <= atOnce {
		return 0, err
	}
	return tableWait*3/4 + rand.N(tableWait/2), nil //nolint:gosec // jitter
}

// knowsBetter says whether the client has learnt meanwhile what a shard would tell.
func (c *core) knowsBetter(from *shard, names []string, wrong *pb.WrongShard) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	to, err := c.route(names)
	return err == nil && !to.isSameAs(from) && c.version(wrong.GetNamespace()) >= wrong.GetTableVersion()
}

// learn asks the servers of a shard for the table, unless those of another one tell a version as high. One request is under way at a time; each
// is over after the request timeout.
func (c *core) learn(ctx context.Context, from *shard, version int64) error {
	for {
		c.mu.Lock()
		if c.asking == nil {
			c.asking = &asking{of: from, done: make(chan struct{})}
			go c.askForTable(c.asking)
		}
		asked := c.asking
		c.mu.Unlock()
		select {
		case <-asked.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.closing:
			return ErrClosed
		}
		c.mu.Lock()
		enough := asked.of == from || c.table != nil && c.table.version >= version
		c.mu.Unlock()
		if enough {
			return nil
		}
	}
}

func (c *core) askForTable(asked *asking) {
	ctx, cancel := c.limited(context.Background())
	defer cancel()
	var answer *pb.GetShardsResponse
	err := asked.of.calls.try(ctx, "get shards", func(ctx context.Context, client stub) (err error) {
		answer, err = client.GetShards(ctx, &pb.GetShardsRequest{}, grpc.MaxCallRecvMsgSize(maxTableBytes))
		return err
	})
	var said *table
	if err == nil {
		said, err = newTable(answer.GetTable())
	}
	if err != nil && !errors.Is(err, ErrClosed) {
		c.config.log.Warn("lockkeeper: there is no table of shards to be had", "error", err)
	}
	c.mu.Lock()
	c.introduce(asked.of, answer.GetSelf())
	moved := c.take(said)
	c.asking = nil
	c.mu.Unlock()
	for s, targets := range moved { // not under the mutex: a name may be being looked up
		s.servers.replace(targets)
		s.calls.servers.replace(targets)
	}
	close(asked.done)
}

// introduce notes which shard the servers are that the client was given.
func (c *core) introduce(s *shard, self string) {
	if s.id != "" || !shardPattern.MatchString(self) {
		return
	}
	s.id = self
	if c.shards == nil {
		c.shards = map[string]*shard{}
	}
	if c.shards[self] == nil {
		c.shards[self] = s
	}
}

// take goes by a table from now on, if it is newer. Returns where the shards are that the client has been at. The servers that it was given
// stay those.
func (c *core) take(said *table) map[*shard][]target {
	if said == nil || c.table != nil && said.version <= c.table.version {
		return nil
	}
	c.table = said
	maps.DeleteFunc(c.hints, func(_ string, old hint) bool { return old.version <= said.version })
	moved := map[*shard][]target{}
	for id, targets := range said.shards {
		if s := c.shards[id]; s != nil && s != c.given {
			moved[s] = targets
		}
	}
	return moved
}

// pause waits; an error: ctx is done, or the client is closed.
func (c *core) pause(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.closing:
		return ErrClosed
	}
}

// hops is one request for locks, from one shard to the next.
type hops struct {
	core    *core
	request *request
	names   []string
	giveUp  instant
	wrong   int // how many times a shard did not serve it
	moved   int // how many times its namespace moved while it waited
}

// next waits until a request that has ended at one shard may be asked again; an error: it has ended for good.
func (h *hops) next(ctx context.Context, from *shard, a *acquisition, err error) error {
	if !isElsewhere(err) {
		return err
	}
	mayWait := h.request.wait == nil || *h.request.wait > 0
	limited, cancel := ctx, context.CancelFunc(func() {})
	if mayWait && h.giveUp != never {
		limited, cancel = context.WithTimeoutCause(ctx, time.Duration(h.giveUp-now()), errTimeout)
	}
	defer cancel()
	length, failure := h.delay(limited, from, err)
	switch {
	case errors.Is(failure, errTimeout),
		failure == nil && !mayWait && (length > 0 || h.moved > 0),
		failure == nil && mayWait && h.giveUp != never && now()+instant(length) >= h.giveUp:
		return timedOut(a, "no shard serves its namespace at the moment")
	case failure != nil:
		return failure
	}
	return h.core.pause(ctx, length)
}

func (h *hops) delay(ctx context.Context, from *shard, err error) (time.Duration, error) {
	if refused := wrongShard(err); refused != nil {
		h.wrong++
		return h.core.follow(ctx, from, h.names, refused, h.wrong)
	}
	h.moved++
	if h.moved == 1 {
		return 0, nil
	}
	return pause(h.moved), nil
}
