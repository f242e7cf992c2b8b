package lockkeepertest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

func (r *request) lock(name string) *pb.LockRequest {
	return r.message.GetLocks()[r.index(name)]
}

func (r *request) index(name string) int {
	return slices.IndexFunc(r.message.GetLocks(), func(lock *pb.LockRequest) bool { return lock.GetName() == name })
}

func (r *request) mode(name string) pb.LockMode {
	if mode := r.lock(name).GetMode(); mode != pb.LockMode_LOCK_MODE_UNSPECIFIED {
		return mode
	}
	return pb.LockMode_LOCK_MODE_EXCLUSIVE
}

func (r *request) isOwnedWith(other *request) bool {
	return r.lease == other.lease && r.message.GetOwner() != "" && r.message.GetOwner() == other.message.GetOwner()
}

func (s *Server) acquire(l *lease, message *pb.AcquireRequest) {
	if known := l.requests[message.GetRequestId()]; known != nil {
		s.repeat(known)
		known.message.NotifyContention = message.GetNotifyContention()
		s.tellContention(known)
		return
	}
	r := &request{lease: l, message: message}
	if len(message.GetHeldTokens()) > 0 {
		lost := &pb.Lost{Reason: pb.LossReason_LOSS_REASON_REMOVED}
		s.tell(r, &pb.AcquireResponse{Event: &pb.AcquireResponse_Lost{Lost: lost}})
		return
	}
	l.requests[message.GetRequestId()] = r
	for _, lock := range message.GetLocks() {
		s.queues[lock.GetName()] = append(s.queues[lock.GetName()], r)
	}
	s.decide()
	if r.tokens != nil {
		return
	}
	queued := &pb.Queued{}
	for _, lock := range message.GetLocks() {
		ahead := slices.Index(s.queues[lock.GetName()], r)
		queued.Positions = append(queued.Positions, &pb.QueuePosition{Name: lock.GetName(), Ahead: int32(ahead)}) //nolint:gosec // few
	}
	s.tell(r, &pb.AcquireResponse{Event: &pb.AcquireResponse_Queued{Queued: queued}})
	for _, lock := range message.GetLocks() {
		for _, other := range s.queues[lock.GetName()] {
			s.tellContention(other)
		}
	}
	if message.WaitTimeout != nil {
		r.timer = time.AfterFunc(message.GetWaitTimeout().AsDuration(), func() { s.timeOut(r) })
	}
}

// tellContention tells a holder that wants to know that somebody waits, once.
func (s *Server) tellContention(r *request) {
	if !r.message.GetNotifyContention() || r.tokens == nil || r.told {
		return
	}
	for _, lock := range r.message.GetLocks() {
		if waiters := s.waiters(lock.GetName()); waiters > 0 {
			r.told = true
			contended := &pb.Contended{Name: lock.GetName(), Waiters: waiters}
			s.tell(r, &pb.AcquireResponse{Event: &pb.AcquireResponse_Contended{Contended: contended}})
			return
		}
	}
}

func (s *Server) waiters(name string) int32 {
	waiters := int32(0)
	for _, r := range s.queues[name] {
		if r.tokens == nil {
			waiters++
		}
	}
	return waiters
}

func (s *Server) timeOut(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.tokens == nil && r.lease.requests[r.message.GetRequestId()] == r {
		s.tell(r, notAcquired(pb.NotAcquiredReason_NOT_ACQUIRED_REASON_TIMED_OUT))
		s.drop(r)
		s.decide()
	}
}

func notAcquired(reason pb.NotAcquiredReason) *pb.AcquireResponse {
	return &pb.AcquireResponse{Event: &pb.AcquireResponse_NotAcquired{NotAcquired: &pb.NotAcquired{Reason: reason}}}
}

func (s *Server) release(l *lease, id string) {
	result := &pb.ReleaseResponse{Outcome: pb.ReleaseOutcome_RELEASE_OUTCOME_ALREADY_RELEASED}
	if r := l.requests[id]; r != nil {
		if r.tokens == nil {
			result.Outcome = pb.ReleaseOutcome_RELEASE_OUTCOME_WITHDRAWN
			s.tell(r, notAcquired(pb.NotAcquiredReason_NOT_ACQUIRED_REASON_WITHDRAWN))
		} else {
			result.Outcome = pb.ReleaseOutcome_RELEASE_OUTCOME_RELEASED
			if left := s.levelsBeside(r); left > 0 {
				result.Outcome, result.RemainingHolds = pb.ReleaseOutcome_RELEASE_OUTCOME_DECREMENTED, left
			}
			s.tell(r, &pb.AcquireResponse{Event: &pb.AcquireResponse_Released{Released: &pb.Released{}}})
		}
		s.drop(r)
		s.decide()
	}
	released := &pb.SessionReleased{RequestId: id, Result: result}
	s.say(l, &pb.SessionResponse{Response: &pb.SessionResponse_Released{Released: released}})
}

func (s *Server) levelsBeside(r *request) int32 {
	levels := int32(0)
	for _, other := range s.queues[r.message.GetLocks()[0].GetName()] {
		if other != r && other.tokens != nil && other.isOwnedWith(r) {
			levels++
		}
	}
	return levels
}

// decide grants what everything ahead of it lets in, and tells that when it is known who waits yet.
func (s *Server) decide() {
	granted := map[*request]*pb.Granted{}
	var order []*request
	for again := true; again; {
		again = false
		for _, name := range slices.Sorted(maps.Keys(s.queues)) {
			for _, r := range s.queues[name] {
				if r.tokens == nil && s.admitsAll(r) {
					granted[r] = s.grant(r)
					order = append(order, r)
					again = true
				}
			}
		}
	}
	for _, r := range order {
		if r.message.GetNotifyContention() {
			for _, grant := range granted[r].GetGrants() {
				grant.Waiters = s.waiters(grant.GetName())
				r.told = r.told || grant.Waiters > 0
			}
		}
		s.tell(r, &pb.AcquireResponse{Event: &pb.AcquireResponse_Granted{Granted: granted[r]}})
	}
}

