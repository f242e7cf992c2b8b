package lockkeeper

import (
	"context"
	"log/slog"
	"time"
)

// guard keeps what an observer does wrong from harming the client.
type guard struct {
	observer Observer
	log      *slog.Logger
}

type guardedObservation struct {
	observation Observation
	log         *slog.Logger
}

func logPanic(log *slog.Logger) {
	if cause := recover(); cause != nil {
		log.Warn("lockkeeper: an observer or a listener has panicked", "cause", cause)
	}
}

func (g guard) Acquiring(ctx context.Context, locks []string) Observation {
	return guardedObservation{g.acquiring(ctx, locks), g.log}
}

func (g guard) acquiring(ctx context.Context, locks []string) (observation Observation) {
	defer func() {
		if observation == nil {
			observation = NoObservation{}
		}
	}()
	defer logPanic(g.log)
	return g.observer.Acquiring(ctx, locks)
}

func (g guard) StreamOpened(coordinator string, resumed bool) {
	defer logPanic(g.log)
	g.observer.StreamOpened(coordinator, resumed)
}

func (g guard) StreamLost(server string) {
	defer logPanic(g.log)
	g.observer.StreamLost(server)
}

func (g guardedObservation) Acquired(grants []Grant, waited time.Duration) {
	defer logPanic(g.log)
	g.observation.Acquired(grants, waited)
}

func (g guardedObservation) NotAcquired(err error, waited time.Duration) {
	defer logPanic(g.log)
	g.observation.NotAcquired(err, waited)
}

func (g guardedObservation) Released(held time.Duration) {
	defer logPanic(g.log)
	g.observation.Released(held)
}

func (g guardedObservation) Lost(reason string, held time.Duration) {
	defer logPanic(g.log)
	g.observation.Lost(reason, held)
}
