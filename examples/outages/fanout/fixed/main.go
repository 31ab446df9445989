// Postview answers what a feed needs to know about posts, a batch at a time.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"example.com/social/postview/api"
	"example.com/social/postview/cache"
	"example.com/social/postview/store"
)

const drainTimeout = 15 * time.Second

func main() {
	if err := run(); err != nil {
		log.Fatalf("postview: %v", err)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	db, err := store.Open(ctx, os.Getenv("POSTS_DSN"))
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	defer db.Close()
	posts := store.New(db, cache.New(os.Getenv("CACHE_ADDR")))

	srv := &http.Server{
		Addr:              ":8080",
		Handler:           api.New(posts).Routes(),
		ReadHeaderTimeout: 2 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       90 * time.Second,
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}

	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	return srv.Shutdown(drain)
}
