package lockkeeper_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockkeeper.io/lockkeeper"
)

func ExampleClient_Lock() {
	client, err := lockkeeper.New("lock1:7420,lock2:7420")
	if err != nil {
		panic(err)
	}
	defer client.Close()
	ctx := context.Background()
	lock, err := client.Lock(ctx, "orders/42", lockkeeper.Wait(5*time.Second))
	var not *lockkeeper.NotAcquiredError
	if errors.As(err, &not) {
		fmt.Println("somebody else has it:", not.Holders)
		return
	}
	if err != nil {
		panic(err)
	}
	fmt.Println("held with token", lock.FencingToken())
	if err := lock.Unlock(ctx); err != nil {
		fmt.Println("the work may not have been protected:", err)
	}
}

func ExampleClient_Acquire() {
	client, err := lockkeeper.New("localhost")
	if err != nil {
		panic(err)
	}
	defer client.Close()
	ctx := context.Background()
	both := []lockkeeper.Spec{lockkeeper.Write("accounts/1"), lockkeeper.Permits("transfers", 1, 10)}
	lock, err := client.Acquire(ctx, both)
	if err != nil {
		panic(err)
	}
	defer lock.Unlock(ctx)
	for _, grant := range lock.Grants() {
		fmt.Println(grant.Name, grant.FencingToken)
	}
}

func ExampleElection_Run() {
	client, err := lockkeeper.New("localhost")
	if err != nil {
		panic(err)
	}
	defer client.Close()
	election := client.Election("reports/leader")
	err = election.Run(context.Background(), "host-1:8080", func(ctx context.Context, _ *lockkeeper.Lock) error {
		<-ctx.Done() // lead until the leadership is lost
		return ctx.Err()
	})
	fmt.Println("leads no more:", err)
}

func ExampleClient_Watch() {
	client, err := lockkeeper.New("localhost")
	if err != nil {
		panic(err)
	}
	defer client.Close()
	for event, err := range client.Watch(context.Background(), "orders/42") {
		if err != nil {
			panic(err)
		}
		if event.Change != nil {
			fmt.Println(event.Change.Cause, event.Change.Holders)
		}
	}
}
