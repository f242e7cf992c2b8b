// Package lockkeepertest has a server in memory, for tests of code that uses locks: the real client talks to it, and the test says what goes
// wrong.
//
//	server := lockkeepertest.NewServer(t)
//	client, err := lockkeeper.New(server.Address())
//	...
//	server.Lose("orders/42")
//
// It has sessions, all modes of locks, queues in order, reentrancy by owner, wait limits, releases and keep-alives, tells holders that want to
// know when somebody waits, and answers GetLock and ListLocks. It has no ZooKeeper, no watches, no search for cycles of waits, no limits, and
// serves no CheckToken, ConfigureLock or RequestRelease.
package lockkeepertest

import (
	"crypto/rand"
	"encoding/hex"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

// TB is what a server needs of a test.
type TB interface {
	Helper()
	Errorf(format string, arguments ...any)
	Fatalf(format string, arguments ...any)
	Cleanup(end func())
}

// Server is a server in memory, on a free port of this machine. Its methods may be called by any goroutine.
type Server struct {
	t TB

	mu       sync.Mutex
	address  string
	grpc     *grpc.Server
	leases   map[string]*lease
	bySecret map[string]*lease
	queues   map[string][]*request
	token    int64
	sequence int64 // of events
	heard    int   // requests for locks, and releases
	frozen   bool
}

// service is what clients call.
type service struct {
	pb.UnimplementedLockServiceServer
	*Server
}

type lease struct {
	id       string
	ttl      time.Duration
	requests map[string]*request
	stream   *stream
	timer    *time.Timer
}

type stream struct {
	out  []*pb.SessionResponse // guarded by the server's mutex
	wake chan struct{}
	end  bool
}

type request struct {
	lease   *lease
	message *pb.AcquireRequest
	tokens  []int64
	last    *pb.AcquireResponse
	told    bool // that somebody waits
	timer   *time.Timer
}

// NewServer starts a server that ends with the test.
func NewServer(t TB) *Server {
	t.Helper()
	s := &Server{
		t: t, address: "127.0.0.1:0", leases: map[string]*lease{}, bySecret: map[string]*lease{}, queues: map[string][]*request{}, token: 1 << 40,
	}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

// Address returns where it listens, as host:port.
func (s *Server) Address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.address
}

// Start listens again, at the same port, after [Server.Stop].
func (s *Server) Start() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		s.t.Fatalf("lockkeepertest: %v", err)
	}
	s.address = listener.Addr().String()
	s.grpc = grpc.NewServer()
	pb.RegisterLockServiceServer(s.grpc, service{Server: s})
	served := s.grpc
	go served.Serve(listener) //nolint:errcheck // it ends with Stop
}

// Stop stops listening and breaks all connections. Leases live on until their time is over.
func (s *Server) Stop() {
	s.mu.Lock()
	served := s.grpc
	s.mu.Unlock()
	served.Stop()
}

// Lose takes a lock away from its holders, for the reason FORCED; the client hears of it a moment later. That nobody holds it fails the test.
func (s *Server) Lose(name string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := &pb.Lost{Reason: pb.LossReason_LOSS_REASON_FORCED, Message: "taken away by a test"}
	held := false
	for _, r := range slices.Clone(s.queues[name]) {
		if r.tokens != nil {
			held = true
			s.lose(r, lost)
		}
	}
	if !held {
		s.t.Errorf("lockkeepertest: nobody holds %q", name)
	}
	s.decide()
}

// ExpireLeases ends all leases, as if none had been renewed in time.
func (s *Server) ExpireLeases() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.leases {
		s.endLease(l, pb.LeaseEndReason_LEASE_END_REASON_EXPIRED)
	}
}

// RequestReleaseOf asks the holders of a lock to give way.
func (s *Server) RequestReleaseOf(name, requester, reason string) {
	asked := &pb.ReleaseRequested{Name: name, Requester: requester, Reason: reason}
	s.tellHolders(func(r *request) *pb.AcquireResponse {
		if !slices.Contains(s.queues[name], r) {
			return nil
		}
		return &pb.AcquireResponse{Event: &pb.AcquireResponse_ReleaseRequested{ReleaseRequested: asked}}
	})
}

