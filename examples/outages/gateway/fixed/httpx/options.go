// Package httpx sends requests to the shop's own services.
package httpx

import (
	"net/http"
	"time"
)

type options struct {
	timeout time.Duration
	header  http.Header
}

// Option changes how one request is sent.
type Option func(*options)

// WithTimeout bounds the whole exchange, from connecting to the last byte.
func WithTimeout(d time.Duration) Option {
	return func(o *options) { o.timeout = d }
}

// WithHeader adds a header to the request.
func WithHeader(key, value string) Option {
	return func(o *options) { o.header.Add(key, value) }
}
