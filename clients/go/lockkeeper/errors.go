package lockkeeper

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

var (
	// ErrClosed says that the client is closed, or was closed meanwhile.
	ErrClosed = errors.New("lockkeeper: the client is closed")
	// ErrReleased is the cause of a lock's context after its release.
	ErrReleased = errors.New("lockkeeper: the lock was released")
	// ErrTooMany says that a client has 10,000 requests and locks.
	ErrTooMany = errors.New("lockkeeper: the client has 10,000 requests and locks")
)

// NotAcquiredError says that locks were not granted, for a reason that a caller must expect.
type NotAcquiredError struct {
	// Lock is the name of what was asked for; of several locks, their names with ", " between.
	Lock string
	// Reason is a NotAcquiredReason of the contract without its prefix: TIMED_OUT, WOULD_DEADLOCK, QUEUE_FULL, ...
	Reason string
	// Message names the limit, the holder or the cycle.
	Message string
	// Holders is who held the locks, as far as known.
	Holders []Contender
}

func (e *NotAcquiredError) Error() string {
	return fmt.Sprintf("lockkeeper: %q was not acquired: %s: %s", e.Lock, e.Reason, e.Message)
}

// LostError says that locks were held and are not any more: what was done under them may not have been protected.
type LostError struct {
	// Lock is the name of what was held; of several locks, their names with ", " between.
	Lock string
	// Reason is a LossReason of the contract without its prefix, or DEADLINE_PASSED: the client's own deadline.
	Reason string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("lockkeeper: %q is lost: %s", e.Lock, e.Reason)
}

// LeaseLostError says that the lease ended while the request waited: ask again.
type LeaseLostError struct {
	// Lock is the name of what was asked for; of several locks, their names with ", " between.
	Lock string
	// Reason is why the lease ended.
	Reason string
}

func (e *LeaseLostError) Error() string {
	return fmt.Sprintf("lockkeeper: %q was not acquired: the lease ended: %s", e.Lock, e.Reason)
}

// UnavailableError says that no server answered in time. Whether a request was carried out is not known.
type UnavailableError struct {
	// What was asked for.
	What string
	// Err is what the last server failed with; nil: none was asked.
	Err error
}

func (e *UnavailableError) Error() string {
	text := fmt.Sprintf("lockkeeper: %s: no server answered in time", e.What)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns what the last server failed with.
func (e *UnavailableError) Unwrap() error { return e.Err }

// RefusedError says that a server refused a request.
type RefusedError struct {
	// What was asked for.
	What string
	// Reason is an ErrorReason of the contract without its prefix.
	Reason string
	// Code is the gRPC status code.
	Code codes.Code
	// Field is the path of the field that was wrong, or empty.
	Field string
	// RetryAfter is after what time the same request may succeed; negative: it never will.
	RetryAfter time.Duration
	// Message names the field, the limit or the thing.
	Message string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("lockkeeper: %s was refused: %s: %s", e.What, e.Reason, e.Message)
}

// callError says what the status of a call means to whoever made it.
func callError(what string, err error) error {
	said := status.Convert(err)
	refused := &RefusedError{What: what, Reason: codeName(said.Code()), Code: said.Code(), RetryAfter: retryDelay(said), Message: said.Message()}
	for _, detail := range said.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			refused.Reason = detail.GetReason()
		case *errdetails.BadRequest:
			for _, violation := range detail.GetFieldViolations() {
				refused.Field = violation.GetField()
			}
		}
	}
	return refused
}

// codeName is a code's name as the contract writes it: PERMISSION_DENIED.
func codeName(code codes.Code) string {
	name := ""
	for i, letter := range code.String() {
		if i > 0 && unicode.IsUpper(letter) {
			name += "_"
		}
		name += string(unicode.ToUpper(letter))
	}
	return name
}

// tokenRefusal says that a call was not made, since its token cannot be sent.
func tokenRefusal(what string, err error) *RefusedError {
	return &RefusedError{What: what, Reason: "UNAUTHENTICATED", Code: codes.Unauthenticated, RetryAfter: -1, Message: err.Error()}
}

// retryDelay is how long a server wants to be left alone; negative: it does not say.
func retryDelay(said *status.Status) time.Duration {
	for _, detail := range said.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return -1
}

func refusal(what string, refused *pb.Refused) *RefusedError {
	after := time.Duration(-1)
	if refused.RetryAfter != nil {
		after = refused.GetRetryAfter().AsDuration()
	}
	return &RefusedError{
		What: what, Reason: enumName(refused.GetReason()), Code: codes.Code(refused.GetCode()), //nolint:gosec // a status code
		Field: refused.GetField(), RetryAfter: after, Message: refused.GetMessage(),
	}
}

type protoEnum interface {
	Descriptor() protoreflect.EnumDescriptor
	Number() protoreflect.EnumNumber
}

// enumName is a value's name without the enum's prefix; UNKNOWN for one that only a later server knows.
func enumName(value protoEnum) string {
	values := value.Descriptor().Values()
	found := values.ByNumber(value.Number())
	if found == nil {
		return "UNKNOWN"
	}
	return strings.TrimPrefix(string(found.Name()), strings.TrimSuffix(string(values.ByNumber(0).Name()), "UNSPECIFIED"))
}