// Jeopardize tells all holders that the server has lost ZooKeeper, and vouches for so long yet.
func (s *Server) Jeopardize(validFor time.Duration) {
	s.tellHolders(func(*request) *pb.AcquireResponse {
		return &pb.AcquireResponse{Event: &pb.AcquireResponse_Jeopardy{Jeopardy: &pb.Jeopardy{ValidFor: durationpb.New(validFor)}}}
	})
}

// MakeSafe tells all holders that the jeopardy is over.
func (s *Server) MakeSafe() {
	s.tellHolders(func(*request) *pb.AcquireResponse {
		return &pb.AcquireResponse{Event: &pb.AcquireResponse_Safe{Safe: &pb.Safe{ValidFor: durationpb.New(time.Minute)}}}
	})
}

// Disconnect breaks all streams. Leases live on, and clients come back.
func (s *Server) Disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.leases {
		if l.stream != nil {
			l.stream.close()
		}
	}
}

// Freeze answers nothing from now on, keep-alives neither. Connections stay.
func (s *Server) Freeze() { s.setFrozen(true) }

// Thaw answers again what comes from now on.
func (s *Server) Thaw() { s.setFrozen(false) }

func (s *Server) setFrozen(frozen bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = frozen
}

// Requests returns how many requests for locks and releases it has heard, those that clients repeat after a broken stream included.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}

// Sessions.

// Session is the contract's.
func (s service) Session(session grpc.BidiStreamingServer[pb.SessionRequest, pb.SessionResponse]) error {
	first, err := session.Recv()
	if err != nil {
		return err
	}
	own, l, err := s.open(first.GetOpen())
	if err != nil {
		return err
	}
	go func() {
		for {
			request, err := session.Recv()
			if err != nil {
				s.mu.Lock()
				own.close()
				s.mu.Unlock()
				return
			}
			s.takeAll(l, own, request)
		}
	}()
	for {
		s.mu.Lock()
		out, end := own.out, own.end
		own.out = nil
		if end && l.stream == own {
			l.stream = nil
		}
		s.mu.Unlock()
		for _, response := range out {
			if err := session.Send(response); err != nil {
				return err
			}
		}
		if end {
			return status.Error(codes.Unavailable, "disconnected by a test")
		}
		<-own.wake
	}
}

func (s *Server) open(opening *pb.OpenSession) (*stream, *lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.bySecret[opening.GetLeaseSecret()]
	if opening.GetLeaseId() != "" {
		l = s.leases[opening.GetLeaseId()]
		if l == nil {
			return nil, nil, status.Error(codes.NotFound, "no such lease")
		}
	}
	if l == nil {
		l = &lease{id: newID(), ttl: 15 * time.Second, requests: map[string]*request{}}
		if opening.Ttl != nil {
			l.ttl = opening.GetTtl().AsDuration()
		}
		s.leases[l.id], s.bySecret[opening.GetLeaseSecret()] = l, l
	}
	if l.stream != nil {
		away := &pb.GoingAway{Reason: pb.GoingAwayReason_GOING_AWAY_REASON_SUPERSEDED}
		s.say(l, &pb.SessionResponse{Response: &pb.SessionResponse_GoingAway{GoingAway: away}})
		l.stream.close()
	}
	l.stream = &stream{wake: make(chan struct{}, 1)}
	s.renew(l)
	s.say(l, &pb.SessionResponse{Response: &pb.SessionResponse_Opened{Opened: &pb.SessionOpened{
		LeaseId: l.id, LeaseTag: l.id[:16], Ttl: durationpb.New(l.ttl), ValidFor: durationpb.New(l.ttl),
		KeepAliveInterval: durationpb.New(l.ttl / 4), Resumed: opening.GetLeaseId() != "", Batches: true,
	}}})
	for _, r := range l.requests {
		s.repeat(r)
		r.told = false // it hears how it is now
		s.tellContention(r)
	}
	return l.stream, l, nil
}

