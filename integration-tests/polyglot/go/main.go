// A Lockkeeper client in Go, with stubs generated from proto/. Usage: see ../README.md.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

const name = "go"

// job is what the lock protects: a number in a file, and a log of the tokens.
type job struct {
	lock         string
	iterations   int
	counter, log string
}

func (j job) work(token int64) error {
	text, err := os.ReadFile(j.counter)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	time.Sleep(2 * time.Millisecond)
	if err := os.WriteFile(j.counter, []byte(strconv.Itoa(number+1)), 0o644); err != nil {
		return err
	}
	log, err := os.OpenFile(j.log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	_, err = fmt.Fprintf(log, "%d %s\n", token, name)
	return err
}

// byStream takes the lock with one Acquire call each time; the call is the lease.
func (j job) byStream(client pb.LockServiceClient) error {
	for i := 0; i < j.iterations; i++ {
		if err := j.once(client, i%3 == 2); err != nil {
			return err
		}
	}
	return nil
}

func (j job) once(client pb.LockServiceClient, hangUp bool) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := client.Acquire(ctx, &pb.AcquireRequest{
		Locks:  []*pb.LockRequest{{Name: j.lock}},
		Holder: name,
	})
	if err != nil {
		return err
	}
	for {
		response, err := stream.Recv()
		if err == io.EOF || (hangUp && status.Code(err) == codes.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		switch event := response.Event.(type) {
		case *pb.AcquireResponse_Granted:
			token := event.Granted.Grants[0].FencingToken
			if err := j.work(token); err != nil {
				return err
			}
			if hangUp {
				cancel() // hanging up releases, too
				continue
			}
			_, err := client.Release(ctx, &pb.ReleaseRequest{
				LeaseId: event.Granted.LeaseId, RequestId: response.RequestId, FencingToken: token,
			})
			if err != nil {
				return err
			}
		case *pb.AcquireResponse_Lost, *pb.AcquireResponse_NotAcquired:
			return fmt.Errorf("not held: %v", response)
		}
	}
}

// session is one Session stream; a stream allows one sender at a time.
type session struct {
	stream   pb.LockService_SessionClient
	sending  sync.Mutex
	interval atomic.Int64 // between keep-alives, as the newest answer says
}

func (s *session) send(request *pb.SessionRequest) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	return s.stream.Send(request)
}

// next returns the next response that is wanted.
func (s *session) next(wanted func(*pb.SessionResponse) bool) (*pb.SessionResponse, error) {
	for {
		response, err := s.stream.Recv()
		if err != nil {
			return nil, err
		}
		if kept := response.GetKeptAlive(); kept != nil {
			s.interval.Store(int64(kept.KeepAliveInterval.AsDuration()))
		}
		if wanted(response) {
			return response, nil
		}
		event := response.GetEvent()
		if response.GetRefused() != nil || response.GetGoingAway() != nil || response.GetLeaseEnded() != nil ||
			event.GetLost() != nil || event.GetNotAcquired() != nil {
			return nil, fmt.Errorf("unexpected: %v", response)
		}
	}
}

func (s *session) keepAlive(ctx context.Context) {
	for nonce := int64(1); ; nonce++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(s.interval.Load())):
			request := &pb.SessionRequest{Request: &pb.SessionRequest_KeepAlive{
				KeepAlive: &pb.SessionKeepAlive{Nonce: nonce}}}
			if err := s.send(request); err != nil {
				return // the reader sees why
			}
		}
	}
}

// bySession takes the lock again and again under one lease.
func (j job) bySession(client pb.LockServiceClient) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := client.Session(ctx)
	if err != nil {
		return err
	}
	s := &session{stream: stream}
	open := &pb.SessionRequest{Request: &pb.SessionRequest_Open{Open: &pb.OpenSession{Holder: name}}}
	if err := s.send(open); err != nil {
		return err
	}
	opened, err := s.next(func(r *pb.SessionResponse) bool { return r.GetOpened() != nil })
	if err != nil {
		return err
	}
	s.interval.Store(int64(opened.GetOpened().KeepAliveInterval.AsDuration()))
	go s.keepAlive(ctx)
	for i := 0; i < j.iterations; i++ {
		if err := j.underLease(s, fmt.Sprintf("%s-%d", name, i)); err != nil {
			return err
		}
	}
	if err := s.send(&pb.SessionRequest{Request: &pb.SessionRequest_Close{Close: &pb.CloseSession{}}}); err != nil {
		return err
	}
	_, err = s.next(func(r *pb.SessionResponse) bool { return r.GetLeaseEnded() != nil })
	return err
}

func (j job) underLease(s *session, requestID string) error {
	err := s.send(&pb.SessionRequest{Request: &pb.SessionRequest_Acquire{Acquire: &pb.AcquireRequest{
		Locks: []*pb.LockRequest{{Name: j.lock}}, RequestId: requestID, Holder: name}}})
	if err != nil {
		return err
	}
	granted, err := s.next(func(r *pb.SessionResponse) bool {
		return r.GetEvent().GetGranted() != nil && r.GetEvent().RequestId == requestID
	})
	if err != nil {
		return err
	}
	token := granted.GetEvent().GetGranted().Grants[0].FencingToken
	if err := j.work(token); err != nil {
		return err
	}
	err = s.send(&pb.SessionRequest{Request: &pb.SessionRequest_Release{Release: &pb.ReleaseRequest{
		RequestId: requestID, FencingToken: token}}})
	if err != nil {
		return err
	}
	_, err = s.next(func(r *pb.SessionResponse) bool { return r.GetReleased().GetRequestId() == requestID })
	return err
}

func connect(target string) (*grpc.ClientConn, error) {
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	connection.Connect()
	for state := connection.GetState(); state != connectivity.Ready; state = connection.GetState() {
		if !connection.WaitForStateChange(ctx, state) {
			return nil, fmt.Errorf("not connected: %s", state)
		}
	}
	return connection, nil
}

func run(arguments []string) error {
	if len(arguments) != 6 {
		return fmt.Errorf("usage: client TARGET MODE LOCK ITERATIONS COUNTER LOG")
	}
	iterations, err := strconv.Atoi(arguments[3])
	if err != nil {
		return err
	}
	connection, err := connect(arguments[0])
	if err != nil {
		return err
	}
	defer connection.Close()
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	j := job{lock: arguments[2], iterations: iterations, counter: arguments[4], log: arguments[5]}
	client := pb.NewLockServiceClient(connection)
	if arguments[1] == "session" {
		return j.bySession(client)
	}
	return j.byStream(client)
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
