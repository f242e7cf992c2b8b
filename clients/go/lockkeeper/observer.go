package lockkeeper

import (
	"context"
	"time"
)

// Observer is told what a client does, for metrics and traces. Embed [NoObserver] to write the methods of interest only. They must not block,
// nor call the client.
type Observer interface {
	// Acquiring is called when a request begins, with the caller's context, so that a span can be begun as a child of the caller's.
	Acquiring(ctx context.Context, locks []string) Observation
	// StreamOpened is called when a session stream was opened, for a new lease or to resume one.
	StreamOpened(coordinator string, resumed bool)
	// StreamLost is called when a session stream has ended.
	StreamLost(server string)
}

// Observation is told what becomes of one request.
type Observation interface {
	// Acquired is called when the locks are held, after that wait.
	Acquired(grants []Grant, waited time.Duration)
	// NotAcquired is called when they were not granted, with what the caller gets.
	NotAcquired(err error, waited time.Duration)
	// Released is called when the holder releases them, after that time.
	Released(held time.Duration)
	// Lost is called when they were lost, after that time.
	Lost(reason string, held time.Duration)
}

// NoObserver does nothing.
type NoObserver struct{}

// Acquiring returns an observation that does nothing.
func (NoObserver) Acquiring(context.Context, []string) Observation { return NoObservation{} }

// StreamOpened does nothing.
func (NoObserver) StreamOpened(string, bool) {}

// StreamLost does nothing.
func (NoObserver) StreamLost(string) {}

// NoObservation does nothing.
type NoObservation struct{}

// Acquired does nothing.
func (NoObservation) Acquired([]Grant, time.Duration) {}

// NotAcquired does nothing.
func (NoObservation) NotAcquired(error, time.Duration) {}

// Released does nothing.
func (NoObservation) Released(time.Duration) {}

// Lost does nothing.
func (NoObservation) Lost(string, time.Duration) {}