func (s *Server) admitsAll(r *request) bool {
	for _, lock := range r.message.GetLocks() {
		if !s.admits(lock.GetName(), r) {
			return false
		}
	}
	return true
}

func (s *Server) admits(name string, r *request) bool {
	mode := r.mode(name)
	for _, other := range s.queues[name] {
		if other.tokens == nil || !other.isOwnedWith(r) || mode == pb.LockMode_LOCK_MODE_PERMITS {
			continue
		}
		if other.mode(name) == mode || other.mode(name) == pb.LockMode_LOCK_MODE_WRITE && mode == pb.LockMode_LOCK_MODE_READ {
			return true
		}
	}
	taken, limit := r.lock(name).GetPermits(), max(1, r.lock(name).GetLimit())
	for _, ahead := range s.queues[name] {
		if ahead == r {
			break
		}
		taken += ahead.lock(name).GetPermits()
		limit = max(limit, ahead.lock(name).GetLimit())
		switch {
		case mode == pb.LockMode_LOCK_MODE_READ && ahead.mode(name) == pb.LockMode_LOCK_MODE_READ:
		case mode == pb.LockMode_LOCK_MODE_PERMITS && ahead.tokens != nil:
		default:
			return false
		}
	}
	return mode != pb.LockMode_LOCK_MODE_PERMITS || taken <= limit
}

func (s *Server) grant(r *request) *pb.Granted {
	if r.timer != nil {
		r.timer.Stop()
	}
	granted := &pb.Granted{LeaseId: r.lease.id, ValidFor: durationpb.New(r.lease.ttl)}
	for _, lock := range r.message.GetLocks() {
		s.token++
		token, count := s.token, int32(1)
		for _, other := range s.queues[lock.GetName()] {
			if other.tokens != nil && other.isOwnedWith(r) && other.mode(lock.GetName()) == r.mode(lock.GetName()) {
				token = other.tokens[other.index(lock.GetName())]
				count++
			}
		}
		granted.Grants = append(granted.Grants, &pb.Grant{Name: lock.GetName(), FencingToken: token, HoldCount: count})
	}
	for _, grant := range granted.GetGrants() {
		r.tokens = append(r.tokens, grant.GetFencingToken())
	}
	if r.message.MaxHold != nil {
		longest := r.message.GetMaxHold().AsDuration()
		grace := min(2*time.Second, max(100*time.Millisecond, longest/10)) // as the contract says
		r.timer = time.AfterFunc(longest+grace, func() { s.endHold(r) })
	}
	return granted
}

// endHold takes what is over its longest hold away, with the levels that its owner added later.
func (s *Server) endHold(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.message.GetLocks()[0].GetName()
	at := slices.Index(s.queues[name], r)
	if at < 0 {
		return // it has ended meanwhile
	}
	for _, level := range slices.Clone(s.queues[name][at:]) {
		if level == r || level.tokens != nil && level.isOwnedWith(r) && level.tokens[level.index(name)] == r.tokens[0] {
			s.lose(level, &pb.Lost{Reason: pb.LossReason_LOSS_REASON_MAX_HOLD, Message: "the longest hold is over"})
		}
	}
	s.decide()
}

func (s *Server) lose(r *request, lost *pb.Lost) {
	s.tell(r, &pb.AcquireResponse{Event: &pb.AcquireResponse_Lost{Lost: lost}})
	s.drop(r)
}

func (s *Server) drop(r *request) {
	if r.timer != nil {
		r.timer.Stop()
	}
	delete(r.lease.requests, r.message.GetRequestId())
	for _, lock := range r.message.GetLocks() {
		name := lock.GetName()
		s.queues[name] = slices.DeleteFunc(s.queues[name], func(other *request) bool { return other == r })
		if len(s.queues[name]) == 0 {
			delete(s.queues, name)
		}
	}
}

// Reads.

func (s *Server) state(name string) *pb.LockState {
	state := &pb.LockState{Name: name}
	for _, r := range s.queues[name] {
		contender := &pb.Contender{
			Holder: r.message.GetHolder(), Owner: r.message.GetOwner(), RequestId: r.message.GetRequestId(), LeaseTag: r.lease.id[:16],
			Mode: r.mode(name), Permits: r.lock(name).GetPermits(), Metadata: maps.Clone(r.message.GetMetadata()),
		}
		if r.tokens == nil {
			state.QueueLength++
			state.Queue = append(state.Queue, contender)
		} else {
			contender.FencingToken = r.tokens[r.index(name)]
			state.Holders = append(state.Holders, contender)
		}
	}
	return state
}

// GetLock is the contract's.
func (s service) GetLock(_ context.Context, asked *pb.GetLockRequest) (*pb.GetLockResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &pb.GetLockResponse{Lock: s.state(asked.GetName())}, nil
}

// ListLocks is the contract's, on one page.
func (s service) ListLocks(_ context.Context, asked *pb.ListLocksRequest) (*pb.ListLocksResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := &pb.ListLocksResponse{}
	for _, name := range slices.Sorted(maps.Keys(s.queues)) {
		if strings.HasPrefix(name, asked.GetPrefix()) {
			answer.Locks = append(answer.Locks, s.state(name))
		}
	}
	return answer, nil
}
