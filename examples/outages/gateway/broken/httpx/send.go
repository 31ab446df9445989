package httpx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const maxBody = 1 << 20

// ErrTimeout says that a service did not answer in time.
var ErrTimeout = errors.New("downstream timed out")

var transport = &http.Transport{
	DialContext:         (&net.Dialer{Timeout: 500 * time.Millisecond}).DialContext,
	TLSHandshakeTimeout: 500 * time.Millisecond,
	MaxIdleConnsPerHost: 128,
	IdleConnTimeout:     45 * time.Second,
}

type answer struct {
	body []byte
	err  error
}

// Send fetches url and returns the body of its answer.
func Send(ctx context.Context, url string, opts ...Option) ([]byte, error) {
	o := options{header: http.Header{}}
	for _, opt := range opts {
		opt(&o)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	req.Header = o.header

	client := &http.Client{Transport: transport}
	answers := make(chan answer)
	go func() {
		body, err := exchange(client, req)
		answers <- answer{body, err}
	}()

	select {
	case a := <-answers:
		if timedOut(a.err) {
			return nil, ErrTimeout
		}
		return a.body, a.err
	case <-ctx.Done():
		return nil, ErrTimeout
	}
}

func exchange(client *http.Client, req *http.Request) ([]byte, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answered %s", req.URL.Host, resp.Status)
	}
	return body, err
}

func timedOut(err error) bool {
	var netErr net.Error
	return errors.As(err, &netErr) && netErr.Timeout()
}
