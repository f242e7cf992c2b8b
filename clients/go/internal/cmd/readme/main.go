// Command readme is the first example of the README: it holds a lock for a moment.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"lockkeeper.io/lockkeeper"
)

func main() {
	client, err := lockkeeper.New("localhost:7420")
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	err = client.Do(context.Background(), "orders/42", func(ctx context.Context, lock *lockkeeper.Lock) error {
		fmt.Println("held with token", lock.FencingToken())
		return nil // ctx is cancelled when the lock is lost
	}, lockkeeper.Wait(5*time.Second))
	if err != nil {
		log.Fatal(err)
	}
}