func newID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails
	return hex.EncodeToString(id)
}

func (s *stream) close() {
	s.end = true
	s.signal()
}

func (s *stream) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Server) takeAll(l *lease, own *stream, message *pb.SessionRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := message.GetBatch().GetRequests()
	if requests == nil {
		requests = []*pb.SessionRequest{message}
	}
	for _, request := range requests {
		if !s.frozen && s.leases[l.id] == l && l.stream == own {
			s.take(l, request)
		}
	}
}

func (s *Server) take(l *lease, message *pb.SessionRequest) {
	switch asked := message.GetRequest().(type) {
	case *pb.SessionRequest_KeepAlive:
		s.renew(l)
		s.say(l, &pb.SessionResponse{Response: &pb.SessionResponse_KeptAlive{KeptAlive: &pb.SessionKeptAlive{
			Nonce: asked.KeepAlive.GetNonce(), ValidFor: durationpb.New(l.ttl), KeepAliveInterval: durationpb.New(l.ttl / 4),
		}}})
	case *pb.SessionRequest_Acquire:
		s.heard++
		s.acquire(l, asked.Acquire)
	case *pb.SessionRequest_Release:
		s.heard++
		s.release(l, asked.Release.GetRequestId())
	case *pb.SessionRequest_UpdateMetadata:
		id := asked.UpdateMetadata.GetRequestId()
		if r := l.requests[id]; r != nil {
			r.message.Metadata = asked.UpdateMetadata.GetMetadata()
		}
		updated := &pb.MetadataUpdated{RequestId: id}
		s.say(l, &pb.SessionResponse{Response: &pb.SessionResponse_MetadataUpdated{MetadataUpdated: updated}})
	case *pb.SessionRequest_AnswerRelease:
		answered := &pb.ReleaseAnswered{RequestId: asked.AnswerRelease.GetRequestId()}
		s.say(l, &pb.SessionResponse{Response: &pb.SessionResponse_ReleaseAnswered{ReleaseAnswered: answered}})
	case *pb.SessionRequest_Close:
		s.endLease(l, pb.LeaseEndReason_LEASE_END_REASON_CLOSED)
	}
}

func (s *Server) renew(l *lease) {
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = time.AfterFunc(l.ttl, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.endLease(l, pb.LeaseEndReason_LEASE_END_REASON_EXPIRED)
	})
}

func (s *Server) endLease(l *lease, reason pb.LeaseEndReason) {
	if s.leases[l.id] != l {
		return
	}
	delete(s.leases, l.id)
	maps.DeleteFunc(s.bySecret, func(_ string, other *lease) bool { return other == l })
	l.timer.Stop()
	for _, r := range l.requests {
		s.drop(r)
	}
	s.say(l, &pb.SessionResponse{Response: &pb.SessionResponse_LeaseEnded{LeaseEnded: &pb.LeaseEnded{Reason: reason}}})
	if l.stream != nil {
		l.stream.close()
	}
	s.decide()
}

// Words. All of it is called with the mutex held.

func (s *Server) tellHolders(event func(*request) *pb.AcquireResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.leases {
		for _, r := range l.requests {
			if said := event(r); r.tokens != nil && said != nil {
				s.tell(r, said)
			}
		}
	}
}

func (s *Server) tell(r *request, event *pb.AcquireResponse) {
	s.sequence++
	event.RequestId, event.Sequence, event.Epoch = r.message.GetRequestId(), s.sequence, 1
	if event.GetQueued() != nil || event.GetGranted() != nil {
		r.last = event
	}
	s.say(r.lease, &pb.SessionResponse{Response: &pb.SessionResponse_Event{Event: event}})
}

func (s *Server) repeat(r *request) {
	if r.last != nil {
		s.say(r.lease, &pb.SessionResponse{Response: &pb.SessionResponse_Event{Event: r.last}})
	}
}

func (s *Server) say(l *lease, response *pb.SessionResponse) {
	if l.stream != nil && !l.stream.end && !s.frozen {
		response.Epoch = 1
		l.stream.out = append(l.stream.out, response)
		l.stream.signal()
	}
}
