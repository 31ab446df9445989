// Package store reads posts, likes, authors and threads.
package store

import (
	"context"
	"database/sql"
	"time"

	_ "github.com/lib/pq"
	"golang.org/x/sync/singleflight"

	"example.com/social/postview/cache"
)

const (
	maxConns     = 32
	pingTimeout  = 3 * time.Second
	queryTimeout = 400 * time.Millisecond
)

// Store asks the cache first, the database on a miss.
type Store struct {
	db      *sql.DB
	cache   *cache.Cache
	flights singleflight.Group
}

// New returns a store over an open database.
func New(db *sql.DB, c *cache.Cache) *Store {
	return &Store{db: db, cache: c}
}

// Open opens the pool of connections and tries one of them.
func Open(ctx context.Context, dsn string) (*sql.DB, error) {
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	db.SetConnMaxLifetime(30 * time.Minute)

	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// once runs load for the first of the callers that miss the same key, and
// outlives that caller, since the others wait for the row too.
func (s *Store) once(ctx context.Context, key string, load func(context.Context) (any, error)) (any, error) {
	flight := s.flights.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), queryTimeout)
		defer cancel()
		return load(ctx)
	})
	select {
	case res := <-flight:
		return res.Val, res.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
