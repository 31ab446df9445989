package store

import (
	"context"
	"fmt"
	"time"
)

// Post is one post.
type Post struct {
	URI     string    `json:"uri"`
	Author  string    `json:"author"`
	Text    string    `json:"text"`
	Created time.Time `json:"created"`
}

// Author is who wrote it.
type Author struct {
	ID     string `json:"id"`
	Handle string `json:"handle"`
}

// Post returns one post.
func (s *Store) Post(ctx context.Context, uri string) (post Post, err error) {
	if err := ctx.Err(); err != nil {
		return post, err
	}
	key := "post:" + uri
	if s.cache.Get(key, &post) {
		return post, nil
	}
	row, err := s.once(ctx, key, func(ctx context.Context) (any, error) {
		p := Post{URI: uri}
		err := s.db.QueryRowContext(ctx, "SELECT author, text, created FROM posts WHERE uri = $1", uri).
			Scan(&p.Author, &p.Text, &p.Created)
		return p, err
	})
	if err != nil {
		return post, fmt.Errorf("post %s: %w", uri, err)
	}
	s.cache.Put(key, row)
	return row.(Post), nil
}

// Author returns one author.
func (s *Store) Author(ctx context.Context, id string) (author Author, err error) {
	if err := ctx.Err(); err != nil {
		return author, err
	}
	key := "author:" + id
	if s.cache.Get(key, &author) {
		return author, nil
	}
	row, err := s.once(ctx, key, func(ctx context.Context) (any, error) {
		a := Author{ID: id}
		err := s.db.QueryRowContext(ctx, "SELECT handle FROM authors WHERE id = $1", id).Scan(&a.Handle)
		return a, err
	})
	if err != nil {
		return author, fmt.Errorf("author %s: %w", id, err)
	}
	s.cache.Put(key, row)
	return row.(Author), nil
}

// Likes returns how often a post was liked; it changes too fast to be cached.
func (s *Store) Likes(ctx context.Context, uri string) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	err = s.db.QueryRowContext(ctx, "SELECT likes FROM counters WHERE uri = $1", uri).Scan(&n)
	return n, err
}

// Replies returns the number of replies in the thread below a post.
func (s *Store) Replies(ctx context.Context, uri string) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	err = s.db.QueryRowContext(ctx, "SELECT replies FROM counters WHERE uri = $1", uri).Scan(&n)
	return n, err
}
